import { describe, expect, it } from 'vitest'
import { type FactInput, forget, forgetFact, mapStore, type Store } from '../../../src/index.ts'
import { ADA, CANARY, memoryOver, readEverything } from '../../everywhere/governance.ts'

const TRIP = { ...ADA, sessionId: 'trip' }
const HOME = { ...ADA, sessionId: 'home' }
const FIRST = 'I prefer strong green Assam tea each morning.'
const LONGER = `I prefer strong green Assam tea each morning by ${CANARY}.`

/** The user has a fact, and a session one that says more: it is promoted. */
async function promoted(more: Partial<FactInput> = {}): Promise<Store> {
  const store = mapStore()
  const memory = memoryOver(store)
  const trip = memory.session(TRIP)
  await memory.user(ADA).facts.remember({ id: 'users', kind: 'preference', text: FIRST })
  await trip.append({ id: 'said', role: 'user', content: `Tea by ${CANARY}.` })
  await trip.facts.remember({ id: 'own', kind: 'preference', text: LONGER, trust: 'web', ...more })
  await trip.facts.promote('own')
  expect(await memory.user(ADA).facts.get('users')).toMatchObject({ text: LONGER })
  expect(await trip.facts.get('own')).toMatchObject({ supersededBy: 'users' })
  await trip.context()
  await memory.session(HOME).context()
  return store
}

describe('a fact of the user that took over a longer text from a session', () => {
  it('goes with the fact that it has the text from', async () => {
    const store = await promoted()
    const memory = memoryOver(store)
    await forget(memory.session(TRIP), 'said')
    const certificate = await forget(memory.session(TRIP), 'own')
    expect(await readEverything(store)).not.toContain(CANARY)
    expect(certificate.removed.facts.count).toBe(2)
    expect(await memory.user(ADA).facts.list({ all: true })).toEqual([])
  })

  it('goes with the message that this was taken from', async () => {
    const store = await promoted({ sources: ['said'] })
    await forget(memoryOver(store).session(TRIP), 'said')
    expect(await readEverything(store)).not.toContain(CANARY)
  })

  it('takes the session’s along where it is forgotten itself, with what derives from that', async () => {
    const store = await promoted()
    const memory = memoryOver(store)
    const trip = memory.session(TRIP)
    await forget(trip, 'said')
    await trip.facts.remember({
      id: 'derived',
      kind: 'finding',
      text: `Of ${CANARY}.`,
      sources: ['fact/own'],
    })
    // It is written once more since it was handed over.
    await trip.facts.unpin('own')
    await trip.facts.review('own', 'good')
    await forgetFact(memory, ADA, 'users')
    expect(await readEverything(store)).not.toContain(CANARY)
    expect(await memory.session(TRIP).facts.list({ all: true })).toEqual([])
  })

  it('of which something in the session derives, is forgotten in one call, though it has its id', async () => {
    const store = mapStore()
    const memory = memoryOver(store)
    const trip = memory.session(TRIP)
    await trip.commit({ facts: [{ id: 'rule', kind: 'preference', text: LONGER }] })
    await trip.facts.remember({
      id: 'derived',
      kind: 'finding',
      text: `Of ${CANARY}.`,
      sources: ['fact/rule'],
    })
    await forgetFact(memory, ADA, 'rule')
    expect(await readEverything(store)).not.toContain(CANARY)
  })

  it('stands under another id, where its own is another fact’s, and goes with it all the same', async () => {
    const store = mapStore()
    const memory = memoryOver(store)
    const trip = memory.session(TRIP)
    await memory.user(ADA).facts.remember({ id: 'rule', kind: 'preference', text: 'Never fly.' })
    await trip.commit({ facts: [{ id: 'rule', kind: 'preference', text: LONGER }] })
    expect(await memory.user(ADA).facts.list()).toHaveLength(2)
    await forget(trip, 'rule')
    expect(await readEverything(store)).not.toContain(CANARY)
  })

  it('holds the words of two messages where what was extracted was merged before it was promoted', async () => {
    for (const forgotten of ['said', 'again']) {
      const store = mapStore()
      const memory = memoryOver(store)
      const trip = memory.session(TRIP)
      await trip.append([
        { id: 'said', role: 'user', content: 'Tea.' },
        { id: 'again', role: 'user', content: 'More tea.' },
      ])
      const tea = { kind: 'preference', trust: 'import' } as const
      await trip.facts.remember({ ...tea, id: 'first', text: FIRST, sources: ['said'] })
      await trip.facts.remember({ ...tea, id: 'second', text: LONGER, sources: ['again'] })
      await trip.facts.promote('first')
      await trip.facts.remember({ ...tea, id: 'third', text: LONGER, trust: 'user', sources: ['again'] })
      expect(await memory.user(ADA).facts.list()).toMatchObject([{ sources: ['said', 'again'] }])
      await forget(trip, forgotten)
      expect(await readEverything(store)).not.toContain(CANARY)
    }
  })
})
