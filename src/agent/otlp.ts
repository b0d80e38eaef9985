import type { JsonObject } from '../ports/message.ts'
import { checkList } from '../text/check-value.ts'
import { checkOptions, invalid } from '../text/json.ts'
import type { CallRecord } from './observability.ts'

export interface OtlpOptions {
  /** The resource's `service.name`. Default `plimsoll`. */
  readonly service?: string
  /** The model's id, as `gen_ai.request.model`. Default: not said. */
  readonly model?: string
  /**
   * A span of the app's own, for example of the request that runs the agent: all calls are of its
   * trace then, and what the run asked for is below it. 32 and 16 hex digits, as in `traceparent`.
   * Default: each run is a trace of its own.
   */
  readonly parent?: { readonly traceId: string; readonly spanId: string }
}

/** Kinds of spans and statuses, as OTLP numbers them. */
const INTERNAL = 1
const CLIENT = 3
const FAILED = 2

/**
 * Records of {@link observability} as a body for OpenTelemetry's `POST /v1/traces` (OTLP/HTTP, as
 * JSON): a span each, with the attributes of its conventions for generative AI. Pure. Ids are those
 * of the records, so that calls of a run that went on elsewhere are in one trace.
 *
 * It holds names of tools, counts and times; nothing that was said.
 *
 * @throws ERR_INVALID_ARGUMENT: options, or a time or a count that is none
 * @example With a collector:
 * ```ts
 * import { type CallRecord, observability, runAgent, toOtlp } from 'plimsoll'
 *
 * const records: CallRecord[] = []
 * const middleware = [observability({ sink: (record) => void records.push(record) })]
 * await runAgent({ model, session, input, middleware })
 * await fetch('http://localhost:4318/v1/traces', {
 *   method: 'POST',
 *   headers: { 'Content-Type': 'application/json' },
 *   body: JSON.stringify(toOtlp(records)),
 * })
 * ```
 */
export function toOtlp(records: readonly CallRecord[], options: OtlpOptions = {}): JsonObject {
  checkOptions('toOtlp', 'options', options, ['service', 'model', 'parent'])
  checkList('toOtlp', 'records', records)
  const { service = 'plimsoll', parent } = options
  if (parent && !(isId(parent.traceId, 32) && isId(parent.spanId, 16)))
    throw invalid(
      'toOtlp',
      'parent',
      'must have a traceId of 32 and a spanId of 16 hex digits, not all of them 0',
    )
  const resource = { attributes: attributes({ 'service.name': service }) }
  for (const [place, record] of records.entries()) checkNumbers(record, `records[${place}]`)
  const spans = records.map((record) => spanOf(record, options))
  const scopeSpans = [{ scope: { name: 'plimsoll' }, spans }]
  return { resourceSpans: [{ resource, scopeSpans }] }
}

/** Records may have been stored; what is no number would make a collector refuse all of them. */
function checkNumbers(record: CallRecord, at: string): void {
  const { start, end, step } = record
  const { predicted, reported } = (record.type === 'model' && record.usage) || {}
  const numbers = { start, end, step, ...reported, ...(predicted && { input: predicted.input }) }
  for (const [name, value] of Object.entries(numbers))
    if (!(Number.isFinite(value) && value >= 0))
      throw invalid('toOtlp', `${at}.${name}`, 'must be a number, 0 or more')
}

function spanOf(record: CallRecord, { model, parent }: OtlpOptions): JsonObject {
  const { traceId, spanId, parentId, start, end, step, status } = record
  const isModel = record.type === 'model'
  const above = isModel ? parent?.spanId : parentId
  const name = isModel ? ['chat', model] : ['execute_tool', record.name]
  const isFailed = status !== 'ok' && status !== 'given'
  return {
    traceId: parent?.traceId ?? traceId,
    spanId,
    ...(above !== undefined && { parentSpanId: above }),
    name: name.filter((part) => part !== undefined).join(' '),
    kind: isModel ? CLIENT : INTERNAL,
    startTimeUnixNano: nanoseconds(start),
    endTimeUnixNano: nanoseconds(end),
    attributes: attributes({
      'gen_ai.operation.name': isModel ? 'chat' : 'execute_tool',
      ...(isModel ? modelFields(record, model) : toolFields(record)),
      ...(isFailed && { 'error.type': status }),
      'plimsoll.step': step,
    }),
    status: isFailed ? { code: FAILED, message: status } : {},
  }
}

function modelFields({ usage }: Extract<CallRecord, { readonly type: 'model' }>, model: string | undefined) {
  const { predicted, reported } = usage ?? {}
  return {
    ...(model !== undefined && { 'gen_ai.request.model': model }),
    ...(reported && {
      'gen_ai.usage.input_tokens': reported.cached + reported.uncached,
      'gen_ai.usage.output_tokens': reported.output,
      'gen_ai.usage.cache_read.input_tokens': reported.cached,
    }),
    ...(predicted && { 'plimsoll.predicted.input_tokens': predicted.input }),
  }
}

function toolFields({ name, callId }: Extract<CallRecord, { readonly type: 'tool' }>) {
  return { 'gen_ai.tool.name': name, 'gen_ai.tool.call.id': callId }
}

/** 64-bit numbers are texts in the JSON of Protocol Buffers. */
function attributes(fields: { readonly [key: string]: string | number }): JsonObject[] {
  return Object.entries(fields).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: String(Math.round(value)) } : { stringValue: value },
  }))
}

function nanoseconds(milliseconds: number): string {
  return String(BigInt(Math.round(milliseconds)) * 1_000_000n)
}

function isId(id: string, digits: number): boolean {
  return id.length === digits && /^[0-9a-f]*[1-9a-f][0-9a-f]*$/.test(id)
}
