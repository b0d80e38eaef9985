import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PLACES } from '../../../src/features/places.ts'
import { createMemory, type FactInput, facts, mapStore, recall, type Store } from '../../../src/index.ts'
import type { Feature } from '../../../src/kernel/feature.ts'
import { contextAt } from '../../../src/operations/context-at.ts'
import { forget, forgetFact } from '../../../src/operations/forget/forget.ts'
import { editMessage } from '../../../src/operations/rewind.ts'
import type { Context } from '../../../src/ports/context.ts'
import { device, TestHome } from '../support/synced.ts'

const ADA = { userId: 'ada' }
const SCOPE = { ...ADA, sessionId: 'trip' }
const SEAT = { id: 'seat', kind: 'preference', text: 'Prefers window seats' } as const

const memoryOver = (store: Store) => {
  let now = 1_763_800_000_000
  return createMemory({
    store,
    budget: 16_000,
    system: 'You are.',
    clock: () => (now += 1_000),
    use: [facts(), recall()],
  })
}
type Memory = ReturnType<typeof memoryOver>
type Opened = ReturnType<Memory['session']>

/** A fact is told after the epoch began; the call for `a2` has it in its tail. */
async function told(
  session: Opened,
  fact: FactInput = SEAT,
  options = {},
  by: { readonly opId?: string } = {},
): Promise<Context> {
  await session.append({ id: 'm1', role: 'user', content: 'I prefer window seats.' })
  await session.context()
  await session.append({ id: 'a1', role: 'assistant', content: 'Noted.' })
  await session.facts.remember(fact, by)
  await session.append({ id: 'm2', role: 'user', content: 'Book one.' })
  const given = await session.context(options)
  await session.append({ id: 'a2', role: 'assistant', content: 'Booked.' })
  return given
}

function twoDevices() {
  const home = new TestHome()
  const [one, other] = [device(home), device(home)]
  for (const { store } of [one, other]) for (const scope of [SCOPE, ADA]) store.follow(scope)
  const settle = async () => {
    for (let round = 0; round < 3; round++) {
      home.poke()
      for (const { store } of [one, other]) await store.settled()
    }
  }
  return { home, one, other, settle }
}

const textOf = (context: Context): string => JSON.stringify(context.blocks)

