/** What every store gives when its texts are encrypted, on each platform. */

import { describe, expect, it } from 'vitest'
import type { Scope, Store } from '../../src/index.ts'
import { decide, nothingWritten } from '../../src/kernel/log/decide.ts'
import { attach } from '../../src/operations/attachments.ts'
import { readBranches } from '../../src/operations/branches.ts'
import { contextAt } from '../../src/operations/context-at.ts'
import { deleteSession } from '../../src/operations/delete-session.ts'
import { addExchange } from '../../src/operations/exchange.ts'
import { forget } from '../../src/operations/forget/forget.ts'
import { listSessions, titleSession } from '../../src/operations/sessions.ts'
import { exportFrom } from '../../src/operations/transfer/export.ts'
import { carriers, followed } from '../../src/operations/transfer/follow.ts'
import { importInto } from '../../src/operations/transfer/import.ts'
import type { Attachment, Decide, LogRow, RegisterRow, ScopeStore } from '../../src/ports/store.ts'
import {
  type EncryptedStore,
  type EncryptedStoreOptions,
  eachOf,
  encryptedStore,
  type Keys,
  passphraseKeys,
  secretKeys,
  type Unreadable,
} from '../../src/stores/encrypted/index.ts'
import { type FullMemory, type FullSession, fullMemory } from '../contract/full-memory.ts'
import { append, bodyOf, erase, mark, put, readLog, remove, SCOPE } from '../contract/samples.ts'
import { changedStore } from './changed-store.ts'

const HEAD = 'p1.'.length + 11 + 1
const NONCE_AND_TAG = 12 + 16

/**
 * How long what is encrypted is in the store. A body of one byte a character has before it what its
 * writer saw last, `null` and a line break.
 */
export const KEPT = {
  body: (units: number) => HEAD + 4 * Math.ceil((NONCE_AND_TAG + 25 + units) / 3),
  bytes: (bytes: number) => HEAD + NONCE_AND_TAG + bytes,
}

export const KEYS: Keys = secretKeys('a secret of this test, of 32 bytes or more')
const OTHER_KEYS = secretKeys('another secret of this test, of 32 bytes')
const USER = { tenant: 'acme', userId: 'ada' }

interface Changes {
  readonly log?: (row: LogRow) => LogRow
  readonly register?: (row: RegisterRow) => RegisterRow
  readonly attachment?: (found: Attachment) => Attachment
  readonly indexed?: (rows: readonly RegisterRow[]) => readonly RegisterRow[]
  /** What happens after a register was read, before it is given. */
  readonly registering?: () => Promise<void>
  /** What happens before an attachment is kept. */
  readonly attaching?: () => Promise<void>
}

/** A store below, of which somebody changed what it gives. */
function tampered(
  store: Store,
  {
    log = (row) => row,
    register = (row) => row,
    attachment = (found) => found,
    indexed = (rows) => rows,
    registering,
    attaching,
  }: Changes,
): Store {
  return changedStore(store, (inner) => ({
    entries: async (query) => {
      const page = await inner.entries(query)
      return { ...page, rows: page.rows.map(log) }
    },
    changesSince: async (seq) => {
      const changes = await inner.changesSince(seq)
      return { ...changes, rows: changes.rows.map(log) }
    },
    register: async (key) => {
      const row = await inner.register(key)
      await registering?.()
      return row && register(row)
    },
    indexed: async (group, query) => indexed(await inner.indexed(group, query)),
    attach: async (given, at) => {
      await attaching?.()
      return inner.attach(given, at)
    },
    attachment: async (id) => {
      const found = await inner.attachment(id)
      return found && attachment(found)
    },
  }))
}

/** One character of the ciphertext is another one. */
function flipped(body: string, at: number): string {
  return `${body.slice(0, at)}${body[at] === 'A' ? 'B' : 'A'}${body.slice(at + 1)}`
}

async function linesOf(lines: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = []
  for await (const line of lines) all.push(line)
  return all
}

/** A scope that is another one from call to call. */
function forwarded(now: () => ScopeStore): ScopeStore {
  return {
    commit: (ops, decide) => now().commit(ops, decide),
    entries: (query) => now().entries(query),
    head: () => now().head(),
    register: (key) => now().register(key),
    registers: (prefix, after) => now().registers(prefix, after),
    indexed: (group, query) => now().indexed(group, query),
    sums: (groups) => now().sums(groups),
    changesSince: (seq) => now().changesSince(seq),
    attach: (attachment, at) => now().attach(attachment, at),
    attachment: (id) => now().attachment(id),
    attached: (ids) => now().attached(ids),
    derive: (row, seq) => now().derive(row, seq),
    derived: (prefix, after) => now().derived(prefix, after),
    close: () => now().close(),
  }
}

/** Some number of a name and a run. */
function mixed(name: string, run: number): number {
  let number = run * 2_654_435_761 + 97
  for (const character of name) number = (number * 31 + character.charCodeAt(0)) >>> 0
  return ((number ^ (number >>> 15)) >>> 0) % 65_537
}

async function codeOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => 'resolved',
    (error: { code?: string }) => error.code,
  )
}

