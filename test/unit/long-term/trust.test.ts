import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { factKey } from '../../../src/features/facts/fact.ts'
import { isTrusted } from '../../../src/features/trust.ts'
import { lowerTrust } from '../../../src/kernel/log/message.ts'
import { isPlimsollError } from '../../../src/ports/errors.ts'
import type { Fact, FactKind } from '../../../src/ports/fact.ts'
import type { Trust } from '../../../src/ports/message.ts'
import { bench, NOON } from '../support/facts.ts'
import { runs } from '../support/runs.ts'

const TRUSTS: readonly Trust[] = ['system', 'user', 'assistant', 'import', 'tool', 'web']
const KINDS: readonly FactKind[] = ['finding', 'blocker', 'correction', 'preference', 'constraint']
/** Few words, so that near-duplicates are many. */
const WORDS = ['deploy', 'friday', 'never', 'port', '8080', 'the', 'likes', 'tea', 'short']

const trust = fc.constantFrom(...TRUSTS)
const place = fc.nat({ max: 30 })
const remember = fc.record(
  {
    type: fc.constant('remember' as const),
    kind: fc.constantFrom(...KINDS),
    text: fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 6 }).map((words) => words.join(' ')),
    trust,
    pinned: fc.boolean(),
    /** Messages by their trust, facts by their place. */
    messages: fc.array(trust, { maxLength: 2 }),
    facts: fc.array(place, { maxLength: 2 }),
    supersedes: place,
  },
  { requiredKeys: ['type', 'kind', 'text', 'messages', 'facts'] },
)
const change = fc.record({
  type: fc.constantFrom('resolve', 'review', 'pin', 'unpin', 'forget', 'promote'),
  place,
})
const actions = fc.array(fc.oneof({ weight: 3, arbitrary: remember }, change), { maxLength: 40 })
type Action = typeof actions extends fc.Arbitrary<(infer One)[]> ? One : never

/** Plays a script, and checks every fact after each action. */
async function play(script: readonly Action[], shared: boolean, isPromoted: boolean) {
  const { facts, messages, store } = bench({ shared, caps: { perHour: 1_000 } })
  for (const one of TRUSTS) messages.set(`from ${one}`, one)
  const ids: string[] = []
  const writers = new Map<string, Trust>()
  let before = new Map<string, Fact>()
  for (const action of script) {
    const id = (at: number): string => ids[at % Math.max(1, ids.length)] ?? 'none'
    try {
      if (action.type === 'remember') {
        const { type: _, messages: from, facts: of, supersedes, ...input } = action
        const said = await facts.remember({
          ...input,
          sources: [
            ...from.map((one) => `from ${one}`),
            ...(ids.length > 0 ? of.map((at) => factKey(id(at))) : []),
          ],
          ...(supersedes !== undefined && { supersedes: id(supersedes) }),
        })
        if (said.status === 'new') {
          ids.push(said.fact.id)
          writers.set(said.fact.id, action.trust ?? 'user')
        }
      } else if (action.type === 'review') await facts.review(id(action.place), 'good')
      else if (action.type !== 'promote' || isPromoted) await facts[action.type](id(action.place))
    } catch (error) {
      if (!isPlimsollError(error)) throw error
    }
    const all = new Map((await facts.list({ all: true })).map((fact) => [fact.id, fact]))
    for (const fact of all.values()) check(fact, before.get(fact.id))
    before = all
  }

  function check(fact: Fact, earlier: Fact | undefined): void {
    if (fact.pinned || shared) expect(isTrusted(fact.trust)).toBe(true)
    if (fact.promotedFrom !== undefined) {
      expect(isPromoted).toBe(true)
      return
    }
    const sources = fact.sources.map((source) =>
      source.startsWith('fact/')
        ? (before.get(source.slice(5)) ?? fact).trust
        : (messages.get(source) as Trust),
    )
    const lowest = sources.reduce(lowerTrust, writers.get(fact.id) ?? 'user')
    expect(lowerTrust(fact.trust, lowest)).toBe(fact.trust)
    if (earlier) {
      expect(fact.trust).toBe(earlier.trust)
      if (isTrusted(earlier.trust) && earlier.supersededBy === undefined && fact.supersededBy !== undefined)
        expect(isTrusted((before.get(fact.supersededBy) ?? fact).trust)).toBe(true)
    }
  }
  return { facts, store }
}

describe('the trust of a fact', () => {
  it('is never above that of its writer and its sources, whatever happens to it', async () => {
    await fc.assert(
      fc.asyncProperty(actions, fc.boolean(), async (script, shared) => {
        await play(script, shared, false)
      }),
      runs(150),
    )
  })

  it('rises by promotion alone, which is written on the fact', async () => {
    await fc.assert(
      fc.asyncProperty(actions, async (script) => {
        await play(script, false, true)
      }),
      runs(100),
    )
  })

  it('keeps what the user said as it is, whatever others say', async () => {
    const others = remember.filter(({ trust }) => trust !== undefined && !isTrusted(trust))
    await fc.assert(
      fc.asyncProperty(fc.array(others, { maxLength: 30 }), async (script) => {
        const { facts, messages } = bench()
        for (const one of TRUSTS) messages.set(`from ${one}`, one)
        const said = await facts.remember({ kind: 'constraint', text: 'never deploy friday', id: 'said' })
        for (const { type: _, messages: from, facts: __, supersedes, ...input } of script)
          await facts
            .remember({
              ...input,
              pinned: false,
              sources: from.map((one) => `from ${one}`),
              ...(supersedes !== undefined && { supersedes: 'said' }),
            })
            .catch((error) => {
              if (!isPlimsollError(error, 'ERR_INVALID_ARGUMENT')) throw error
            })
        expect((await facts.top('pinned', undefined, 9, NOON)).map(({ fact }) => fact)).toEqual([said.fact])
      }),
      runs(100),
    )
  })
})
