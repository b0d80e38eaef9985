import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMemory } from '../../../src/create-memory.ts'
import { answerPull } from '../../../src/edge/replica/answer-pull.ts'
import { onDecision } from '../../../src/edge/replica/on-decision.ts'
import { type Cursor, MOST_NAMES, type PullAnswer } from '../../../src/edge/replica/pull.ts'
import { UserReplica } from '../../../src/edge/replica/user-replica.ts'
import { auditIn, MOST_RECORDS, noteAudit, writeAudit } from '../../../src/features/audit.ts'
import { type Context, mapStore } from '../../../src/index.ts'
import { decide } from '../../../src/kernel/log/decide.ts'
import { allOrNone } from '../../../src/kernel/log/once.ts'
import { forget, forgetFact } from '../../../src/operations/forget/forget.ts'
import type { Host } from '../../../src/ports/host.ts'
import type { Scope, SealedOp } from '../../../src/ports/op.ts'
import type { RegisterRow, ScopeStore, Store } from '../../../src/ports/store.ts'
import { durableObjectStore } from '../../../src/stores/durable-object.ts'
import { openSqlite } from '../../../src/stores/sqlite-handle.ts'
import { SqliteStorage } from '../../../src/stores/sqlite-storage.ts'
import { fullMemory } from '../../contract/full-memory.ts'
import { accepted, erase, names, put, readAll, remove } from '../../contract/samples.ts'
import { changedStore } from '../../everywhere/changed-store.ts'
import { Household, happenings } from '../support/household.ts'
import { limit, runs } from '../support/runs.ts'
import { lost, Namespace, platformError, waitingHost } from './namespace.ts'

const USER: Scope = { userId: 'ada' }

function setUp(sessionId = 'trip', home: Store = mapStore()) {
  const namespace = new Namespace(home)
  const { host, waits, clock } = waitingHost()
  const local = mapStore().open(USER)
  const gone: string[] = []
  const onGone = async (keys: readonly string[]): Promise<void> => {
    gone.push(...keys)
  }
  const parts = { local, scope: USER, sessionId, stub: () => namespace.get(), host, onGone }
  const open = () => new UserReplica(parts)
  return { home: home.open(USER), namespace, local, replica: open(), open, waits, clock, gone }
}

/** So many puts of a few keys: a log of more than a page. */
async function fill(home: ScopeStore, count: number, keys = 4): Promise<void> {
  await home.commit(puts(count, 'fill-', keys), allOrNone)
}

function puts(count: number, prefix: string, keys = 4): readonly SealedOp[] {
  const versions = new Map<string, string>()
  return names(prefix, count).map((opId, at): SealedOp => {
    const key = `fact/${at % keys}`
    const op = put(opId, key, versions.get(key) ?? null, {
      index: [{ group: 'fact', order: opId, weight: 1 }],
    })
    versions.set(key, opId)
    return op
  })
}

/** A store that cannot decrypt the register of one version. */
function unreadableFrom(version: string): Store {
  const register = (row: RegisterRow): RegisterRow =>
    row.version === version ? { ...row, body: null, unreadable: true } : row
  return changedStore(mapStore(), (inner) => ({
    registers: async (...query) => (await inner.registers(...query)).map(register),
    register: async (key) => {
      const row = await inner.register(key)
      return row && register(row)
    },
  }))
}

