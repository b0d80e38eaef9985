import { describe, expect, it } from 'vitest'
import { heldScope } from '../../../src/edge/objects/held-scope.ts'
import { emptiedBy } from '../../../src/forgetting/deletes.ts'
import { OWED } from '../../../src/forgetting/owed.ts'
import { mapStore, PlimsollError, type Store } from '../../../src/index.ts'
import { decide } from '../../../src/kernel/log/decide.ts'
import { sealOp } from '../../../src/kernel/log/seal.ts'
import { readAudit } from '../../../src/operations/audit.ts'
import { deleteSession } from '../../../src/operations/delete-session.ts'
import { forget, forgetFact } from '../../../src/operations/forget/forget.ts'
import { nextWorkAt, runDueWork } from '../../../src/operations/upkeep.ts'
import type { Certificate } from '../../../src/ports/certificate.ts'
import { changedStore } from '../../everywhere/changed-store.ts'
import { ADA, CANARY, memoryOver, readEverything } from '../../everywhere/governance.ts'
import { FailingStore, type Failure } from '../support/failing-store.ts'

const TRIP = { ...ADA, sessionId: 'trip' }
const HOME = { ...ADA, sessionId: 'home' }

/** A canary in a message, in facts of both scopes, and in heads of two sessions. */
async function write(store: Store): Promise<void> {
  const memory = memoryOver(store)
  const trip = memory.session(TRIP)
  const home = memory.session(HOME)
  await trip.append([
    { id: 'said', role: 'user', content: `The code is ${CANARY}.` },
    { id: 'heard', role: 'assistant', content: 'I see.' },
  ])
  await home.append({ id: 'hello', role: 'user', content: 'Hello.' })
  await trip.facts.remember({ id: 'own', kind: 'finding', text: `It is ${CANARY}.`, sources: ['said'] })
  await trip.facts.remember({ id: 'users', kind: 'preference', text: `Likes ${CANARY}.`, sources: ['said'] })
  await memory.user(ADA).facts.remember({
    id: 'of-users',
    kind: 'preference',
    text: `Likes what ${CANARY} opens.`,
    sources: ['fact/users'],
  })
  await trip.context()
  await home.context()
}

type Call = readonly [name: string, forgets: (store: Store) => Promise<Certificate>]
const CALLS: readonly Call[] = [
  ['forget of a message', (store) => forget(memoryOver(store).session(TRIP), 'said')],
  ['forget of a fact', (store) => forget(memoryOver(store).session(TRIP), 'users')],
  ['forget of a fact from another session', (store) => forget(memoryOver(store).session(HOME), 'users')],
  ['forgetFact', (store) => forgetFact(memoryOver(store), ADA, 'users')],
]

/** What is left where only facts of the user were forgotten. */
function said(all: string): number {
  return all.split(CANARY).length - 1
}

/** Calls of a store that one call makes. */
async function callsOf(forgets: Call[1]): Promise<number> {
  const store = mapStore()
  await write(store)
  const counted = new FailingStore(store, { at: Number.POSITIVE_INFINITY, when: 'before', isEnd: true })
  await forgets(counted.store)
  return counted.calls
}

/** A store in which a call ended early, at each of its calls of the store. */
async function* endedEarly(
  forgets: Call[1],
  times: readonly Failure['when'][] = ['after'],
): AsyncGenerator<{ readonly store: Store; readonly at: string }> {
  const calls = await callsOf(forgets)
  expect(calls).toBeGreaterThan(10)
  for (let at = 1; at <= calls; at++)
    for (const when of times) {
      const store = mapStore()
      await write(store)
      await forgets(new FailingStore(store, { at, when, isEnd: true }).store).catch(() => {})
      yield { store, at: `${when} ${at}` }
    }
}

async function isOwed(store: Store): Promise<boolean> {
  return ((await store.open(ADA).register(OWED))?.body ?? 'null') !== 'null'
}

describe.each(CALLS)('a %s that ends early', (_, forgets) => {
  const left = async (): Promise<number> => {
    const store = mapStore()
    await write(store)
    await forgets(store)
    return said(await readEverything(store))
  }

  it('is finished by the same call, which certifies all of it, and recorded once', async () => {
    const rest = await left()
    const whole = mapStore()
    await write(whole)
    const { removed } = await forgets(whole)
    for await (const { store, at } of endedEarly(forgets, ['before', 'after'])) {
      const wasOver = !(await isOwed(store)) && (await readAudit(memoryOver(store), ADA)).length > 0
      const certificate = await forgets(store)
      expect([at, said(await readEverything(store))]).toEqual([at, rest])
      expect([at, certificate.already]).toEqual([at, wasOver])
      const { facts, messages } = wasOver ? { facts: { count: 0 }, messages: { count: 0 } } : removed
      expect(certificate.removed).toMatchObject({
        facts: { count: facts.count },
        messages: { count: messages.count },
      })
      expect(certificate.confirmed).toEqual(['store'])
      expect([at, await isOwed(store)]).toEqual([at, false])
      expect(await readAudit(memoryOver(store), ADA)).toHaveLength(1)
    }
  })

  it('is finished by runDueWork, once it was begun', async () => {
    const rest = await left()
    for await (const { store, at } of endedEarly(forgets)) {
      if (!(await isOwed(store))) continue
      await runDueWork(memoryOver(store))
      expect([at, said(await readEverything(store)), await isOwed(store)]).toEqual([at, rest, false])
      expect(await readAudit(memoryOver(store), ADA)).toMatchObject([{ action: 'forget' }])
    }
  })

  it('shows in no session that is opened after it, once it was begun', async () => {
    const isMessage = (await left()) === 0
    for (const scope of [TRIP, HOME])
      for await (const { store, at } of endedEarly(forgets)) {
        if (!(await isOwed(store))) continue
        const shown = JSON.stringify(await memoryOver(store).session(scope).context())
        // Of the fact that is forgotten alone, the message and what is the session's own stay.
        expect(shown, at).not.toContain(isMessage ? CANARY : `Likes ${CANARY}`)
        expect(shown, at).not.toContain(`Likes what ${CANARY}`)
      }
  })
})

