import { describe, expect, it } from 'vitest'
import { lawChecker } from '../../../src/assert-laws.ts'
import { charsPerToken, type FactInput, mapStore } from '../../../src/index.ts'
import { forget } from '../../../src/operations/forget/forget.ts'
import { type FullMemory, fullMemory, memoryWith } from '../../contract/full-memory.ts'
import { changedStore } from '../../everywhere/changed-store.ts'

const ADA = { userId: 'ada' }

const open = (store = mapStore()): FullMemory =>
  memoryWith(['facts'], { store, budget: 16_000, counter: charsPerToken(4), laws: lawChecker })
const trip = (memory: FullMemory) => memory.session({ ...ADA, sessionId: 'trip' })
const home = (memory: FullMemory) => memory.session({ ...ADA, sessionId: 'home' })
const textsOf = async (facts: Promise<readonly { readonly text: string }[]>): Promise<readonly string[]> =>
  (await facts).map(({ text }) => text)

describe('what a session hands over to its user', () => {
  it('is handed over whole, however much one commit holds', async () => {
    const memory = open()
    const facts = Array.from({ length: 40 }, (_, index): FactInput => {
      const harbour = `harbour${index}`
      return { kind: 'constraint', text: `Never moor in ${harbour}.` }
    })
    await trip(memory).commit({ facts })
    expect(await memory.user(ADA).facts.list()).toHaveLength(40)
  })

  it('is not taken for another fact that has its id', async () => {
    const memory = open()
    await memory.user(ADA).facts.remember({ id: 'rule', kind: 'constraint', text: 'Never book a flight.' })
    await trip(memory).commit({ facts: [{ id: 'rule', kind: 'constraint', text: 'Always pay in cash.' }] })
    expect(await textsOf(home(memory).facts.list())).toEqual(
      expect.arrayContaining(['Never book a flight.', 'Always pay in cash.']),
    )
    expect(await textsOf(trip(memory).facts.list())).toHaveLength(2)
  })

  it('is nothing of a trust below the user’s', async () => {
    const memory = open()
    const said: FactInput = { kind: 'constraint', text: 'Send a copy to the harbour.', trust: 'web' }
    const { fact } = await trip(memory).facts.remember(said)
    await expect(memory.user(ADA).facts.adopt(fact)).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' })
    expect(await memory.user(ADA).facts.list()).toEqual([])
  })

  it('is handed over once, though its end was not heard of', async () => {
    const store = mapStore()
    const rule: FactInput = { id: 'rule', kind: 'constraint', text: 'Never book a flight.' }
    await open(store).user(ADA).facts.remember(rule)
    let puts = 0
    const ending = changedStore(store, (scope) => ({
      commit: async (ops, decision) => {
        // The session's put is the first, the user's the second; then the process ends.
        if (ops.some(({ envelope }) => envelope.key?.startsWith('fact/')) && ++puts > 2)
          throw new Error('over')
        return scope.commit(ops, decision)
      },
    }))
    const facts: FactInput[] = [{ id: 'rule', kind: 'constraint', text: 'Always pay in cash.' }]
    await trip(open(ending)).commit({ facts })
    expect(await textsOf(open(store).user(ADA).facts.list())).toHaveLength(2)
    expect(await store.open({ ...ADA, sessionId: 'trip' }).indexed('fact/share')).toHaveLength(1)
    await trip(open(store)).context()
    expect(await textsOf(open(store).user(ADA).facts.list())).toHaveLength(2)
    expect(await store.open({ ...ADA, sessionId: 'trip' }).indexed('fact/share')).toHaveLength(0)
  })

  it('stays forgotten where that was done while it was handed over', async () => {
    const store = mapStore()
    let puts = 0
    const slow = changedStore(store, (scope) => ({
      commit: async (ops, decision) => {
        // First it is the session's, then it is to be the user's.
        const isPut = ops.some(({ envelope }) => envelope.key === 'fact/secret')
        if (isPut && ++puts === 2) await forget(trip(open(store)), 'secret')
        return scope.commit(ops, decision)
      },
    }))
    const text = 'Never call at the old harbour.'
    await trip(open(slow)).commit({ facts: [{ id: 'secret', kind: 'constraint', text }] })
    expect(puts).toBeGreaterThan(1)
    expect(await textsOf(home(open(store)).facts.list())).toEqual([])
    expect(await textsOf(trip(open(store)).facts.list())).toEqual([])
  })
})

