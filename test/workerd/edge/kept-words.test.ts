import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { SessionObject } from '../../../src/edge/objects/session-object.ts'
import { UserObject } from '../../../src/edge/objects/user-object.ts'
import { type WordsBlock, WordsTable } from '../../../src/edge/rows/words-table.ts'
import { Turns } from '../../../src/edge/turn/turns.ts'
import { webHost } from '../../../src/platform/web.ts'
import { Caller, newUser, tokenOf } from './caller.ts'
import { changeSessions, changeUsers } from './changed-settings.ts'
import { rowsOf, sessionObject, userObject } from './rows.ts'
import { said, World } from './world.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

interface Item {
  readonly id: string
  readonly text: string
  readonly trust: string
  readonly session_id: string
  readonly as_of?: number
}

async function found(world: World, query: string, sessions: 'all' | readonly string[] = 'all') {
  const { status, body } = await world.call('POST', '/v1/me/recall', { query, sessions })
  if (status !== 200) throw new Error(`a recall is answered with ${status}: ${JSON.stringify(body)}`)
  return (body as { items: readonly Item[] }).items
}

/** Rows that a user's object reads to look through three sessions beside the one that asks. */
const ROWS_OF_FOUR = 23

const idsOf = (items: readonly Item[]): readonly string[] => items.map(({ id }) => id)

const DAY = 86_400_000

/** Does what a session owes, as if more than a day had passed. */
async function later(world: World, ...sessions: readonly string[]): Promise<void> {
  const clock = vi.spyOn(webHost, 'now').mockImplementation(() => Date.now() + 1.1 * DAY)
  for (const session of sessions) await runDurableObjectAlarm(world.stub(session))
  clock.mockRestore()
}

/** A session in which something was said, and a clock that is put forward. */
async function used() {
  let passed = 0
  vi.spyOn(webHost, 'now').mockImplementation(() => Date.now() + passed)
  const user = newUser()
  const world = new World(new Caller(user, await tokenOf(user, '30d')))
  await world.create('trip')
  await world.context('trip', { messages: [said('m1', 'A zebra is here.')] })
  /** Time passes, and what the session owes by then is done. */
  const pass = async (ms: number): Promise<void> => {
    passed += ms
    await runInDurableObject(world.stub(), async (session, { storage }) => {
      if (((await storage.getAlarm()) ?? Number.POSITIVE_INFINITY) <= webHost.now()) await session.alarm()
    })
  }
  return { world, pass }
}

const words = async (world: World): Promise<string> => {
  const { plimsoll_edge_words: state, plimsoll_edge_words_part: parts } = await rowsOf(userObject(world.user))
  return `${state}${parts}`
}

const storageOf = (world: World): Promise<DurableObjectStorage> =>
  runInDurableObject(world.stub(), (_, { storage }) => storage)

/** Whether a word is in a block of what the user's object keeps. */
function holds(world: World, word: string): Promise<boolean> {
  return runInDurableObject(userObject(world.user), (_, { storage: { sql } }) => {
    const made = sql.exec(`SELECT 1 FROM sqlite_master WHERE name = 'plimsoll_edge_words_part'`).toArray()
    if (made.length === 0) return false
    // Its units are varints: of ASCII, a byte each.
    return sql
      .exec('SELECT bytes FROM plimsoll_edge_words_part')
      .toArray()
      .some(({ bytes }) => new TextDecoder('latin1').decode(bytes as ArrayBuffer).includes(word))
  })
}

/** A user whose sessions each said something of their own, which the user's object knows by now. */
async function told(count: number): Promise<World> {
  const world = new World()
  const sessions = Array.from({ length: count }, (_, at) => `s${at}`)
  for (const session of sessions) {
    await world.create(session)
    await world.append(session, said(`m-${session}`, `A zebra is in ${session} town.`))
  }
  await later(world, ...sessions)
  return world
}

