import { describe, expect, it } from 'vitest'
import { OWED } from '../../../src/forgetting/owed.ts'
import { mapStore, type Part, type Store } from '../../../src/index.ts'
import { attach, readAttachment } from '../../../src/operations/attachments.ts'
import { readAudit } from '../../../src/operations/audit.ts'
import { forgetLog } from '../../../src/operations/forget/cascade.ts'
import { clearLog } from '../../../src/operations/forget/clear-log.ts'
import { forget } from '../../../src/operations/forget/forget.ts'
import { kernelOf } from '../../../src/operations/kernel-of.ts'
import { editMessage, rewind, undo } from '../../../src/operations/rewind.ts'
import { listSessions, titleSession } from '../../../src/operations/sessions.ts'
import { runDueWork } from '../../../src/operations/upkeep.ts'
import { changedStore } from '../../everywhere/changed-store.ts'
import { ADA, CANARY, memoryOver, readEverything, writeCanary } from '../../everywhere/governance.ts'
import { FailingStore } from '../support/failing-store.ts'

const TRIP = { ...ADA, sessionId: 'trip' }

function open(store: Store = mapStore()) {
  const memory = memoryOver(store)
  return { memory, session: memory.session(TRIP), store }
}

/** A session in which three messages were said. */
async function saidThrice() {
  const world = open()
  for (const n of [1, 2, 3]) await world.session.append({ id: `m${n}`, role: 'user', content: `${n}.` })
  return world
}

/** Clears a log in steps of so many messages. */
function clearIn(store: Store, most: number) {
  const { store: own, user, memory } = kernelOf('test', open(store).session)
  const parts = {
    store: own,
    sessionId: 'trip',
    userStore: user.store,
    open: user.session,
    host: memory.host,
  }
  return forgetLog(parts, { action: 'forget', target: 'trip' }, most)
}

