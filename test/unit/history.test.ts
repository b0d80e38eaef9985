import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Message, type MessageInput, mapStore } from '../../src/index.ts'
import { addExchange } from '../../src/operations/exchange.ts'
import { rewind } from '../../src/operations/rewind.ts'
import type { Store } from '../../src/ports/store.ts'
import { type FullSession, fullMemory } from '../contract/full-memory.ts'
import { runs } from './support/runs.ts'

const open = (store: Store = mapStore()): FullSession => {
  let ids = 0
  const memory = fullMemory({ store, budget: 16_000, clock: () => 7, newId: () => `id-${++ids}` })
  return memory.session({ userId: 'ada', sessionId: 'trip' })
}

/**
 * What one writer does next: begins a round, or adds to one of those that are there, the newest or
 * an older one.
 */
type Step = { readonly does: 'ask' | 'reply' | 'call' | 'answer' | 'rewind'; readonly back: number }
const step = (late: number): fc.Arbitrary<Step> =>
  fc.record({
    does: fc.constantFrom('ask', 'reply', 'reply', 'call', 'answer', 'rewind'),
    back: fc.oneof({ arbitrary: fc.constant(0), weight: 4 }, { arbitrary: fc.nat(60), weight: late }),
  })

async function write(session: FullSession, steps: readonly Step[]): Promise<void> {
  const rounds: string[] = []
  const calls: { id: string; round: string }[] = []
  const append = async (message: MessageInput, back: number): Promise<string> => {
    const round = rounds.at(-1 - back) ?? (rounds[0] as string)
    await session.append(message, { round })
    return round
  }
  for (const [index, { does, back }] of [{ does: 'ask', back: 0 } as Step, ...steps].entries())
    if (does === 'ask') {
      rounds.push(`q${index}`)
      await session.append({ id: `q${index}`, role: 'user', content: `q${index}` })
    } else if (does === 'reply') await append({ role: 'assistant', content: `a${index}` }, back)
    else if (does === 'call') {
      const id = `c${index}`
      const content = [{ type: 'tool-call', id, name: 'find', input: {} } as const]
      calls.push({ id, round: await append({ role: 'assistant', content }, back) })
    } else if (does === 'answer') {
      const [call] = calls.splice(-1 - (back % Math.max(1, calls.length)), 1)
      const content = [{ type: 'tool-result', callId: call?.id ?? '', output: 'found' } as const]
      if (call) await session.append({ role: 'tool', content }, { round: call.round })
    } else if (back > 40) {
      const shown = await session.history({ messages: 5 })
      if (shown[0] && shown[0].role !== 'tool') await rewind(session, shown[0].id)
    }
}

/** The last so many messages, widened to whole steps. */
function lastOf(all: readonly Message[], messages: number): readonly Message[] {
  let from = Math.max(0, all.length - messages)
  while (all[from]?.role === 'tool') from--
  return all.slice(from)
}

describe('history', () => {
  it('is the end of all that shows, however little of the log is read for it', async () => {
    await fc.assert(
      fc.asyncProperty(
        // Mostly in order, or mostly late.
        fc
          .constantFrom(1, 40)
          .chain((late) => fc.array(step(late), { minLength: 40, maxLength: 240, size: 'max' })),
        fc.integer({ min: 1, max: 12 }),
        async (steps, messages) => {
          const session = open()
          await write(session, steps)
          const all = await session.history({ messages: 10_000 })
          expect(await session.history({ messages })).toEqual(lastOf(all, messages))
          const before = all[Math.floor(all.length / 2)]
          if (!before || before.role === 'tool') return
          const older = all.slice(0, all.indexOf(before))
          expect(await session.history({ messages, before: before.id })).toEqual(lastOf(older, messages))
        },
      ),
      runs(60),
    )
  })

  it('shows late replies in their round, though they are all that the end of the log holds', async () => {
    const session = open()
    await session.append({ id: 'first', role: 'user', content: 'First' })
    await addExchange(session, 'Last', 'To last')
    for (let count = 0; count < 50; count++)
      await session.append({ role: 'assistant', content: `Late ${count}` }, { round: 'first' })
    expect((await session.history({ messages: 2 })).map(({ content }) => content)).toEqual([
      'Last',
      'To last',
    ])
  })

  it('gives whole rounds that are longer than what is read at first', async () => {
    const session = open()
    for (const round of ['One', 'Two']) {
      await session.append({ role: 'user', content: round })
      for (let count = 0; count < 100; count++)
        await session.append({ role: 'assistant', content: `${round} ${count}` })
    }
    expect(await session.history({ rounds: 1 })).toHaveLength(101)
    expect(await session.history({ rounds: 2 })).toHaveLength(202)
  })

  it('holds nothing twice on its pages, and all of it, however one message answers several steps', async () => {
    const call = (id: string) => ({ type: 'tool-call', id, name: 'find', input: {} }) as const
    const found = (callId: string) => ({ type: 'tool-result', callId, output: 1 }) as const
    const session = open()
    await session.append([
      { id: 'u', role: 'user', content: 'Find both.' },
      { id: 'c1', role: 'assistant', content: [call('x')] },
      { id: 'c2', role: 'assistant', content: [call('y')] },
      { id: 'r', role: 'tool', content: [found('x'), found('y')] },
      { id: 'a', role: 'assistant', content: 'Here they are.' },
    ])
    const whole = (await session.history()).map(({ id }) => id)
    expect(whole).toEqual(['u', 'c1', 'r', 'c2', 'a'])
    for (const messages of [1, 2, 3, 4]) {
      const paged: string[] = []
      for (let before: string | undefined; before !== 'u'; before = paged[0]) {
        const page = await session.history({ messages, ...(before !== undefined && { before }) })
        paged.unshift(...page.map(({ id }) => id))
      }
      expect(paged).toEqual(whole)
    }
  })

  it('reads about as many rows as it gives, of a long log', async () => {
    const store = mapStore()
    let read = 0
    const session = open({
      ...store,
      open: (scope) => {
        const scoped = store.open(scope)
        const entries = scoped.entries.bind(scoped)
        scoped.entries = async (query) => {
          const page = await entries(query)
          read += page.rows.length
          return page
        }
        return scoped
      },
    })
    for (let round = 0; round < 500; round++) await addExchange(session, `q${round}`, `a${round}`)
    read = 0
    expect(await session.history()).toHaveLength(50)
    expect(await session.history({ rounds: 1 })).toHaveLength(2)
    expect(read).toBeLessThan(75)
  })
})
