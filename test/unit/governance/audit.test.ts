import { describe, expect, it } from 'vitest'
import { MOST_RECORDS, writeAudit } from '../../../src/features/audit.ts'
import { mapStore } from '../../../src/index.ts'
import { readAudit } from '../../../src/operations/audit.ts'
import { deleteSession } from '../../../src/operations/delete-session.ts'
import { eraseUser } from '../../../src/operations/forget/erase.ts'
import { forget, forgetFact } from '../../../src/operations/forget/forget.ts'

import { webHost } from '../../../src/platform/web.ts'
import type { Op } from '../../../src/ports/op.ts'
import { deciding } from '../../../src/sync/deciding.ts'
import { changedStore } from '../../everywhere/changed-store.ts'
import { ADA, CANARY, memoryOver } from '../../everywhere/governance.ts'

function open() {
  const store = mapStore()
  const memory = memoryOver(store)
  let now = 0
  const host = { ...webHost, now: () => ++now }
  return { store, memory, scope: store.open(ADA), host }
}

/** Some id of a record that was the newest at that time. */
function idAt(at: number): string {
  return expect.stringMatching(new RegExp(`^${String(at).padStart(15, '0')}-.+$`))
}

describe('the audit of a user', () => {
  it('has what was done, the newest first, page by page', async () => {
    const { memory, scope, host } = open()
    expect(await readAudit(memory, ADA)).toEqual([])
    for (const target of ['a', 'b', 'c']) await writeAudit(scope, host, { action: 'export', target })
    await writeAudit(scope, host, { action: 'rotate-key', counts: { rows: 7 }, by: 'cli' })
    const all = await readAudit(memory, ADA)
    expect(all).toEqual([
      { id: idAt(4), at: 4, action: 'rotate-key', counts: { rows: 7 }, by: 'cli' },
      { id: idAt(3), at: 3, action: 'export', target: 'c' },
      { id: idAt(2), at: 2, action: 'export', target: 'b' },
      { id: idAt(1), at: 1, action: 'export', target: 'a' },
    ])
    expect(await readAudit(memory, ADA, { first: 2 })).toEqual(all.slice(0, 2))
    expect(await readAudit(memory, ADA, { after: all[1]?.id ?? '', first: 2 })).toEqual(all.slice(2))
    for (const [query, argument] of [
      [{ first: 0 }, 'first'],
      [{ first: 513 }, 'first'],
      [{ after: 'x' }, 'after'],
      [{ after: '000000000000004' }, 'after'],
    ] as const)
      await expect(readAudit(memory, ADA, query)).rejects.toMatchObject({ argument })
  })

  it(`keeps the newest ${MOST_RECORDS}, in as many registers`, async () => {
    const { memory, scope, host } = open()
    for (let index = 1; index <= MOST_RECORDS + 5; index++)
      await writeAudit(scope, host, { action: 'export', target: `${index}` })
    const all = await readAudit(memory, ADA)
    expect(all.length).toBe(MOST_RECORDS)
    expect([all[0]?.target, all.at(-1)?.target]).toEqual([`${MOST_RECORDS + 5}`, '6'])
    const rows = await scope.registers('audit/')
    expect(rows.length).toBe(MOST_RECORDS)
    expect(await scope.registers('audit/', rows.at(-1)?.key)).toEqual([])
    expect(await eraseUser(memory, ADA)).toMatchObject({ already: false })
    const left = await readAudit(memory, ADA)
    expect(left).toMatchObject([{ action: 'erase' }])
    expect((left[0]?.id ?? '') > (all[0]?.id ?? '')).toBe(true)
  })

  it('has what came before as older, however the clocks go', async () => {
    const { memory, scope, host } = open()
    for (const [target, at] of [
      ['a', 900],
      ['b', 7],
      ['c', 7],
      ['d', 901],
    ] as const)
      await writeAudit(scope, { ...host, now: () => at }, { action: 'export', target })
    const all = await readAudit(memory, ADA)
    expect(all.map(({ target, at }) => [target, at])).toEqual([
      ['d', 901],
      ['c', 7],
      ['b', 7],
      ['a', 900],
    ])
    // A clock that nobody reaches again stops nobody.
    await writeAudit(scope, { ...host, now: () => 10 ** 15 - 1 }, { action: 'export', target: 'e' })
    await writeAudit(scope, host, { action: 'export', target: 'f' })
    expect(await readAudit(memory, ADA)).toHaveLength(6)
  })

  it('of a replica never takes the place of another record', async () => {
    const { memory, scope, host } = open()
    for (let index = 0; index <= MOST_RECORDS; index++) await writeAudit(scope, host, { action: 'export' })
    const replica = { ...deciding(scope, (rule) => rule), isReplica: true } as const
    await writeAudit(replica, host, { action: 'forget', target: 'here' })
    expect(await scope.registers('audit/')).toHaveLength(MOST_RECORDS)
    const rows = await scope.registers('audit/', (await scope.registers('audit/')).at(-1)?.key)
    expect(rows).toHaveLength(1)
    expect((await readAudit(memory, ADA))[0]).toMatchObject({ target: 'here' })
  })

  it('has each of those that were written at once', async () => {
    const { memory, scope, host } = open()
    const targets = Array.from({ length: 6 }, (_, index) => `${index}`)
    const beside = (key: string): Op => ({ kind: 'put', opId: `op-${key}`, key, base: null, value: key })
    await Promise.all(
      targets.map((target) => writeAudit(scope, host, { action: 'import', target }, [beside(target)])),
    )
    expect((await readAudit(memory, ADA)).map(({ target }) => target).sort()).toEqual(targets)
    for (const target of targets) expect(await scope.register(target)).toMatchObject({ key: target })
  })

  it('goes with what it records, or both are not written', async () => {
    const { memory, store, host } = open()
    const scope = store.open(ADA)
    for (let index = 0; index < MOST_RECORDS; index++) await writeAudit(scope, host, { action: 'export' })
    // Another writer takes the oldest before it does, each time: it looks again, eight times.
    const raced = changedStore(store, () => ({
      indexed: async (...query) => {
        const rows = await scope.indexed(...query)
        if (rows.length > 1) await writeAudit(scope, host, { action: 'rotate-key' })
        return rows
      },
    }))
    const op: Op = { kind: 'put', opId: 'op-1', key: 'beside', base: null, value: 1 }
    await expect(writeAudit(raced.open(ADA), host, { action: 'import' }, [op])).rejects.toMatchObject({
      code: 'ERR_CONFLICT',
    })
    expect(await store.open(ADA).register('beside')).toBeUndefined()
    expect((await readAudit(memory, ADA)).map(({ action }) => action)).not.toContain('import')
  })

  it('says what was promoted, forgotten and erased, once each, and no word of it', async () => {
    const { memory, scope } = open()
    const session = memory.session({ ...ADA, sessionId: 'trip' })
    await session.append({ id: 'said', role: 'user', content: CANARY })
    await session.facts.remember({ id: 'f1', kind: 'constraint', text: `Never ${CANARY}.`, trust: 'tool' })
    await session.facts.promote('f1')
    await session.facts.promote('f1')
    await session.facts.promote('f1', { pinned: true })
    await forget(session, 'said')
    await forget(session, 'said')
    await forgetFact(memory, ADA, 'f1')
    await deleteSession(memory, ADA, 'trip')
    await deleteSession(memory, ADA, 'trip')
    expect((await readAudit(memory, ADA)).map(({ action, target }) => [action, target])).toEqual([
      ['erase', 'trip'],
      ['forget', 'f1'],
      ['forget', 'said'],
      ['promote', 'f1'],
    ])
    expect(JSON.stringify(await scope.registers('audit/'))).not.toContain(CANARY)
  })
})
