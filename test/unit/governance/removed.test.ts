import { describe, expect, it } from 'vitest'
import { OWED } from '../../../src/forgetting/owed.ts'
import {
  contextAt,
  exportFrom,
  forget,
  importInto,
  mapStore,
  readAudit,
  runDueWork,
  type Store,
} from '../../../src/index.ts'
import { encryptedStore, secretKeys } from '../../../src/stores/encrypted/index.ts'
import type { FullMemory } from '../../contract/full-memory.ts'
import { ADA, CANARY, memoryOver, readEverything } from '../../everywhere/governance.ts'
import { FailingStore } from '../support/failing-store.ts'
import { PausedStore } from '../support/paused-store.ts'

const TRIP = { ...ADA, sessionId: 'trip' }
const HOME = { ...ADA, sessionId: 'home' }
/** One in which nothing is said. */
const NEW = { ...ADA, sessionId: 'new' }

interface Kind {
  readonly name: string
  readonly key: string
  readonly set: (memory: FullMemory, text: string) => Promise<unknown>
  readonly remove: (memory: FullMemory) => Promise<void>
}

const KINDS: readonly Kind[] = [
  {
    name: 'a document',
    key: 'profile/SOUL.md',
    set: (memory, text) => memory.user(ADA).profile.set('SOUL.md', text),
    remove: (memory) => memory.user(ADA).profile.delete('SOUL.md'),
  },
  {
    name: 'a skill that is listed',
    key: 'skill/tides',
    set: (memory, description) =>
      memory.user(ADA).skills.set({ name: 'tides', description, text: 'Look at the table.' }),
    remove: (memory) => memory.user(ADA).skills.delete('tides'),
  },
  {
    name: 'a skill that is loaded',
    key: 'skill/tides',
    set: async (memory, text) => {
      await memory.user(ADA).skills.set({ name: 'tides', description: 'Reads tides.', text })
      for (const scope of [TRIP, HOME, NEW]) await memory.session(scope).skills.load('tides')
    },
    remove: (memory) => memory.user(ADA).skills.delete('tides'),
  },
]

/** It showed in three sessions, in one of them in two versions. */
async function write(store: Store, { set }: Kind): Promise<void> {
  const memory = memoryOver(store)
  await memory.user(ADA).profile.set('KEPT.md', 'Be kind.')
  await set(memory, `Speak of ${CANARY}.`)
  const trip = memory.session(TRIP)
  await trip.append({ id: 'said', role: 'user', content: 'Hello.' })
  await trip.context()
  await trip.append({ id: 'heard', role: 'assistant', content: 'Hi.' })
  await memory.session(HOME).append({ role: 'user', content: 'Hello.' })
  await memory.session(HOME).context()
  await memory.session(NEW).context()
  await set(memory, `Speak of ${CANARY} alone.`)
  await trip.context({ newEpoch: true })
  await set(memory, 'Speak of nothing.')
  expect((await readEverything(store)).split(CANARY).length).toBeGreaterThan(4)
}

async function isOwed(store: Store): Promise<boolean> {
  return ((await store.open(ADA).register(OWED))?.body ?? 'null') !== 'null'
}