describe('a replica', () => {
  it('is empty before its first pull, and asks nobody', async () => {
    const { replica, home, namespace } = setUp()
    await home.commit([put('op-1', 'fact/a', null)], decide)
    expect((await replica.head()).seq).toBe(0)
    expect(await replica.register('fact/a')).toBeUndefined()
    expect(await replica.registers('fact/')).toEqual([])
    expect(namespace.calls).toEqual([])
  })

  it('reads nothing of its home after a pull, and commits in one call of it', async () => {
    const { replica, home, namespace } = setUp()
    const index = [{ group: 'fact', order: '1', weight: 7 }]
    await home.commit([put('op-1', 'fact/a', null, { index })], decide)
    await replica.refresh()
    const results = await replica.commit(
      [put('op-2', 'fact/a', 'op-1', { index }), put('op-3', 'fact/b', null)],
      decide,
    )
    expect(results).toEqual([accepted(2), accepted(3)])
    expect((await replica.head()).seq).toBe(3)
    expect(await replica.register('fact/a')).toEqual(await home.register('fact/a'))
    expect(await replica.register('fact/none')).toBeUndefined()
    expect(await replica.registers('fact/')).toEqual(await home.registers('fact/'))
    expect(await replica.indexed('fact')).toEqual(await home.indexed('fact'))
    expect(await replica.sums(['fact'])).toEqual(new Map([['fact', { count: 1, weight: 7 }]]))
    expect(namespace.calls).toEqual(['pull', 'pull'])
  })

  it('learns of all records beside the log of its home at once, when one stands in its way', async () => {
    const { replica, home } = setUp()
    const host = { now: () => ++ids, newId: () => `op-${++ids}` } as Host
    let ids = 0
    for (let count = 0; count < MOST_RECORDS; count++)
      await writeAudit(home, host, { action: 'forget', target: 'old' })
    await replica.refresh()
    for (let count = 0; count < 20; count++) await noteAudit(home, host, { action: 'export' })
    await writeAudit(replica, host, { action: 'forget', target: 'last' })
    for (const scope of [home, replica]) {
      const records = await auditIn(scope, {})
      expect(records.slice(0, 22).map(({ target = '' }) => target)).toEqual([
        'last',
        ...Array.from({ length: 20 }, () => ''),
        'old',
      ])
      expect(records).toHaveLength(MOST_RECORDS)
    }
  })

  it('asks its home for what it does not hold', async () => {
    const { replica, home, namespace } = setUp()
    await home.commit([put('op-1', 'session/trip', null), put('op-2', 'session/work', null)], decide)
    await replica.refresh()
    expect(await replica.register('session/trip')).toEqual(await home.register('session/trip'))
    expect(namespace.calls).toEqual(['pull'])
    expect(await replica.register('session/work')).toEqual(await home.register('session/work'))
    expect(await replica.registers('session/')).toHaveLength(2)
    expect(await replica.registers('')).toHaveLength(2)
    expect(await replica.changesSince(0)).toEqual(await home.changesSince(0))
    expect(await replica.entries()).toEqual({ rows: [], more: false })
    const attachment = { id: 'a', mediaType: 'image/png', bytes: Uint8Array.of(1) }
    expect(await replica.attach(attachment, 1)).toBe('stored')
    expect(await replica.attachment('a')).toEqual(attachment)
    expect(await replica.derive({ key: 'k', bytes: Uint8Array.of(1) }, 2)).toBe(true)
    expect(await replica.derived('k')).toHaveLength(1)
    await replica.close()
  })

  it('refuses a commit by a function, and sends nothing', async () => {
    const { replica, namespace } = setUp()
    const commit = replica.commit([put('op', 'key', null)], (ops, rows) => decide(ops, rows))
    await expect(commit).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' })
    expect(namespace.calls).toEqual([])
  })

  it('writes nothing where nothing is new', async () => {
    const { replica, local, clock } = setUp()
    await replica.refresh()
    clock.now += 120_000
    await replica.refresh()
    expect((await local.changesSince(-1)).rows).toEqual([])
  })

  it('commits once where the answer was lost, and tells of it', async () => {
    const { replica, home, namespace } = setUp()
    namespace.faults = [{ when: 'after', error: lost() }]
    const results = await replica.commit([put('op-1', 'fact/a', null)], allOrNone)
    expect(results).toEqual([{ ...accepted(1), repeated: true }])
    expect((await replica.register('fact/a'))?.version).toBe('op-1')
    expect((await home.head()).seq).toBe(1)
  })

  it('tells of an overloaded home, and has written nothing', async () => {
    const { replica, namespace } = setUp()
    namespace.faults = [{ when: 'before', error: platformError('overloaded', { overloaded: true }) }]
    const commit = replica.commit([put('op-1', 'fact/a', null)], allOrNone)
    await expect(commit).rejects.toMatchObject({ code: 'ERR_OVERLOADED', retryAfter: 5 })
    expect((await replica.head()).seq).toBe(0)
  })
})

/** A home whose answers to pulls wait until they are let through, one by one. */
function holding(namespace: Namespace) {
  const held: (() => void)[] = []
  const commits: number[] = []
  const get = namespace.get.bind(namespace)
  let isOpen = true
  namespace.get = () => {
    const stub = get()
    return {
      ...stub,
      pull: async (scope, request) => {
        if (request.commit) commits.push(request.commit.ops.length)
        const answer = await stub.pull(scope, request)
        if (!isOpen)
          await new Promise<void>((resolve) => {
            held.push(resolve)
          })
        return answer
      },
    }
  }
  return {
    commits,
    /** From now on answers wait. */
    hold: () => {
      isOpen = false
    },
    release: () => {
      isOpen = true
    },
    /** Once so many wait. */
    until: async (count: number) => {
      while (held.length < count) await new Promise((resolve) => setTimeout(resolve))
    },
    pass: (index: number) => held[index]?.(),
  }
}

