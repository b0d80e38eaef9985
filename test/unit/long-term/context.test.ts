import { describe, expect, it, vi } from 'vitest'
import { lawChecker } from '../../../src/assert-laws.ts'
import {
  type Context,
  type ContextOptions,
  charsPerToken,
  type Extract,
  extractFacts,
  type FactInput,
  mapStore,
  type Store,
} from '../../../src/index.ts'
import { contextAt } from '../../../src/operations/context-at.ts'
import { forget } from '../../../src/operations/forget/forget.ts'
import { rewind, undo } from '../../../src/operations/rewind.ts'
import { costOf } from '../../../src/replay/cost.ts'
import {
  type FullMemory,
  type FullMemoryOptions,
  type FullSession,
  fullMemory,
} from '../../contract/full-memory.ts'
import { changedStore } from '../../everywhere/changed-store.ts'

const DAY = 86_400_000
const NOON = 20_779.5 * DAY
const ADA = { userId: 'ada' }

type Options = Partial<Omit<FullMemoryOptions, 'store'>>

/** A memory of one user, with a clock that is set by hand. */
function open(
  options: Options = {},
  store: Store = mapStore(),
): {
  readonly memory: FullMemory
  readonly session: FullSession
  readonly store: Store
  readonly clock: { now: number }
} {
  const clock = { now: NOON }
  const memory = fullMemory({
    budget: 16_000,
    counter: charsPerToken(4),
    system: 'You are a travel agent.',
    laws: lawChecker,
    clock: () => clock.now,
    ...options,
    store,
  })
  return { memory, session: memory.session({ ...ADA, sessionId: 'trip' }), store, clock }
}

const textOf = ({ blocks }: Context, ...sections: string[]): string =>
  blocks
    .filter(({ section }) => sections.length === 0 || sections.includes(section))
    .flatMap(({ parts }) => parts.map((part) => (part.type === 'text' ? part.text : '')))
    .join('\n')

const causeOf = ({ receipt: { epoch } }: Context): string => (typeof epoch === 'string' ? epoch : epoch.cause)

const say = (session: FullSession, content: string) => session.append({ role: 'user', content })
const finding = (text: string, more: Partial<FactInput> = {}): FactInput => ({
  kind: 'finding',
  text,
  ...more,
})

/** Rounds of about 200 tokens each. */
async function talk(session: FullSession, rounds: number, options: ContextOptions = {}): Promise<Context> {
  let context: Context | undefined
  for (let round = 0; round < rounds; round++) {
    await say(session, `Question ${round}: ${'and what then? '.repeat(26)}`)
    context = await session.context(options)
    await session.append({ role: 'assistant', content: `Answer ${round}: ${'then the tide. '.repeat(26)}` })
  }
  return context ?? session.context(options)
}

