import { describe, expect, it } from 'vitest'
import { type Model, mapStore, type Store } from '../../../src/index.ts'
import { attach, readAttachment } from '../../../src/operations/attachments.ts'
import { readAudit } from '../../../src/operations/audit.ts'
import { deleteSession } from '../../../src/operations/delete-session.ts'
import { eraseUser } from '../../../src/operations/forget/erase.ts'
import { listSessions } from '../../../src/operations/sessions.ts'
import { fullMemory } from '../../contract/full-memory.ts'
import { ADA, CANARY, memoryOver, readEverything, writeCanary } from '../../everywhere/governance.ts'
import { FailingStore } from '../support/failing-store.ts'

async function written(): Promise<Store> {
  const store = mapStore()
  const { trip, home } = await writeCanary(memoryOver(store))
  await trip.close()
  await home.close()
  return store
}

describe('erasing a user', () => {
  it('is finished by the same call wherever it ended', async () => {
    const counted = new FailingStore(await written(), {
      at: Number.POSITIVE_INFINITY,
      when: 'before',
      isEnd: true,
    })
    await eraseUser(memoryOver(counted.store), ADA)
    expect(counted.calls).toBeGreaterThan(8)
    for (let at = 1; at <= counted.calls; at++)
      for (const when of ['before', 'after'] as const) {
        const store = await written()
        const failing = new FailingStore(store, { at, when, isEnd: true })
        await eraseUser(memoryOver(failing.store), ADA).catch(() => {})
        const certificate = await eraseUser(memoryOver(store), ADA)
        expect(certificate.action).toBe('erase')
        expect(await readEverything(store), `${when} ${at}`).not.toContain(CANARY)
        expect(await readAudit(memoryOver(store), ADA)).toMatchObject([{ action: 'erase', target: 'ada' }])
      }
  })

  it('of whom nothing is known writes nothing', async () => {
    const store = mapStore()
    expect(await eraseUser(memoryOver(store), ADA)).toMatchObject({ already: true })
    expect(await store.scopes()).toEqual([])
    await expect(eraseUser(memoryOver(store), { userId: '' })).rejects.toMatchObject({ argument: 'userId' })
  })

  it('says of a session that never was, and of one that is gone, that nothing of it was there', async () => {
    const store = mapStore()
    const memory = memoryOver(store)
    const nothing = { already: true, removed: { sessions: { count: 0 }, messages: { count: 0 } } }
    expect(await deleteSession(memory, ADA, 'nowhere')).toMatchObject(nothing)
    await memory.session({ ...ADA, sessionId: 'trip' }).append({ role: 'user', content: CANARY })
    expect(await deleteSession(memory, ADA, 'trip')).toMatchObject({ already: false })
    expect(await deleteSession(memory, ADA, 'trip')).toMatchObject(nothing)
    expect(await listSessions(memory, ADA)).toEqual([])
    expect((await readAudit(memory, ADA)).map(({ target }) => target)).toEqual(['trip'])
  })

  it('removes attachments that no message names', async () => {
    const store = mapStore()
    const memory = memoryOver(store)
    const session = memory.session({ ...ADA, sessionId: 'trip' })
    await attach(session, { id: 'picture', mediaType: 'image/png', bytes: Uint8Array.of(1) })
    await eraseUser(memory, ADA)
    await expect(readAttachment(session, 'picture')).rejects.toMatchObject({ code: 'ERR_NOT_FOUND' })
  })

  it('lets a session start over, in an object that was open and in a new one', async () => {
    const store = mapStore()
    const memory = memoryOver(store)
    const session = memory.session({ ...ADA, sessionId: 'trip' })
    await session.append({ role: 'user', content: CANARY })
    await session.context()
    await eraseUser(memory, ADA)
    for (const one of [session, memoryOver(store).session({ ...ADA, sessionId: 'trip' })]) {
      await one.append({ role: 'user', content: 'Hello again.' })
      expect(JSON.stringify(await one.context())).not.toContain(CANARY)
    }
    expect(await listSessions(memory, ADA)).toMatchObject([{ sessionId: 'trip' }])
  })

  it('waits for a summary that is being written, which would come back', async () => {
    const store = mapStore()
    let free = (): void => {}
    const gate = new Promise<void>((resolve) => {
      free = resolve
    })
    const text = `They spoke about ${CANARY} at length, and agreed on all of it.`
    const slow: Model = {
      id: 'slow',
      async *complete() {
        await gate
        yield { type: 'finish', message: { role: 'assistant', content: text }, reason: 'stop' }
      },
    }
    const memory = fullMemory({ store, budget: 2_000, compaction: { model: slow, ahead: 0.5 } })
    const session = memory.session({ ...ADA, sessionId: 'trip' })
    for (let round = 0; round < 200 && !session.compaction.isRunning; round++) {
      await session.append([
        { role: 'user', content: `Question ${round} about ${CANARY} and other things.` },
        { role: 'assistant', content: `Answer ${round} about ${CANARY} and other things.` },
      ])
      await session.context()
    }
    expect(session.compaction.isRunning).toBe(true)
    const erased = eraseUser(memory, ADA)
    await new Promise((resolve) => setTimeout(resolve, 20))
    free()
    await erased
    await session.compaction.settled()
    expect(await readEverything(store)).not.toContain(CANARY)
  })
})