describe('answers that come in another order', () => {
  async function start() {
    const parts = setUp()
    await parts.home.commit([put('op-1', 'fact/a', null)], decide)
    await parts.replica.refresh()
    parts.namespace.calls.length = 0
    return { ...parts, answers: holding(parts.namespace) }
  }

  it('take nothing back that a newer one brought', async () => {
    const { replica, home, local, namespace, answers } = await start()
    answers.hold()
    const first = replica.commit([put('op-2', 'fact/b', null)], allOrNone)
    await answers.until(1)
    await home.commit([put('op-3', 'fact/b', 'op-2')], decide)
    answers.release()
    await replica.commit([put('op-4', 'fact/c', null)], allOrNone)
    answers.pass(0)
    expect(await first).toEqual([accepted(2)])
    expect((await replica.register('fact/b'))?.version).toBe('op-3')
    expect((await local.head()).seq).toBe(4)
    expect(namespace.calls).toHaveLength(2)
  })

  it('add to what an older one brought', async () => {
    const { replica, local, namespace, answers } = await start()
    answers.hold()
    const first = replica.commit([put('op-2', 'fact/b', null)], allOrNone)
    await answers.until(1)
    const second = replica.commit([put('op-3', 'fact/c', null)], allOrNone)
    await answers.until(2)
    answers.pass(0)
    await first
    expect((await local.head()).seq).toBe(2)
    answers.pass(1)
    await second
    expect((await local.head()).seq).toBe(3)
    expect(namespace.calls).toHaveLength(2)
  })

  it('are asked for again where they do not fit, without committing again', async () => {
    const { home, namespace, replica } = setUp()
    const answers = holding(namespace)
    await home.commit([put('op-1', 'fact/a', null)], decide)
    answers.hold()
    // The replica is empty, so that both answers are all that there is.
    const first = replica.commit([put('op-2', 'fact/b', null)], allOrNone)
    await answers.until(1)
    answers.release()
    await replica.commit([put('op-3', 'fact/c', null)], allOrNone)
    answers.pass(0)
    expect(await first).toEqual([accepted(2)])
    expect(await replica.registers('fact/')).toEqual(await home.registers('fact/'))
    expect(answers.commits).toHaveLength(2)
    expect(namespace.calls).toHaveLength(3)
  })

  it('are asked for again where a name was asked about', async () => {
    const { home, namespace, replica } = setUp()
    await home.commit([put('op-1', 'fact/gone', null), remove('op-2', 'register:fact/gone')], decide)
    await fill(home, 600)
    await replica.refresh()
    const answers = holding(namespace)
    answers.hold()
    const asked = replica.register('fact/gone')
    await answers.until(1)
    answers.release()
    await replica.commit([put('op-3', 'fact/c', null)], allOrNone)
    answers.pass(0)
    expect((await asked)?.body).toBeNull()
  })

  it('do not pass for knowing what was deleted where they add to one that does not', async () => {
    const { home, namespace, replica } = setUp()
    const answers = holding(namespace)
    await home.commit([put('op-1', 'fact/gone', null), remove('op-2', 'register:fact/gone')], decide)
    answers.hold()
    const short = replica.commit([put('op-3', 'fact/a', null)], allOrNone)
    await answers.until(1)
    await fill(home, 600)
    // Nothing is here yet, and the log is long by now: registers alone, without what was deleted.
    const long = replica.commit([put('op-4', 'fact/b', null)], allOrNone)
    await answers.until(2)
    answers.pass(0)
    await short
    const last = replica.commit([put('op-5', 'fact/c', null)], allOrNone)
    await answers.until(3)
    answers.pass(1)
    await long
    answers.pass(2)
    await last
    answers.release()
    expect((await replica.head()).seq).toBe((await home.head()).seq)
    expect((await replica.register('fact/gone'))?.body).toBeNull()
  })

  it('that go on commit with the first alone', async () => {
    const { home, namespace, replica } = setUp()
    const answers = holding(namespace)
    const body = 'x'.repeat(600_000)
    await home.commit(
      ['a', 'b', 'c'].map((name) => put(`op-${name}`, `skill-text/${name}`, null, { body })),
      decide,
    )
    expect(await replica.commit([put('op', 'fact/a', null)], allOrNone)).toEqual([accepted(4)])
    expect(namespace.calls.length).toBeGreaterThan(2)
    expect(answers.commits).toEqual([1])
    expect(await replica.registers('')).toHaveLength(4)
  })
})

