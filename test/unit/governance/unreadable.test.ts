import { describe, expect, it } from 'vitest'
import { mapStore, type RetentionOptions, type Store, type UnreadableLeft } from '../../../src/index.ts'
import { attach, readAttachment } from '../../../src/operations/attachments.ts'
import { readAudit } from '../../../src/operations/audit.ts'
import { forget, forgetFact } from '../../../src/operations/forget/forget.ts'
import { findSession } from '../../../src/operations/sessions.ts'
import { exportFrom } from '../../../src/operations/transfer/export.ts'
import { importInto } from '../../../src/operations/transfer/import.ts'
import { runDueWork } from '../../../src/operations/upkeep.ts'
import { type FullMemory, fullMemory } from '../../contract/full-memory.ts'
import { unreadableStore } from '../support/unreadable-store.ts'

const DAY = 86_400_000
const ADA = { userId: 'ada' }
const TRIP = { ...ADA, sessionId: 'trip' }

function open(names: readonly string[], retention?: RetentionOptions) {
  const below = mapStore()
  const hidden = new Set<string>()
  const time = { now: 1_000 * DAY }
  const memory = fullMemory({
    store: unreadableStore(below, hidden),
    budget: 2_000,
    clock: () => time.now,
    ...(retention && { retention }),
  })
  /** From now on they cannot be read. */
  const hide = () => {
    for (const name of names) hidden.add(name)
  }
  return { memory, session: memory.session(TRIP), below, hide, hidden, time }
}

/** Calls it until nothing is due. */
async function runAll(memory: FullMemory, time: { readonly now: number }): Promise<void> {
  for (let calls = 0; ; calls++) {
    const next = await runDueWork(memory)
    if (next === undefined || next > time.now) return
    if (calls > 100) throw new Error('it never ends')
  }
}

async function bodyOf(store: Store, id: string): Promise<string | null | undefined> {
  const scope = store.open(TRIP)
  return (await scope.entries({ from: id, first: 1 })).rows[0]?.body
}

async function everything(lines: AsyncIterable<string>): Promise<string> {
  let text = ''
  for await (const line of lines) text += line
  return text
}