describe.each(KINDS)('$name that is removed', (kind) => {
  it('is in no stored row any more, nor what was in its place before', async () => {
    for (const store of [mapStore(), encryptedStore(mapStore(), secretKeys('s'.repeat(32)))]) {
      await write(store, kind)
      await kind.remove(memoryOver(store))
      expect(await readEverything(store)).not.toContain(CANARY)
      const memory = memoryOver(store)
      const [record] = await readAudit(memory, ADA)
      expect(record).toMatchObject({ action: 'forget', target: kind.key, counts: { heads: 4 } })
      const trip = memory.session(TRIP)
      expect((await trip.context()).receipt.epoch).toMatchObject({ cause: 'forget' })
      expect(await contextAt(trip, 'said')).toMatchObject({ verified: false, reason: 'forgotten' })
      expect(JSON.stringify((await trip.context()).blocks)).toContain('Be kind.')
    }
  })

  it('can be written again under its name, and shows and is removed like the first', async () => {
    const store = mapStore()
    await write(store, kind)
    for (let time = 0; time < 2; time++) {
      const memory = memoryOver(store)
      await kind.remove(memory)
      await kind.set(memory, `Speak of ${CANARY} again.`)
      const trip = memory.session(TRIP)
      const context = await trip.context({ newEpoch: true })
      expect(JSON.stringify(context.blocks)).toContain(CANARY)
      expect(context.receipt.failures ?? []).toEqual([])
      const head = await store.open(TRIP).registers('head/')
      expect(head.filter(({ body }) => body?.includes(CANARY))).toHaveLength(1)
      expect((await trip.context()).epoch).toEqual(context.epoch)
    }
    await kind.remove(memoryOver(store))
    expect(await readEverything(store)).not.toContain(CANARY)
  })

  it('is gone once the same call, an opened session or due work has finished what ended early', async () => {
    const counted = mapStore()
    await write(counted, kind)
    const { store: counting } = new FailingStore(counted, { at: Infinity, when: 'before', isEnd: true })
    const counter = new FailingStore(counting, { at: Infinity, when: 'before', isEnd: true })
    await kind.remove(memoryOver(counter.store))
    expect(counter.calls).toBeGreaterThan(10)
    for (let at = 1; at <= counter.calls; at++)
      for (const how of ['again', 'work', 'forget'] as const) {
        const store = mapStore()
        await write(store, kind)
        const failing = new FailingStore(store, { at, when: 'after', isEnd: true })
        await kind.remove(memoryOver(failing.store)).catch(() => {})
        const memory = memoryOver(store)
        const wasOwed = await isOwed(store)
        if (how === 'again') await kind.remove(memory)
        if (how === 'work') await runDueWork(memory)
        if (how === 'forget') await forget(memory.session(TRIP), 'said')
        if (how !== 'again' && !wasOwed) continue
        expect([at, how, (await readEverything(store)).includes(CANARY)]).toEqual([at, how, false])
        expect(await isOwed(store)).toBe(false)
      }
  })

  it('is in no head that a context writes which was under way', async () => {
    const counted = mapStore()
    await write(counted, kind)
    const counter = new PausedStore(counted)
    await kind.set(memoryOver(counted), `Speak of ${CANARY}.`)
    await memoryOver(counter.store).session(TRIP).context()
    for (let at = 1; at <= counter.calls; at++) {
      const store = mapStore()
      await write(store, kind)
      await kind.set(memoryOver(store), `Speak of ${CANARY}.`)
      const paused = new PausedStore(store)
      paused.hold()
      const done = memoryOver(paused.store).session(TRIP).context()
      await paused.runTo(at, done)
      await kind.remove(memoryOver(store))
      paused.release()
      await done.catch(() => {})
      expect([at, (await readEverything(store)).includes(CANARY)]).toEqual([at, false])
    }
  })

  it('is in no head that was imported, though it was written elsewhere by its name', async () => {
    const from = mapStore()
    await write(from, kind)
    const lines: string[] = []
    for await (const line of exportFrom(memoryOver(from), ADA)) lines.push(line)
    const store = mapStore()
    const { set } = kind.key.startsWith('skill') ? (KINDS[1] as Kind) : kind
    await set(memoryOver(store), 'Speak of nothing.')
    await importInto(memoryOver(store), ADA, lines)
    expect(await readEverything(store)).toContain(CANARY)
    await kind.remove(memoryOver(store))
    expect(await readEverything(store)).not.toContain(CANARY)
  })

  it('stays where its version is another one, and is removed by its op once', async () => {
    const store = mapStore()
    await write(store, kind)
    const { profile, skills } = memoryOver(store).user(ADA)
    const remove = (options: object) =>
      kind.key.startsWith('skill') ? skills.delete('tides', options) : profile.delete('SOUL.md', options)
    const before = await readEverything(store)
    await expect(remove({ ifVersion: 'another' })).rejects.toMatchObject({ code: 'ERR_CONFLICT' })
    expect(await readEverything(store)).toBe(before)
    await remove({ opId: 'gone' })
    await kind.set(memoryOver(store), 'Speak of the sea.')
    await remove({ opId: 'gone' })
    expect(await readEverything(store)).toContain('of the sea')
  })
})

it('a document that is only changed stays in the heads that showed it', async () => {
  const store = mapStore()
  const [kind] = KINDS as [Kind]
  await write(store, kind)
  expect(await contextAt(memoryOver(store).session(TRIP), 'said')).toMatchObject({ verified: true })
})