describe('a pull', () => {
  it('takes the registers rather than the log, where that is long, in answers of about 1 MiB', async () => {
    const { replica, home, namespace } = setUp()
    await fill(home, 600)
    const body = 'x'.repeat(400_000)
    for (const name of ['a', 'b', 'c', 'd', 'e'])
      await home.commit([put(`op-${name}`, `skill-text/${name}`, null, { body })], decide)
    expect(await replica.refresh()).toBeUndefined()
    expect(namespace.sizes.length).toBeGreaterThan(2)
    expect(Math.max(...namespace.sizes)).toBeLessThan(1.2 * 2 ** 20)
    expect(await replica.registers('skill')).toEqual(await home.registers('skill'))
    expect(await replica.indexed('fact')).toEqual(await home.indexed('fact'))
    expect((await replica.head()).seq).toBe(605)
  })

  it('takes each register once where a short log names it often, and one that is longer than an answer', async () => {
    const { replica, home, namespace } = setUp()
    await fill(home, 300, 2)
    await home.commit([put('long', 'skill-text/long', null, { body: 'x'.repeat(2_000_000) })], decide)
    await replica.refresh()
    expect(namespace.calls).toEqual(['pull', 'pull'])
    expect(namespace.sizes[0]).toBeLessThan(1_000)
    expect(await replica.registers('fact/')).toEqual(await home.registers('fact/'))
    expect((await replica.register('skill-text/long'))?.body).toHaveLength(2_000_000)
  })

  it('takes what changed since the last one alone', async () => {
    const { replica, home, namespace } = setUp()
    await fill(home, 600)
    await replica.refresh()
    const before = namespace.sizes.length
    await home.commit([put('op-1', 'fact/new', null)], decide)
    replica.poke()
    await replica.refresh()
    expect(namespace.sizes.slice(before)).toHaveLength(1)
    expect(namespace.sizes.at(-1)).toBeLessThan(200)
    expect((await replica.register('fact/new'))?.version).toBe('op-1')
  })

  it('takes the registers where more changed than the log is worth reading for', async () => {
    const { replica, home, namespace, local } = setUp()
    await replica.commit([put('first', 'settings', null)], decide)
    for (let round = 0; round < 10; round++) {
      const version = (at: number) => `op-${round}-${at}`
      const ops = Array.from({ length: 500 }, (_, at) =>
        put(version(at), 'fact/a', at > 0 ? version(at - 1) : round > 0 ? `op-${round - 1}-499` : null),
      )
      await home.commit(ops, allOrNone)
    }
    replica.poke()
    await replica.refresh()
    expect(namespace.calls).toEqual(['pull', 'pull'])
    expect(await replica.register('fact/a')).toEqual(await home.register('fact/a'))
    expect(await replica.register('settings')).toEqual(await home.register('settings'))
    expect((await local.changesSince(0)).rows).toHaveLength(1)
  })

  it('empties what was deleted at home, and what derived from that', async () => {
    const { replica, home, local, namespace } = setUp()
    const index = [{ group: 'fact', order: '1', weight: 1 }]
    const ops = [
      put('op-1', 'fact/a', null, { sources: ['entry:m1'], index }),
      put('op-2', 'fact/b', null, { sources: ['register:fact/a'], index }),
      put('op-3', 'fact/c', null, { sources: ['register:fact/b'], index }),
      put('op-4', 'fact/d', null, { index }),
    ]
    await home.commit(ops, decide)
    await replica.refresh()
    await home.commit([remove('op-5', 'entry:m1')], decide)
    replica.poke()
    await replica.refresh()
    // The first pull, the deletes, and what may have gone with them.
    expect(namespace.calls).toHaveLength(3)
    for (const key of ['fact/a', 'fact/b', 'fact/c'])
      expect(await local.register(key)).toEqual({ key, version: 'op-5', seq: 5, body: null })
    expect((await replica.indexed('fact')).map(({ key }) => key)).toEqual(['fact/d'])
    expect(await replica.sums(['fact'])).toEqual(new Map([['fact', { count: 1, weight: 1 }]]))
  })

  it('keeps what it has of a register that its home cannot decrypt, by the log and by the registers', async () => {
    for (const count of [0, 9_000]) {
      const { home, replica, open } = setUp('trip', unreadableFrom('op-2'))
      await home.commit([put('op-1', 'fact/a', null), put('op-2', 'fact/b', null)], decide)
      if (count > 0) await fill(home, count)
      await replica.refresh()
      expect((await replica.register('fact/a'))?.body).toEqual(expect.any(String))
      expect(await replica.register('fact/b')).toBeUndefined()
      await home.commit([put('op-3', 'fact/a', 'op-1')], decide)
      await open().refresh()
      expect((await replica.register('fact/a'))?.version).toBe('op-3')
      expect(await replica.register('fact/b')).toBeUndefined()
    }
  })

  it('asks for what may have been deleted in parts', async () => {
    const { replica, home, namespace } = setUp()
    const keys = names('fact/', 2 * MOST_NAMES + 1)
    await home.commit(
      keys.map((key) => put(`op-${key}`, key, null, { sources: ['entry:m1'] })),
      decide,
    )
    await replica.refresh()
    await home.commit([remove('op', 'entry:m1')], decide)
    replica.poke()
    await replica.refresh()
    expect(namespace.calls).toHaveLength(5)
    expect(await replica.registers('fact/')).toEqual([])
  })

  it('asks again for what it asked for before the newest delete', async () => {
    const { replica, home, namespace } = setUp()
    const keys = names('fact/', MOST_NAMES + 6)
    await home.commit(
      keys.map((key) => put(`op-${key}`, key, null, { sources: ['register:x', 'register:z'] })),
      decide,
    )
    await replica.refresh()
    // Deleted as it arrives, and nothing with it.
    await home.commit([remove('op-1', 'entry:m1'), put('op-2', 'x', null, { sources: ['entry:m1'] })], decide)
    expect(await home.registers('fact/')).toHaveLength(keys.length)
    const get = namespace.get.bind(namespace)
    namespace.get = () => {
      const stub = get()
      const { length } = namespace.calls
      return {
        ...stub,
        pull: async (scope, request) => {
          // Before the second half of the names is asked for.
          if (length === 3) await home.commit([remove('op-3', 'register:z')], decide)
          return stub.pull(scope, request)
        },
      }
    }
    replica.poke()
    await replica.refresh()
    expect(await home.registers('fact/')).toEqual([])
    expect(await replica.registers('fact/')).toEqual([])
  })

  it('is not answered with what no replica holds, and reads neither that nor a long log', async () => {
    const home = durableObjectStore(new SqliteStorage(openSqlite(':memory:', false), false)).open(USER)
    await fill(home, 600)
    const others = Array.from({ length: 300 }, (_, n) => [`session/s${n}`, `kept/s${n}/f`]).flat()
    await home.commit(
      others.map((key) => put(key, key, null)),
      decide,
    )
    await home.commit([put('op-1', 'zebra', null), put('op-2', 'session/trip', null)], decide)
    let read = 0
    let logged = 0
    const counted: ScopeStore = {
      ...onDecision(home, () => {}),
      registers: async (...asked) => {
        const rows = await home.registers(...asked)
        read += rows.length
        return rows
      },
      changesSince: async (seq) => {
        const page = await home.changesSince(seq)
        logged += page.rows.length
        return page
      },
    }
    const keys: string[] = []
    for (let cursor: Cursor | undefined = { since: { seq: 0, opId: '' } }; cursor; ) {
      const { rows, next, reset }: PullAnswer = await answerPull(counted, { sessionId: 'trip', cursor })
      if (keys.length === 0) expect(reset).toBe('registers')
      keys.push(...rows.map(({ key }) => key))
      cursor = next
    }
    expect(keys.filter((key) => !key.startsWith('fact/'))).toEqual(['session/trip', 'zebra'])
    expect([keys.length, read, logged]).toEqual([6, 5, 1])
  })

  it('goes on where its home wrote while it answered', async () => {
    const { home } = setUp()
    await home.commit([put('op-1', 'fact/a', null)], decide)
    const writing: ScopeStore = {
      ...onDecision(home, () => {}),
      changesSince: async (seq) => {
        const page = await home.changesSince(seq)
        await home.commit([put('op-2', 'fact/b', null)], decide)
        return page
      },
    }
    const request = { sessionId: 'trip', cursor: { since: { seq: 0, opId: '' } } }
    const answer = await answerPull(writing, request)
    expect(answer.place).toEqual({ seq: 1, opId: 'op-1' })
    expect(answer.next).toEqual({ since: answer.place })
  })

  it('starts over where its home was erased while it answered', async () => {
    const { home } = setUp()
    await fill(home, 600)
    let pages = 0
    const erased: ScopeStore = {
      ...onDecision(home, () => {}),
      changesSince: async (seq) => {
        if (pages++ === 1) await home.commit([erase('op-1'), put('op-2', 'fact/b', null)], decide)
        return home.changesSince(seq)
      },
    }
    const since = { seq: 1, opId: 'fill-0000' }
    const answer = await answerPull(erased, { sessionId: 'trip', cursor: { since } })
    expect(answer).toMatchObject({ reset: 'registers', place: { seq: 602, opId: 'op-2' } })
    expect(answer.rows.map(({ key }) => key)).toEqual(['fact/b'])
  })

  it('empties what derived of something that was deleted while the registers were sent', async () => {
    let forget: SealedOp | undefined
    const slow = changedStore(mapStore(), (inner) => ({
      registers: async (prefix, after) => {
        // What comes first was sent by then, and what it derives from was not.
        if (after === 'fact/a' && forget) await inner.commit([forget], decide)
        return (await inner.registers(prefix, after)).slice(0, 1)
      },
    }))
    const { replica, home, namespace } = setUp('trip', slow)
    await home.commit(
      [
        put('op-1', 'skill/s', null, { sources: ['entry:m1'] }),
        put('op-2', 'fact/a', null, { sources: ['register:skill/s'] }),
        // Whether a message is gone, the user's scope does not know.
        ...names('said-', 300).map((id) => put(id, `fact/${id}`, null, { sources: ['entry:m2'] })),
      ],
      decide,
    )
    await fill(home, 600)
    forget = remove('op-3', 'entry:m1')
    await replica.refresh()
    expect((await home.register('fact/a'))?.body).toBeNull()
    expect((await replica.register('fact/a'))?.body).toBeNull()
    expect(namespace.calls.length).toBeLessThan(6)
  })

  it('takes no more names than an answer has room for', async () => {
    const home = mapStore().open(USER)
    const request = { sessionId: 'trip', cursor: { since: { seq: 0, opId: '' } } }
    const asked = answerPull(home, { ...request, names: names('fact/', MOST_NAMES + 1) })
    await expect(asked).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' })
  })

  it('never gives another session’s register, asked for by name or not', async () => {
    const { home, namespace } = setUp()
    const ops = [put('op-1', 'session/trip', null), put('op-2', 'session/work', null)]
    await home.commit(ops, decide)
    for (const count of [0, 600]) {
      if (count > 0) await fill(home, count)
      const answer = await namespace.get().pull(USER, {
        sessionId: 'trip',
        cursor: { since: { seq: 0, opId: '' } },
        names: ['session/work', 'session/trip'],
      })
      expect(JSON.stringify(answer)).toContain('session/trip')
      expect(JSON.stringify(answer)).not.toContain('session/work')
    }
  })

  it('starts over after an erase, and empties all', async () => {
    const { replica, home, local } = setUp()
    await home.commit([put('op-1', 'fact/a', null), put('op-2', 'session/trip', null)], decide)
    await replica.refresh()
    await home.commit([erase('op-3'), put('op-4', 'fact/b', null)], decide)
    replica.poke()
    await replica.refresh()
    expect((await replica.head()).seq).toBe(4)
    expect((await local.registers('')).map(({ key }) => key)).toEqual(['fact/b'])
    expect(await local.register('fact/a')).toBeUndefined()
  })

  it('starts over where its home was restored to an older state, whatever it wrote since', async () => {
    for (const writes of [0, 1, 3]) {
      const { replica, home, local, namespace, clock } = setUp()
      await home.commit(
        [put('op-1', 'fact/a', null), put('op-2', 'fact/b', null), put('op-3', 'fact/c', null)],
        decide,
      )
      await replica.refresh()
      const restored = mapStore()
      await restored.open(USER).commit([put('op-1', 'fact/a', null)], decide)
      for (let at = 0; at < writes; at++)
        await restored.open(USER).commit([put(`new-${at}`, `fact/new-${at}`, null)], decide)
      const there = new Namespace(restored)
      namespace.get = () => there.get()
      clock.now += 120_000
      expect(await replica.refresh()).toBeUndefined()
      expect((await replica.head()).seq).toBe(1 + writes)
      expect(await local.registers('')).toEqual(await restored.open(USER).registers(''))
    }
  })

  it('starts over where its home is empty again', async () => {
    const { replica, home, local, namespace, clock } = setUp()
    await home.commit([put('op-1', 'fact/a', null)], decide)
    await replica.refresh()
    const there = new Namespace(mapStore())
    namespace.get = () => there.get()
    clock.now += 120_000
    await replica.refresh()
    expect((await replica.head()).seq).toBe(0)
    expect(await local.registers('')).toEqual([])
    await replica.commit([put('op-2', 'fact/b', null)], decide)
    expect((await replica.register('fact/b'))?.seq).toBe(1)
  })
})

