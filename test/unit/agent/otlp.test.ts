import { describe, expect, it } from 'vitest'
import { type CallRecord, observability } from '../../../src/agent/observability.ts'
import { type OtlpOptions, toOtlp } from '../../../src/agent/otlp.ts'
import { runAgent, scriptedModel } from '../../../src/index.ts'
import { mapStore } from '../../../src/stores/map.ts'
import { fullMemory } from '../../contract/full-memory.ts'

interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
}

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const span = { traceId: TRACE, start: 1_790_000_000_000, end: 1_790_000_000_250, step: 1, count: 1 }
const model: CallRecord = {
  ...{ ...span, type: 'model', spanId: 'b7ad6b7169203331', parentId: '00f067aa0ba902b7', status: 'ok' },
  usage: { predicted: { input: 90, cached: 0 }, reported: { cached: 80, uncached: 20, output: 9 } },
}
const lookup: CallRecord = {
  ...{ ...span, type: 'tool', spanId: 'c7ad6b7169203332', parentId: 'b7ad6b7169203331', status: 'timeout' },
  ...{ name: 'lookup', callId: 'c1' },
}
const spansOf = (records: readonly CallRecord[], options?: OtlpOptions): readonly Span[] => {
  const body = toOtlp(records, options) as unknown as {
    readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly Span[] }[] }[]
  }
  return body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
}
const text = (key: string, stringValue: string) => ({ key, value: { stringValue } })
const number = (key: string, intValue: string) => ({ key, value: { intValue } })

describe('records of calls, for OpenTelemetry', () => {
  it('are spans with ids, times and conventional attributes', () => {
    expect(toOtlp([model, lookup], { service: 'guide', model: 'm-1' })).toEqual({
      resourceSpans: [
        {
          resource: { attributes: [text('service.name', 'guide')] },
          scopeSpans: [
            {
              scope: { name: 'plimsoll' },
              spans: [
                {
                  ...{ traceId: TRACE, spanId: 'b7ad6b7169203331', name: 'chat m-1', kind: 3 },
                  startTimeUnixNano: '1790000000000000000',
                  endTimeUnixNano: '1790000000250000000',
                  attributes: [
                    text('gen_ai.operation.name', 'chat'),
                    text('gen_ai.request.model', 'm-1'),
                    number('gen_ai.usage.input_tokens', '100'),
                    number('gen_ai.usage.output_tokens', '9'),
                    number('gen_ai.usage.cache_read.input_tokens', '80'),
                    number('plimsoll.predicted.input_tokens', '90'),
                    number('plimsoll.step', '1'),
                  ],
                  status: {},
                },
                {
                  ...{ traceId: TRACE, spanId: 'c7ad6b7169203332', parentSpanId: 'b7ad6b7169203331' },
                  ...{ name: 'execute_tool lookup', kind: 1 },
                  startTimeUnixNano: '1790000000000000000',
                  endTimeUnixNano: '1790000000250000000',
                  attributes: [
                    text('gen_ai.operation.name', 'execute_tool'),
                    text('gen_ai.tool.name', 'lookup'),
                    text('gen_ai.tool.call.id', 'c1'),
                    text('error.type', 'timeout'),
                    number('plimsoll.step', '1'),
                  ],
                  status: { code: 2, message: 'timeout' },
                },
              ],
            },
          ],
        },
      ],
    })
  })

  it('are below the app’s own span where it names one', () => {
    const parent = { traceId: 'f'.repeat(32), spanId: 'e'.repeat(16) }
    expect(spansOf([model, lookup], { parent })).toMatchObject([
      { traceId: parent.traceId, parentSpanId: parent.spanId, name: 'chat' },
      { traceId: parent.traceId, parentSpanId: 'b7ad6b7169203331' },
    ])
  })

  it.each([
    { parent: { traceId: TRACE, spanId: 'short' } },
    { parent: { traceId: TRACE.toUpperCase(), spanId: 'e'.repeat(16) } },
    { parent: { traceId: '0'.repeat(32), spanId: 'e'.repeat(16) } },
    { parent: { traceId: TRACE, spanId: '0'.repeat(16) } },
    { name: 'x' } as OtlpOptions,
  ])('are refused where an option is none: %j', (options) => {
    expect(() => toOtlp([], options)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' }))
  })

  it.each([
    { start: Number.NaN },
    { end: -1 },
    { end: Infinity },
    { step: Number.NaN },
    { usage: { predicted: { input: Number.NaN, cached: 0 } } },
    { usage: { reported: { cached: Number.NaN, uncached: 1, output: 1 } } },
    { usage: { reported: { cached: 1, uncached: -1, output: 1 } } },
    { usage: { reported: { cached: 1, uncached: 1, output: Infinity } } },
  ])('are refused where a number is none: %j', (wrong) => {
    expect(() => toOtlp([lookup, { ...model, ...wrong } as CallRecord])).toThrow(
      expect.objectContaining({
        ...{ code: 'ERR_INVALID_ARGUMENT', argument: expect.stringMatching(/^records\[1\]\./) },
      }),
    )
  })

  it('of a run are one trace, each tool below the model call that asked for it, and hold nothing that was said', async () => {
    const records: CallRecord[] = []
    const session = fullMemory({ store: mapStore(), budget: 8_000 }).session({
      userId: 'ada',
      sessionId: 'trip',
    })
    const calls = [1, 2].map((place) => ({ name: 'look', input: { secret: place } }))
    await runAgent({
      session,
      model: scriptedModel([{ calls }, 'A secret.']),
      input: 'My secret?',
      tools: [{ name: 'look', description: '', inputSchema: {}, execute: () => 'secret' }],
      middleware: [observability({ sink: (record) => void records.push(record) })],
    })
    const spans = spansOf(records)
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1)
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(4)
    for (const { traceId, spanId, parentId } of records)
      expect([traceId, spanId, parentId].join(' ')).toMatch(/^[0-9a-f]{32} [0-9a-f]{16} [0-9a-f]{16}$/)
    expect(() => observability({ sinks: 1 } as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', argument: 'sinks' }),
    )
    const [first, ...rest] = spans
    expect(rest.map(({ name, parentSpanId }) => [name, parentSpanId])).toEqual([
      ['execute_tool look', first?.spanId],
      ['execute_tool look', first?.spanId],
      ['chat', undefined],
    ])
    expect(JSON.stringify(spans)).not.toContain('secret')
  })
})
