import { env, runInDurableObject } from 'cloudflare:test'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { answerPull } from '../../../src/edge/replica/answer-pull.ts'
import { copyScope } from '../../../src/edge/replica/copy-scope.ts'
import { moveScope } from '../../../src/edge/replica/move-scope.ts'
import { answerScopeCall, remoteScope } from '../../../src/edge/replica/remote-scope.ts'
import { type UserHome, UserReplica } from '../../../src/edge/replica/user-replica.ts'
import { decide } from '../../../src/kernel/log/decide.ts'
import { webHost } from '../../../src/platform/web.ts'
import type { Name, Scope, SealedOp } from '../../../src/ports/op.ts'
import type { ScopeStore, Store } from '../../../src/ports/store.ts'
import { durableObjectStore } from '../../../src/stores/durable-object.ts'
import { mapStore } from '../../../src/stores/map.ts'
import { PART_UNITS } from '../../../src/stores/parts.ts'
import type { SqlStorageLike } from '../../../src/stores/sql-schema.ts'
import { append, erase, mark, names, put, readAll, remove, SCOPE } from '../../contract/samples.ts'
import { limit, runs } from '../../everywhere/runs.ts'
import { ObjectStore } from '../object-store.ts'

const USER: Scope = { userId: 'ada' }
/** The test runner logs every abort but those with this reason. */
const REASON = 'Instance dispose'
const LONG = 'x'.repeat(2 * PART_UNITS + 1)
const KEYS = ['fact/a', 'fact/b', 'fact/c', 'settings', 'session/trip', 'session/work']

function newObject(): ObjectStore {
  return new ObjectStore(env.SESSIONS.get(env.SESSIONS.newUniqueId()))
}

/** What an object offers that is the home of these scopes; what crosses is cloned. */
function homeOf(store: Pick<Store, 'open'>): UserHome {
  return {
    scope: async (scope, call) =>
      structuredClone(await answerScopeCall(store.open(scope), structuredClone(call))),
    pull: async (scope, request) =>
      structuredClone(await answerPull(store.open(scope), structuredClone(request))),
  }
}

function replicaIn(local: Store, home: Pick<Store, 'open'>): UserReplica {
  return new UserReplica({
    local: local.open(USER),
    scope: USER,
    sessionId: 'trip',
    stub: () => homeOf(home),
    host: webHost,
  })
}

async function held(scope: ScopeStore): Promise<unknown> {
  const registers = await Promise.all(
    KEYS.map(async (key) => (key === 'session/work' ? null : ((await scope.register(key)) ?? null))),
  )
  return {
    seq: (await scope.head()).seq,
    registers,
    facts: await scope.registers('fact/'),
    listed: await scope.indexed('fact'),
    sums: [...(await scope.sums(['fact', 'near']))].sort(),
  }
}

