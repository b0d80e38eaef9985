import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Block,
  type Context,
  charsPerToken,
  isPlimsollError,
  lintRequest,
  mapStore,
  toAnthropic,
  toOpenAI,
  utf8Bound,
} from '../../../src/index.ts'
import { contextAt } from '../../../src/operations/context-at.ts'
import { type FullMemoryOptions, fullMemory } from '../../contract/full-memory.ts'
import { Household, happenings } from '../support/household.ts'
import { runs } from '../support/runs.ts'

type Options = Omit<FullMemoryOptions, 'store'>

const sizes = fc.constantFrom(0, 8, 40, 5_000)
const sized = <Name extends string>(...names: readonly Name[]) =>
  fc.record(Object.fromEntries(names.map((name) => [name, sizes])) as Record<Name, typeof sizes>, {
    requiredKeys: [],
  })

const policies: fc.Arbitrary<Options> = fc.record(
  {
    budget: fc.oneof(fc.integer({ min: 150, max: 1_200 }), fc.constant(12_000)),
    counter: fc.constantFrom(charsPerToken(4), utf8Bound),
    system: fc.constantFrom('', 'You are a travel agent.'),
    profile: sized('tokens'),
    skills: sized('indexTokens', 'loadedTokens'),
    facts: sized('pinnedTokens', 'tokens', 'newsTokens'),
    checkpoint: sized('excerptTokens'),
    recall: sized('tokens'),
    window: fc.constantFrom({}, { max: { rounds: 3 } }, { keep: { tokens: 100 } }),
    compaction: fc.constantFrom({ ahead: false as const }, { ahead: false as const, summaryTokens: 20 }),
  },
  { requiredKeys: ['budget', 'recall'] },
)

/** Sections in which all has room. */
const roomy: fc.Arbitrary<Options> = fc.record(
  {
    budget: fc.constant(400_000),
    counter: fc.constant(charsPerToken(4)),
    checkpoint: fc.constant({ excerptTokens: 1_000 }),
    window: fc.constantFrom({}, { max: { rounds: 3 } }),
    recall: fc.constant({}),
  },
  { requiredKeys: ['budget', 'counter', 'checkpoint'] },
)

type OnContext = Parameters<Household['play']>[1]

function forAll(
  check: (household: Household) => OnContext,
  options: fc.Arbitrary<Options> = policies,
  size = 40,
): Promise<void> {
  return fc.assert(
    fc.asyncProperty(options, happenings, async (given, played) => {
      const household = new Household(given)
      await household.play(played, check(household))
    }),
    runs(size),
  )
}

const body = ({ blocks }: Context): readonly Block[] => blocks.filter(({ section }) => section !== 'tail')
const told = (context: Context): string =>
  context.blocks
    .filter(({ section }) => section !== 'window')
    .flatMap(({ parts }) => parts.map((part) => (part.type === 'text' ? part.text : '')))
    .join('\n')

