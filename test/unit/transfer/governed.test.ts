import { describe, expect, it } from 'vitest'
import { mapStore, type Scope, type Store } from '../../../src/index.ts'
import { readAudit } from '../../../src/operations/audit.ts'
import { eraseUser } from '../../../src/operations/forget/erase.ts'
import { forget } from '../../../src/operations/forget/forget.ts'
import { listSessions } from '../../../src/operations/sessions.ts'
import { exportFrom } from '../../../src/operations/transfer/export.ts'
import { importInto } from '../../../src/operations/transfer/import.ts'
import { runDueWork } from '../../../src/operations/upkeep.ts'
import { type FullMemoryOptions, fullMemory } from '../../contract/full-memory.ts'
import { changedStore } from '../../everywhere/changed-store.ts'

const DAY = 86_400_000
const ADA = { userId: 'ada' }
const BOB = { tenant: 'acme', userId: 'bob' }
const TRIP = { ...ADA, sessionId: 'trip' }

function memoryOf(store: Store, options: Partial<FullMemoryOptions> = {}) {
  return fullMemory({ store, budget: 4_000, clock: () => 1_000 * DAY, ...options })
}

async function exported(store: Store, scope: Scope, format: 'jsonl' | 'markdown' = 'jsonl'): Promise<string> {
  let text = ''
  for await (const line of exportFrom(memoryOf(store), scope, { format })) text += line
  return text
}

/** A user who has done what is recorded. */
async function lived(): Promise<Store> {
  const store = mapStore()
  const memory = memoryOf(store)
  const session = memory.session(TRIP)
  await session.append({ id: 'said', role: 'user', content: 'The word is swordfish.' })
  await session.append({ id: 'kept', role: 'user', content: 'Two seats.' })
  await session.facts.remember({ id: 'shared', kind: 'preference', text: 'Likes window seats.' })
  await session.checkpoint.set({ step: 1 })
  await memory.user(ADA).profile.set('SOUL.md', 'Be brief.')
  await forget(session, 'said')
  return store
}

const actions = async (store: Store, user: Omit<Scope, 'sessionId'>) =>
  (await readAudit(memoryOf(store), user)).map(({ action, target, counts }) => ({
    action,
    ...(target !== undefined && { target }),
    counts,
  }))

describe('the audit of an export and an import', () => {
  it('says that they were done, and changes no byte of any export', async () => {
    const store = await lived()
    const text = await exported(store, ADA)
    expect(text).not.toContain('"key":"audit/')
    expect(text).not.toContain('swordfish')
    const lines = text.split('\n').length - 1
    expect(await exported(store, ADA)).toBe(text)
    const copy = mapStore()
    await importInto(memoryOf(copy), BOB, [text])
    expect(await exported(copy, BOB)).toBe(text)
    await importInto(memoryOf(copy), BOB, [text])
    const exports = { action: 'export', counts: { sessions: 1, lines: lines - 1 } }
    expect(await actions(store, ADA)).toEqual([
      exports,
      exports,
      { action: 'forget', target: 'said', counts: expect.anything() },
    ])
    expect(await actions(copy, BOB)).toEqual([
      exports,
      { action: 'import', counts: { log: expect.any(Number), facts: 1, profile: 1, checkpoint: 1 } },
    ])
    expect(JSON.stringify(await readAudit(memoryOf(copy), BOB))).not.toMatch(/window|brief|seats/)
  })

  it('names the session that it was of, whatever its format', async () => {
    const store = await lived()
    await exported(store, TRIP, 'markdown')
    const [record] = await actions(store, ADA)
    expect(record).toMatchObject({ action: 'export', target: 'trip', counts: { sessions: 1 } })
  })

  it('lets a newer export go on where an older one ended, though both sides recorded something', async () => {
    const store = await lived()
    const copy = mapStore()
    await importInto(memoryOf(copy), BOB, [await exported(store, ADA)])
    await exported(copy, BOB)
    await memoryOf(store).user(ADA).profile.set('SOUL.md', 'Be brief and kind.')
    await forget(memoryOf(store).session(TRIP), 'kept')
    const newer = await exported(store, ADA)
    const report = await importInto(memoryOf(copy), BOB, [newer])
    expect(report.conflicts.count).toBe(0)
    expect(await exported(copy, BOB)).toBe(newer)
  })

  it('is there of an import that was refused on the way, and of none that wrote nothing', async () => {
    const text = await exported(await lived(), ADA)
    const copy = mapStore()
    const cut = text.slice(0, text.lastIndexOf('{"type":"end"'))
    await expect(importInto(memoryOf(copy), BOB, [cut])).rejects.toMatchObject({ argument: 'lines' })
    expect(await actions(copy, BOB)).toMatchObject([{ action: 'import' }])
    await importInto(memoryOf(copy), BOB, [text])
    await importInto(memoryOf(copy), BOB, [text])
    expect((await actions(copy, BOB)).length).toBeLessThanOrEqual(2)
    const none = mapStore()
    expect(await exported(none, ADA)).toContain('"type":"end"')
    expect((await none.open(ADA).head()).seq).toBe(0)
    expect(await actions(none, ADA)).toEqual([])
  })

  it('comes after the last line: a reader of that line has all of it', async () => {
    const store = await lived()
    const failing = changedStore(store, () => ({
      commit: async () => {
        throw new Error('full')
      },
    }))
    let text = ''
    const reading = (async () => {
      for await (const line of exportFrom(memoryOf(failing), ADA)) text += line
    })()
    await expect(reading).rejects.toThrow('full')
    expect(text).toBe(await exported(store, ADA))
  })

  it('is not to be had from a file', async () => {
    const record = { id: '000000000000001', at: 1, action: 'erase', target: 'somebody' }
    const lines = [
      { type: 'export', format: 'plimsoll', v: 2, of: 'user', parts: ['log', 'profile'] },
      { type: 'user' },
      { type: 'put', seq: 1, opId: 'op', id: 'audit/1' },
      { type: 'register', part: 'log', key: 'audit/1', version: 'op', value: record },
      { type: 'end', lines: 4 },
    ]
    const store = mapStore()
    const report = await importInto(
      memoryOf(store),
      ADA,
      lines.map((line) => `${JSON.stringify(line)}\n`),
    )
    expect(report.skipped.first).toEqual([{ line: 4, reason: 'a register that is not imported' }])
    expect(await actions(store, ADA)).toEqual([{ action: 'import', counts: { log: 1 } }])
  })

  it('is removed by an erase, and goes on after it', async () => {
    const store = await lived()
    await exported(store, ADA)
    await eraseUser(memoryOf(store), ADA)
    expect(await readAudit(memoryOf(store), ADA)).toMatchObject([{ action: 'erase', target: 'ada' }])
    await exported(store, ADA)
    expect((await readAudit(memoryOf(store), ADA)).map(({ action }) => action)).toEqual(['export', 'erase'])
    expect(await eraseUser(memoryOf(store), ADA)).toMatchObject({ already: true })
  })
})