describe('what was deleted before the first pull', () => {
  it('is known where the log is short', async () => {
    const { replica, home, namespace } = setUp()
    await home.commit([put('op-1', 'fact/a', null), remove('op-2', 'register:fact/a')], decide)
    await replica.refresh()
    expect(await replica.register('fact/a')).toEqual(await home.register('fact/a'))
    expect(namespace.calls).toEqual(['pull'])
  })

  it('is asked for where it is long, once, and so is what never was', async () => {
    const { replica, home, namespace, open } = setUp()
    await home.commit([put('op-1', 'fact/gone', null), remove('op-2', 'register:fact/gone')], decide)
    await fill(home, 600)
    await replica.refresh()
    namespace.calls.length = 0
    for (let round = 0; round < 2; round++) {
      expect(await replica.register('fact/gone')).toEqual(await home.register('fact/gone'))
      expect(await replica.register('fact/never')).toBeUndefined()
    }
    expect(namespace.calls).toEqual(['pull', 'pull'])
    // It is kept.
    expect(await open().register('fact/gone')).toEqual(await home.register('fact/gone'))
    expect(namespace.calls).toHaveLength(2)
    // What never was may come.
    await home.commit([put('op-3', 'fact/never', null)], decide)
    replica.poke()
    await replica.refresh()
    expect((await replica.register('fact/never'))?.version).toBe('op-3')
  })

  it('is asked for again after a pull of all registers, also where nobody heard that it was written', async () => {
    const { home, namespace } = setUp()
    let fails = false
    const unheard = changedStore(mapStore(), (inner) => ({
      commit: async (ops, decide) => {
        const results = await inner.commit(ops, decide)
        if (fails) throw new Error('nobody heard of it')
        return results
      },
    })).open(USER)
    const { host } = waitingHost()
    const replica = new UserReplica({
      local: unheard,
      scope: USER,
      sessionId: 'trip',
      stub: () => namespace.get(),
      host,
      onGone: async () => {},
    })
    await fill(home, 600)
    await replica.refresh()
    expect(await replica.register('fact/late')).toBeUndefined()
    await home.commit(
      [
        erase('op-1'),
        put('op-2', 'fact/late', null),
        remove('op-3', 'register:fact/late'),
        ...puts(600, 'more-'),
      ],
      decide,
    )
    replica.poke()
    fails = true
    expect((await replica.refresh())?.code).toBe('ERR_STORAGE')
    fails = false
    expect((await replica.head()).seq).toBe((await home.head()).seq)
    expect((await home.register('fact/late'))?.body).toBeNull()
    expect(await replica.register('fact/late')).toEqual(await home.register('fact/late'))
  })

  it('counts as not there while nobody can say, and is found out by a commit', async () => {
    const { replica, home, namespace } = setUp()
    await home.commit([put('op-1', 'fact/gone', null), remove('op-2', 'register:fact/gone')], decide)
    await fill(home, 600)
    await replica.refresh()
    namespace.faults = [{ when: 'before', error: new Error('away') }]
    expect(await replica.register('fact/gone')).toBeUndefined()
    const results = await replica.commit([put('op-3', 'fact/gone', null)], allOrNone)
    expect(results).toEqual([{ status: 'rejected', reason: 'deleted' }])
    namespace.calls.length = 0
    expect((await replica.register('fact/gone'))?.body).toBeNull()
    expect(namespace.calls).toEqual([])
  })
})