describe('a replica in one object of a scope in another', () => {
  it('answers as its home does, whatever was written on both sides', { timeout: limit(60_000) }, async () => {
    const key = fc.constantFrom(...KEYS)
    const index = fc.array(
      fc.record({
        group: fc.constantFrom('fact', 'near'),
        order: fc.constantFrom('1', '2'),
        weight: fc.integer({ min: -2, max: 3 }),
      }),
      { maxLength: 2 },
    )
    const op = fc.oneof(
      {
        weight: 8,
        arbitrary: fc
          .record({
            opId: fc.uuid(),
            key,
            index,
            sources: fc.array(fc.constantFrom<Name>('entry:m1', 'register:fact/a'), { maxLength: 1 }),
          })
          .map(({ opId, key, index, sources }) =>
            put(opId, key, null, key.startsWith('fact/') ? { index, sources } : {}),
          ),
      },
      {
        weight: 2,
        arbitrary: fc.tuple(fc.uuid(), key).map(([opId, key]) => remove(opId, `register:${key}`)),
      },
      { weight: 1, arbitrary: fc.uuid().map((opId) => remove(opId, 'entry:m1')) },
      { weight: 1, arbitrary: fc.uuid().map(erase) },
    )
    const play = fc.array(fc.tuple(fc.boolean(), fc.array(op, { minLength: 1, maxLength: 4 })), {
      maxLength: 10,
    })
    await fc.assert(
      fc.asyncProperty(play, async (steps) => {
        const [user, session] = [newObject(), newObject()]
        const home = user.open(USER)
        const replica = replicaIn(session, user)
        for (const [isAtHome, ops] of steps) {
          const to = isAtHome ? home : replica
          const based: SealedOp[] = []
          for (const { envelope, bodies } of ops) {
            const { key } = envelope
            const base = key === undefined ? undefined : ((await to.register(key))?.version ?? null)
            based.push({ envelope: { ...envelope, ...(base !== undefined && { base }) }, bodies })
          }
          await to.commit(based, decide)
          if (!isAtHome) expect(await held(replica)).toEqual(await held(home))
        }
        expect(await replica.refresh({ olderThan: -1 })).toBeUndefined()
        expect(await held(replica)).toEqual(await held(home))
        expect(await session.open(USER).register('session/work')).toBeUndefined()
      }),
      runs(25),
    )
  })

  it('leaves nothing of a text that was forgotten at home in any table', async () => {
    const [user, session] = [newObject(), newObject()]
    const home = user.open(USER)
    const replica = replicaIn(session, user)
    const texts = ['short secret', `long secret ${LONG}`]
    const ops = [
      ...texts.map((body, at) => put(`op-${at}`, `fact/${at}`, null, { body })),
      put('op-2', 'fact/2', null, { body: 'derived secret', sources: ['register:fact/0'] }),
    ]
    await home.commit(ops, decide)
    await replica.refresh()
    const tables = (): Promise<string> =>
      runInDurableObject(session.stub, (_, { storage }) => dumpTables(storage))
    expect(await tables()).toContain('long secret')
    await home.commit([remove('op-3', 'register:fact/0'), remove('op-4', 'register:fact/1')], decide)
    replica.poke()
    await replica.refresh()
    expect(await tables()).not.toContain('secret')
    expect(await tables()).not.toContain('xxxx')
  })

  it('is as it was after its object was started again, and pulls what is new alone', async () => {
    const [user, session] = [newObject(), newObject()]
    await user.open(USER).commit(
      names('fact/', 20).map((key) => put(`op-${key}`, key, null)),
      decide,
    )
    await replicaIn(session, user).refresh()
    const aborted = runInDurableObject(session.stub, async (_, state) => {
      await state.storage.sync()
      state.abort(REASON)
    })
    await expect(aborted).rejects.toThrow(REASON)
    const again = new ObjectStore(env.SESSIONS.get(session.stub.id))
    await user.open(USER).commit([put('op', 'fact/new', null)], decide)
    let rows = 0
    const counting: UserHome = {
      ...homeOf(user),
      pull: async (scope, request) => {
        const answer = await answerPull(user.open(scope), request)
        rows += answer.rows.length
        return answer
      },
    }
    const replica = new UserReplica({
      local: again.open(USER),
      scope: USER,
      sessionId: 'trip',
      stub: () => counting,
      host: webHost,
    })
    expect((await replica.registers('fact/')).length).toBe(20)
    await replica.refresh()
    expect((await replica.registers('fact/')).length).toBe(21)
    expect(rows).toBe(1)
  })
})

const index = [{ group: 'fact', order: '1', weight: 1 }]
const FIRST = [
  put('op-1', 'fact/a', null, { sources: ['entry:m1'], index }),
  put('op-2', 'fact/b', null, { body: LONG, sources: ['register:fact/a'], index }),
  put('op-3', 'settings', null),
]
const many = names('more-', 600).map((opId, at, all) =>
  put(opId, 'fact/c', at === 0 ? null : (all[at - 1] ?? null), { index }),
)