describe('the tail of a past context', () => {
  it('is in it, with the facts that were newer than the epoch', async () => {
    const session = memoryOver(mapStore()).session(SCOPE)
    const given = await told(session)
    expect(textOf(given)).toContain(SEAT.text)
    const past = await contextAt(session, 'm2')
    expect(past).toEqual({ context: given, verified: true, tail: 'whole' })
  })

  it('is whole where there was none, of a call without facts and of one before any was told', async () => {
    const plain = createMemory({ store: mapStore(), budget: 16_000 }).session(SCOPE)
    const told = memoryOver(mapStore()).session(SCOPE)
    await told.facts.remember(SEAT)
    for (const session of [plain, told]) {
      await session.append({ id: 'm1', role: 'user', content: 'Hello.' })
      const given = await session.context()
      await session.append({ id: 'a1', role: 'assistant', content: 'Hello.' })
      expect(await contextAt(session, 'm1')).toEqual({ context: given, verified: true, tail: 'whole' })
      // What asks to go on is made of nothing but the log.
      const going = await session.context()
      await session.append({ id: 'a2', role: 'assistant', content: 'More.' })
      expect(await contextAt(session, 'a1')).toEqual({ context: going, verified: true, tail: 'whole' })
    }
  })

  it('is not taken for none where the app gave one', async () => {
    const session = createMemory({ store: mapStore(), budget: 16_000 }).session(SCOPE)
    await session.append({ id: 'm1', role: 'user', content: 'Hello.' })
    await session.context({ tail: 'It is Monday.' })
    await session.append({ id: 'a1', role: 'assistant', content: 'Hello.' })
    expect(await contextAt(session, 'm1')).toMatchObject({ verified: true, tail: 'absent' })
  })

  it('is in it after a reopen, and of facts of the session alone', async () => {
    const store = mapStore()
    const given = await told(memoryOver(store).session(SCOPE), { kind: 'finding', text: 'It rains in Turin' })
    const past = await contextAt(memoryOver(store).session(SCOPE), 'm2')
    expect(past).toMatchObject({ verified: true, tail: 'whole', context: { hash: given.hash } })
    expect(textOf(past.context)).toContain('It rains in Turin')
  })

  it('is as it was before facts that were told later, and before a rewind', async () => {
    const session = memoryOver(mapStore()).session(SCOPE)
    const given = await told(session)
    await session.facts.remember({ kind: 'preference', text: 'Eats no meat' })
    await session.append({ id: 'm3', role: 'user', content: 'And lunch?' })
    const later = await session.context()
    await session.append({ id: 'a3', role: 'assistant', content: 'Ordered.' })
    await editMessage(session, 'm2', { role: 'user', content: 'Book two.' })
    expect(textOf(later)).toContain('Eats no meat')
    for (const [id, { hash, blocks }] of [
      ['m2', given],
      ['m3', later],
    ] as const)
      expect(await contextAt(session, id)).toMatchObject({
        verified: true,
        tail: 'whole',
        context: { hash, blocks },
      })
  })

  it('is not in it where a fact was changed or replaced since', async () => {
    for (const change of [
      (session: Opened) => session.facts.supersede('seat', { kind: 'preference', text: 'Prefers the aisle' }),
      (session: Opened) => session.facts.pin('seat'),
    ]) {
      const session = memoryOver(mapStore()).session(SCOPE)
      await told(session)
      await change(session)
      const past = await contextAt(session, 'm2')
      expect(past).toMatchObject({ verified: true, tail: 'absent' })
      expect(textOf(past.context)).not.toMatch(/Prefers/)
    }
  })

  it('is not in it where a fact was forgotten, and nothing of its words is', async () => {
    for (const fact of [SEAT, { ...SEAT, kind: 'finding' }] as const) {
      const store = mapStore()
      const memory = memoryOver(store)
      const session = memory.session(SCOPE)
      await told(session, fact)
      if (fact.kind === 'finding') await forget(session, 'seat')
      else await forgetFact(memory, ADA, 'seat')
      const past = await contextAt(session, 'm2')
      expect(past.tail).toBe('absent')
      expect(textOf(past.context)).not.toContain('Prefers')
    }
  })

  it('is recorded without what it says: of facts of other words under the same ops it is the same', async () => {
    const rows = async (text: string) => {
      const store = mapStore()
      const memory = createMemory({
        store,
        budget: 16_000,
        use: [facts(), recall()],
        newSecret: () => 'a'.repeat(64),
        newId: (
          (next) => () =>
            `id-${next++}`
        )(1),
        clock: () => 1,
      })
      await told(memory.session(SCOPE), { ...SEAT, text })
      return (await store.open(SCOPE).entries()).rows.map(({ contexts }) => contexts)
    }
    const [one, other] = [await rows('Prefers window seats'), await rows('Prefers other seats')]
    expect(one).toEqual(other)
    expect(one.at(-1)).toHaveLength(2)
  })

  it('is not in it where an op of the same name wrote another fact since', async () => {
    const gone = { id: 'rain', kind: 'blocker', text: 'It rains in Turin' } as const
    const tea = { kind: 'preference', text: 'Prefers tea' } as const
    const names: readonly [string, (memory: Memory, session: Opened) => Promise<unknown>][] = [
      // Scopes know nothing of each other's names.
      ['x', (memory) => memory.user(ADA).facts.remember(tea, 'x')],
      [
        'a,b',
        async (_, { facts }) => {
          await facts.remember({ kind: 'finding', text: 'Bread costs five' }, { opId: 'b' })
          await facts.remember({ kind: 'finding', text: 'Trains leave nightly' }, { opId: 'a' })
        },
      ],
    ]
    for (const [opId, further] of names) {
      const memory = memoryOver(mapStore())
      const session = memory.session(SCOPE)
      await told(session, gone, {}, { opId })
      await session.facts.resolve('rain')
      await further(memory, session)
      expect(await contextAt(session, 'm2')).toMatchObject({ verified: true, tail: 'absent' })
    }
  })

  it('is not in it where a home had another fact under the name of its op', async () => {
    for (const kind of ['preference', 'finding'] as const) {
      const { home, one, other, settle } = twoDevices()
      const [session, elsewhere] = [
        memoryOver(one.store).session(SCOPE),
        memoryOver(other.store).session(SCOPE),
      ]
      await session.append({ id: 'm0', role: 'user', content: 'Hello.' })
      await settle()
      one.store.pause()
      await elsewhere.facts.remember({ kind, text: 'Coffee in the morning' }, { opId: 'x' })
      await other.store.settled()
      await told(session, { kind, text: 'Trains leave at nine' }, {}, { opId: 'x' })
      one.store.resume()
      await settle()
      for (const store of [one.store, other.store, home.store]) {
        const past = await contextAt(memoryOver(store).session(SCOPE), 'm2')
        expect(past.tail).toBe('absent')
        expect(textOf(past.context)).not.toContain('Coffee')
      }
    }
  })

  it('is in it at a home and each of its devices, where that had confirmed its facts', async () => {
    const { home, one, other, settle } = twoDevices()
    const session = memoryOver(one.store).session(SCOPE)
    await session.append({ id: 'm1', role: 'user', content: 'I prefer window seats.' })
    await session.context()
    await session.append({ id: 'a1', role: 'assistant', content: 'Noted.' })
    await session.facts.remember(SEAT)
    await session.append({ id: 'm2', role: 'user', content: 'Book one.' })
    await settle()
    const given = await session.context()
    await session.append({ id: 'a2', role: 'assistant', content: 'Booked.' })
    await settle()
    for (const store of [one.store, other.store, home.store])
      expect(await contextAt(memoryOver(store).session(SCOPE), 'm2')).toMatchObject({
        verified: true,
        tail: 'whole',
        context: { hash: given.hash },
      })
  })

  it('is not in it where anything else stood there', async () => {
    for (const options of [{ tail: 'It is Monday.' }, { recall: 'window' }]) {
      const session = memoryOver(mapStore()).session(SCOPE)
      await told(session)
      await session.context(options)
      await session.append({ id: 'm3', role: 'user', content: 'Is it done?' })
      await session.context(options)
      await session.append({ id: 'a3', role: 'assistant', content: 'It is.' })
      const past = await contextAt(session, 'm3')
      expect(past.verified).toBe(true)
      if (past.tail === 'whole') expect(textOf(past.context)).toContain(SEAT.text)
      else expect(textOf(past.context)).not.toContain(SEAT.text)
      expect(textOf(past.context)).not.toContain('Monday')
    }
  })

  it('is not in it where another feature showed there what nobody can name', async () => {
    const news: Feature<'news'> = {
      name: 'news',
      open: () => ({
        show: {
          since: () => ({
            sections: [{ in: 'tail', at: PLACES.news, name: 'news', text: 'It snows.', trust: 'user' }],
          }),
        },
      }),
    }
    const memory = createMemory({ store: mapStore(), budget: 16_000, use: [facts(), recall(), news] })
    const session = memory.session(SCOPE)
    const given = await told(session)
    expect(textOf(given)).toContain('It snows.')
    expect(await contextAt(session, 'm2')).toMatchObject({ verified: true, tail: 'absent' })
  })

  it('is either what was sent, to the byte, or not in it', async () => {
    const step = fc.oneof(
      fc.record({ say: fc.constantFrom('preference', 'finding', 'constraint') }),
      fc.record({
        call: fc.constantFrom({}, { tail: 'Now.' }, { recall: true as const }, { newEpoch: true }),
      }),
      fc.record({ change: fc.nat(3), at: fc.nat(9) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), async (steps) => {
        const store = mapStore()
        const memory = memoryOver(store)
        const session = memory.session(SCOPE)
        const given = new Map<string, Context>()
        for (const [number, one] of steps.entries()) {
          if ('say' in one)
            await session.facts.remember({ kind: one.say as 'finding', text: `Word${number} is so` })
          else if ('call' in one) {
            await session.append({ id: `m${number}`, role: 'user', content: `Say ${number}.` })
            given.set(`m${number}`, await session.context(one.call))
            await session.append({ id: `a${number}`, role: 'assistant', content: 'Said.' })
          } else {
            const all = await session.facts.list()
            const fact = all[one.at % Math.max(1, all.length)]
            if (!fact) continue
            if (one.change === 0) await session.facts.pin(fact.id)
            if (one.change === 1) await session.facts.review(fact.id, 'good')
            if (one.change === 2)
              await session.facts.supersede(fact.id, { kind: fact.kind, text: `Other${number} now` })
            if (one.change === 3) await forget(session, fact.id)
          }
        }
        const again = memoryOver(store).session(SCOPE)
        for (const [id, { hash, blocks }] of given) {
          const past = await contextAt(again, id)
          if (past.tail === 'absent') continue
          expect(past.verified).toBe(true)
          expect([past.context.hash, past.context.blocks]).toEqual([hash, blocks])
        }
      }),
    )
  })
})