describe('what is owed', () => {
  it('names registers in the order in which they were last written', async () => {
    const store = mapStore()
    const trip = memoryOver(store).session(TRIP)
    await trip.append({ id: 'said', role: 'user', content: 'Three things.' })
    const scope = store.open(TRIP)
    for (const key of ['fact/b', 'fact/a', 'fact/c', 'fact/b']) {
      const base = (await scope.register(key))?.version ?? null
      const opId = `${key} over ${base}`
      await scope.commit(
        [sealOp({ kind: 'put', opId, key, base, value: 1, sources: ['entry:said'] })],
        decide,
      )
    }
    let ids = 0
    const names = await emptiedBy(scope, { newId: () => `op-${++ids}` }, ['entry:said'])
    expect(names).toEqual(['entry:said', 'register:fact/a', 'register:fact/c', 'register:fact/b'])
  })

  /** A store whose sessions lose nothing once something is owed. */
  const failing = (store: Store): Store =>
    changedStore(store, (inner) => ({
      commit: async (ops, decide) => {
        if (ops.some(({ envelope }) => envelope.target === 'entry:said') && (await isOwed(store)))
          throw new Error('disk')
        return inner.commit(ops, decide)
      },
    }))

  it('of a message that could not be emptied shows in no session that is opened later', async () => {
    const store = mapStore()
    await write(store)
    await expect(forget(memoryOver(failing(store)).session(TRIP), 'said')).rejects.toThrow('disk')
    const opened = memoryOver(store).session(TRIP)
    expect((await opened.history()).map(({ id }) => id)).toEqual(['heard'])
    expect(JSON.stringify(await opened.context())).not.toContain(CANARY)
  })

  it('is due at once where a call failed, and not before', async () => {
    const store = mapStore()
    await write(store)
    const memory = memoryOver(failing(store))
    expect(await nextWorkAt(memory)).toBeUndefined()
    await expect(forget(memory.session(TRIP), 'said')).rejects.toThrow('disk')
    expect(await nextWorkAt(memory)).toBe(1_000)
    // It goes on failing: a day later it is tried again, and nothing else waits for it.
    expect(await runDueWork(memory)).toBe(1_000 + 86_400_000)
    expect(await readEverything(store)).toContain(CANARY)
  })

  it('is not taken for done where what is of a session lives elsewhere', async () => {
    const store = mapStore()
    await write(store)
    await forget(memoryOver(failing(store)).session(TRIP), 'said').catch(() => {})
    const elsewhere: Store = {
      ...store,
      open: (scope) => {
        const isHere = scope.sessionId === undefined
        return heldScope(store.open(scope), () => {
          if (!isHere) throw new PlimsollError('ERR_NOT_FOUND', 'It lives elsewhere.')
        })
      },
    }
    await runDueWork(memoryOver(elsewhere))
    expect(await isOwed(store)).toBe(true)
    await runDueWork(memoryOver(store))
    expect(await isOwed(store)).toBe(false)
    expect(await readEverything(store)).not.toContain(CANARY)
  })

  it('that came to be derived after it was looked for goes too', async () => {
    const store = mapStore()
    await write(store)
    let isLate = false
    const changed = changedStore(store, (inner) => ({
      commit: async (ops, decision) => {
        const result = await inner.commit(ops, decision)
        // Just begun: what is to be emptied is known, and nothing is empty yet.
        if (!isLate && ops.some(({ envelope }) => envelope.key === OWED)) {
          isLate = true
          const fact = {
            kind: 'put',
            opId: 'late',
            key: 'fact/late',
            base: null,
            sources: ['register:fact/own'],
          } as const
          await store.open(TRIP).commit([sealOp({ ...fact, value: { text: CANARY } })], decide)
        }
        return result
      },
    }))
    const certificate = await forget(memoryOver(changed).session(TRIP), 'said')
    expect(isLate).toBe(true)
    expect(certificate.removed.facts.first).toContain('late')
    expect(await readEverything(store)).not.toContain(CANARY)
  })

  it('is not confirmed by who still sees it', async () => {
    const store = mapStore()
    await write(store)
    const stale = await store.open(TRIP).entries()
    const blind = changedStore(store, () => ({ entries: async () => stale }))
    expect(await forget(memoryOver(blind).session(TRIP), 'said')).toMatchObject({
      confirmed: [],
      pending: ['store', 'replicas', 'devices', 'recovery'],
    })
  })
})

describe('a session that nothing was said in', () => {
  it('is listed before a head of it shows what is the user’s, so that it is found', async () => {
    const store = mapStore()
    const memory = memoryOver(store)
    await memory.user(ADA).facts.remember({ id: 'users', kind: 'preference', text: `Likes ${CANARY}.` })
    await memory.session(TRIP).context()
    expect(await readEverything(store)).toContain('head/')
    await forgetFact(memory, ADA, 'users')
    expect(await readEverything(store)).not.toContain(CANARY)
  })

  it('is listed again where it was deleted while it was open', async () => {
    const store = mapStore()
    const memory = memoryOver(store)
    await memory.user(ADA).facts.remember({ id: 'users', kind: 'preference', text: `Likes ${CANARY}.` })
    const trip = memory.session(TRIP)
    await trip.context()
    await deleteSession(memory, ADA, 'trip')
    await trip.context()
    await forgetFact(memory, ADA, 'users')
    expect(await readEverything(store)).not.toContain(CANARY)
  })
})