const PULLS: Readonly<Record<string, readonly [before: readonly SealedOp[], then: readonly SealedOp[]]>> = {
  'the first pull': [[], FIRST],
  'a pull of changes and deletes': [
    FIRST,
    [
      put('op-4', 'fact/c', null, { body: LONG, index }),
      put('op-5', 'settings', 'op-3', { body: LONG }),
      remove('op-6', 'entry:m1'),
    ],
  ],
  'a snapshot': [[], [...FIRST, ...many]],
  'a pull after an erase': [FIRST, [erase('op-7'), put('op-8', 'fact/c', null, { index })]],
}

describe('an object that is aborted while it applies a pull', () => {
  for (const [name, [before, then]] of Object.entries(PULLS))
    it(`at any statement of ${name} has all of it or nothing, and has it after the next one (T7)`, async () => {
      const home = mapStore()
      await home.open(USER).commit(before, decide)
      const restarting = async () => {
        const id = env.SESSIONS.newUniqueId()
        const run = <Result>(call: (state: DurableObjectState) => Promise<Result>): Promise<Result> =>
          runInDurableObject(env.SESSIONS.get(id), (_, state) => call(state))
        const pull = (state: DurableObjectState, storage: SqlStorageLike = state.storage) =>
          replicaIn(durableObjectStore(storage), home).refresh({ olderThan: -1 })
        const dump = () =>
          run(async ({ storage }) => {
            const read = await readAll(durableObjectStore(storage).open(USER))
            return JSON.stringify({ read, rows: dumpTables(storage) })
          })
        if (before.length > 0) await run((state) => pull(state))
        return { run, pull, dump }
      }
      const objects = [await restarting(), await restarting()] as const
      // All objects that are to be aborted pull the state before first.
      const tried = await Promise.all(Array.from({ length: MOST_STATEMENTS }, restarting))
      await home.open(USER).commit(then, decide)
      const [untouched, calm] = objects
      let statements = 0
      await calm.run((state) =>
        calm.pull(
          state,
          watched(state, () => statements++),
        ),
      )
      const [old, fresh] = [await untouched.dump(), await calm.dump()]
      expect(old === fresh).toBe(false)
      expect(statements).toBeGreaterThan(10)
      expect(statements + 2).toBeLessThanOrEqual(MOST_STATEMENTS)
      const nameOf = (found: string) => (found === old ? 'before' : found === fresh ? 'after' : 'between')
      for (let at = 1; at <= statements + 2; at++) {
        const { run, pull, dump } = tried[at - 1] as Awaited<ReturnType<typeof restarting>>
        const aborted = run(async (state) => {
          let statement = 0
          const storage = watched(state, () => {
            if (++statement === at) state.abort(REASON)
          })
          await pull(state, storage)
          if (at > statements + 1) await state.storage.sync()
          state.abort(REASON)
        })
        await expect(aborted).rejects.toThrow(REASON)
        expect(nameOf(await dump()), `statement ${at}`).toBeOneOf(
          at > statements + 1 ? ['after'] : ['before', 'after'],
        )
        await run((state) => pull(state))
        expect(nameOf(await dump())).toBe('after')
      }
    }, 60_000)
})

/** More than any of the pulls takes. */
const MOST_STATEMENTS = 90