describe('what cannot be read', () => {
  it('is forgotten where it is asked for, and is no more once it can be read again', async () => {
    const { memory, session, below, hide, hidden } = open(['said', 'fact/own', 'fact/shared'])
    await session.append({ id: 'said', role: 'user', content: 'The code is 1234.' })
    await session.facts.remember({ id: 'own', kind: 'finding', text: 'The code has four digits.' })
    await session.facts.remember({ id: 'shared', kind: 'preference', text: 'Likes codes.' })
    hide()
    for (const id of ['said', 'own', 'shared']) {
      expect(await forget(session, id)).toMatchObject({ already: false })
      expect(await forget(session, id)).toMatchObject({ already: true })
    }
    hidden.clear()
    expect(await bodyOf(below, 'said')).toBeNull()
    expect(await session.history()).toEqual([])
    for (const id of ['own', 'shared']) expect(await session.facts.get(id)).toBeUndefined()
    expect((await readAudit(memory, ADA)).map(({ action }) => action)).toEqual(Array(3).fill('forget'))
  })

  it('keeps the attachments that it may name, and the heads that may show what is forgotten go', async () => {
    const { session, below, hide } = open(['other'])
    const part = await attach(session, { mediaType: 'image/png', bytes: Uint8Array.of(1), id: 'logo' })
    for (const id of ['said', 'other']) await session.append({ id, role: 'user', content: [part] })
    await session.facts.remember({ id: 'shared', kind: 'preference', text: 'Likes pictures.' })
    await session.context()
    const [head] = await below.open(TRIP).registers('head/')
    hide()
    expect(await forget(session, 'said')).toMatchObject({ kept: { first: ['logo'] } })
    expect(await readAttachment(session, 'logo')).toBeDefined()
    const blind = fullMemory({
      store: unreadableStore(below, new Set([head?.key ?? ''])),
      budget: 2_000,
    }).session(TRIP)
    expect((await forget(blind, 'shared')).removed.heads.first).toEqual([head?.key])
    expect(await below.open(TRIP).registers('head/')).toEqual([])
  })

  it('goes with its round when that is too old, and keeps its place while it is not', async () => {
    const { memory, session, below, hide, time } = open(['old', 'lone'], { log: { days: 30 } })
    await session.append({ id: 'lone', role: 'user', content: 'Nobody can tell when.' })
    await session.append({ id: 'old', role: 'user', content: 'The code is 1234.' })
    await session.append({ id: 'old-answer', role: 'assistant', content: 'Noted.' })
    await session.append({ id: 'new', role: 'user', content: 'Go on.' })
    hide()
    time.now += 31 * DAY
    await runDueWork(memory)
    expect(await bodyOf(below, 'old')).toBeNull()
    expect(await bodyOf(below, 'old-answer')).toBeNull()
    expect(await bodyOf(below, 'lone')).not.toBeNull()
    expect(await bodyOf(below, 'new')).not.toBeNull()
  })

  it('is passed by where it has no age, told of once a pass, and judged once it can be read again', async () => {
    const told: UnreadableLeft[] = []
    const { memory, session, below, hide, hidden, time } = open(['lone', 'fact/own', 'checkpoint'], {
      log: { days: 30 },
      facts: { days: 30 },
      checkpoint: { days: 30 },
      onUnreadable: (left) => told.push(left),
    })
    await session.append({ id: 'lone', role: 'user', content: 'Nobody can tell when.' })
    const ids = Array.from({ length: 1_200 }, (_, index) => `old-${index}`)
    for (const id of ids) await session.append({ id, role: 'user', content: 'Old.' })
    for (const id of ['own', 'other'])
      await session.facts.remember({ id, kind: 'finding', text: `It is ${id}.` })
    await session.checkpoint.set({ step: 1 })
    time.now += 31 * DAY
    await session.append({ id: 'new', role: 'user', content: 'Go on.' })
    hide()
    await runAll(memory, time)
    const left = ['lone', 'checkpoint', 'fact/own']
    expect(told.map(({ id }) => id)).toEqual(left)
    expect(told[0]).toEqual({ scope: TRIP, part: 'log', id: 'lone' })
    expect(await bodyOf(below, 'old-1199')).toBeNull()
    expect(await bodyOf(below, 'lone')).not.toBeNull()
    expect(await session.facts.get('other')).toBeUndefined()
    hidden.clear()
    expect(await session.facts.get('own')).toBeDefined()
    expect((await session.checkpoint.get()).value).toEqual({ step: 1 })

    time.now += DAY
    told.length = 0
    await runAll(memory, time)
    expect(told).toEqual([])
    expect(await bodyOf(below, 'lone')).toBeNull()
    expect(await session.facts.get('own')).toBeUndefined()
    expect((await session.checkpoint.get()).version).toBeNull()
  })

  it('is passed by also where there is nothing else, however much of it there is', async () => {
    const told: string[] = []
    const ids = Array.from({ length: 1_200 }, (_, index) => `gone-${index}`)
    // Of the newest round more may follow: it is not judged.
    const { memory, session, below, hide, time } = open([...ids, 'new'], {
      log: { days: 30 },
      onUnreadable: ({ id }) => told.push(id),
    })
    for (const id of ids) await session.append({ id, role: 'user', content: 'Old.' })
    await session.append({ id: 'old', role: 'user', content: 'Old.' })
    time.now += 31 * DAY
    await session.append({ id: 'new', role: 'user', content: 'Go on.' })
    hide()
    await runAll(memory, time)
    expect(told).toEqual(ids)
    expect(await bodyOf(below, 'old')).toBeNull()
    expect(await bodyOf(below, 'new')).not.toBeNull()
  })

  it('is reported once, though what follows it stays, and keeps no place of another session from being noted', async () => {
    const told: string[] = []
    const { memory, session, below, hide, time } = open(['lone'], {
      log: { days: 30 },
      onUnreadable: ({ id }) => told.push(id),
    })
    await session.append({ id: 'lone', role: 'user', content: 'Nobody can tell when.' })
    await session.append({ id: 'late', role: 'user', content: 'Late.', createdAt: time.now + 60 * DAY })
    const zoo = memory.session({ ...ADA, sessionId: 'zoo' })
    for (let index = 0; index < 1_100; index++)
      for (const one of [session, zoo]) await one.append({ role: 'user', content: `Old ${index}.` })
    time.now += 31 * DAY
    for (const one of [session, zoo]) await one.append({ id: 'new', role: 'user', content: 'Go on.' })
    hide()
    await runAll(memory, time)
    expect(told).toEqual(['lone'])
    expect(await below.open({ ...ADA, sessionId: 'zoo' }).register('retention')).toBeDefined()
  })

  it('is no place to go on from: the log is looked through from its beginning, and nothing is written over it', async () => {
    const { memory, session, below, hide, hidden, time } = open(['retention'], { log: { days: 30 } })
    for (let index = 0; index < 200; index++)
      await session.append({ id: `first-${index}`, role: 'user', content: 'Old.' })
    time.now += 31 * DAY
    await session.append({ id: 'old', role: 'user', content: 'Old, too, soon.' })
    await runAll(memory, time)
    const { version } = (await below.open(TRIP).register('retention')) ?? {}
    expect(version).toBeDefined()
    for (let index = 0; index < 1_200; index++)
      await session.append({ id: `second-${index}`, role: 'user', content: 'Old.' })
    time.now += 31 * DAY
    await session.append({ id: 'new', role: 'user', content: 'Go on.' })
    hide()
    await runAll(memory, time)
    expect(await bodyOf(below, 'second-1199')).toBeNull()
    hidden.clear()
    expect((await session.history()).map(({ id }) => id)).toEqual(['new'])
    expect((await below.open(TRIP).register('retention'))?.version).toBe(version)
  })

  it('is reported to a listener that throws, and the pass goes on', async () => {
    const { memory, session, hide, time } = open(['checkpoint'], {
      facts: { days: 30 },
      checkpoint: { days: 30 },
      onUnreadable: () => {
        throw new Error('full')
      },
    })
    await session.checkpoint.set({ step: 1 })
    await session.facts.remember({ id: 'own', kind: 'finding', text: 'The train is late.' })
    time.now += 31 * DAY
    hide()
    await runAll(memory, time)
    expect(await session.facts.get('own')).toBeUndefined()
  })

  it('is no fact, no result and no session that is not there', async () => {
    const { memory, session, hide } = open(['fact/own', 'fact/shared', 'session/trip'])
    await session.append({ id: 'said', role: 'user', content: 'Hello.' })
    await session.facts.remember(
      { id: 'own', kind: 'finding', text: 'The train is late.' },
      { opId: 'first' },
    )
    const { facts } = memory.user(ADA)
    await facts.remember({ id: 'shared', kind: 'preference', text: 'Likes trains.' }, 'second')
    hide()
    const calls = [
      () => session.facts.get('own'),
      () =>
        session.facts.remember({ id: 'own', kind: 'finding', text: 'The train is late.' }, { opId: 'first' }),
      () => facts.get('shared'),
      () => facts.remember({ id: 'shared', kind: 'preference', text: 'Likes trains.' }, 'second'),
      () => findSession(memory, ADA, 'trip'),
    ]
    for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'ERR_DECRYPT' })
    await forgetFact(memory, ADA, 'shared')
    expect(await facts.get('shared')).toBeUndefined()
  })

  it('is emptied by an import of a newer file in which it was forgotten', async () => {
    const { memory, session, below, hide, hidden } = open(['said'])
    await session.append({ id: 'said', role: 'user', content: 'The code is 1234.' })
    const copy = fullMemory({ store: mapStore(), budget: 2_000 })
    await importInto(copy, TRIP, exportFrom(memory, TRIP))
    await forget(copy.session(TRIP), 'said')
    hide()
    await importInto(memory, TRIP, exportFrom(copy, TRIP))
    hidden.clear()
    expect(await bodyOf(below, 'said')).toBeNull()
  })

  it('is not exported as if it were forgotten', async () => {
    for (const name of ['said', 'fact/own', 'checkpoint']) {
      const { memory, session, hide } = open([name])
      await session.append({ id: 'said', role: 'user', content: 'Hello.' })
      await session.facts.remember({ id: 'own', kind: 'finding', text: 'The train is late.' })
      await session.checkpoint.set({ step: 1 })
      hide()
      await expect(everything(exportFrom(memory, TRIP))).rejects.toMatchObject({
        code: 'ERR_DECRYPT',
        id: name,
      })
    }
  })
})