describe('words that a user’s object keeps', () => {
  it('find what sessions said, and only those are called whose messages are found', async () => {
    const world = await told(6)
    for (let at = 0; at < 6; at++) await evictDurableObject(world.stub(`s${at}`))
    const scope = vi.spyOn(SessionObject.prototype, 'scope')
    const calls = vi.spyOn(SessionObject.prototype, 'call')
    const before = Date.now()
    const [item, ...others] = await found(world, 's3')
    expect(item).toMatchObject({
      id: 'm-s3',
      session_id: 's3',
      text: 'A zebra is in s3 town.',
      trust: 'user',
    })
    expect(item?.as_of).toBeGreaterThan(0)
    expect(item?.as_of).toBeLessThan(before + 1.2 * DAY)
    expect(others).toEqual([])
    expect(scope.mock.calls.map(([{ sessionId }, { method }]) => [sessionId, method])).toEqual([
      ['s3', 'messages'],
    ])
    expect(calls).not.toHaveBeenCalled()
    expect(idsOf(await found(world, 'zebra', ['s1', 's4'])).toSorted()).toEqual(['m-s1', 'm-s4'])
  })

  it('are read in as many rows as there are blocks, and one a session', async () => {
    const world = await told(3)
    for (let from = 0; from < 150; from += 30)
      await world.append(
        's0',
        ...Array.from({ length: 30 }, (_, at) => said(`n${from + at}`, `Number${from + at} is here.`)),
      )
    await later(world, 's0')
    const reads = await runInDurableObject(userObject(world.user), async (_, { storage }) => {
      const { sql } = storage
      const prototype = Object.getPrototypeOf(sql) as SqlStorage
      const { exec } = prototype
      let read = 0
      prototype.exec = function (this: SqlStorage, query, ...bindings) {
        const cursor = exec.call(this, query, ...bindings)
        if (this === sql && /edge_words/.test(query)) queueMicrotask(() => (read += cursor.rowsRead))
        return cursor as never
      }
      const table = new WordsTable(storage)
      const blocks = ['s0', 's1', 's2'].map((session) => table.of(session)?.blocks.length)
      await Promise.resolve()
      prototype.exec = exec
      return { blocks, read }
    })
    // A scan reads the row behind those of its session too, if there is one.
    expect(reads).toEqual({ blocks: [3, 1, 1], read: 3 + 5 + 2 })
    expect(idsOf(await found(world, 'number0'))).toContain('n0')
    expect(idsOf(await found(world, 'number149'))).toContain('n149')
  })

  it('are asked for of a session that never sent any, which else is read itself', async () => {
    const world = new World()
    await world.create('trip')
    await world.append('trip', said('m1', 'A zebra is here.'))
    const asked = vi.spyOn(SessionObject.prototype, 'words').mockRejectedValueOnce(new Error('out of order'))
    const [itself] = await found(world, 'zebra')
    expect([itself?.id, itself?.as_of]).toEqual(['m1', undefined])
    expect((await found(world, 'zebra'))[0]?.as_of).toBeGreaterThan(0)
    await later(world, 'trip')
    // It did not ask its user's object since, which so takes it for unused.
    await world.append('trip', said('m2', 'Another zebra came.'))
    asked.mockClear()
    expect(idsOf(await found(world, 'zebra'))).toEqual(['m1'])
    expect(asked).not.toHaveBeenCalled()
    await later(world, 'trip')
    expect(idsOf(await found(world, 'zebra')).toSorted()).toEqual(['m1', 'm2'])
  })

  it('are sent though what is kept of runs cannot be read', async () => {
    const world = await told(1)
    await world.append('s0', said('late', 'The pelican knows.'))
    const failing = vi.spyOn(Turns.prototype, 'nextWorkAt').mockImplementation(() => {
      throw new Error('out of order')
    })
    const logged = vi.spyOn(console, 'error').mockReturnValue(undefined)
    await later(world, 's0')
    expect(failing).toHaveBeenCalled()
    expect(await holds(world, 'pelican')).toBe(true)
    expect(logged.mock.calls.join()).toContain('chats')
  })

  it('are sent once for what is said meanwhile, in two requests', async () => {
    const world = await told(1)
    const state = vi.spyOn(UserObject.prototype, 'words')
    const keep = vi.spyOn(UserObject.prototype, 'keepWords')
    for (let at = 0; at < 5; at++) await world.append('s0', said(`n${at}`, `Number ${at}.`))
    expect([state, keep].map(({ mock }) => mock.calls.length)).toEqual([0, 0])
    await later(world, 's0')
    expect([state, keep].map(({ mock }) => mock.calls.length)).toEqual([1, 1])
  })

  it('cost a session in use nothing, and are asked for where somebody recalls', async () => {
    const { world, pass } = await used()
    await pass(1.1 * DAY)
    const alarms = vi.spyOn(Object.getPrototypeOf(await storageOf(world)) as DurableObjectStorage, 'setAlarm')
    const home = (['words', 'keepWords'] as const).map((name) => vi.spyOn(UserObject.prototype, name))
    const asked = vi.spyOn(SessionObject.prototype, 'words')
    // Each of these asks the user's object what has changed, as a session in use does.
    for (let at = 0; at < 9; at++) {
      await pass(60_001)
      await world.context('trip', { messages: [said(`n${at}`, `Pelican number${at}.`)] })
    }
    // The first one set it, for a day later.
    expect(alarms).toHaveBeenCalledTimes(1)
    expect(home.map(({ mock }) => mock.calls.length)).toEqual([0, 0])
    expect(asked).not.toHaveBeenCalled()
    const [item] = await found(world, 'number8')
    expect(item).toMatchObject({ id: 'n8' })
    expect(item?.as_of).toBeGreaterThan(webHost.now() - 60_000)
    expect(asked).toHaveBeenCalledTimes(1)
    // Nobody need be asked once it has rested.
    await pass(DAY)
    expect(home.map(({ mock }) => mock.calls.length)).toEqual([1, 1])
    expect(idsOf(await found(world, 'number8'))[0]).toBe('n8')
    expect(asked).toHaveBeenCalledTimes(1)
  })

  it('are as old as they say where a session in use does not answer', async () => {
    const { world, pass } = await used()
    await pass(1.1 * DAY)
    await world.context('trip', { messages: [said('n0', 'The pelican knows.')] })
    const asked = vi.spyOn(SessionObject.prototype, 'words').mockRejectedValueOnce(new Error('out of order'))
    expect(await found(world, 'pelican')).toEqual([])
    expect((await found(world, 'pelican'))[0]).toMatchObject({ id: 'n0' })
    expect(asked).toHaveBeenCalledTimes(2)
    // Nor is one waited for that does not come to answer.
    await world.context('trip', { messages: [said('n1', 'The heron knows.')] })
    asked.mockImplementationOnce(() => new Promise(() => {}))
    expect(idsOf(await found(world, 'heron'))).not.toContain('n1')
    expect(idsOf(await found(world, 'heron'))).toContain('n1')
  })

  it('come sooner where nobody would ask for them', async () => {
    const dueOf = (world: World): Promise<number> =>
      runInDurableObject(world.stub(), (_, { storage: { sql } }) => {
        const [row] = sql.exec(`SELECT due FROM plimsoll_edge_work WHERE kind = 'words'`).toArray()
        return (row?.due as number) - webHost.now()
      })
    const { world, pass } = await used()
    expect(Math.round((await dueOf(world)) / 60_000)).toBe(1_440)
    // The session does not ask its user's object.
    await pass(11 * 60_000)
    await world.append('trip', said('m2', 'Another zebra came.'))
    expect(Math.round((await dueOf(world)) / 60_000)).toBe(10)
  })

  it('are gone when a message is forgotten, before that is answered', async () => {
    const world = await told(2)
    await world.append('s0', said('secret', 'The pelican knows.'))
    await later(world, 's0')
    expect(await holds(world, 'pelican')).toBe(true)
    expect((await world.call('DELETE', '/v1/sessions/s0/messages/secret')).status).toBe(200)
    expect(await holds(world, 'pelican')).toBe(false)
    expect(await holds(world, 's1')).toBe(true)
    // What is left is read from its session until it is kept again.
    expect(idsOf(await found(world, 'zebra')).toSorted()).toEqual(['m-s0', 'm-s1'])
    await later(world, 's0')
    expect(await holds(world, 's0')).toBe(true)
    expect(await holds(world, 'pelican')).toBe(false)
    expect(await found(world, 'pelican')).toEqual([])
  })

  it('go by an alarm where the user’s object was not reached, or a replica forgot', async () => {
    const world = await told(1)
    await world.append('s0', said('secret', 'The pelican knows.'))
    await later(world, 's0')
    const settle = vi.spyOn(UserObject.prototype, 'settle').mockRejectedValue(new Error('out of order'))
    const { body } = await world.call('DELETE', '/v1/sessions/s0/messages/secret')
    expect(body).not.toMatchObject({ confirmed: true })
    settle.mockRestore()
    expect(await holds(world, 'pelican')).toBe(true)
    await later(world, 's0')
    expect(await holds(world, 'pelican')).toBe(false)
  })

  it('of what a rewind hides go with the next batch, and come back with an undo', async () => {
    const world = await told(1)
    await world.append('s0', said('late', 'The pelican knows.'))
    await later(world, 's0')
    await world.call('POST', '/v1/sessions/s0/rewind', { message: 'm-s0' })
    await later(world, 's0')
    expect(await holds(world, 'pelican')).toBe(false)
    expect(await found(world, 'pelican')).toEqual([])
    await world.call('POST', '/v1/sessions/s0/rewind', { undo: true })
    await later(world, 's0')
    expect(idsOf(await found(world, 'pelican'))[0]).toBe('late')
  })

  it('go with their session, and with their user', async () => {
    const world = await told(3)
    expect(await holds(world, 's1')).toBe(true)
    await world.call('DELETE', '/v1/sessions/s1')
    expect(await holds(world, 's1')).toBe(false)
    expect(await words(world)).not.toContain('s1')
    // Of a session that is gone something may be forgotten late.
    await runInDurableObject(userObject(world.user), (object) =>
      (object as UserObject).dropWords(world.user, { sessionId: 'gone', seq: 7 }),
    )
    expect(await words(world)).toContain('gone')
    await world.call('DELETE', '/v1/me')
    expect(await holds(world, 'zebra')).toBe(false)
    expect(await words(world)).not.toContain('s0')
    expect(await words(world)).not.toContain('gone')
  })

  it('are not taken of a session that is not the user’s', async () => {
    const world = await told(1)
    const block = { sessionId: 'gone', kind: '4/', rewoundAt: 0, from: 0, to: 1, seq: 1, at: 1 }
    const taken = await runInDurableObject(userObject(world.user), (object) =>
      (object as UserObject).keepWords(world.user, { ...block, bytes: Uint8Array.of(1) }),
    )
    expect(taken).toBe(false)
    expect(await words(world)).not.toContain('gone')
  })

  it('go to the user who takes a session over', async () => {
    const guest = await World.guest()
    await guest.create('trip')
    await guest.append('trip', said('m1', 'A zebra is here.'))
    await later(guest, 'trip')
    const world = new World()
    expect((await world.claim(guest.token)).status).toBe(200)
    await later(world, 'trip')
    expect(await holds(guest, 'zebra')).toBe(false)
    expect(await holds(world, 'zebra')).toBe(true)
  })

  it('are none where anything is encrypted, or recall is not in use', async () => {
    const secret = 'a secret that is long enough for tests'
    await changeSessions((settings) => ({ ...settings, encryption: { secret } }))
    await changeUsers((settings) => ({ ...settings, encryption: { secret } }))
    const sealed = await told(1)
    expect(await words(sealed)).toBe('undefinedundefined')
    expect(idsOf(await found(sealed, 'zebra'))).toEqual(['m-s0'])
    await changeSessions(({ memory, encryption: _, ...settings }) => ({
      ...settings,
      memory: { ...memory, use: (memory.use ?? []).filter(({ name }) => name !== 'recall') },
    }))
    const world = await told(1)
    const owed = await runInDurableObject(sessionObject(world.user, 's0'), (_, { storage: { sql } }) =>
      sql.exec(`SELECT kind FROM plimsoll_edge_work WHERE kind LIKE '%words'`).toArray(),
    )
    expect(owed).toEqual([])
  })
})