describe('the laws hold for whatever is remembered, changed and forgotten', () => {
  it('1: a context never loads past the line, and no section past its own', async () => {
    await forAll(() => async ({ receipt, blocks }) => {
      expect(receipt.used + receipt.margin).toBeLessThanOrEqual(receipt.cap ?? Infinity)
      expect(receipt.floor).toBeLessThanOrEqual(receipt.cap ?? Infinity)
      const sections = receipt.sections.reduce((sum, { tokens }) => sum + tokens, 0)
      expect(sections).toBe(blocks.reduce((sum, { tokens }) => sum + tokens, 0))
      for (const { cap, tokens, items, overflow } of receipt.remembered ?? []) {
        if (items > 0) expect(tokens).toBeLessThanOrEqual(cap ?? 0)
        expect(overflow.count > 0 || overflow.tokens === 0).toBe(true)
        expect(overflow.first.length).toBeLessThanOrEqual(5)
      }
    })
  })

  it('1: a call is refused only where the profile alone would leave no room either', async () => {
    await fc.assert(
      fc.asyncProperty(policies, happenings, async (given, played) => {
        const { compaction: _, ...options } = given
        const household = new Household(options)
        await household.play(
          played,
          async () => {},
          async (error, asked, { tab }) => {
            if (!isPlimsollError(error, 'ERR_BUDGET_TOO_SMALL')) throw error
            expect(error.breakdown?.floor).toBeGreaterThan(error.breakdown?.cap ?? 0)
            // The same messages and the same profile, and nothing else that is remembered.
            const store = mapStore()
            const memory = fullMemory({ ...options, store, clock: () => household.now })
            const session = memory.session({ userId: 'ada', sessionId: 'trip' })
            const profile = memory.user({ userId: 'ada' }).profile
            for (const { name, text } of await household.memory().user({ userId: 'ada' }).profile.list())
              await profile.set(name, text)
            for (const { role, content } of await (household.tabs[tab] as typeof session).history())
              await session.append({ role, content } as never)
            const { tail } = asked
            await expect(
              session.context({ ...(tail !== undefined && { tail }), onPending: 'abandon' }),
            ).rejects.toMatchObject({
              code: 'ERR_BUDGET_TOO_SMALL',
            })
          },
        )
      }),
      runs(60),
    )
  })

  it('2: no rendered request breaks a rule of its provider', async () => {
    await forAll(() => async (context) => {
      expect(lintRequest(toOpenAI(context), 'openai')).toEqual([])
      expect(lintRequest(toAnthropic(context), 'anthropic')).toEqual([])
    })
  })

  it('5: within an epoch a request only grows at its end, before the tail', async () => {
    await forAll(() => {
      const last = new Map<string, readonly Block[]>()
      return async (context, _, { tab }) => {
        const blocks = body(context)
        const epoch = `${tab === 2 ? 'home' : 'trip'} ${context.epoch}`
        const before = last.get(epoch) ?? []
        expect(blocks.slice(0, before.length)).toEqual(before)
        last.set(epoch, blocks)
      }
    })
  })

  it('6: a session that starts with nothing in memory gives the same bytes, and the past can be rebuilt', async () => {
    await forAll((household) => async (context, options, { tab }) => {
      const sessionId = household.sessionOf(tab)
      const cold = household.open(sessionId)
      const again = await cold.context(options)
      expect(again.blocks).toEqual(context.blocks)
      expect(again.hash).toBe(context.hash)
      expect(again.epoch).toBe(context.epoch)
      expect(again.receipt).toEqual(context.receipt)
      const newest = await household.newest(tab)
      if (newest === undefined) return
      const past = await contextAt(cold, newest)
      expect(past.verified).toBe(false)
      expect(body(past.context)).toEqual(body(context))
    })
  })

  it('two calls with nothing between them give the same bytes', async () => {
    await forAll((household) => async (context, options, { tab }) => {
      const again = await (household.tabs[tab] as (typeof household.tabs)[0]).context(options)
      expect(again.hash).toBe(context.hash)
      expect(again.receipt).toEqual(context.receipt)
    })
  })
})

describe('whatever happened before', () => {
  it('what does not hold any more is in no context, and what is another session’s never was', async () => {
    await forAll((household) => async (context, _, { tab }) => {
      const facts = await household.live(household.sessionOf(tab))
      const live = new Set(facts.map(({ id }) => id))
      const text = told(context)
      for (const [id, word] of household.words) if (!live.has(id)) expect(text).not.toContain(word)
      for (const word of household.gone) expect(text).not.toContain(word)
    })
  })

  it('what holds is in the very next context, once, where there is room', async () => {
    await forAll(
      (household) =>
        async (context, { recall }, { tab }) => {
          const facts = await household.live(household.sessionOf(tab))
          const text = told(context)
          for (const { id } of facts) {
            const word = household.words.get(id) as string
            const times = text.match(new RegExp(`\\b${word}\\b`, 'g'))?.length ?? 0
            expect([word, times]).toEqual([word, 1])
          }
          expect(new Set(facts.map(({ id }) => id)).size).toBe(facts.length)
          expect(recall === undefined || context.receipt.failures.length === 0).toBe(true)
          for (const { overflow } of context.receipt.remembered ?? []) expect(overflow.count).toBe(0)
          for (const { name, text: document } of await household
            .memory()
            .user({ userId: 'ada' })
            .profile.list())
            expect(text).toContain(`## ${name}\n\n${document}`)
        },
      roomy,
    )
  })

  it('what nobody of trust stands for is never in the system section, and lowers the trust of its block', async () => {
    await forAll((household) => async ({ blocks }, _, { tab }) => {
      const facts = await household.live(household.sessionOf(tab))
      for (const { section, parts, trust } of blocks) {
        if (section === 'window') continue
        const text = JSON.stringify(parts)
        for (const fact of facts) {
          if (!text.includes(household.words.get(fact.id) as string)) continue
          if (section === 'system') expect(['user', 'system']).toContain(fact.trust)
          else if (fact.trust === 'web') expect(trust).toBe('web')
        }
      }
    })
  })
})