describe('what is gone at home', () => {
  it('is told of a document or skill that was removed, whether or not it was written again', async () => {
    for (const isLong of [false, true])
      for (const isAgain of [false, true]) {
        const store = mapStore()
        const { replica, home, gone } = setUp('trip', store)
        const { profile, skills } = fullMemory({ store, budget: 2_000 }).user(USER)
        const write = async (): Promise<void> => {
          await profile.set('SOUL.md', 'Be kind.')
          await skills.set({ name: 'tides', description: 'Reads tides.', text: 'Look.' })
        }
        await write()
        const since = async (key: string): Promise<string> =>
          (JSON.parse((await home.register(key))?.body ?? '{}') as { since: string }).since
        const shown = [
          `profile/SOUL.md@${await since('profile/SOUL.md')}`,
          `skill/tides@${await since('skill/tides')}`,
        ]
        await replica.sync()
        await profile.set('SOUL.md', 'Be brief.')
        await replica.sync()
        expect(gone).toEqual([])
        await profile.delete('SOUL.md')
        await skills.delete('tides')
        if (isAgain) await write()
        // More than is told op by op.
        if (isLong) for (let at = 0; at < 8; at++) await home.commit(puts(600, `long-${at}-`), decide)
        await replica.sync()
        expect(gone.sort()).toEqual(shown)
        await replica.sync()
        expect(gone).toHaveLength(2)
      }
  })

  it('is told before the replica stands behind it, with what derives from it', async () => {
    const { replica, home, gone } = setUp('trip')
    await home.commit(
      [put('op-1', 'fact/a', null), put('op-2', 'fact/b', null, { sources: ['register:fact/a'] })],
      decide,
    )
    await replica.refresh()
    expect(gone).toEqual([])
    await home.commit([remove('op-3', 'register:fact/a')], decide)
    await replica.sync()
    expect((await replica.head()).seq).toBe(3)
    expect(gone.sort()).toEqual(['fact/a', 'fact/b'])
    expect(await replica.register('fact/b')).toMatchObject({ body: null })
  })

  it('is what the replica has and the home lacks, where that was erased', async () => {
    const { replica, home, gone } = setUp('trip')
    await home.commit([put('op-1', 'fact/a', null), put('op-2', 'fact/b', null)], decide)
    await replica.refresh()
    await home.commit([erase('op-3'), put('op-4', 'fact/b', null)], decide)
    await replica.sync()
    expect(gone).toEqual(['fact/a'])
  })

  it('is pulled again where it could not be told', async () => {
    const { home, namespace, local } = setUp('trip')
    let isBroken = true
    const told: (readonly string[])[] = []
    const replica = new UserReplica({
      local,
      scope: USER,
      sessionId: 'trip',
      stub: () => namespace.get(),
      host: waitingHost().host,
      onGone: async (keys) => {
        if (isBroken) throw new Error('it failed')
        told.push(keys)
      },
    })
    await home.commit([put('op-1', 'fact/a', null)], decide)
    await replica.refresh()
    await home.commit([remove('op-2', 'register:fact/a')], decide)
    await expect(replica.sync()).rejects.toThrow('it failed')
    isBroken = false
    await replica.sync()
    expect([told, await replica.register('fact/a')]).toMatchObject([[['fact/a']], { body: null }])
  })
})