/** What a context of a session recalls across sessions: its tail, and the account of it. */
async function recalled(
  world: World,
  session: string,
  query: string,
  sessions: 'all' | readonly string[] = 'all',
) {
  const { blocks, receipt } = await world.context(session, { recall: { query, sessions } })
  const tail = blocks.flatMap(({ section, parts }) => (section === 'tail' ? parts : []))
  const text = tail.map((part) => ('text' in part ? part.text : '')).join('\n')
  const use = receipt.remembered?.find(({ name }) => name === 'recall')
  return { text, others: use?.others, failures: receipt.failures }
}

describe('a context that recalls across sessions at the edge', () => {
  it('asks its user’s object once, and only the sessions of what was found', async () => {
    const world = await told(6)
    for (let at = 0; at < 6; at++) await evictDurableObject(world.stub(`s${at}`))
    const scope = vi.spyOn(SessionObject.prototype, 'scope')
    const calls = vi.spyOn(SessionObject.prototype, 'call')
    const ranks = vi.spyOn(UserObject.prototype, 'rankWords')
    const before = Date.now()
    const { text, others, failures } = await recalled(world, 's0', 's3')
    expect(text).toContain('1970-01-01, in another session\n- user [user]: A zebra is in s3 town.')
    expect(scope.mock.calls.map(([{ sessionId }, { method }]) => [sessionId, method])).toEqual([
      ['s3', 'messages'],
    ])
    expect(calls.mock.calls.map(([{ sessionId }]) => sessionId)).toEqual(['s0'])
    expect(ranks).toHaveBeenCalledTimes(1)
    expect(others).toMatchObject({ searched: 5, missing: 0 })
    expect(others?.asOf).toBeGreaterThan(0)
    expect(others?.asOf).toBeLessThan(before + 1.2 * DAY)
    expect(failures).toEqual([])
    const named = await recalled(world, 's0', 'zebra', ['s2', 's4'])
    expect(named.text.match(/in (s\d) town/g)?.toSorted()).toEqual(['in s2 town', 'in s4 town'])
    // Nobody is asked where the others are not.
    ranks.mockClear()
    await world.context('s0', { recall: 'zebra' })
    expect(ranks).not.toHaveBeenCalled()
  })

  it('is not kept under a key, since another session may forget what it shows', async () => {
    const world = await told(2)
    const ask = { messages: [said('q', 'Which town?')], recall: { query: 'zebra', sessions: 'all' } }
    const keyed = () => world.call('POST', '/v1/sessions/s0/context', ask, 'key')
    expect(JSON.stringify((await keyed()).body)).toContain('in s1 town')
    await world.call('DELETE', '/v1/sessions/s1/messages/m-s1')
    expect(JSON.stringify(await rowsOf(world.stub('s0')))).not.toContain('in s1 town')
    const again = await keyed()
    expect(again.status).toBe(200)
    expect(JSON.stringify(again.body)).not.toContain('in s1 town')
    const { body } = await world.call<{ messages: readonly unknown[] }>('GET', '/v1/sessions/s0/messages')
    expect(body.messages).toHaveLength(2)
  })

  it('reads each session once for all that was found there', async () => {
    const world = await told(2)
    await world.append(
      's1',
      ...Array.from({ length: 12 }, (_, at) => said(`n${at}`, `Zebra number ${at} came.`)),
    )
    await later(world, 's1')
    const scope = vi.spyOn(SessionObject.prototype, 'scope')
    const { text } = await recalled(world, 's0', 'zebra')
    expect(text.match(/Zebra number/g)).toHaveLength(12)
    expect(scope).toHaveBeenCalledTimes(1)
  })

  it('shows nothing of what was forgotten, erased or rewound, and counts what it lacks', async () => {
    const world = await told(4)
    for (const session of ['s1', 's2', 's3'])
      await world.append(session, said(`secret-${session}`, `The pelican of ${session} knows.`))
    await later(world, 's1', 's2', 's3')
    const before = await recalled(world, 's0', 'pelican')
    expect(before.text.match(/pelican of s\d/g)).toHaveLength(3)
    await world.call('DELETE', '/v1/sessions/s1/messages/secret-s1')
    await world.call('DELETE', '/v1/sessions/s2')
    // Its words are sent with the next batch.
    await world.call('POST', '/v1/sessions/s3/rewind', { message: 'm-s3' })
    const after = await recalled(world, 's0', 'pelican')
    expect(after.text).not.toContain('pelican')
    // Of that in which something was forgotten what is left is asked for.
    expect(after.others).toMatchObject({ searched: 2, missing: 0 })
    expect((await recalled(world, 's0', 'pelican', ['s2'])).others).toEqual({ searched: 0, missing: 1 })
    expect(after.failures).toEqual([])
    await world.call('POST', '/v1/sessions/s3/rewind', { undo: true })
    expect((await recalled(world, 's0', 'pelican')).text).toContain('pelican of s3')
  })

  it('shows nothing that is forgotten, or erased, between its finding and its reading', async () => {
    const world = await told(4)
    const { rankWords } = UserObject.prototype
    const between = (path: string) =>
      vi.spyOn(UserObject.prototype, 'rankWords').mockImplementationOnce(async function (
        this: UserObject,
        ...ask
      ) {
        const found = await rankWords.apply(this, ask)
        await world.call('DELETE', path)
        return found
      })
    for (const path of ['/v1/sessions/s1/messages/m-s1', '/v1/sessions/s2']) {
      between(path)
      const { text, others, failures } = await recalled(world, 's0', 'zebra')
      expect(others?.searched).toBeGreaterThan(0)
      expect(text).not.toContain(`in ${path.split('/')[3]} town`)
      expect(failures).toEqual([])
    }
  })

  it('shows what is here where the user’s object fails, or one of the sessions, and says so', async () => {
    const world = await told(3)
    const rank = vi.spyOn(UserObject.prototype, 'rankWords').mockRejectedValue(new Error('out of order'))
    const alone = await recalled(world, 's0', 'zebra')
    expect(alone.failures).toMatchObject([{ part: 'recall' }])
    expect(alone.others).toBeUndefined()
    rank.mockRestore()
    const { scope } = SessionObject.prototype
    vi.spyOn(SessionObject.prototype, 'scope').mockImplementation(function (this: SessionObject, home, call) {
      if (home.sessionId === 's1' && call.method === 'messages') throw new Error('out of order')
      return scope.call(this, home, call)
    })
    const some = await recalled(world, 's0', 'zebra')
    expect(some.text).toContain('in s2 town')
    expect(some.text).not.toContain('in s1 town')
    expect(some.failures).toMatchObject([{ part: 'recall' }])
  })

  it('finds nothing of another user’s sessions, whatever it names', async () => {
    const world = await told(1)
    const stranger = await told(2)
    const { text, others } = await recalled(world, 's0', 'zebra', ['s1'])
    expect(text).not.toContain('s1')
    expect(others).toEqual({ searched: 0, missing: 1 })
    expect((await recalled(stranger, 's0', 'zebra', ['s1'])).text).toContain('s1')
  })

  it('reads a row for each session, one for each block, and those of the list', async () => {
    const world = await told(4)
    const reads = async (): Promise<number> => {
      let read = 0
      await runInDurableObject(userObject(world.user), async (object, { storage }) => {
        const prototype = Object.getPrototypeOf(storage.sql) as SqlStorage
        const { exec } = prototype
        const cursors: { readonly rowsRead: number }[] = []
        prototype.exec = function (this: SqlStorage, query, ...bindings) {
          const cursor = exec.call(this, query, ...bindings)
          if (this === storage.sql) cursors.push(cursor)
          return cursor as never
        }
        const corpus = { passages: 1, messages: 1, length: 3, holding: new Map(), speakers: [] }
        const ask = { query: 'zebra', sessions: 'all' as const, by: 's0', corpus, most: 200 }
        const { found } = await (object as UserObject).rankWords(world.user, ask)
        prototype.exec = exec
        expect(found).toHaveLength(3)
        read = cursors.reduce((sum, { rowsRead }) => sum + rowsRead, 0)
      })
      return read
    }
    await reads()
    expect(await reads()).toBeLessThanOrEqual(ROWS_OF_FOUR)
  })

  it('has no words of encrypted sessions, and says how many it lacks', async () => {
    const secret = 'a secret that is long enough for tests'
    await changeSessions((settings) => ({ ...settings, encryption: { secret } }))
    await changeUsers((settings) => ({ ...settings, encryption: { secret } }))
    const world = await told(2)
    await evictDurableObject(userObject(world.user))
    const { text, others, failures } = await recalled(world, 's0', 'zebra')
    expect(text).not.toContain('s1')
    expect(others).toEqual({ searched: 0, missing: 1 })
    expect(failures).toEqual([])
    await changeUsers((settings) => ({ ...settings, encryption: { secret: `another, ${secret}` } }))
    await evictDurableObject(userObject(world.user))
    const { failures: locked } = await recalled(world, 's0', 'zebra')
    expect(locked).toMatchObject([{ part: 'recall', code: 'ERR_DECRYPT' }])
  })

  it('keeps no words where the user’s object alone encrypts', async () => {
    const secret = 'a secret that is long enough for tests'
    await changeUsers((settings) => ({ ...settings, encryption: { secret } }))
    expect(await words(await told(1))).toBe('undefinedundefined')
  })

  it('says that the user’s object has no recall in use', async () => {
    await changeUsers(({ memory, ...settings }) => ({
      ...settings,
      memory: { ...memory, use: (memory.use ?? []).filter(({ name }) => name !== 'recall') },
    }))
    const { text, failures } = await recalled(await told(2), 's0', 'zebra')
    expect(text).not.toContain('s1')
    expect(failures).toMatchObject([{ part: 'recall', code: 'ERR_NOT_CONFIGURED' }])
  })

  it('costs a guest as many reads as sessions are looked through', async () => {
    await changeUsers((settings) => ({ ...settings, guestBudgets: { guestReadsPerMinute: 40 } }))
    const guest = await World.guest()
    await guest.create('trip')
    await guest.append('trip', said('m1', 'A zebra is here.'))
    expect((await recalled(guest, 'trip', 'zebra')).failures).toEqual([])
    expect((await recalled(guest, 'trip', 'zebra')).failures).toMatchObject([
      { part: 'recall', code: 'ERR_RATE_LIMIT' },
    ])
  })
})