describe('a session that moves from one object to another', () => {
  const index = [{ group: 'g', order: '1', weight: 2 }]
  const OPS = [
    append('op-1', ['m1', 'm2'], {
      bodies: ['{"role":"user","content":"hello"}', LONG],
      derived: ['{"n":1}', undefined],
    }),
    mark('op-2', 'epoch', 'e1'),
    mark('op-3', 'summary', 's1', { sources: ['entry:m1'] }),
    put('op-4', 'fact/a', null, { body: LONG, index, sources: ['entry:m2'] }),
    put('op-5', 'fact/b', null, { index }),
    remove('op-6', 'entry:m1'),
    mark('op-7', 'epoch', 'e2', { base: 'e1' }),
    append('op-8', names('n', 40), { round: 'm1' }),
    append('op-9', ['m3']),
  ]

  it('is there as it was, and leaves an erased source', async () => {
    const [guest, user] = [newObject(), newObject()]
    const [source, to] = [guest.open(SCOPE), user.open({ ...SCOPE, userId: 'bob' })]
    for (const op of OPS) await source.commit([op], decide)
    const before = {
      all: await readAll(source),
      listed: await source.indexed('g'),
      sums: await source.sums(['g']),
    }
    const from = remoteScope({ stub: () => homeOf(guest), scope: SCOPE, host: webHost })
    await moveScope(from, to, { opId: 'move', now: () => 1 })
    const after = { all: await readAll(to), listed: await to.indexed('g'), sums: await to.sums(['g']) }
    expect(after).toEqual(before)
    expect(await readAll(source)).toMatchObject({ registers: [], head: { ordinal: 0, seq: 10 } })
    const left = await runInDurableObject(guest.stub, (_, { storage }) => dumpTables(storage))
    expect(left).not.toContain('xxxx')
    // It goes on as the source would have.
    const next = [append('op-10', ['m1']), append('op-1', ['m9']), put('op-11', 'fact/b', 'op-5')]
    const other = mapStore().open(SCOPE)
    for (const op of OPS) await other.commit([op], decide)
    expect(await to.commit(next, decide)).toEqual(await other.commit(next, decide))
  })

  it('is copied on from where the last copy ended, with its marks and what was deleted since', async () => {
    const [guest, user] = [newObject(), newObject()]
    const [from, to] = [guest.open(SCOPE), user.open(SCOPE)]
    const later = [
      append('op-10', ['m4']),
      mark('op-11', 'epoch', 'e3', { base: 'e2' }),
      remove('op-12', 'entry:m3'),
    ]
    const parts = [
      OPS.slice(0, 1),
      OPS.slice(1, 2),
      OPS.slice(2, 4),
      OPS.slice(4),
      later.slice(0, 1),
      later.slice(1),
    ]
    for (const ops of parts) {
      for (const op of ops) await from.commit([op], decide)
      await copyScope(from, to, { now: () => 1 })
      expect(await readAll(to)).toEqual(await readAll(from))
      // What is written, rather than what its writer has in mind.
      expect(await readAll(new ObjectStore(user.stub).open(SCOPE))).toEqual(await readAll(from))
    }
  })

  it('is copied by an object that is aborted again and again', async () => {
    const guest = mapStore()
    for (const op of OPS) await guest.open(SCOPE).commit([op], decide)
    const id = env.SESSIONS.newUniqueId()
    const copy = (state: DurableObjectState, storage: SqlStorageLike = state.storage) =>
      copyScope(guest.open(SCOPE), durableObjectStore(storage).open(SCOPE), { now: () => 1 })
    for (let at = 1; at < 60; at += 3) {
      const aborted = runInDurableObject(env.SESSIONS.get(id), async (_, state) => {
        let statement = 0
        await copy(
          state,
          watched(state, () => {
            if (++statement === at) state.abort(REASON)
          }),
        )
        state.abort(REASON)
      })
      await expect(aborted).rejects.toThrow(REASON)
    }
    const copied = await runInDurableObject(env.SESSIONS.get(id), async (_, state) => {
      await copy(state)
      return readAll(durableObjectStore(state.storage).open(SCOPE))
    })
    expect(copied).toEqual(await readAll(guest.open(SCOPE)))
  })
})

function dumpTables({ sql }: DurableObjectStorage): string {
  const tables = sql
    .exec(`SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'plimsoll%'`)
    .toArray()
  return JSON.stringify(tables.map(({ name }) => [name, sql.exec(`SELECT * FROM ${name}`).toArray()]))
}

/** The storage of an object, which says so before each of its statements. */
function watched({ storage }: DurableObjectState, before: () => void): SqlStorageLike {
  return {
    transactionSync: (closure) => storage.transactionSync(closure),
    sql: {
      exec: (query, ...bindings) => {
        before()
        return storage.sql.exec(query, ...bindings)
      },
    },
  }
}