describe('refresh', () => {
  it('pulls once for all who ask at the same time, and not again before so long', async () => {
    const { replica, namespace, clock } = setUp()
    await Promise.all([replica.refresh(), replica.refresh(), replica.refresh({ olderThan: 0 })])
    expect(namespace.calls).toHaveLength(1)
    clock.now += 60_000
    await replica.refresh()
    expect(namespace.calls).toHaveLength(1)
    clock.now += 1
    await replica.refresh()
    expect(namespace.calls).toHaveLength(2)
    await replica.refresh({ olderThan: 10 })
    clock.now -= 3_600_000
    await replica.refresh()
    expect(namespace.calls).toHaveLength(3)
  })

  it('pulls after a poke, also one that comes while it pulls; a commit counts as a pull', async () => {
    const { replica, namespace, home } = setUp()
    await home.commit([put('op-0', 'fact/a', null)], decide)
    await replica.refresh()
    replica.poke()
    const first = replica.refresh()
    await home.commit([put('op-1', 'fact/a', 'op-0')], decide)
    replica.poke()
    await Promise.all([first, replica.refresh()])
    expect((await replica.register('fact/a'))?.version).toBe('op-1')
    expect(namespace.calls).toHaveLength(3)
    await replica.refresh()
    expect(namespace.calls).toHaveLength(3)
    replica.poke()
    await replica.commit([put('op-2', 'fact/b', null)], decide)
    await replica.refresh()
    expect(namespace.calls).toHaveLength(4)
  })

  it('leaves the replica as it was where its home fails, says why, and tries again the next time', async () => {
    const { replica, home, namespace, local } = setUp()
    await home.commit([put('op-1', 'fact/a', null)], decide)
    await replica.refresh()
    const before = await readAll(local)
    await home.commit([put('op-2', 'fact/b', null)], decide)
    const failures = [
      [new Error('secret text'), 'ERR_STORAGE'],
      [platformError('secret text', { remote: true }), 'ERR_STORAGE'],
      [platformError('busy', { overloaded: true }), 'ERR_OVERLOADED'],
    ] as const
    for (const [error, code] of failures) {
      replica.poke()
      namespace.faults = [{ when: 'after', error }]
      const failure = await replica.refresh()
      expect(failure?.code).toBe(code)
      expect(failure?.message).not.toContain('secret')
      expect(await readAll(local)).toEqual(before)
    }
    expect(await replica.refresh()).toBeUndefined()
    expect((await replica.register('fact/b'))?.version).toBe('op-2')
  })

  it('waits only so long, while the pull goes on', async () => {
    const home = mapStore()
    await home.open(USER).commit([put('op-1', 'fact/a', null)], decide)
    let answer = (): void => {}
    const waits = new Promise<void>((resolve) => {
      answer = resolve
    })
    const local = mapStore().open(USER)
    const limits: number[] = []
    const replica = new UserReplica({
      local,
      scope: USER,
      sessionId: 'trip',
      patienceMs: 1_234,
      onGone: async () => {},
      host: {
        now: () => 0,
        timeout: (ms) => {
          limits.push(ms)
          const signal = { aborted: false, reason: undefined, removeEventListener: () => {} }
          return {
            signal: { ...signal, addEventListener: (_, listener) => queueMicrotask(listener) },
            clear: () => {},
          }
        },
      },
      stub: () => ({
        scope: async () => undefined,
        pull: async (scope, request) => {
          await waits
          return answerPull(home.open(scope), request)
        },
      }),
    })
    expect(await replica.refresh()).toMatchObject({ code: 'ERR_TIMEOUT' })
    expect(limits).toEqual([1_234])
    answer()
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect((await local.head()).seq).toBe(1)
  })
})