describe('clearing a log', () => {
  it('removes all messages and what was derived from them, and says how much', async () => {
    const { memory, store } = open()
    const { trip, home } = await writeCanary(memory)
    const certificate = await clearLog(trip)
    expect(certificate).toMatchObject({
      action: 'forget',
      target: 'trip',
      already: false,
      removed: {
        messages: { count: 303 },
        facts: { count: 5 },
        attachments: { count: 2, first: ['picture', 'shared-picture'] },
      },
      kept: { count: 0 },
      confirmed: ['store'],
    })
    expect(certificate.removed.messages.first).toHaveLength(32)
    expect(certificate.removed.summaries.count).toBeGreaterThan(0)
    expect(certificate.removed.heads.count).toBeGreaterThan(0)
    expect(await readEverything(store)).not.toContain(CANARY)
    for (const session of [trip, open(store).session]) {
      expect(await session.history({ messages: 500 })).toEqual([])
      expect(JSON.stringify(await session.context())).not.toContain('rain')
      expect(await session.recall.find('trains and seats')).toEqual([])
    }
    expect((await home.history()).length).toBe(1)
    expect(await readAudit(memory, ADA)).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({
          action: 'forget',
          target: 'trip',
          counts: expect.objectContaining({ messages: 303, facts: 5 }),
        }),
      ]),
    )
  })

  it('keeps checkpoint, title, and facts that name no message, and the session goes on', async () => {
    const { memory, session, store } = open()
    await session.commit({
      messages: [
        { id: 'm1', role: 'user', content: 'Hello.' },
        { id: 'm2', role: 'assistant', content: [{ type: 'tool-call', id: 'c1', name: 'find', input: {} }] },
      ],
      checkpoint: { step: 7 },
      facts: [
        { id: 'apart', kind: 'finding', text: 'The 9:40 is full.' },
        { id: 'mine', kind: 'preference', text: 'Likes windows.' },
      ],
    })
    await titleSession(memory, ADA, 'trip', 'Turin')
    const listed = await listSessions(memory, ADA)
    const { version } = await session.checkpoint.get()
    await clearLog(session)
    for (const one of [session, open(store).session]) {
      expect(await one.checkpoint.get()).toEqual({ value: { step: 7 }, version })
      expect((await one.facts.list()).map(({ id }) => id).sort()).toEqual(['apart', 'mine'])
    }
    expect(await listSessions(memory, ADA)).toEqual(listed)
    // A call that waited waits no more, and what is said now begins the log again.
    await session.append({ id: 'm3', role: 'assistant', content: 'Nobody asked.' })
    await session.append({ id: 'm4', role: 'user', content: 'Who is there?' })
    expect((await session.history()).map(({ id }) => id)).toEqual(['m3', 'm4'])
    const { rows } = await store.open(TRIP).entries({ kinds: ['message'] })
    expect(rows.map(({ round }) => round)).toEqual(['m1', 'm1', 'm3', 'm4'])
    expect((await session.context()).blocks.flatMap(({ from }) => from)).toEqual(
      expect.arrayContaining(['m3', 'm4']),
    )
    await expect(session.append({ id: 'm1', role: 'user', content: 'Again' })).rejects.toMatchObject({
      code: 'ERR_DUPLICATE_ID',
    })
  })

  it('leaves the log where the checkpoint is deleted: each goes without the other', async () => {
    const { session } = open()
    await session.commit({ messages: { role: 'user', content: 'Hello.' }, checkpoint: { step: 1 } })
    await session.checkpoint.delete()
    expect((await session.checkpoint.get()).version).toBeNull()
    expect(await session.history()).toHaveLength(1)
  })

  it('says `already` where nothing was said, or nothing is left, and records nothing then', async () => {
    const { memory, session } = open()
    expect(await clearLog(session)).toMatchObject({ already: true, removed: { messages: { count: 0 } } })
    expect(await listSessions(memory, ADA)).toEqual([])
    await session.append({ id: 'm1', role: 'user', content: 'Hello.' })
    expect((await clearLog(session)).already).toBe(false)
    const recorded = await readAudit(memory, ADA)
    expect(await clearLog(session)).toMatchObject({ already: true, confirmed: ['store'] })
    expect(await readAudit(memory, ADA)).toEqual(recorded)
    await session.append({ id: 'm2', role: 'user', content: 'More.' })
    expect((await clearLog(session)).removed.messages).toEqual({ count: 1, first: ['m2'] })
  })

  it('takes versions and what a rewind hid, which no undo brings back', async () => {
    const { session } = open()
    await session.append({ id: 'm1', role: 'user', content: 'One.' })
    await session.append({ id: 'm2', role: 'user', content: 'Two.' })
    await editMessage(session, 'm2', { id: 'm3', role: 'user', content: 'Three.' })
    await rewind(session, 'm1')
    expect((await clearLog(session)).removed.messages.count).toBe(3)
    await undo(session)
    expect(await session.history()).toEqual([])
  })

  it('keeps an attachment that a message names which was said meanwhile, in steps too', async () => {
    const { session } = open()
    const bytes = Uint8Array.of(1, 2, 3)
    const pictures: Part[] = []
    for (const id of ['a', 'b'])
      pictures.push(await attach(session, { mediaType: 'image/png', bytes, id, tokens: 1 }))
    const [a, b] = pictures as [Part, Part]
    await session.append(
      [[a, b], [a], [a]].map((named, n) => ({
        role: 'user' as const,
        content: [{ type: 'text' as const, text: `${n}` }, ...named],
      })),
    )
    const { store, user, memory } = kernelOf('test', session)
    let isSaid = false
    const slow = new Proxy(store, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key)
        if (typeof value !== 'function') return value
        return async (...args: unknown[]) => {
          const result: unknown = await value.apply(target, args)
          if (key === 'head' && !isSaid) {
            isSaid = true
            await session.append({ id: 'late', role: 'user', content: [{ type: 'text', text: 'Late.' }, b] })
          }
          return result
        }
      },
    })
    const parts = {
      store: slow,
      sessionId: 'trip',
      userStore: user.store,
      open: user.session,
      host: memory.host,
    }
    const done = await forgetLog(parts, { action: 'forget', target: 'trip' }, 1)
    expect(done.found).toMatchObject({ messages: { count: 3 }, attachments: { count: 1, first: ['a'] } })
    expect(done.kept).toEqual({ count: 1, first: ['b'] })
    expect(await done.isGone()).toBe(true)
    expect((await session.history()).map(({ id }) => id)).toEqual(['late'])
    expect(await readAttachment(session, 'b')).toBeDefined()
  })

  it.each(['the same call', 'due work', 'a forget of something else'])(
    'that ends anywhere is finished by %s, and counted whole',
    async (by) => {
      const fill = async () => {
        const world = open()
        const { session } = world
        for (const n of [1, 2, 3])
          await session.commit({
            messages: [{ id: `m${n}`, role: 'user', content: `${CANARY} ${n}.` }],
            checkpoint: { step: n },
            facts: [
              { id: `own${n}`, kind: 'finding', text: `${CANARY} is ${n}.`, sources: [`m${n}`] },
              { id: `shared${n}`, kind: 'preference', text: `Likes ${CANARY} ${n}.`, sources: [`m${n}`] },
            ],
          })
        await session.facts.remember({ id: 'apart', kind: 'finding', text: 'Something else.' })
        await session.context()
        return world
      }
      const counted = new FailingStore((await fill()).store, { at: Infinity, when: 'before', isEnd: true })
      await clearIn(counted.store, 2)
      expect(counted.calls).toBeGreaterThan(20)
      for (let at = 1; at <= counted.calls; at++)
        for (const when of ['before', 'after'] as const) {
          const { store } = await fill()
          await clearIn(new FailingStore(store, { at, when, isEnd: true }).store, 2).catch(() => {})
          const { memory, session } = open(store)
          if (by === 'the same call') {
            const isDone = (await readAudit(memory, ADA)).some(({ target }) => target === 'trip')
            expect(await clearLog(session)).toMatchObject({
              target: 'trip',
              already: isDone,
              removed: { messages: { count: isDone ? 0 : 3 } },
              confirmed: ['store'],
            })
            expect((await clearLog(session)).already).toBe(true)
          } else if (by === 'due work') await runDueWork(memory)
          else await forget(session, 'apart')
          const recorded = await readAudit(memory, ADA)
          const isBegun = recorded.some(({ target }) => target === 'trip')
          if (isBegun || by === 'the same call') {
            expect([at, when, await readEverything(store)]).toEqual([
              at,
              when,
              expect.not.stringContaining(CANARY),
            ])
            expect(recorded.filter(({ target }) => target === 'trip')).toMatchObject([
              { counts: { messages: 3, facts: 6 } },
            ])
          } else expect(await session.history()).toHaveLength(3)
          expect((await session.checkpoint.get()).value).toEqual({ step: 3 })
        }
    },
  )

  it('that ended early is gone on with by two at once, and recorded once', async () => {
    for (let at = 8; at < 30; at++) {
      const { store } = await saidThrice()
      await clearIn(new FailingStore(store, { at, when: 'after', isEnd: true }).store, 1).catch(() => {})
      const { memory, session } = open(store)
      await Promise.all([clearLog(session), clearLog(open(store).session), runDueWork(memory)])
      expect(await session.history()).toEqual([])
      const recorded = (await readAudit(memory, ADA)).filter(({ target }) => target === 'trip')
      expect([at, recorded.map(({ counts }) => counts)]).toEqual([at, [{ messages: 3 }]])
    }
  })

  it.each(['the forgetting of a message that is named as the session', 'the clearing of another session'])(
    'that ended early is not %s',
    async (other) => {
      const { store } = await saidThrice()
      for (let at = 4; (await store.open(ADA).register(OWED)) === undefined; at++)
        await clearIn(new FailingStore(store, { at, when: 'after', isEnd: true }).store, 1).catch(() => {})
      const { memory, session } = open(store)
      if (other.includes('message')) {
        await session.append({ id: 'trip', role: 'user', content: 'Named as its session.' })
        expect((await forget(session, 'trip')).removed.messages).toEqual({ count: 1, first: ['trip'] })
      } else {
        const home = memory.session({ ...ADA, sessionId: 'home' })
        expect(await clearLog(home)).toMatchObject({ target: 'home', already: true })
      }
    },
  )

  it('does not say that the store holds nothing where a message of an earlier step is seen again', async () => {
    const { store } = await saidThrice()
    const held = changedStore(store, (scope) => ({
      entries: async (query = {}) => {
        const page = await scope.entries(query)
        const isSeen = query.from === 'm1'
        return { ...page, rows: page.rows.map((row) => (isSeen ? { ...row, body: '{}' } : row)) }
      },
    }))
    expect(await (await clearIn(held, 1)).isGone()).toBe(false)
    expect(await (await clearIn((await saidThrice()).store, 1)).isGone()).toBe(true)
  })

  it('is a call of a session', async () => {
    await expect(clearLog({} as never)).rejects.toMatchObject({ argument: 'session' })
  })
})