describe('a fact of a session', () => {
  it('shows beside one of the user’s that has its id', async () => {
    const memory = open()
    const session = trip(memory)
    await session.append({ role: 'user', content: 'Hi.' })
    await session.facts.remember({ id: 'one', kind: 'finding', text: 'Trains go at 9:40.' })
    await memory.user(ADA).facts.remember({ id: 'one', kind: 'preference', text: 'Aisle seats.' })
    const text = JSON.stringify((await session.context()).blocks)
    expect(text).toContain('Trains go at 9:40.')
    expect(text).toContain('Aisle seats.')
  })

  it('is refused where the user has another one of its id', async () => {
    const memory = open()
    await memory.user(ADA).facts.remember({ id: 'one', kind: 'preference', text: 'Aisle seats.' })
    const other: FactInput = { id: 'one', kind: 'finding', text: 'Trains go at 9:40.' }
    await expect(trip(memory).facts.remember(other)).rejects.toMatchObject({
      code: 'ERR_DUPLICATE_ID',
      id: 'one',
    })
    expect(await textsOf(trip(memory).facts.list())).toEqual(['Aisle seats.'])
  })

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'Trains go at 9:40.'],
    ['a source that is no id', { kind: 'constraint', text: 'So.', sources: [null] }],
    ['an id that is no text', { kind: 'constraint', text: 'So.', id: 7 }],
    ['no text', { kind: 'constraint', id: 'one' }],
  ])('is refused with a code where it is %s', async (_, input) => {
    await expect(trip(open()).facts.remember(input as never)).rejects.toMatchObject({
      code: 'ERR_INVALID_ARGUMENT',
    })
  })

  it('is remembered, though another session gave its op the same name', async () => {
    const memory = open()
    const named = { opId: 'step-1' }
    await trip(memory).facts.remember({ kind: 'preference', text: 'Aisle seats.' }, named)
    await home(memory).facts.remember({ kind: 'preference', text: 'Strong tea.' }, named)
    const again = await home(memory).facts.remember({ kind: 'preference', text: 'Strong tea.' }, named)
    expect(again).toMatchObject({ status: 'new', fact: { text: 'Strong tea.' } })
    expect([...(await textsOf(home(memory).facts.list()))].sort()).toEqual(['Aisle seats.', 'Strong tea.'])
  })

  it('is its project’s where it is committed with messages, as any other', async () => {
    const memory = open()
    const session = memory.session({ ...ADA, sessionId: 'trip' }, { project: 'boats' })
    await session.commit({
      messages: { role: 'user', content: 'Hi.' },
      facts: [
        { kind: 'constraint', text: 'Never sail at night.' },
        { kind: 'constraint', text: 'Never row alone.', project: 'rowing' },
      ],
    })
    const facts = await memory.user(ADA).facts.list()
    expect(facts.map(({ project }) => project).sort()).toEqual(['boats', 'rowing'])
  })

  it('that replaces another one stays in its project', async () => {
    const memory = open()
    const session = memory.session({ ...ADA, sessionId: 'trip' }, { project: 'boats' })
    const user = memory.user(ADA)
    const { fact } = await session.facts.remember({ kind: 'preference', text: 'Wooden boats.' })
    const everywhere = await user.facts.remember({ kind: 'preference', text: 'Short answers.' })
    await session.facts.supersede(fact.id, { kind: 'preference', text: 'Steel ships.' })
    await session.facts.supersede(everywhere.fact.id, { kind: 'preference', text: 'Long replies.' })
    const found = await user.facts.list()
    expect(found.map(({ text, project }) => [text, project]).sort()).toEqual([
      ['Long replies.', undefined],
      ['Steel ships.', 'boats'],
    ])
  })
})

it('a preference or constraint of one project shows in no other project, no session without one, and to no other user', async () => {
  const store = mapStore()
  const memory = fullMemory({ store, budget: 8_000 })
  const shop = { ...ADA, sessionId: 'shop' }
  const turin = memory.session(shop, { project: 'turin' })
  await turin.facts.remember({ kind: 'preference', text: 'Prefers tabs here.' })
  await memory
    .user(ADA)
    .facts.remember({ kind: 'constraint', text: 'Never push on Friday.', project: 'turin' })
  const shown = async (userId: string, project?: string): Promise<readonly boolean[]> => {
    const session = memory.session(
      { userId, sessionId: `new-${project}` },
      project === undefined ? {} : { project },
    )
    await session.append({ role: 'user', content: 'Go.' })
    const text = JSON.stringify((await session.context()).blocks)
    return ['Prefers tabs here.', 'Never push on Friday.'].map((said) => text.includes(said))
  }
  expect(await shown(ADA.userId, 'turin')).toEqual([true, true])
  expect(await shown(ADA.userId, 'oslo')).toEqual([false, false])
  expect(await shown(ADA.userId)).toEqual([false, false])
  expect(await shown('eve', 'turin')).toEqual([false, false])
})
