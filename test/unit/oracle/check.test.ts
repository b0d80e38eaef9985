import { beforeAll, describe, expect, test } from 'vitest'
import { LawChecker } from '../../oracle/check.ts'
import type { History } from '../../oracle/commands.ts'
import { type JsonObject, listIn } from '../../oracle/json.ts'
import { play, shownIn } from '../../oracle/play.ts'
import { sidesOf } from '../../oracle/sides.ts'

const { frozen } = sidesOf((build) => ({ open: () => build.mapStore() }))

const long = 'The ferry leaves from the west harbour. '.repeat(4)

/** A session with a call, a pin, a fact and a summary. */
const history: History = {
  seed: 0,
  configurations: [
    {
      budget: { contextWindow: 400, maxOutputTokens: 20, margin: 0 },
      counter: { type: 'chars', chars: 4 },
      system: 'You are a travel agent.',
      compaction: { model: false, ahead: false },
    },
  ],
  commands: [
    { kind: 'open', tab: 'a', memory: 0, configuration: 0, store: 0, user: 'ada', session: 'trip' },
    { kind: 'remember', tab: 'a', fact: { kind: 'constraint', text: 'Never fly.' } },
    { kind: 'remember', tab: 'a', fact: { kind: 'finding', text: 'The 9:40 is full.' } },
    ...Array.from({ length: 12 }, (_, at) => ({
      kind: 'append' as const,
      tab: 'a',
      messages: [
        { id: `m${at}`, role: at % 2 === 0 ? ('user' as const) : ('assistant' as const), content: long },
      ],
    })),
    { kind: 'context', tab: 'a', newEpoch: true },
    {
      kind: 'append',
      tab: 'a',
      messages: [
        { id: 'q', role: 'user', content: 'And the next one?' },
        { id: 'call', role: 'assistant', content: [{ type: 'tool-call', id: 'c', name: 'find', input: {} }] },
        { id: 'result', role: 'tool', content: [{ type: 'tool-result', callId: 'c', output: 'none' }] },
      ],
    },
    { kind: 'context', tab: 'a', newEpoch: true },
  ],
}

let context: JsonObject
let log: readonly string[]

beforeAll(async () => {
  const { steps } = await play(history, frozen)
  const last = steps.findLast((step) => shownIn(step))
  context = (last && shownIn(last)) as JsonObject
  log = last?.log ?? []
})

function linesOf(...contexts: readonly JsonObject[]): readonly string[] {
  const checker = new LawChecker()
  const [configuration] = history.configurations
  if (!configuration) throw new Error('there is no configuration')
  return contexts.flatMap((one) => checker.check({ context: one, configuration, log, scope: 'trip' }))
}

/** The context with some of its blocks changed. */
function withBlocks(change: (block: JsonObject, at: number) => readonly JsonObject[]): JsonObject {
  const blocks = listIn(context, 'blocks').flatMap((block, at) => change(block as JsonObject, at))
  return { ...context, blocks }
}

function withReceipt(change: JsonObject): JsonObject {
  return { ...context, receipt: { ...(context.receipt as JsonObject), ...change } }
}

describe('the checker of laws', () => {
  test('finds nothing in what the library gives, twice', () => {
    expect(linesOf(context, context)).toEqual([])
  })

  test('finds what is over the line, and what is counted too low', () => {
    expect(linesOf(withReceipt({ margin: 380 })).join()).toMatch('law 1')
    expect(linesOf(withReceipt({ cap: 400 })).join()).toMatch('law 1')
    expect(linesOf(withBlocks((block) => [{ ...block, tokens: 1 }])).join()).toMatch('law 1: block 0 has')
  })

  test('finds a call without its result, a result without its call, and what stands between them', () => {
    const isResult = (block: JsonObject): boolean => block.role === 'tool'
    expect(linesOf(withBlocks((block) => (isResult(block) ? [] : [block]))).join()).toMatch('law 2')
    const isCall = (block: JsonObject): boolean => JSON.stringify(block.parts).includes('tool-call')
    expect(linesOf(withBlocks((block) => (isCall(block) ? [] : [block]))).join()).toMatch('has no call')
    const between = withBlocks((block) => (isResult(block) ? [{ ...block, role: 'user' }, block] : [block]))
    expect(linesOf(between).join()).toMatch('law 2: block')
    expect(linesOf(withBlocks((block) => (isCall(block) ? [block, block] : [block]))).join()).toMatch(
      'two calls',
    )
  })

  test('finds a message that nothing accounts for, one that is accounted for twice, and a false range', () => {
    expect(linesOf(withBlocks((block) => (block.role === 'tool' ? [] : [block]))).join()).toMatch('0 times')
    const omitted = [{ from: 'm0', to: 'm1', count: 2, reason: 'window' }]
    expect(linesOf(withReceipt({ omitted })).join()).toMatch('2 times')
    expect(
      linesOf(withReceipt({ omitted: [{ from: 'm0', to: 'm1', count: 3, reason: 'window' }] })).join(),
    ).toMatch('no range')
    expect(linesOf(withBlocks((block) => [{ ...block, from: ['stranger'] }])).join()).toMatch('stranger')
  })

  test('finds what an epoch shows otherwise than before', () => {
    const changed = withBlocks((block, at) => [at === 1 ? { ...block, trust: 'web' } : block])
    expect(linesOf(context, changed).join()).toMatch('law 5: block 1')
    expect(linesOf(context, { ...changed, epoch: 'epoch/other', receipt: {} }).join()).not.toMatch('law 5')
  })

  test('finds what a receipt names and the context does not hold', () => {
    const remembered = listIn(context.receipt, 'remembered').map((use) => ({
      ...(use as JsonObject),
      items: 7,
    }))
    expect(remembered.length).toBeGreaterThan(1)
    const lines = linesOf(withReceipt({ remembered })).join()
    expect(lines).toMatch('7 of pins are named, and 1 are there')
    expect(lines).toMatch('7 of facts are named, and 1 are there')
    expect(linesOf(withReceipt({ summary: null })).join()).toMatch('summary undefined is named')
  })
})