describe('a memory over replicas', () => {
  it('gives the contexts that it would give over the user’s own scope', {
    timeout: limit(60_000),
  }, async () => {
    await fc.assert(
      fc.asyncProperty(happenings, fc.constantFrom(600, 4_000), async (played, budget) => {
        const [plain, edge] = [new Household({ budget }), new Household({ budget })]
        const replicas = new Map<string, UserReplica>()
        const namespace = new Namespace(edge.store)
        const open = (sessionId: string): ScopeStore => {
          const { host } = waitingHost()
          const parts = {
            scope: USER,
            sessionId,
            stub: () => namespace.get(),
            host,
            onGone: async () => {},
          }
          const replica =
            replicas.get(sessionId) ?? new UserReplica({ ...parts, local: mapStore().open(USER) })
          replicas.set(sessionId, replica)
          return replica
        }
        overUserScopes(plain, () => plain.store.open(USER))
        overUserScopes(edge, open)
        const told: string[][] = [[], []]
        for (const happening of played) {
          for (const replica of replicas.values()) {
            replica.poke()
            await replica.refresh()
          }
          for (const [index, household] of [plain, edge].entries())
            await household.play([happening], async (context) => {
              told[index]?.push(textOf(context))
            })
        }
        expect(told[1]).toEqual(told[0])
        expect(await readAll(edge.store.open(USER))).toEqual(await readAll(plain.store.open(USER)))
      }),
      runs(40),
    )
  })

  it('hands a session’s facts over to the user, and never those that the user forgot', async () => {
    const home = mapStore()
    const { replica, namespace } = setUp('trip', home)
    const local = mapStore()
    const store: Store = {
      ...local,
      open: (scope) => (scope.sessionId === undefined ? replica : local.open(scope)),
    }
    const there = fullMemory({ store: home, budget: 4_000 }).user(USER)
    await there.facts.remember({ id: 'old', kind: 'preference', text: 'Likes window seats.' })
    await forgetFact(createMemory({ store: home, budget: 4_000 }), USER, 'old')
    await fill(home.open(USER), 600)
    await replica.refresh()
    const session = fullMemory({ store, budget: 4_000 }).session({ userId: 'ada', sessionId: 'trip' })
    const { fact } = await session.facts.remember({ kind: 'preference', text: 'Likes trains.' })
    expect((await there.facts.get(fact.id))?.text).toBe('Likes trains.')
    const again = session.facts.remember({ id: 'old', kind: 'preference', text: 'Likes window seats.' })
    await expect(again).rejects.toMatchObject({ code: 'ERR_NOT_FOUND' })
    // Forgotten here is forgotten there, and twice is no error.
    await forget(session, fact.id)
    await forget(session, fact.id)
    expect(await there.facts.get(fact.id)).toBeUndefined()
    // What sessions note for each other is asked for: replicas hold nothing of it.
    expect(namespace.calls.filter((call) => call === 'register')).toHaveLength(1)
  })
})

/** Each session sees the user's scope as it is given; the app itself has it at home. */
function overUserScopes(household: Household, open: (sessionId: string) => ScopeStore): void {
  let count = 0
  const memory = (store: Store) =>
    fullMemory({
      clock: () => household.now,
      newId: () => `id-${String(++count).padStart(6, '0')}`,
      ...household.options,
      store,
    })
  household.memory = () => memory(household.store)
  household.open = (sessionId) => {
    const user = open(sessionId)
    const store: Store = {
      ...household.store,
      open: (scope) => (scope.sessionId === undefined ? user : household.store.open(scope)),
    }
    return memory(store).session({ userId: 'ada', sessionId })
  }
  for (const tab of household.tabs.keys()) household.tabs[tab] = household.open(household.sessionOf(tab))
}

function textOf({ blocks }: Context): string {
  return JSON.stringify(blocks.map(({ section, parts }) => [section, parts]))
}