/** All that a store gives of scopes, as one text. */
async function textOf(store: Store, scopes: readonly Scope[]): Promise<string> {
  const found: unknown[] = []
  for (const scope of scopes) {
    const opened = store.open(scope)
    found.push(await readLog(opened), await opened.registers(''))
    for (const { key, bytes } of await opened.derived(''))
      found.push(key, Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
  }
  return JSON.stringify(found)
}

/** @param open a fresh, empty store each time */
export function describeEncrypted(name: string, open: () => Store): void {
  const encrypt = (store: Store, options?: EncryptedStoreOptions, keys = KEYS): EncryptedStore =>
    encryptedStore(store, keys, options)
  /** Two messages, a mark and a register. */
  const filled = async (): Promise<Store> => {
    const store = open()
    await encrypt(store)
      .open(SCOPE)
      .commit(
        [
          append('op-1', ['m1', 'm2'], { derived: ['d1', 'd2'] }),
          mark('op-2', 'epoch', 'e1'),
          put('op-3', 'key', null),
        ],
        decide,
      )
    return store
  }
  const bodiesOf = async (store: Store): Promise<readonly (string | null)[]> =>
    (await store.open(SCOPE).entries()).rows.map(({ body }) => body)
  const read = async (
    store: Store,
    changes: Changes = {},
    options: EncryptedStoreOptions = {},
    keys = KEYS,
  ) => {
    const told: Unreadable[] = []
    const onUnreadable = (row: Unreadable) => told.push(row)
    const scope = encrypt(tampered(store, changes), { ...options, onUnreadable }, keys).open(SCOPE)
    const { rows } = await scope.entries()
    return { told: told.map(({ kind, id }) => `${kind} ${id}`), bodies: rows.map(({ body }) => body), rows }
  }

  describe(`an encrypted ${name}`, () => {
    it('holds no text, term or name of a list of what a conversation leaves behind', async () => {
      const store = open()
      const memory = memoryOver(encrypt(store))
      const session = memory.session(SCOPE)
      await session.append({ role: 'user', content: 'I prefer CANARY seats. Always book CANARY trains.' })
      await session.facts.remember({ kind: 'preference', text: 'Likes CANARY.', project: 'CANARY' })
      await memory.user(USER).profile.set('about', 'CANARY')
      await session.checkpoint.set({ step: 'CANARY' })
      await titleSession(memory, USER, 'trip', 'CANARY')
      for (let round = 0; round < 12; round++)
        await addExchange(
          session,
          `Question ${round} of CANARY? ${'x '.repeat(600)}`,
          'The answer is CANARY.',
        )
      const context = await session.context()
      expect(JSON.stringify(context.blocks)).toContain('CANARY')
      await session.recall.find('CANARY')
      expect((await textOf(store, [USER, SCOPE])).toLowerCase()).not.toContain('canary')
      expect((await textOf(encrypt(store), [USER, SCOPE])).toLowerCase()).toContain('canary')
    })

    it('gives the same contexts as a store in the clear', async () => {
      const run = async (store: Store): Promise<unknown> => {
        const session = memoryOver(store).session(SCOPE)
        for (let round = 0; round < 12; round++) {
          await session.append(
            [
              { id: `u${round}`, role: 'user', content: `I prefer seat ${round}. ${'y '.repeat(500)}` },
              { id: `a${round}`, role: 'assistant', content: 'Noted.' },
            ],
            { opId: `op-${round}` },
          )
          await session.context()
        }
        const { hash, receipt } = await session.context()
        return {
          hash,
          receipt,
          past: await contextAt(session, 'a3'),
          recalled: await session.recall.find('seat 4'),
        }
      }
      expect(await run(encrypt(open()))).toEqual(await run(open()))
    })

    it('reports what was changed, and goes on reading the rest (T40)', async () => {
      const store = await filled()
      const places = ['p1.'.length + 2, HEAD + 1, HEAD + 20, HEAD + 60]
      for (const at of places) {
        const log = (row: LogRow): LogRow =>
          row.id === 'm1' ? { ...row, body: flipped(`${row.body}`, at) } : row
        const { told, bodies, rows } = await read(store, { log })
        expect([told, bodies]).toEqual([['message m1'], [null, bodyOf('m2'), bodyOf('e1')]])
        expect(rows[0]).toMatchObject({ id: 'm1', unreadable: true })
      }
      for (const body of ['', 'p1.', 'in the clear', '{"role":"user"}', `p1.${'A'.repeat(11)}.!`])
        expect(
          (await read(store, { log: (row) => ({ ...row, body: row.id === 'm1' ? body : row.body }) })).told,
        ).toEqual(['message m1'])
      const short = (row: LogRow): LogRow => ({
        ...row,
        body: `${row.body}`.slice(0, row.id === 'm2' ? -4 : undefined),
      })
      expect((await read(store, { log: short })).told).toEqual(['message m2'])
    })

    it('reports what stands in another place: row, op, kind, session, user, tenant (T40)', async () => {
      const store = await filled()
      const [one, two, three] = await bodiesOf(store)
      const swap = (row: LogRow): LogRow => ({ ...row, body: { m1: two, m2: one }[row.id] ?? row.body })
      expect((await read(store, { log: swap })).told.toSorted()).toEqual(['message m1', 'message m2'])
      const asOp = (row: LogRow): LogRow => ({ ...row, opId: row.id === 'm1' ? 'op-9' : row.opId })
      expect((await read(store, { log: asOp })).told).toEqual(['message m1'])
      const asMessage = (row: LogRow): LogRow => ({
        ...row,
        body: row.id === 'm1' ? (three ?? null) : row.body,
      })
      expect((await read(store, { log: asMessage })).told).toEqual(['message m1'])
      // With the wrapped keys of the first one, as somebody who can write the database would put
      // them there.
      const keyRow = await store.open(SCOPE).register('encryption/keys')
      for (const scope of [
        { ...SCOPE, sessionId: 'other' },
        { ...SCOPE, userId: 'eve' },
        { ...SCOPE, tenant: 'other' },
        { userId: 'ada', sessionId: 'trip' },
        USER,
      ]) {
        const target = open()
        await encrypt(target)
          .open(scope)
          .commit([append('op-1', ['m1', 'm2'])], decide)
        const moved = tampered(target, { register: () => keyRow as RegisterRow })
        expect(
          await codeOf(
            encrypt(moved)
              .open(scope)
              .commit([append('op-9', ['m9'])], decide),
          ),
        ).toBe('ERR_DECRYPT')
      }
    })

    it('reports rows that stand where they were not written, and what follows from that alone', async () => {
      const store = open()
      const scope = encrypt(store).open(SCOPE)
      const ids = ['q1', 'a1', 'q2', 'a2', 'q3', 'a3']
      for (const id of ids) await scope.commit([append(`op-${id}`, [id], { round: id })], decide)
      const at = new Map((await store.open(SCOPE).entries()).rows.map((row) => [row.id, row]))
      /** The log as somebody left it who can write the database, and has no key. */
      const readAs = async (order: readonly string[]): Promise<readonly string[]> => {
        const seqs = order.map((id, index) => ({
          ...(at.get(id) as LogRow),
          seq: index + 1,
          ordinal: index + 1,
        }))
        const reordered = changedStore(store, (inner) => ({
          entries: async (query) => ({ ...(await inner.entries(query)), rows: seqs }),
        }))
        const told: string[] = []
        const reading = encrypt(reordered, { onUnreadable: ({ id }) => told.push(id) }).open(SCOPE)
        const { rows } = await reading.entries()
        expect(rows.filter(({ unreadable }) => unreadable).map(({ id }) => id)).toEqual(told)
        return told
      }
      expect(await readAs(ids)).toEqual([])
      expect(await readAs(['q1', 'a2', 'q2', 'a1', 'q3', 'a3'])).toEqual(['a2', 'a1'])
      expect(await readAs(['a1', 'q2', 'a2', 'q3', 'a3', 'q1'])).toContain('q1')
      expect(await readAs(['q3', 'a3', 'q1', 'a1', 'q2', 'a2'])).toEqual(expect.arrayContaining(['q3', 'a3']))
      // Of a read that does not reach the others, by what they say themselves, or of a neighbour.
      const readOnly = async (...rows: readonly (readonly [string, number])[]) => {
        const only = rows.map(([id, seq]) => ({ ...(at.get(id) as LogRow), seq }))
        const some = changedStore(store, (inner) => ({
          entries: async (query) => ({ ...(await inner.entries(query)), rows: only }),
        }))
        const { rows: found } = await encrypt(some).open(SCOPE).entries()
        return found.filter(({ unreadable }) => unreadable).map(({ id }) => id)
      }
      expect(await readOnly(['a2', 4])).toEqual([])
      expect(await readOnly(['a2', 2])).toEqual(['a2'])
      expect(await readOnly(['q1', 3], ['a2', 4])).toEqual(['q1'])
      // Any order but the one in which they were written.
      for (let run = 0; run < 24; run++) {
        const order = ids.toSorted((one, other) => mixed(one, run) - mixed(other, run))
        expect([order, (await readAs(order)).length > 0]).toEqual([order, order.join() !== ids.join()])
      }
    })

    it('binds what is written first after it was opened to what was read before', async () => {
      const store = open()
      for (const id of ['m1', 'm2', 'm3']) {
        const scope = encrypt(store).open(SCOPE)
        await scope.entries()
        await scope.commit([append(`op-${id}`, [id])], decide)
      }
      const moved = (row: LogRow): LogRow => (row.id === 'm1' ? { ...row, seq: 4 } : row)
      expect((await read(store, { log: moved })).told).toEqual(['message m1'])
    })

    it('reports rows of one op that changed places, and what is in another round or has other sources', async () => {
      const store = open()
      await encrypt(store)
        .open(SCOPE)
        .commit(
          [append('op-1', ['m1', 'm2']), mark('op-2', 'summary', 's1', { sources: ['entry:m1'] })],
          decide,
        )
      const [one, two, three] = (await store.open(SCOPE).entries()).rows as [LogRow, LogRow, LogRow]
      const as = async (...rows: readonly LogRow[]) => {
        const log = (row: LogRow): LogRow => rows.find(({ id }) => id === row.id) ?? row
        return (await read(store, { log })).told.toSorted()
      }
      expect(await as(one, two, three)).toEqual([])
      expect(await as({ ...one, place: 1 }, { ...two, place: 0 })).toEqual(['message m1', 'message m2'])
      expect(await as({ ...two, round: 'other' })).toEqual(['message m2'])
      expect(await as({ ...three, sources: [] })).toEqual(['summary s1'])
      expect(await as({ ...three, lane: 'other' })).toEqual(['summary s1'])
    })

    it('takes no row for misplaced that followed another home, where what stood before it in its op is gone', async () => {
      const source = await filled()
      const from = encrypt(source).open(SCOPE)
      await from.commit([remove('op-4', 'entry:m1')], decide)
      const log = (await from.changesSince(0)).rows
      const target = open()
      const what = { log, emptied: ['entry:m1'] } as const
      await encrypt(target)
        .open(SCOPE)
        .commit(carriers(what), (ops, rows) => followed(ops, rows, what))
      expect(await read(target)).toMatchObject({ told: [], bodies: [null, bodyOf('m2'), bodyOf('e1')] })
    })

    it('forgets what it saw where that was undone, and others wrote since', async () => {
      let current = open()
      const through: Store = { ...current, open: (scope) => forwarded(() => current.open(scope)) }
      const scope = encrypt(through).open(SCOPE)
      await scope.commit([append('op-1', ['m1'])], decide)
      const [raw, undone] = [current.open(SCOPE), open()]
      const what = { log: (await raw.changesSince(0)).rows, registers: await raw.registers('') }
      await undone.open(SCOPE).commit(carriers(what), (ops, rows) => followed(ops, rows, what))
      await scope.commit([append('op-2', ['m2'])], decide)
      current = undone
      for (const id of ['m3', 'm4'])
        await encrypt(undone)
          .open(SCOPE)
          .commit([append(`op-${id}`, [id])], decide)
      await scope.commit([append('op-5', ['m5'])], decide)
      expect((await read(undone)).told).toEqual([])
    })

    it('takes no rows for misplaced that several writers wrote, rotated or erased', async () => {
      const store = open()
      const stores = [encrypt(store), encrypt(store)]
      const writers = stores.map((one) => one.open(SCOPE))
      for (let round = 0; round < 40; round++) {
        const scope = writers[mixed(`w${round}`, 1) % 2] as ScopeStore
        if (round % 5 === 0) await scope.entries()
        if (round % 7 === 0) await stores[round % 2]?.rotate(SCOPE)
        if (round === 20) await scope.commit([erase('op-erase')], decide)
        await scope.commit(
          [append(`op-${round % 30}`, [`m${round}`, `n${round}`]), put(`put-${round}`, `key-${round}`, null)],
          decide,
        )
      }
      expect((await read(store)).told).toEqual([])
    })

    it('leaves out of a context what cannot be read, and says so', async () => {
      const store = open()
      const session = memoryOver(encrypt(store)).session(SCOPE)
      await session.append([
        { id: 'u1', role: 'user', content: 'One.' },
        { id: 'a1', role: 'assistant', content: 'Two.' },
        { id: 'u2', role: 'user', content: 'Three.' },
      ])
      const log = (row: LogRow): LogRow => ({ ...row, body: row.id === 'a1' ? 'p1.x' : row.body })
      const { blocks, receipt } = await memoryOver(encrypt(tampered(store, { log })))
        .session(SCOPE)
        .context()
      expect(blocks.flatMap(({ from }) => from)).toEqual(['u1', 'u2'])
      expect(receipt.omitted).toEqual([{ from: 'a1', to: 'a1', count: 1, reason: 'unreadable' }])
    })

    it('tells of each row that cannot be read once, and that a past context is not what was sent', async () => {
      const store = open()
      const session = memoryOver(encrypt(store)).session(SCOPE)
      await session.append([
        { id: 'u1', role: 'user', content: 'One.' },
        { id: 'a1', role: 'assistant', content: 'Two.' },
      ])
      await session.context()
      const told: Unreadable[] = []
      const log = (row: LogRow): LogRow => ({ ...row, body: row.id === 'u1' ? 'p1.x' : row.body })
      const encrypted = encrypt(tampered(store, { log }), { onUnreadable: (row) => told.push(row) })
      expect(await contextAt(memoryOver(encrypted).session(SCOPE), 'a1')).toMatchObject({
        verified: false,
        reason: 'unreadable',
      })
      await memoryOver(encrypted).session(SCOPE).history()
      expect(told).toEqual([{ scope: SCOPE, kind: 'message', id: 'u1' }])
    })

    it('writes over no register that cannot be read', async () => {
      const store = open()
      await memoryOver(encrypt(store)).user(USER).profile.set('about', 'Likes tea.')
      const register = (row: RegisterRow): RegisterRow =>
        row.key === 'encryption/keys' ? row : { ...row, body: flipped(`${row.body}`, HEAD + 5) }
      const { profile } = memoryOver(encrypt(tampered(store, { register }))).user(USER)
      expect(await codeOf(profile.get('about'))).toBe('ERR_DECRYPT')
      expect(await codeOf(profile.set('about', 'Likes coffee.'))).toBe('ERR_DECRYPT')
      expect((await memoryOver(encrypt(store)).user(USER).profile.get('about'))?.text).toBe('Likes tea.')
    })

    it('refuses every call with another key, and writes nothing', async () => {
      const store = await filled()
      const locked = encrypt(store, {}, OTHER_KEYS)
      // In the user's own scope nothing is encrypted yet.
      expect(await locked.unlock(USER)).toBe('new')
      const scope = locked.open(SCOPE)
      expect(await codeOf(scope.commit([append('op-9', ['m9'])], decide))).toBe('ERR_DECRYPT')
      expect(await codeOf(scope.indexed('group'))).toBe('ERR_DECRYPT')
      expect(await codeOf(read(store, {}, {}, OTHER_KEYS))).toBe('ERR_DECRYPT')
      expect((await read(store)).bodies).toEqual(['m1', 'm2', 'e1'].map(bodyOf))
    })

    it('takes what another key encrypted for nothing that is missing: every reading call rejects', async () => {
      const store = open()
      const memory = memoryOver(encrypt(store))
      const session = memory.session(SCOPE)
      await session.append({ id: 'u1', role: 'user', content: 'I prefer window seats.' })
      await session.facts.remember({ kind: 'preference', text: 'Likes window seats.' })
      await session.checkpoint.set({ step: 'booking' })
      await memory.user(USER).profile.set('about', 'Ada')
      await session.context()
      const locked = memoryOver(encrypt(store, {}, OTHER_KEYS))
      const other = locked.session(SCOPE)
      for (const call of [
        () => other.history(),
        () => other.context(),
        () => other.context({ preview: true }),
        () => other.facts.list(),
        () => other.checkpoint.get(),
        () => other.recall.find('window'),
        () => locked.user(USER).profile.list(),
        () => locked.user(USER).facts.list(),
        () => listSessions(locked, USER),
        () => contextAt(other, 'u1'),
        () => linesOf(exportFrom(locked, USER)),
      ])
        expect([`${call}`, await codeOf(call())]).toEqual([`${call}`, 'ERR_DECRYPT'])
    })

    it.each([
      ['nothing', async () => {}],
      [
        'forgotten texts alone',
        async (session: FullSession) => {
          await session.append({ id: 'u1', role: 'user', content: 'Forget me.' })
          await forget(session, 'u1')
        },
      ],
    ] as const)('rejects under another key in a session that holds %s', async (_, fill) => {
      const store = open()
      const memory = memoryOver(encrypt(store))
      await memory.user(USER).profile.set('about', 'Ada')
      await fill(memory.session(SCOPE))
      const before = await textOf(store, [USER, SCOPE])
      const wrong = encrypt(store, {}, OTHER_KEYS)
      const scope = wrong.open(SCOPE)
      const locked = memoryOver(wrong)
      const other = locked.session(SCOPE)
      for (const call of [
        () => other.context(),
        () => other.context({ preview: true }),
        () => other.history(),
        () => other.facts.list(),
        () => other.checkpoint.get(),
        () => other.recall.find('window'),
        () => readBranches(other),
        () => listSessions(locked, USER),
        () => linesOf(exportFrom(locked, USER)),
        () => scope.changesSince(0),
        () => scope.indexed('group'),
        () => scope.sums(['group']),
      ])
        expect([`${call}`, await codeOf(call())]).toEqual([`${call}`, 'ERR_DECRYPT'])
      expect(await textOf(store, [USER, SCOPE])).toEqual(before)
    })

    it('erases a session under another key, one that holds marks alone too', async () => {
      const store = open()
      await memoryOver(encrypt(store)).session(SCOPE).context()
      const locked = memoryOver(encrypt(store, {}, OTHER_KEYS))
      // What is recorded of it waits for the right key.
      await codeOf(deleteSession(locked, USER, 'trip'))
      expect(await bodiesOf(store)).toEqual([])
    })

    it('goes on after a rotation with another data key, and reads what was written before', async () => {
      const store = await filled()
      const encrypted = encrypt(store)
      const others = encrypt(store).open(SCOPE)
      await others.entries()
      await encrypted.rotate(SCOPE)
      await encrypted.open(SCOPE).commit([append('op-4', ['m3'])], decide)
      // Who had the keys in memory finds the new one, and may write under the old one.
      expect((await others.entries()).rows.map(({ body }) => body)).toEqual(
        ['m1', 'm2', 'e1', 'm3'].map(bodyOf),
      )
      await others.commit([append('op-5', ['m4'])], decide)
      expect((await read(store)).bodies).toEqual(['m1', 'm2', 'e1', 'm3', 'm4'].map(bodyOf))
      const ids = (await bodiesOf(store)).map((body) => body?.slice(3, HEAD - 1))
      expect(ids[3]).not.toBe(ids[0])
      expect(new Set(ids).size).toBe(2)
    })

    it('gets another data key by itself after so many rows', async () => {
      const store = open()
      const scope = encrypt(store, { opsPerKey: 4 }).open(SCOPE)
      for (let op = 0; op < 9; op++) await scope.commit([append(`op-${op}`, [`m${op}`])], decide)
      const keys = (await bodiesOf(store)).map((body) => body?.slice(3, HEAD - 1))
      expect(new Set(keys).size).toBe(3)
      expect((await read(store)).bodies).toEqual(Array.from({ length: 9 }, (_, op) => bodyOf(`m${op}`)))
    })

    it('is opened by other keys after they wrapped the data keys, and no row changed', async () => {
      const store = await filled()
      const before = await bodiesOf(store)
      await encrypt(store, {}, eachOf(OTHER_KEYS, KEYS)).rewrap([USER, SCOPE])
      expect(await bodiesOf(store)).toEqual(before)
      expect((await read(store, {}, {}, OTHER_KEYS)).bodies).toEqual(['m1', 'm2', 'e1'].map(bodyOf))
      expect(await codeOf(read(store))).toBe('ERR_DECRYPT')
      const either = encrypt(store, {}, eachOf(KEYS, OTHER_KEYS))
      expect((await either.open(SCOPE).entries()).rows.map(({ body }) => body)).toEqual(
        ['m1', 'm2', 'e1'].map(bodyOf),
      )
    })

    it('says what an older key wrapped, and wraps the user’s own scope again when it is unlocked', async () => {
      const store = open()
      await encrypt(store)
        .open(USER)
        .commit([put('op-1', 'key', null)], decide)
      await encrypt(store)
        .open(SCOPE)
        .commit([append('op-2', ['m1'])], decide)
      const both = encrypt(store, {}, eachOf(OTHER_KEYS, KEYS))
      expect([await both.isStale(USER), await both.isStale(SCOPE)]).toEqual([true, true])
      expect(await both.unlock(USER)).toBe('opened')
      expect([await both.isStale(USER), await both.isStale(SCOPE)]).toEqual([false, true])
      const newer = encrypt(store, {}, OTHER_KEYS)
      expect(await newer.unlock(USER)).toBe('opened')
      await both.rewrap([SCOPE])
      expect((await read(store, {}, {}, OTHER_KEYS)).bodies).toEqual([bodyOf('m1')])
      expect([await newer.isStale(USER), await newer.isStale(SCOPE)]).toEqual([false, false])
      expect(await newer.isStale({ ...USER, sessionId: 'none' })).toBe(false)
    })

    it('loses its data keys with an erase: what a backup holds of the rows opens no more', async () => {
      const store = await filled()
      const [body = null] = await bodiesOf(store)
      const scope = encrypt(store).open(SCOPE)
      await scope.commit([erase('op-4')], decide)
      await scope.commit([append('op-5', ['m1'])], decide)
      const log = (row: LogRow): LogRow => ({ ...row, opId: 'op-1', body })
      expect((await read(store, { log })).told).toEqual(['message m1'])
      expect((await read(store)).bodies).toEqual([bodyOf('m1')])
      await scope.commit([erase('op-6'), append('op-7', ['m2'])], decide)
      const kept = await store.open(SCOPE).register('encryption/keys')
      expect(JSON.parse(`${kept?.body}`)).toHaveLength(1)
      expect(await scope.register('encryption/keys')).toBeUndefined()
    })

    it('writes its wrapped keys over before it deletes them, and only where something is erased', async () => {
      const store = await filled()
      const keysIn = async () => (await store.open(SCOPE).register('encryption/keys'))?.body ?? undefined
      const seen: (string | undefined)[] = []
      const watched = changedStore(store, (inner) => ({
        commit: async (ops, decide) => {
          const results = await inner.commit(ops, decide)
          seen.push(await keysIn())
          return results
        },
      }))
      const scope = encrypt(watched).open(SCOPE)
      const before = await keysIn()
      await scope.commit([erase('op-4'), append('op-5', ['m9'])], () => nothingWritten([]))
      expect([...new Set(seen)]).toEqual([before])
      seen.length = 0
      await scope.commit([erase('op-4')], decide)
      expect(seen).toEqual([
        before?.replace(/(?<="wrapped":")[^"]+/, (key) => 'A'.repeat(key.length)),
        undefined,
      ])
      // A process that ends in between has lost what was there, and can go on.
      const again = await filled()
      let isEnded = false
      const ended = changedStore(again, (inner) => ({
        commit: async (ops, decide) => {
          if (isEnded) throw new Error('the process ended')
          isEnded = true
          return inner.commit(ops, decide)
        },
      }))
      await expect(
        encrypt(ended)
          .open(SCOPE)
          .commit([erase('op-4')], decide),
      ).rejects.toThrow('ended')
      expect((await read(again)).told).toHaveLength(3)
      await encrypt(again)
        .open(SCOPE)
        .commit([erase('op-4'), append('op-5', ['m9'])], decide)
      expect((await read(again)).bodies).toEqual([bodyOf('m9')])
    })

    it('keeps what two writers write at the same time, each with keys of its own in memory', async () => {
      const store = open()
      const writers = [encrypt(store), encrypt(store), encrypt(store)].map((one) => one.open(SCOPE))
      await Promise.all(
        writers.map(async (scope, writer) => {
          for (let op = 0; op < 10; op++)
            expect(
              await scope.commit([append(`w${writer}/${op}`, [`m${writer}/${op}`])], decide),
            ).toMatchObject([{ status: 'accepted' }])
        }),
      )
      const { bodies, told } = await read(store)
      expect([bodies.length, told]).toEqual([30, []])
    })

    it('writes nothing under a key that somebody else erased', async () => {
      const store = await filled()
      const [one, other] = [encrypt(store).open(SCOPE), encrypt(store).open(SCOPE)]
      await one.commit([append('op-4', ['m3'])], decide)
      await other.commit([erase('op-5')], decide)
      await other.commit([append('op-6', ['m4'])], decide)
      await one.commit([append('op-7', ['m5'])], decide)
      expect((await read(store)).bodies).toEqual(['m4', 'm5'].map(bodyOf))
    })

    it('takes a repeated erase for what it is, and keeps what was written since', async () => {
      const store = await filled()
      const scope = encrypt(store).open(SCOPE)
      await scope.commit([erase('op-4')], decide)
      await scope.commit([append('op-5', ['m9'])], decide)
      expect(await scope.commit([erase('op-4'), append('op-6', ['m8'])], decide)).toMatchObject([
        { repeated: true },
        { status: 'accepted' },
      ])
      expect((await read(store)).bodies).toEqual(['m9', 'm8'].map(bodyOf))
    })

    it('refuses what was written in the clear, or leaves it so where the app says that', async () => {
      const store = open()
      await store.open(SCOPE).commit([append('op-1', ['m1'])], decide)
      expect(await codeOf(encrypt(store).open(SCOPE).entries())).toBe('ERR_DECRYPT')
      expect(
        await codeOf(
          encrypt(store)
            .open(SCOPE)
            .commit([append('op-2', ['m2'])], decide),
        ),
      ).toBe('ERR_DECRYPT')
      const keeping = encrypt(store, { plain: 'keep' })
      await keeping.open(SCOPE).commit([append('op-2', ['m2'])], decide)
      expect(await bodiesOf(store)).toEqual(['m1', 'm2'].map(bodyOf))
      await keeping.open({ ...SCOPE, sessionId: 'new' }).commit([append('op-1', ['m1'])], decide)
      expect(await textOf(store, [{ ...SCOPE, sessionId: 'new' }])).not.toContain('body of')
    })

    it('writes no body that no op has, since nobody encrypted it', async () => {
      const scope = encrypt(open()).open(SCOPE)
      const call = scope.commit([append('op-1', ['m1'])], (ops, rows) => {
        const decision = decide(ops, rows)
        return { ...decision, log: decision.log.map((row) => ({ ...row, body: 'in the clear' })) }
      })
      expect(await codeOf(call)).toBe('ERR_INVALID_ARGUMENT')
      expect(await scope.head()).toMatchObject({ seq: 0 })
      for (const op of [put('op-2', 'encryption/keys', null), remove('op-4', 'register:encryption/keys')])
        expect(await codeOf(scope.commit([op], decide))).toBe('ERR_INVALID_ARGUMENT')
    })

    it('is exported in the clear, and imported encrypted, byte for byte, lists included', async () => {
      const source = memoryOver(encrypt(open()))
      const session = source.session(SCOPE)
      await session.facts.remember({ kind: 'preference', text: 'Likes CANARY seats.' })
      await source.user(USER).profile.set('about', 'CANARY')
      for (let round = 0; round < 8; round++)
        await addExchange(session, `CANARY ${round}? ${'x '.repeat(600)}`, 'An answer.')
      const lines = await linesOf(exportFrom(source, USER))
      const store = open()
      const target = memoryOver(encrypt(store))
      await importInto(target, USER, lines)
      expect(await linesOf(exportFrom(target, USER))).toEqual(lines)
      expect(await target.session(SCOPE).facts.list()).toEqual(await session.facts.list())
      expect(await memoryOver(encrypt(store)).session(SCOPE).facts.list()).toHaveLength(1)
      expect(await textOf(store, [USER, SCOPE])).not.toContain('CANARY')
    })

    it('reads what a decision wrote that erased what was there, though no op said so', async () => {
      const store = await filled()
      const scope = encrypt(store).open(SCOPE)
      const row: LogRow = {
        seq: 4,
        place: 0,
        kind: 'message',
        id: 'm9',
        opId: 'op-9',
        ordinal: 1,
        round: 'm9',
        body: bodyOf('m9'),
      }
      const register: RegisterRow = {
        key: 'key',
        version: 'op-8',
        seq: 4,
        index: [{ group: 'list', order: 'a' }],
        body: bodyOf('key'),
      }
      const what = { erase: true, log: [row], registers: [register] }
      await scope.commit(carriers(what), (ops, rows) => followed(ops, rows, what))
      for (const one of [scope, encrypt(store).open(SCOPE)]) {
        expect((await one.entries()).rows.map(({ body }) => body)).toEqual([bodyOf('m9')])
        expect(await one.indexed('list')).toEqual([register])
      }
    })

    it('loses nothing and shows nothing where calls of one store erase, append and look at the same time', async () => {
      for (let run = 0; run < 12; run++) {
        const store = await filled()
        const encrypted = encrypt(store)
        const [one, other, third] = [encrypted.open(SCOPE), encrypted.open(SCOPE), encrypted.open(SCOPE)]
        const bodies = [`CANARY ${'x'.repeat(run * 20_000)}`]
        // Of two calls that are made at once, the store says which one comes first.
        let last = ''
        const noting =
          (name: string): Decide =>
          (ops, rows) => {
            last = name
            return decide(ops, rows)
          }
        await Promise.all([
          one.commit([append(`a${run}`, [`a${run}`], { bodies })], decide),
          other.commit([erase(`e${run}`)], noting('erase')),
          third.derive({ key: 'block', bytes: new Uint8Array(9) }, 0),
          other.commit([append(`b${run}`, [`b${run}`], { bodies })], noting('append')),
          one.commit(
            [put(`c${run}`, 'key', null, { index: [{ group: 'CANARY list', order: 'a' }] })],
            decide,
          ),
          third.entries(),
        ])
        await one.commit([append(`d${run}`, [`d${run}`])], decide)
        const { told, rows } = await read(store)
        const left = last === 'append' ? [`b${run}`, `d${run}`] : [`d${run}`]
        expect([told, rows.map(({ id }) => id)]).toEqual([[], expect.arrayContaining(left)])
        expect(await textOf(store, [SCOPE])).not.toContain('CANARY')
        expect(await encrypt(store).open(SCOPE).indexed('CANARY list')).toEqual(
          await one.indexed('CANARY list'),
        )
      }
    })

    it('reads on where others made keys and wrote, after an erase, while it looked for keys', async () => {
      const store = await filled()
      await encrypt(store)
        .open(SCOPE)
        .commit([erase('op-4')], decide)
      let looks = 0
      const registering = async (): Promise<void> => {
        if (looks++ > 0) return
        await encrypt(store)
          .open(SCOPE)
          .commit([append('op-5', ['m3'])], decide)
      }
      expect(await read(store, { registering })).toMatchObject({ told: [], bodies: [bodyOf('m3')] })
      expect(looks).toBe(2)
    })

    it('rejects where its keys are missing, also while others write', async () => {
      const store = await filled()
      let writes = 0
      const keyless = changedStore(store, (inner) => ({
        register: async () => {
          if (writes++ === 0) await inner.commit([remove('op-4', 'register:nothing')], decide)
          return undefined
        },
      }))
      const scope = encrypt(keyless).open(SCOPE)
      const canary = append('op-5', ['m9'], { bodies: ['CANARY'] })
      expect(await codeOf(scope.entries())).toBe('ERR_DECRYPT')
      expect(await codeOf(scope.commit([canary], decide))).toBe('ERR_DECRYPT')
      expect(await textOf(store, [SCOPE])).not.toContain('CANARY')
      await encrypt(store)
        .open(SCOPE)
        .commit([append('op-6', ['m3'])], decide)
      expect((await read(store)).bodies).toEqual(['m1', 'm2', 'e1', 'm3'].map(bodyOf))
    })

    it('lists what first calls wrote at the same time', async () => {
      const store = open()
      const { profile } = memoryOver(encrypt(store)).user(USER)
      await Promise.all(['about', 'home', 'work'].map((name) => profile.set(name, name)))
      for (const one of [encrypt(store), encrypt(store)])
        expect((await memoryOver(one).user(USER).profile.list()).map(({ name }) => name)).toEqual([
          'about',
          'home',
          'work',
        ])
    })

    it('sees in lists what another tab wrote since it looked, also after that erased all', async () => {
      const store = open()
      const [one, other] = [encrypt(store), encrypt(store)].map((tab) => memoryOver(tab).user(USER))
      expect(await one?.profile.list()).toEqual([])
      await other?.profile.set('about', 'Ada')
      expect(await one?.profile.list()).toHaveLength(1)
      await encrypt(store)
        .open(USER)
        .commit([erase('op-9')], decide)
      await memoryOver(encrypt(store)).user(USER).profile.set('home', 'Turin')
      expect((await one?.profile.list())?.map(({ name }) => name)).toEqual(['home'])
    })

    it.each(['[]', '{', 'null', '[{}]', '{"keys":[]}'])(
      'writes nothing in the clear where its keys are damaged: %s',
      async (body) => {
        const store = await filled()
        const canary = append('op-9', ['m9'], { bodies: ['CANARY'] })
        const register = (row: RegisterRow): RegisterRow => ({ ...row, body })
        const scope = encrypt(tampered(store, { register })).open(SCOPE)
        expect(await codeOf(scope.commit([canary], decide))).toBe('ERR_DECRYPT')
        expect(await codeOf(scope.entries())).toBe('ERR_DECRYPT')
        const gone = (row: RegisterRow): RegisterRow => ({ ...row, body: null })
        for (const plain of ['refuse', 'keep'] as const) {
          const without = encrypt(tampered(store, { register: gone }), { plain }).open(SCOPE)
          expect(await codeOf(without.commit([canary], decide))).toBe('ERR_DECRYPT')
        }
        expect(await textOf(store, [SCOPE])).not.toContain('CANARY')
      },
    )

    it('reads what was written beside a change of the user’s key', async () => {
      const store = await filled()
      const encrypted = encrypt(store, {}, eachOf(OTHER_KEYS, KEYS))
      const scope = encrypted.open(SCOPE)
      await scope.entries()
      await Promise.all([
        encrypted.rewrap([USER, SCOPE]),
        encrypted.rotate(SCOPE).then(() => scope.commit([append('op-4', ['m3'])], decide)),
      ])
      await encrypted.rewrap([USER, SCOPE])
      expect((await read(store, {}, {}, OTHER_KEYS)).bodies).toEqual(['m1', 'm2', 'e1', 'm3'].map(bodyOf))
    })

    it('encrypts what is written to a scope that was in the clear after it was erased, from any tab', async () => {
      const store = open()
      await store.open(SCOPE).commit([append('op-1', ['m1'])], decide)
      const [one, other] = [encrypt(store, { plain: 'keep' }), encrypt(store, { plain: 'keep' })].map((tab) =>
        tab.open(SCOPE),
      )
      await other?.commit([append('op-2', ['m2'])], decide)
      await one?.commit([erase('op-3')], decide)
      await one?.commit([append('op-4', ['m4'])], decide)
      await other?.commit([append('op-5', ['m5'])], decide)
      expect(await textOf(store, [SCOPE])).not.toContain('body of')
      expect((await read(store)).bodies).toEqual(['m4', 'm5'].map(bodyOf))
    })

    it('erases without a key, and what was in the clear too', async () => {
      const store = await filled()
      const locked = encrypt(store, {}, OTHER_KEYS).open(SCOPE)
      expect(await codeOf(locked.commit([erase('op-9')], decide))).toBe('resolved')
      expect(await bodiesOf(store)).toEqual([])
      const plain = open()
      await plain.open(SCOPE).commit([append('op-1', ['m1'])], decide)
      expect(
        await codeOf(
          encrypt(plain)
            .open(SCOPE)
            .commit([erase('op-2')], decide),
        ),
      ).toBe('resolved')
      expect(await bodiesOf(plain)).toEqual([])
    })

    it('takes a scope of nothing but deletes for an empty one, however many they are', async () => {
      const store = open()
      const removes = Array.from({ length: 600 }, (_, at) => remove(`op-${at}`, `entry:gone-${at}`))
      for (let at = 0; at < removes.length; at += 100)
        await store.open(SCOPE).commit(removes.slice(at, at + 100), decide)
      await encrypt(store)
        .open(SCOPE)
        .commit([append('op-a', ['m1'])], decide)
      expect((await read(store)).bodies).toEqual([bodyOf('m1')])
    })

    it('lists facts of which one cannot be read, and ends', async () => {
      const store = open()
      const { facts } = memoryOver(encrypt(store)).user(USER)
      for (const text of ['Likes tea.', 'Books early trains.', 'Lives in Turin.'])
        await facts.remember({ kind: 'preference', text })
      const [bad, ...good] = (await facts.list()).map(({ id }) => id).reverse()
      let reads = 0
      const indexed = (rows: readonly RegisterRow[]): readonly RegisterRow[] => {
        if (++reads > 100) throw new Error('it reads without end')
        return rows.map((row) =>
          row.key === `fact/${bad}` ? { ...row, body: flipped(`${row.body}`, HEAD + 5) } : row,
        )
      }
      const rest = await memoryOver(encrypt(tampered(store, { indexed })))
        .user(USER)
        .facts.list()
      expect(rest.map(({ id }) => id).sort()).toEqual(good.sort())
    })

    it('takes keys that fail for no proof that a row cannot be read', async () => {
      const store = await filled()
      let fails = true
      const service: Keys = {
        ...KEYS,
        unwrap: async (owner, wrapped, place) => {
          if (fails) throw new Error('503')
          return KEYS.unwrap(owner, wrapped, place)
        },
      }
      const told: Unreadable[] = []
      const scope = encrypt(store, { onUnreadable: (row) => told.push(row) }, service).open(SCOPE)
      expect(await codeOf(scope.entries())).toBe('ERR_STORAGE')
      expect(await codeOf(scope.commit([append('op-9', ['m9'])], decide))).toBe('ERR_STORAGE')
      fails = false
      expect((await scope.entries()).rows.map(({ body }) => body)).toEqual(['m1', 'm2', 'e1'].map(bodyOf))
      expect(told).toEqual([])
    })

    it('writes nothing to a new session under a wrong key', async () => {
      const store = open()
      await encrypt(store)
        .open(USER)
        .commit([put('op-1', 'key', null)], decide)
      const session = memoryOver(encrypt(store, {}, OTHER_KEYS)).session(SCOPE)
      const bytes = new Uint8Array(3)
      expect(await codeOf(attach(session, { mediaType: 'image/png', bytes }))).toBe('ERR_DECRYPT')
      expect(await codeOf(session.append({ role: 'user', content: 'Hello.' }))).toBe('ERR_DECRYPT')
      expect((await store.open(SCOPE).head()).seq).toBe(0)
      expect(await store.open(SCOPE).registers('')).toEqual([])
    })

    it('leaves no attachment that nobody can read, where an erase came between', async () => {
      const store = open()
      const scope = encrypt(store).open(SCOPE)
      await scope.commit([append('op-1', ['m1'])], decide)
      let before: Promise<unknown> | undefined
      const slow = tampered(store, {
        attaching: async () => {
          before ??= encrypt(store)
            .open(SCOPE)
            .commit([erase('op-2'), append('op-3', ['m2'])], decide)
          await before
        },
      })
      const picture = { id: 'p1', mediaType: 'image/png', bytes: new Uint8Array(9) }
      expect(await codeOf(encrypt(slow).open(SCOPE).attach(picture, 1))).toBe('ERR_CONFLICT')
      expect(await store.open(SCOPE).attachment('p1')).toBeUndefined()
      expect(await scope.attach({ ...picture, id: 'p2' }, 1)).toBe('stored')
    })

    it('goes on where it tells of a row and its listener throws', async () => {
      const store = await filled()
      const log = (row: LogRow): LogRow => ({ ...row, body: row.id === 'm1' ? 'p1.x' : row.body })
      const onUnreadable = (): never => {
        throw new Error('no screen')
      }
      const { rows } = await encrypt(tampered(store, { log }), { onUnreadable }).open(SCOPE).entries()
      expect(rows.map(({ body }) => body)).toEqual([null, bodyOf('m2'), bodyOf('e1')])
    })

    it('does not go back to older keys that a slow look at them found', async () => {
      const store = await filled()
      let gate: Promise<void> | undefined
      let go = (): void => {}
      const slow = tampered(store, { registering: () => gate ?? Promise.resolve() })
      const encrypted = encrypt(slow)
      const [one, other] = [encrypted.open(SCOPE), encrypted.open(SCOPE)]
      await one.commit([append('op-4', ['m3'])], decide)
      await store.open(SCOPE).commit([remove('op-5', 'register:nothing')], decide)
      gate = new Promise((done) => {
        go = done
      })
      // It has read the register, and waits.
      const looking = other.indexed('list')
      await encrypt(store).open(SCOPE).head()
      gate = undefined
      await one.commit([erase('op-6'), append('op-7', ['m4'])], decide)
      go()
      await looking
      await one.commit([append('op-8', ['m5'])], decide)
      expect((await read(store)).bodies).toEqual(['m4', 'm5'].map(bodyOf))
    })

    it('keeps attachments encrypted, bound to their id and type', async () => {
      const store = open()
      const scope = encrypt(store).open(SCOPE)
      const bytes = Uint8Array.from('CANARY '.repeat(50_000), (one) => one.charCodeAt(0))
      const picture = { id: 'p1', mediaType: 'image/png', bytes }
      expect(await scope.attach(picture, 1)).toBe('stored')
      expect(await scope.attach(picture, 1)).toBe('kept')
      const stored = await store.open(SCOPE).attachment('p1')
      expect(String.fromCharCode(...(stored?.bytes ?? []).slice(0, 1_000))).not.toContain('CANARY')
      expect(await encrypt(store).open(SCOPE).attachment('p1')).toEqual(picture)
      const asText = tampered(store, { attachment: (found) => ({ ...found, mediaType: 'text/html' }) })
      expect(await codeOf(encrypt(asText).open(SCOPE).attachment('p1'))).toBe('ERR_DECRYPT')
      await scope.commit([append('op-1', ['m1'])], decide)
      expect(await codeOf(encrypt(store, {}, OTHER_KEYS).open(SCOPE).attachment('p1'))).toBe('ERR_DECRYPT')
    })

    it('is opened by a passphrase, whose parameters are stored and which is not', async () => {
      const store = open()
      const keys = passphraseKeys('correct horse battery staple')
      const first = memoryOver(encrypt(store, {}, keys)).session(SCOPE)
      await first.append({ role: 'user', content: 'Hello.' })
      const again = encrypt(store, {}, passphraseKeys('correct horse battery staple'))
      expect(await again.unlock(USER)).toBe('opened')
      expect((await memoryOver(again).session(SCOPE).history()).map(({ content }) => content)).toEqual([
        'Hello.',
      ])
      expect(await codeOf(encrypt(store, {}, passphraseKeys('wrong')).unlock(USER))).toBe('ERR_DECRYPT')
      expect(await textOf(store, [USER, SCOPE])).not.toContain('horse')
      const infos = await Promise.all(
        [USER, SCOPE].map(async (scope) => (await store.open(scope).register('encryption/keys'))?.body),
      )
      // One salt for all of a user's scopes, so that it is derived once.
      expect(new Set(infos.flatMap((body) => /"salt":"([^"]+)"/.exec(`${body}`)?.[1] ?? body)).size).toBe(1)
      const newer = passphraseKeys('a new one', { iterations: 700_000 })
      await encrypt(store, {}, eachOf(newer, keys)).rewrap([USER, SCOPE])
      const opened = encrypt(store, {}, passphraseKeys('a new one', { iterations: 700_000 }))
      expect(await opened.unlock(USER)).toBe('opened')
      expect((await memoryOver(opened).session(SCOPE).history()).map(({ content }) => content)).toEqual([
        'Hello.',
      ])
      expect(await codeOf(encrypt(store, {}, keys).unlock(USER))).toBe('ERR_DECRYPT')
    })
  })
}

function memoryOver(store: Store): FullMemory {
  return fullMemory({
    store,
    budget: 3_000,
    clock: () => 1_790_000_000_000,
    recall: {},
    extraction: {},
    compaction: {},
  })
}
