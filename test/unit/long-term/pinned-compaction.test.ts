import { expect, it } from 'vitest'
import { type Context, charsPerToken, mapStore } from '../../../src/index.ts'
import { type FullMemoryOptions, memoryWith } from '../../contract/full-memory.ts'
import { round, scope, textOf } from '../support/compacting.ts'

const RULE = 'Never book a table where nuts are served.'

function open(options: Omit<FullMemoryOptions, 'store'> = {}, store = mapStore()) {
  return memoryWith(['facts', 'compaction'], {
    budget: { contextWindow: 1_000, maxOutputTokens: 0, margin: 0 },
    counter: charsPerToken(4),
    clock: () => 0,
    compaction: { ahead: false },
    ...options,
    store,
  }).session(scope)
}

const systemOf = ({ blocks }: Context): string =>
  textOf({ blocks: blocks.filter(({ section }) => section === 'system') })

const pinsOf = ({ receipt }: Context) => receipt.remembered?.find(({ name }) => name === 'pins')

/** Contexts of so many rounds, and how many summaries they showed. */
async function talk(session: ReturnType<typeof open>, rounds: number) {
  const contexts: Context[] = []
  for (let index = 0; index < rounds; index++) {
    await session.append(round(index))
    contexts.push(await session.context())
  }
  const summaries = new Set(contexts.flatMap(({ receipt }) => receipt.summary?.id ?? []))
  return { contexts, summaries: summaries.size }
}

it('a pinned fact is in the system text of every context, whatever was compacted between', async () => {
  const session = open()
  await session.facts.remember({ kind: 'constraint', text: RULE })
  const { contexts, summaries } = await talk(session, 40)
  expect(summaries).toBeGreaterThan(3)
  for (const context of contexts) expect(systemOf(context).split(RULE).length).toBe(2)
})

it('pinned facts beyond their room are in every context among the others, or in its receipt', async () => {
  const session = open({ facts: { pinnedTokens: 40, tokens: 40 } })
  const texts = Array.from({ length: 8 }, (_, index) => `Rule ${index}: ${RULE}`)
  for (const text of texts) await session.facts.remember({ kind: 'constraint', text })
  const { contexts, summaries } = await talk(session, 40)
  expect(summaries).toBeGreaterThan(3)
  const [first] = contexts
  for (const context of contexts) {
    const shown = texts.filter((text) => textOf(context).includes(text))
    const inSystem = texts.filter((text) => systemOf(context).includes(text))
    expect([inSystem.length > 0, shown.length > inSystem.length]).toEqual([true, true])
    expect(pinsOf(context)).toMatchObject({
      items: inSystem.length,
      overflow: { count: texts.length - shown.length },
    })
    expect(systemOf(context)).toBe(first && systemOf(first))
  }
})

it('a summary gives way to a pinned fact where a call has no room for both', async () => {
  const store = mapStore()
  const session = open({}, store)
  await session.facts.remember({ kind: 'constraint', text: RULE })
  await talk(session, 14)
  const seen = { both: 0, alone: 0 }
  for (let letters = 3_000; letters < 3_600; letters += 50) {
    const tail = [{ name: 'page', text: 'x'.repeat(letters) }]
    const least = memoryWith(['facts'], {
      budget: { contextWindow: 1_000, maxOutputTokens: 0, margin: 0 },
      counter: charsPerToken(4),
      store,
    }).session(scope)
    const ask = { preview: true, newEpoch: true, tail } as const
    const isShown = systemOf(await least.context(ask)).includes(RULE)
    const context = await session.context(ask)
    expect(systemOf(context).includes(RULE)).toBe(isShown)
    if (isShown) seen[context.receipt.summary ? 'both' : 'alone']++
  }
  expect(seen.both).toBeGreaterThan(0)
  expect(seen.alone).toBeGreaterThan(0)
})