describe('an import into the scope of a user who was erased', () => {
  it('takes over what the file has of the user, but no session under an id that was erased', async () => {
    const store = await lived()
    const text = await exported(store, ADA)
    await eraseUser(memoryOf(store), ADA)
    const memory = memoryOf(store)
    const report = await importInto(memory, ADA, [text])
    expect(report.conflicts.first).toEqual([{ part: 'log' }, { part: 'log', sessionId: 'trip' }])
    expect(await memory.user(ADA).profile.get('SOUL.md')).toMatchObject({ text: 'Be brief.' })
    expect((await memory.user(ADA).facts.list()).map(({ id }) => id)).toEqual(['shared'])
    expect(await memory.session(TRIP).history()).toEqual([])
    expect(await listSessions(memory, ADA)).toEqual([])
    expect((await readAudit(memory, ADA)).map(({ action }) => action)).toEqual(['import', 'erase'])
    // The same again writes nothing.
    const again = await importInto(memory, ADA, [text])
    expect(Object.values(again.parts).map(({ written }) => written)).toEqual([0, 0, 0, 0])
    // Under another id the session is whole.
    const alone = await exported(await lived(), TRIP)
    await importInto(memory, { ...ADA, sessionId: 'trip again' }, [alone])
    const history = await memory.session({ ...ADA, sessionId: 'trip again' }).history()
    expect(history.map(({ id }) => id)).toEqual(['kept'])
  })

  it('takes all of it where nothing but another user was erased', async () => {
    const store = await lived()
    const text = await exported(store, ADA)
    await eraseUser(memoryOf(store), ADA)
    await importInto(memoryOf(store), BOB, [text])
    expect(await exported(store, BOB)).toBe(text)
  })
})

describe('a checkpoint that is imported', () => {
  it('is kept for a time from then on', async () => {
    const text = await exported(await lived(), ADA)
    const time = { now: 2_000 * DAY }
    const store = mapStore()
    const memory = memoryOf(store, { clock: () => time.now, retention: { checkpoint: { days: 30 } } })
    await importInto(memory, ADA, [text])
    expect(await exported(store, ADA)).toBe(text)
    const checkpoint = async () => (await memory.session(TRIP).checkpoint.get()).value
    time.now += 29 * DAY
    await runDueWork(memory)
    expect(await checkpoint()).toEqual({ step: 1 })
    time.now += DAY
    for (let calls = 0; calls < 3; calls++) await runDueWork(memory)
    expect(await checkpoint()).toBeUndefined()
  })
})