describe('a context', () => {
  it('shows profile and pins in the system section, skills, facts and loaded skills in the memory section', async () => {
    const { memory, session } = open()
    const user = memory.user(ADA)
    await user.profile.set('SOUL.md', 'You are calm.')
    await user.skills.set({ name: 'tides', description: 'Reads tide tables.', text: 'Open the almanac.' })
    await session.facts.remember({ kind: 'constraint', text: 'Never fly.' })
    await session.facts.remember({ kind: 'preference', text: 'Likes window seats.' })
    await session.facts.remember(finding('The ferry leaves at noon.', { trust: 'tool' }))
    await session.skills.load('tides')
    await say(session, 'Where to?')
    const context = await session.context()
    expect(textOf(context, 'system')).toBe(
      'You are a travel agent.\n\n## SOUL.md\n\nYou are calm.\n\n## Pinned\n\n- constraint: Never fly.',
    )
    const memoryText = textOf(context, 'memory').replaceAll(context.fence, 'tag')
    expect(memoryText).toMatch(
      /- tides: Reads tide tables\.[\s\S]*- \[f\d{6}\] preference \[user\] Likes window seats\./,
    )
    expect(memoryText).toContain('] finding [tool] The ferry leaves at noon.')
    expect(memoryText).toMatch(/ferry[\s\S]*## tides\n\nOpen the almanac\./)
    expect(context.blocks.find(({ section }) => section === 'memory')?.trust).toBe('tool')
    expect(textOf(context, 'tail')).toBe('')
    expect(context.receipt.remembered?.map(({ name, items }) => [name, items])).toEqual([
      ['profile', 1],
      ['pins', 1],
      ['skills', 1],
      ['facts', 2],
      ['loaded-skills', 1],
    ])
  })

  it('is the same bytes as before where nothing is remembered', async () => {
    const { session, store } = open()
    await say(session, 'Where to?')
    const { blocks, receipt, head } = await session.context()
    expect(blocks.map(({ section }) => section)).toEqual(['system', 'window'])
    expect(receipt).not.toHaveProperty('remembered')
    const log = store.open({ ...ADA, sessionId: 'trip' })
    expect(Object.keys(JSON.parse((await log.register(head))?.body ?? ''))).toEqual([
      'system',
      'memory',
      'tools',
    ])
    const [mark] = (await log.entries({ kinds: ['epoch'] })).rows
    expect(JSON.parse(mark?.body ?? '')).not.toHaveProperty('remembers')
  })

  it('shows a new fact at once, in the tail, and the epoch goes on', async () => {
    const { session } = open()
    await say(session, 'Where to?')
    const before = await session.context()
    await session.facts.remember(finding('The web says so.', { trust: 'web' }))
    const after = await session.context()
    expect(after.epoch).toBe(before.epoch)
    expect(textOf(after, 'tail')).toContain('] finding [web] The web says so.')
    expect(after.blocks.at(-1)).toMatchObject({ section: 'tail', trust: 'web' })
    expect(after.receipt.remembered).toMatchObject([{ name: 'news', items: 1, overflow: { count: 0 } }])
    // At the next epoch it moves to the head.
    const next = await session.context({ newEpoch: true })
    expect(textOf(next, 'memory')).toContain('The web says so.')
    expect(textOf(next, 'tail')).toBe('')
  })

  it('shows a changed profile in the very next context', async () => {
    const { memory, session } = open()
    const { profile } = memory.user(ADA)
    await say(session, 'Where to?')
    await session.context()
    await profile.set('SOUL.md', 'You are calm.')
    const first = await session.context()
    expect([causeOf(first), textOf(first, 'system')]).toEqual([
      'head',
      expect.stringContaining('You are calm.'),
    ])
    await profile.update('SOUL.md', () => 'You are brisk.')
    const second = await session.context()
    expect(causeOf(second)).toBe('head')
    expect(textOf(second)).not.toContain('calm')
    expect(textOf(second, 'system')).toContain('You are brisk.')
    await profile.delete('SOUL.md')
    expect(textOf(await session.context())).not.toContain('brisk')
  })

  it('shows the changed text of a loaded skill in the very next context', async () => {
    const { memory, session } = open()
    const { skills } = memory.user(ADA)
    const tides = { name: 'tides', description: 'Reads tide tables.' }
    await skills.set({ ...tides, text: 'Open the almanac.' })
    await session.skills.load('tides')
    await say(session, 'Where to?')
    const first = await session.context()
    await skills.set({ ...tides, text: 'Open the almanac.' })
    expect((await session.context()).epoch).toBe(first.epoch)
    await skills.set({ ...tides, text: 'Ask the captain.' })
    const second = await session.context()
    expect(causeOf(second)).toBe('head')
    expect(textOf(second)).not.toContain('almanac')
    expect(textOf(second, 'memory')).toContain('Ask the captain.')
    expect((await session.context()).epoch).toBe(second.epoch)
    // What is unloaded leaves with the next epoch.
    await session.skills.unload('tides')
    expect((await session.context()).epoch).toBe(second.epoch)
  })

  it.each([
    [
      'superseded',
      (session: FullSession, id: string) =>
        session.facts.supersede(id, { kind: 'blocker', text: 'Now open.' }),
    ],
    ['forgotten', (session: FullSession, id: string) => forget(session, id)],
    ['resolved', (session: FullSession, id: string) => session.facts.resolve(id)],
  ])('says nothing more of a fact that was %s, on any object, ever', async (_, change) => {
    for (const inHead of [false, true]) {
      const { memory, session } = open({ compaction: { ahead: false } })
      const { fact } = await session.facts.remember({ kind: 'blocker', text: 'The harbour is frozen.' })
      if (!inHead) await session.context()
      const other = memory.session({ ...ADA, sessionId: 'trip' })
      for (const one of [session, other]) expect(textOf(await one.context())).toContain('frozen')
      await change(session, fact.id)
      for (const one of [other, session, memory.session({ ...ADA, sessionId: 'trip' })])
        expect(textOf(await one.context())).not.toContain('frozen')
      expect(textOf(await talk(session, 60))).not.toContain('frozen')
    }
  })

  it('says nothing more of a fact from the UTC day on that begins when it has ended', async () => {
    const { session, clock } = open()
    await session.facts.remember(finding('The sale goes on.', { expiresAt: NOON + DAY / 4 }))
    expect(textOf(await session.context())).toContain('sale')
    clock.now += DAY / 4
    expect(textOf(await session.context())).toContain('sale')
    clock.now += DAY / 4
    expect(textOf(await session.context())).not.toContain('sale')
  })

  it('is emptied where a fact of its session that its head showed is forgotten', async () => {
    const { session, store } = open()
    const { fact } = await session.facts.remember(finding('The harbour is frozen.'))
    const { messages } = await say(session, 'Where to?')
    const { head } = await session.context()
    await say(session, 'And then?')
    await forget(session, fact.id)
    expect((await store.open({ ...ADA, sessionId: 'trip' }).register(head))?.body).toBeNull()
    const past = await contextAt(session, messages[0]?.id ?? '')
    expect([past.verified, past.reason]).toEqual([false, 'forgotten'])
    expect(textOf(past.context)).not.toContain('frozen')
  })

  it('shows no facts of other projects', async () => {
    const { memory, session } = open()
    const boat = memory.session({ ...ADA, sessionId: 'boat' }, { project: 'boat' })
    await boat.facts.remember({ kind: 'constraint', text: 'Paint it blue.' })
    await boat.facts.remember({ kind: 'preference', text: 'No project at all.', project: 'boat' })
    await session.facts.remember({ kind: 'constraint', text: 'Never fly.' })
    expect(textOf(await boat.context())).toMatch(
      /Paint it blue[\s\S]*Never fly|Never fly[\s\S]*Paint it blue/,
    )
    const elsewhere = memory.session({ ...ADA, sessionId: 'car' }, { project: 'car' })
    for (const one of [session, elsewhere]) {
      const text = textOf(await one.context())
      expect(text).toContain('Never fly.')
      expect(text).not.toContain('blue')
    }
  })

  it('shows the newest facts of all scopes, however important the older ones of another scope are', async () => {
    const { session } = open()
    for (let index = 0; index < 20; index++)
      await session.facts.remember({
        kind: 'constraint',
        text: `Rule ${index} is about ${'abcdefghijklmnopqrst'[index]}.`,
      })
    await session.context()
    await session.facts.remember(finding('The ferry leaves at noon.'))
    const context = await session.context()
    expect(textOf(context, 'tail')).toContain('The ferry leaves at noon.')
  })

  it('shows a fact at once that is shared or made long after it was said', async () => {
    const { memory, session } = open()
    const { fact } = await session.facts.remember({
      kind: 'preference',
      text: 'Likes window seats.',
      trust: 'assistant',
    })
    const home = memory.session({ ...ADA, sessionId: 'home' })
    for (let index = 0; index < 20; index++)
      await home.facts.remember({
        kind: 'preference',
        text: `Likes ${'abcdefghijklmnopqrst'[index]}${index}.`,
        createdAt: NOON + index,
      })
    expect(textOf(await home.context())).not.toContain('window')
    await session.facts.promote(fact.id)
    expect(textOf(await home.context(), 'tail')).toContain('Likes window seats.')
  })

  it('shows as much as fits in strict order, and counts the rest', async () => {
    const { session } = open({ facts: { tokens: 30, newsTokens: 20, pinnedTokens: 0 } })
    for (const [priority, text] of [
      [9, 'First of all, the harbour.'],
      [8, `Second, ${'a very long story '.repeat(20)}`],
      [7, 'Third.'],
    ] as const)
      await session.facts.remember(finding(text, { priority }))
    const context = await session.context()
    expect(textOf(context, 'memory')).toContain('First of all')
    expect(textOf(context)).not.toContain('Third.')
    expect(context.receipt.remembered).toMatchObject([
      { name: 'facts', cap: 30, items: 1, overflow: { count: 2, first: expect.any(Array) } },
    ])
    await session.facts.remember(finding('News at last.'))
    await session.facts.remember(finding(`Longer ${'news of all kinds '.repeat(10)}`, { priority: 0 }))
    const then = await session.context()
    expect(then.epoch).toBe(context.epoch)
    expect(textOf(then, 'tail')).toMatch(/News at last\.\n\(1 more did not fit\)/)
  })

  it('shows less of what is remembered where the least window needs the room, the profile last', async () => {
    const { memory, session } = open({
      budget: 400,
      system: '',
      profile: { tokens: 100 },
      facts: { pinnedTokens: 100, tokens: 100, newsTokens: 40 },
      checkpoint: { excerptTokens: 40 },
    })
    await memory.user(ADA).profile.set('SOUL.md', 'You are calm.')
    await session.facts.remember({ kind: 'constraint', text: `Never fly. ${'Not even once. '.repeat(15)}` })
    await session.facts.remember(finding(`The ferry. ${'It is slow. '.repeat(20)}`))
    await session.checkpoint.set({ at: 'the harbour' })
    const seen: (readonly boolean[])[] = []
    for (const size of [20, 240, 290, 325, 360]) {
      await say(session, 'x'.repeat(size * 4))
      const context = await session.context().catch(() => undefined)
      if (context)
        seen.push(
          ['You are calm.', 'Never fly.', 'The ferry.', 'the harbour'].map((one) =>
            textOf(context).includes(one),
          ),
        )
    }
    expect(seen).toEqual([
      [true, true, true, true],
      [true, true, false, true],
      [true, false, false, true],
      [true, false, false, false],
    ])
  })

  it.each([150, 400, 2_000, 40_000])(
    'holds the line of %s tokens with 200 facts, pins and a huge profile',
    async (budget) => {
      for (const sections of [
        { profile: {}, facts: {} },
        { profile: { tokens: 3 }, facts: {} },
        {
          profile: { tokens: budget },
          facts: { pinnedTokens: budget, tokens: budget, newsTokens: budget },
        },
      ]) {
        const { memory, session } = open({
          budget,
          profile: sections.profile,
          facts: { ...sections.facts, caps: { perHour: 1_000 } },
        })
        await memory.user(ADA).profile.set('SOUL.md', 'You are calm. '.repeat(2_000))
        for (let index = 0; index < 100; index++) {
          await session.facts.remember(finding(`Ship ${index} sails to ${(index * 7_919) % 1_000} at dawn.`))
          await session.facts.remember({
            kind: 'constraint',
            text: `Never take ship ${index * 7} to ${(index * 104_729) % 997}.`,
          })
        }
        await say(session, 'Where to?')
        const context = await session
          .context()
          .catch((error: { code: string; breakdown: { floor: number } }) => {
            expect([error.code, error.breakdown.floor > budget]).toEqual(['ERR_BUDGET_TOO_SMALL', true])
          })
        if (!context) continue
        const { used, margin, cap, remembered = [] } = context.receipt
        expect(used + margin).toBeLessThanOrEqual(cap ?? Infinity)
        const counted = (name: string): number => {
          const { items = 0, overflow = { count: 0 } } = remembered.find((use) => use.name === name) ?? {}
          return items + overflow.count
        }
        expect(counted('pins') + counted('facts')).toBe(200)
      }
    },
  )

  it('shows a pin without room among the pins as the first of the other facts', async () => {
    const { session } = open({ budget: 4_000, facts: { pinnedTokens: 12 } })
    await session.facts.remember({ kind: 'constraint', text: 'Never fly.' })
    await session.facts.remember({ kind: 'constraint', text: 'Always book the window seat.', priority: 1 })
    await session.facts.remember(finding('The lift is broken.'))
    await say(session, 'Where to?')
    const { blocks, receipt } = await session.context()
    const [system, facts] = blocks.map(({ parts }) =>
      parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    )
    expect(system).toContain('- constraint: Never fly.')
    expect(system).not.toContain('window seat')
    const lines = facts?.split('\n').filter((line) => line.startsWith('- '))
    expect(lines?.map((line) => line.replace(/\[f\d{6}\] /, ''))).toEqual([
      '- constraint [user] Always book the window seat.',
      '- finding [user] The lift is broken.',
    ])
    const uses = receipt.remembered?.map(({ name, items, overflow }) => [name, items, overflow.count])
    expect(uses).toEqual([
      ['pins', 1, 0],
      ['facts', 2, 0],
    ])
  })

  it('goes on without what cannot be read, and says so', async () => {
    const map = mapStore()
    let broken = true
    const store: Store = {
      ...map,
      open: (scope) => {
        const inner = map.open(scope)
        return scope.sessionId === undefined
          ? new Proxy(inner, {
              get: (target, key: keyof typeof inner) =>
                key === 'head' && broken
                  ? () => Promise.reject(new Error('the disk is away'))
                  : (target[key] as () => unknown)?.bind?.(target),
            })
          : inner
      },
    }
    const { session } = open({}, store)
    await say(session, 'Where to?')
    const context = await session.context()
    expect(context.receipt.failures).toEqual(
      ['facts', 'profile', 'skills'].map((part) => ({
        part,
        code: 'ERR_STORAGE',
        message: 'the disk is away',
      })),
    )
    broken = false
    expect((await session.context()).receipt.failures).toEqual([])
  })

  it('shows on what was frozen of a feature that cannot be read, in the next epoch too', async () => {
    let broken = false
    const store = changedStore(mapStore(), (inner) => ({
      indexed: async (group, query) => {
        if (broken && group.startsWith('fact')) throw new Error('the disk is away')
        return inner.indexed(group, query)
      },
    }))
    const { memory, session } = open({}, store)
    await session.facts.remember({ kind: 'constraint', text: 'Never fly.' })
    await memory.user(ADA).profile.set('SOUL.md', 'Be brief.')
    await say(session, 'Where to?')
    await session.context()
    broken = true
    await memory.user(ADA).profile.set('SOUL.md', 'Be kind.')
    const context = await session.context()
    expect(context.receipt.failures.map(({ part }) => part)).toEqual(['facts'])
    expect(causeOf(context)).toBe('head')
    expect(textOf(context, 'system')).toContain('Be kind.')
    expect(textOf(context, 'system')).toContain('Never fly.')
    const again = await session.context({ newEpoch: true })
    expect(textOf(again, 'system')).toBe(textOf(context, 'system'))
    broken = false
    expect((await session.context()).epoch).toBe(again.epoch)
  })

  it('shows the checkpoint in the tail where a size is given for it, cut where it is larger', async () => {
    const { session } = open({ checkpoint: { excerptTokens: 60 } })
    expect(textOf(await session.context(), 'tail')).toBe('Begin.')
    await session.checkpoint.set({ at: 'the harbour' })
    const first = await session.context()
    expect(textOf(first, 'tail')).toContain('{"at":"the harbour"}')
    await session.checkpoint.set({ at: 'the harbour', log: 'and then '.repeat(200) })
    const second = await session.context()
    expect(second.epoch).toBe(first.epoch)
    expect(second.receipt.remembered).toMatchObject([
      { name: 'checkpoint', items: 1, overflow: { count: 1 } },
    ])
  })
})

describe('the provider’s cache', () => {
  /**
   * What a conversation of 60 rounds costs, with a fact remembered in every second of them or not,
   * by what repeats at the front.
   */
  async function costWith(remembers: boolean): Promise<{ readonly cost: number; readonly epochs: number }> {
    const { session } = open({ budget: 8_000 })
    const epochs = new Set<string>()
    let cost = 0
    let before: Context | undefined
    for (let round = 0; round < 60; round++) {
      await say(session, `Question ${round}: ${'and what then? '.repeat(26)}`)
      if (remembers && round % 2 === 0)
        await session.facts.remember(
          finding(`Ship ${round} sails to ${'xyzuvw'[round % 6]}${round * 7} at dawn.`),
        )
      const context = await session.context()
      epochs.add(context.epoch)
      const last = before?.blocks ?? []
      let hit = 0
      for (const [index, block] of context.blocks.entries()) {
        if (JSON.stringify(last[index]) !== JSON.stringify(block)) break
        hit += block.tokens
      }
      cost += costOf(context.receipt.used, hit)
      before = context
      await session.append({ role: 'assistant', content: `Answer ${round}: ${'then the tide. '.repeat(26)}` })
    }
    return { cost, epochs: epochs.size }
  }

  it('hits as far as before while facts are remembered', async () => {
    const without = await costWith(false)
    const withFacts = await costWith(true)
    expect(withFacts.epochs).toBeLessThanOrEqual(without.epochs + 2)
    // What is new is paid for, and what it stands beside is not paid for again.
    expect(withFacts.cost).toBeLessThan(without.cost * 1.3)
  })

  it.each([
    ['fact', 'finding'],
    ['pin', 'constraint'],
  ] as const)('survives a new %s among hundreds', async (_, kind) => {
    const { session } = open({ budget: 400_000, facts: { caps: { perHour: 1_000 } } })
    const remember = (text: string, priority: number) => session.facts.remember({ kind, text, priority })
    for (let index = 0; index < 200; index++)
      await remember(`Ship number ${index} sails to ${(index * 7919) % 1000} at dawn.`, 3)
    const epochs = new Set([(await session.context()).epoch])
    for (let index = 0; index < 16; index++) {
      await remember(`Train ${index} goes to ${(index * 104_729) % 1000} by night.`, 9)
      epochs.add((await session.context()).epoch)
    }
    expect(epochs.size).toBe(1)
  })
})

describe('what leaves the window', () => {
  const seats: Extract = (rounds) =>
    rounds
      .flat()
      .flatMap(({ id, role, content }) =>
        role === 'user' && typeof content === 'string' && content.startsWith('I prefer')
          ? [{ id: `said/${id}`, kind: 'preference' as const, text: content, sources: [id] }]
          : [],
      )

  it.each([
    ['an extractor of one’s own', seats],
    ['extractFacts', extractFacts],
  ])(
    'is remembered first, by %s, and reaches the model in all later contexts, across sessions once it is promoted',
    async (_, extract) => {
      const { memory, session } = open({ budget: 4_000, extraction: { extract } })
      await say(session, 'I prefer seats by the window.')
      for (let round = 0; round < 40; round++) {
        const context = await talk(session, 1)
        expect(textOf(context)).toContain('I prefer seats by the window.')
        expect(context.receipt.failures).toEqual([])
      }
      const shown = await session.context()
      expect(textOf(shown, 'window')).not.toContain('I prefer')
      expect(textOf(shown, 'memory')).toContain('I prefer seats by the window.')
      const elsewhere = () => memory.session({ ...ADA, sessionId: 'home' }).context()
      expect(textOf(await elsewhere())).not.toContain('I prefer seats')
      const [fact] = await session.facts.list()
      await session.facts.promote(fact?.id ?? '')
      expect(textOf(await elsewhere())).toContain('I prefer seats')
      expect(await session.facts.list()).toHaveLength(1)
      expect(await session.facts.list()).not.toMatchObject([{ extracted: true }])
    },
  )

  it('adds nothing when it is extracted twice', async () => {
    const store = mapStore()
    const { session } = open({ budget: 4_000, extraction: { extract: seats } }, store)
    await say(session, 'I prefer seats by the window.')
    await talk(session, 15)
    const other = open({ budget: 3_000, extraction: { extract: seats } }, store).session
    await talk(other, 15)
    expect(await session.facts.list()).toHaveLength(1)
  })

  it.each([
    ['fails', () => Promise.reject(new Error('no idea'))],
    ['gives what is no fact', () => [{ kind: 'wish', text: 'Wishes.' } as never]],
    ['gives nothing where a fact should be', () => [null as never]],
    ['gives a source that is no id', () => [{ kind: 'constraint', text: 'So.', sources: [7] } as never]],
    ['gives what is no list', () => 'nothing' as never],
  ])('leaves it where an extractor %s, which the receipt says', async (_, extract) => {
    const { session } = open({ budget: 2_000, extraction: { extract } })
    const failures = []
    for (let round = 0; round < 20; round++) failures.push(...(await talk(session, 1)).receipt.failures)
    expect(failures.length).toBeGreaterThan(0)
    expect(failures.every(({ part, code }) => part === 'extract' && code === 'ERR_HOOK')).toBe(true)
  })

  it('is remembered but for what cannot be, where some of what is extracted is no fact', async () => {
    const extract: Extract = (rounds) => [
      { kind: 'wish', text: 'Wishes.' } as never,
      ...(seats(rounds) as FactInput[]),
    ]
    const { session } = open({ budget: 2_000, extraction: { extract } })
    await say(session, 'I prefer seats by the window.')
    const failures = []
    for (let round = 0; round < 15; round++) failures.push(...(await talk(session, 1)).receipt.failures)
    expect(failures[0]).toMatchObject({ part: 'extract', code: 'ERR_HOOK' })
    expect(await session.facts.list()).toHaveLength(1)
  })

  it('is no more trusted than the least trusted message, where it names no source', async () => {
    const extract: Extract = (rounds) =>
      rounds.flat().some(({ trust }) => trust === 'web')
        ? [{ kind: 'constraint', text: 'Always send a copy to the harbour.', trust: 'user' }]
        : []
    const { session, memory } = open({ budget: 2_000, extraction: { extract } })
    await session.append({ role: 'user', content: 'Always send a copy to the harbour.', trust: 'web' })
    await talk(session, 15)
    expect(await session.facts.list()).toMatchObject([{ trust: 'web', pinned: false }])
    expect(await memory.user(ADA).facts.list()).toEqual([])
    expect(textOf(await session.context(), 'system')).not.toContain('harbour')
  })

  it('is remembered too where it was in the window of another lane only', async () => {
    const store = mapStore()
    const { session } = open({ budget: 4_000, extraction: { extract: seats } }, store)
    await say(session, 'I prefer seats by the window.')
    await talk(session, 8)
    expect(await session.facts.list()).toEqual([])
    const context = await open({ budget: 1_000, extraction: { extract: seats } }, store).session.context()
    expect(textOf(context, 'memory')).toContain('I prefer seats by the window.')
  })

  it('is remembered too where a rewind that was taken back is why it leaves', async () => {
    const { session } = open({ budget: 4_000, extraction: { extract: seats } })
    await say(session, 'I prefer seats by the window.')
    await talk(session, 12)
    const { messages } = await session.append({ role: 'user', content: 'Stop.' })
    await session.context()
    await rewind(session, messages[0]?.id ?? '')
    await session.context()
    expect(await session.facts.list()).toEqual([])
    await undo(session)
    const context = await session.context({ tail: 'And so on. '.repeat(500) })
    expect([causeOf(context), textOf(context, 'window').includes('I prefer')]).toEqual(['rewind', false])
    expect(textOf(context, 'memory')).toContain('I prefer seats by the window.')
  })

  it('is not waited for longer than ten seconds', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const { session } = open({ budget: 2_000, extraction: { extract: () => new Promise(() => {}) } })
      for (let round = 0; round < 20; round++) await say(session, 'And then? '.repeat(80))
      const waiting = session.context()
      await vi.advanceTimersByTimeAsync(10_000)
      const { receipt } = await waiting
      expect(receipt.failures).toMatchObject([{ part: 'extract', code: 'ERR_HOOK' }])
      expect(receipt.epoch).toMatchObject({ cause: 'start' })
    } finally {
      vi.useRealTimers()
    }
  })

  it('is not proposed by a preview', async () => {
    let calls = 0
    const { session } = open({
      budget: 2_000,
      extraction: {
        extract: () => {
          calls++
          return []
        },
      },
    })
    for (let round = 0; round < 20; round++) await say(session, 'And then? '.repeat(80))
    await session.context({ preview: true })
    expect(calls).toBe(0)
  })
})

describe('two objects of one session, of which one is in a project', () => {
  it('each show what belongs there', async () => {
    const { memory } = open({})
    const scope = { ...ADA, sessionId: 'trip' }
    const [inProject, inNone] = [memory.session(scope, { project: 'boats' }), memory.session(scope)]
    await inProject.facts.remember({ kind: 'constraint', text: 'Never sail at night.' })
    await inNone.facts.remember({ kind: 'constraint', text: 'Never fly.' })
    await inProject.append({ role: 'user', content: 'Hi.' })
    for (const _ of [1, 2]) {
      const boats = textOf(await inProject.context(), 'system')
      expect([boats.includes('sail at night'), boats.includes('Never fly')]).toEqual([true, true])
      const none = textOf(await inNone.context(), 'system')
      expect([none.includes('sail at night'), none.includes('Never fly')]).toEqual([false, true])
    }
  })
})