describe('the table of words', () => {
  const block = (more: Partial<WordsBlock>): WordsBlock => ({
    sessionId: 'trip',
    kind: '4/',
    rewoundAt: 0,
    from: 0,
    to: 64,
    seq: 10,
    at: 1_000,
    bytes: Uint8Array.of(1, 2, 3),
    ...more,
  })

  const inTable = <Result>(work: (table: WordsTable) => Result): Promise<Result> =>
    runInDurableObject(userObject(new World().user), (_, { storage }) => work(new WordsTable(storage)))

  it('takes what goes on, in parts, and gives it as it was', async () => {
    const long = new Uint8Array(700_000).map((_, at) => at % 251)
    const got = await inTable((table) => {
      const put = [
        table.put(block({ at: 0 })),
        table.of('trip') === undefined,
        table.put(block({ from: 64, to: 100, seq: 12, bytes: long })),
        table.put(block({ from: 64, to: 110, seq: 14, at: 2_000, bytes: long })),
        table.put(block({ from: 110, to: 110, seq: 15, at: 3_000, bytes: new Uint8Array() })),
        table.put(block({ from: 128, to: 130 })),
        table.put(block({ from: 64, to: 70, kind: '5/' })),
        table.put(block({ from: 64, to: 70, rewoundAt: 9 })),
      ]
      return { put, state: table.state('trip'), of: table.of('trip') }
    })
    expect(got.put).toEqual([true, true, true, true, true, false, false, false])
    expect(got.state).toEqual({ kind: '4/', size: 110, rewoundAt: 0, at: 3_000 })
    expect(got.of).toEqual({ kind: '4/', asOf: 3_000, blocks: [Uint8Array.of(1, 2, 3), long] })
  })

  it('drops blocks that were read before it, whatever came after, and remembers that', async () => {
    const got = await inTable((table) => {
      table.put(block({ seq: 10 }))
      table.put(block({ from: 64, to: 70, seq: 14 }))
      table.drop({ sessionId: 'trip', seq: 12 })
      const dropped = table.of('trip') === undefined
      const again = table.put(block({ seq: 13 }))
      const late = table.put(block({ seq: 11 }))
      return { dropped, again, late }
    })
    expect(got).toEqual({ dropped: true, again: true, late: false })
  })

  it('drops what was read before something was forgotten, and takes none of it later', async () => {
    const got = await inTable((table) => {
      table.put(block({}))
      table.drop({ sessionId: 'trip', seq: 9 })
      const kept = table.of('trip') !== undefined
      table.drop({ sessionId: 'trip', seq: 11 })
      const dropped = table.of('trip') === undefined
      const late = table.put(block({ seq: 10 }))
      const next = table.put(block({ seq: 11 }))
      table.drop({ sessionId: 'new', seq: 5 })
      const first = table.put(block({ sessionId: 'new', seq: 4 }))
      table.drop({ sessionId: 'new', seq: 3 })
      const still = table.put(block({ sessionId: 'new', seq: 4 }))
      return { kept, dropped, late, next, first, still }
    })
    expect(got).toEqual({ kept: true, dropped: true, late: false, next: true, first: false, still: false })
  })
})
