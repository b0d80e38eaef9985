import { env, evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { EncryptionSettings, SessionSettings, UserSettings } from '../../../src/edge/cloudflare.ts'
import { objectName } from '../../../src/edge/objects/object-name.ts'
import { SessionObject } from '../../../src/edge/objects/session-object.ts'
import type { ScopeHost } from '../../../src/edge/replica/remote-scope.ts'
import { SessionRecords } from '../../../src/edge/rows/session-record.ts'
import { PlimsollError, retention } from '../../../src/index.ts'
import { secretKeyId } from '../../../src/stores/encrypted/index.ts'
import { fetchWorker } from './caller.ts'
import { changeSessions, changeUsers, useDemoModel, withFeatures } from './changed-settings.ts'
import { type Rows, rowsOf, userObject } from './rows.ts'
import { said, World } from './world.ts'

const SECRET = 'a-secret-of-these-tests-of-32-bytes-or-more'
const ANOTHER = 'another-secret-of-the-tests-of-32-bytes-or-more'
const CANARY = /canary/i

beforeEach(() => {
  // What fails is logged.
  const spy = vi.spyOn(console, 'error').mockReturnValue(undefined)
  onTestFinished(() => spy.mockRestore())
})

/** Objects that wake encrypt by this, until the test ends. */
async function encrypt(
  secret: string | undefined,
  older: readonly string[] = [],
  more: Partial<EncryptionSettings> = {},
): Promise<void> {
  const change = <Settings extends { readonly encryption?: EncryptionSettings }>({
    encryption: _,
    ...settings
  }: Settings) => ({ ...settings, ...(secret !== undefined && { encryption: { secret, older, ...more } }) })
  await changeSessions(change)
  await changeUsers(change)
}

function objectsOf(world: World, sessions: readonly string[]): readonly DurableObjectStub[] {
  return [env.USERS.getByName(objectName(world.user)), ...sessions.map((session) => world.stub(session))]
}

/** The same user, whose objects wake with another secret. */
async function change(
  world: World,
  secret: string | undefined,
  older?: readonly string[],
  more?: Partial<EncryptionSettings>,
): Promise<void> {
  await encrypt(secret, older, more)
  await asleep(world, 'trip', 'bare', 'empty', 'late')
}

async function asleep(world: World, ...sessions: readonly string[]): Promise<void> {
  // One that sleeps already cannot be evicted.
  for (const object of objectsOf(world, sessions)) await evictDurableObject(object).catch(() => {})
}

async function stored(world: World): Promise<readonly Rows[]> {
  return Promise.all(objectsOf(world, ['trip']).map(rowsOf))
}

/** What is stored, but who asked lately, what is owed and when: a call that fails may note that. */
async function kept(world: World): Promise<string> {
  const rows = await stored(world)
  return JSON.stringify(
    rows.map(({ alarm: _, plimsoll_edge_work: __, plimsoll_edge_replica: ___, ...tables }) => tables),
  )
}

/** Does what the objects owe, at once. */
async function ring(world: World): Promise<void> {
  for (const object of objectsOf(world, ['trip']).toReversed()) {
    await runInDurableObject(object, (_, { storage }) => {
      storage.sql.exec('UPDATE plimsoll_edge_work SET due = 1 WHERE due IS NOT NULL')
      return storage.setAlarm(Date.now() + 60_000)
    }).catch(() => {})
    await runDurableObjectAlarm(object)
  }
}

async function made(): Promise<World> {
  const world = new World()
  await world.create('trip', { title: 'Canary title', project: 'canary project' })
  await world.append('trip', said('m1', 'A canary sang.'))
  await world.remember('trip', 'Canaries are yellow.')
  await world.remember('trip', 'The canary is out.', 'finding')
  await world.call('PUT', '/v1/me/profile/SOUL.md', { text: 'Sings like a canary.' })
  await world.call('PUT', '/v1/sessions/trip/checkpoint', { value: { of: 'canary' } })
  await putPart(world)
  await world.context()
  return world
}

async function putPart(world: World): Promise<number> {
  const body = '{"role":"user","content":"The canary flew"}'
  return (await world.caller.fetch('PUT', '/v1/sessions/trip/parts/m2/0', { body })).status
}

/** All that the user can read. */
async function all(world: World): Promise<unknown> {
  const { body: info } = await world.call('GET', '/v1/sessions/trip')
  const { body: profile } = await world.call('GET', '/v1/me/profile/SOUL.md')
  const { body: checkpoint } = await world.call('GET', '/v1/sessions/trip/checkpoint')
  const { body: facts } = await world.call('GET', '/v1/sessions/trip/facts')
  return { info, profile, checkpoint, facts, messages: await world.messages(), listed: await world.listed() }
}

async function refused(calls: readonly Promise<{ readonly status: number; readonly body: unknown }>[]) {
  for (const { status, body } of await Promise.all(calls))
    expect({ status, body }).toEqual({
      status: 500,
      body: expect.objectContaining({ code: 'ERR_DECRYPT', detail: expect.not.stringMatching(CANARY) }),
    })
}

describe('what objects store with a secret', () => {
  it('has no text in it, in whatever table, and is read as it was said', async () => {
    await useDemoModel()
    await encrypt(SECRET)
    const world = await made()
    const chat = await world.caller.fetch('POST', '/v1/sessions/trip/chat', {
      headers: { 'Content-Type': 'application/json' },
      body: '{"message":"What does the canary say?"}',
    })
    const stream = await chat.text()
    const rows = JSON.stringify(await stored(world))
    expect(rows).not.toMatch(CANARY)
    expect(rows).toMatch(/plimsoll_edge_part.*plimsoll_edge_run/)
    const bytes = await streamed(world)
    expect(bytes.length).toBeGreaterThan(stream.length)
    expect(bytes).not.toMatch(/text-delta|data: /)
    await asleep(world, 'trip')
    const { body } = await world.call<{ messages: { parts: unknown[] }[] }>(
      'GET',
      '/v1/sessions/trip/messages',
    )
    expect(JSON.stringify(body)).toContain('A canary sang.')
    const run = await runInDurableObject(world.stub(), (_, { storage }) =>
      storage.sql.exec('SELECT id FROM plimsoll_edge_run').one(),
    )
    const again = await world.caller.fetch('GET', `/v1/sessions/trip/chat/${run.id as string}`)
    expect(await again.text()).toBe(stream)
    expect(await world.call('GET', '/v1/sessions/trip')).toMatchObject({
      body: { title: 'Canary title', project: 'canary project' },
    })
    expect(
      (await world.call('POST', '/v1/sessions/trip/messages', { messages: [{ id: 'm2', parts: 1 }] })).status,
    ).toBe(200)
    expect(JSON.stringify(await world.messages())).toContain('The canary flew')
  })

  it('has no key left once it was erased', async () => {
    await encrypt(SECRET)
    const world = await made()
    expect(JSON.stringify(await stored(world))).toMatch(/encryption\/keys/)
    const put = vi.spyOn(SessionRecords.prototype, 'put')
    onTestFinished(() => put.mockRestore())
    expect((await world.call('DELETE', '/v1/me')).status).toBe(200)
    const [ofUser, ofSession] = await stored(world)
    // What is left of the user is the record of the erase, under a new key.
    expect(JSON.stringify(ofUser).match(/wrapped/g)).toHaveLength(1)
    expect(JSON.stringify(ofSession)).not.toMatch(/wrapped|p1\.|encryption/)
    expect(ofSession?.plimsoll_edge_session).toBe('')
    // Its own key is written over before it is taken off.
    const keys = put.mock.calls.map(([{ state, key = 'none' }]) => `${state} ${key.replace(/A+/, 'A')}`)
    expect(keys).toEqual(['live A', 'erasing none'])
  })
})

for (const [name, wrong] of [
  ['another secret', ANOTHER],
  ['no secret', undefined],
] as const)
  describe(`with ${name}`, () => {
    it('nothing is written over, and all of it is there again with the right one', async () => {
      await encrypt(SECRET)
      const world = await made()
      await world.create('bare')
      await world.append('bare', said('m1', 'A canary sang here too.'))
      await world.create('empty')
      const before = await all(world)
      const rows = await kept(world)
      await change(world, wrong)

      expect((await fetchWorker('/health')).status).toBe(200)
      await refused([
        world.call('GET', '/v1/sessions/trip/messages'),
        world.call('GET', '/v1/sessions/bare/messages'),
        world.call('POST', '/v1/sessions/bare/context', {}),
        world.call('POST', '/v1/sessions/trip/context', {}),
        world.call('GET', '/v1/sessions/empty/messages'),
        world.call('GET', '/v1/sessions/empty/facts'),
        world.call('GET', '/v1/sessions/empty/branches'),
        world.call('POST', '/v1/sessions/empty/context', {}),
        world.call('POST', '/v1/sessions/empty/context', { preview: true }),
        world.call('GET', '/v1/sessions'),
        world.call('POST', '/v1/sessions', {}, 'a key'),
        world.append('trip', said('m3', 'More.')),
        world.remember('trip', 'Another fact.'),
        world.call('GET', '/v1/sessions/trip'),
        world.call('PATCH', '/v1/sessions/trip', { title: 'Another' }),
        world.call('GET', '/v1/sessions/trip/checkpoint'),
        world.call('PUT', '/v1/sessions/trip/checkpoint', { value: 1 }),
        world.call('GET', '/v1/me/profile/SOUL.md'),
        world.call('PUT', '/v1/me/profile/SOUL.md', { text: 'Another.' }),
        world.call('POST', '/v1/me/facts', { kind: 'preference', text: 'Another.' }),
        world.create('late'),
        world.call('POST', '/v1/me/claim', { token: (await World.guest()).token }),
      ])
      expect(await putPart(world)).toBe(500)
      expect((await world.call('GET', '/v1/me/export')).status).toBe(500)
      expect(await kept(world)).toBe(rows)
      expect((await rowsOf(world.stub('late'))).plimsoll_edge_session).toBeUndefined()

      await change(world, SECRET)
      expect(await all(world)).toEqual(before)
      expect((await world.append('trip', said('m3', 'More.'))).status).toBe(200)
      expect(JSON.stringify((await world.context()).blocks)).toMatch(/sang.*yellow|yellow.*sang/)
      expect(await putPart(world)).toBe(204)
    })

    it('a session keeps its copy of what is the user’s, and has what changed once the secret is right', async () => {
      await encrypt(SECRET)
      const world = await made()
      await world.create('home')
      await world.call('PUT', '/v1/me/profile/SOUL.md', { text: 'Whistles like a canary.' })
      await encrypt(wrong)
      await asleep(world)
      const { blocks, receipt } = await world.context()
      expect(receipt.failures).toMatchObject([{ code: 'ERR_DECRYPT' }])
      expect(JSON.stringify(blocks)).toMatch(/Sings like a canary/)
      await change(world, SECRET)
      expect(JSON.stringify((await world.context()).blocks)).toMatch(/Whistles like a canary/)
    })

    it('a guest’s session is not taken over, and stays the guest’s', async () => {
      await encrypt(SECRET)
      const guest = await World.guest()
      await guest.create()
      await guest.append('trip', said('m1', 'A canary sang.'))
      const world = new World()
      await change(guest, wrong)
      const { status } = await world.call('POST', '/v1/me/claim', { token: guest.token })
      expect(status).toBe(500)
      // Else its list would look empty to the user who takes over what is on it.
      const listing = { method: 'registers', prefix: 'session/' } as const
      const answered = await runInDurableObject(userObject(guest.user), (object) =>
        (object as unknown as ScopeHost)
          .scope(guest.user, listing)
          .catch((error: { readonly code?: string }) => error.code),
      )
      expect(answered).toBe('ERR_DECRYPT')
      await change(guest, SECRET)
      expect(await guest.messages()).toEqual(['m1: "A canary sang."'])
    })

    it('what is erased is not forgotten to be erased', async () => {
      await encrypt(SECRET)
      const world = await made()
      await change(world, wrong)
      await refused([world.call('DELETE', '/v1/me')])
      // What was said is gone at once; that it is said nowhere waits for who can read the list.
      expect((await stored(world))[1]?.plimsoll_log).not.toMatch(/p1\./)
      await change(world, SECRET)
      await ring(world)
      expect(await world.listed()).toEqual([])
      expect(JSON.stringify((await stored(world))[1])).not.toMatch(/wrapped|p1\./)
    })

    it('retention removes nothing, since nobody can tell how old it is', async () => {
      await encrypt(SECRET)
      const world = await made()
      await world.append('trip', said('m3', 'A newer round.'))
      const before = await all(world)
      const [{ plimsoll_log: log }] = (await stored(world)).slice(1) as [Rows]
      await encrypt(wrong)
      const days = { days: 1 }
      const retaining = <Settings extends SessionSettings | UserSettings>(settings: Settings) =>
        withFeatures(settings, retention({ log: days, facts: days, checkpoint: days }))
      await changeSessions(retaining)
      await changeUsers(retaining)
      await asleep(world, 'trip')
      await world.call('GET', '/v1/sessions/trip/messages')
      for (let attempt = 0; attempt < 6; attempt++) await ring(world)
      await change(world, SECRET)
      expect(await all(world)).toEqual(before)
      expect((await stored(world))[1]?.plimsoll_log).toBe(log)
    })
  })

describe('what is in the clear where there is a secret', () => {
  it('is refused, no matter who put it there, and can be erased', async () => {
    await encrypt(undefined)
    const world = await made()
    await change(world, SECRET)
    await refused([
      world.call('GET', '/v1/sessions/trip/messages'),
      world.call('POST', '/v1/sessions/trip/context', {}),
      world.append('trip', said('m3', 'More.')),
      world.call('GET', '/v1/sessions'),
      world.call('GET', '/v1/me/profile/SOUL.md'),
      world.create('late'),
    ])
    expect(await putPart(world)).toBe(500)
    expect((await rowsOf(world.stub('late'))).plimsoll_edge_session).toBeUndefined()
  })

  it('is refused where it was put in the place of a session that is encrypted', async () => {
    await encrypt(SECRET)
    const world = await made()
    await runInDurableObject(world.stub(), (_, { storage: { sql } }) => {
      sql.exec(`DELETE FROM plimsoll_register`)
      sql.exec(
        `UPDATE plimsoll_log SET body = '{"role":"user","content":"Never said."}' WHERE kind = 'message'`,
      )
      sql.exec(`UPDATE plimsoll_log SET body = NULL WHERE kind <> 'message'`)
      sql.exec(`UPDATE plimsoll_edge_session SET record = json_remove(record, '$.key', '$.project')`)
    })
    await asleep(world, 'trip')
    await refused([
      world.call('GET', '/v1/sessions/trip/messages'),
      world.call('POST', '/v1/sessions/trip/context', {}),
      world.append('trip', said('m3', 'More.')),
    ])
    await runInDurableObject(world.stub(), (_, { storage: { sql } }) => {
      expect(JSON.stringify(sql.exec('SELECT * FROM plimsoll_log').toArray())).not.toContain('More.')
    })
    expect((await world.call('DELETE', '/v1/sessions/trip')).status).toBe(200)
  })
})

describe('a key whose id is pinned', () => {
  it('refuses new users and sessions under another one', async () => {
    const keyId = await secretKeyId(SECRET)
    await encrypt(SECRET, [], { keyId })
    const world = await made()
    await encrypt(ANOTHER, [SECRET], { keyId })
    const other = new World()
    for (const call of [
      other.create(),
      other.call('PUT', '/v1/me/profile/SOUL.md', { text: 'Another.' }),
      world.create('late'),
    ])
      expect(await call).toMatchObject({ status: 503, body: { code: 'ERR_NOT_CONFIGURED' } })
    expect(await stored(other)).toEqual([
      expect.not.objectContaining({ plimsoll_log: expect.anything() }),
      expect.anything(),
    ])
  })
})

describe('a secret that comes later', () => {
  it('leaves what is there in the clear where it is told to, and encrypts new sessions and users', async () => {
    await encrypt(undefined)
    const world = await made()
    await change(world, SECRET, [], { plain: 'keep' })
    await world.append('trip', said('m3', 'Another canary.'))
    expect(await world.messages()).toEqual(['m1: "A canary sang."', 'm3: "Another canary."'])
    await world.create('late')
    await world.append('late', said('m1', 'A canary sang late.'))
    expect(JSON.stringify(await stored(world))).toMatch(/A canary sang/)
    const late = JSON.parse(
      (await rowsOf(world.stub('late'))).plimsoll_log?.split('\n').find((row) => row.includes('message')) ??
        '',
    )
    expect(JSON.stringify(late)).toMatch(/p1\./)
    expect(await world.messages('late')).toEqual(['m1: "A canary sang late."'])
    const other = await made()
    expect(JSON.stringify(await stored(other))).not.toMatch(CANARY)
  })
})

describe('a secret that is changed', () => {
  it('leaves what is under the older one readable while that is there, and needs it no more for what is new', async () => {
    await encrypt(SECRET)
    const world = await made()
    const before = await all(world)
    await change(world, ANOTHER, [SECRET])
    expect(await all(world)).toEqual(before)
    expect(await putPart(world)).toBe(204)
    const other = await made()
    await change(other, ANOTHER)
    expect(await other.messages()).toEqual(['m1: "A canary sang."'])
    expect(await putPart(other)).toBe(204)
  })
})

describe('a secret that is to go', () => {
  const wrappedBy = async (world: World, sessions: readonly string[]) => {
    const rows = JSON.stringify(await Promise.all(objectsOf(world, sessions).map(rowsOf)))
    return [...new Set(rows.match(/hkdf\.[\w-]{11}/g))]
  }
  const audited = async (world: World) => {
    const { body } = await world.call<{ records: { action: string }[] }>('GET', '/v1/me/audit')
    return body.records.filter(({ action }) => action === 'rotate-key')
  }

  it('can go once an alarm has wrapped all keys of the user again, which is on record', async () => {
    await encrypt(SECRET)
    const world = await made()
    await world.create('home')
    await world.append('home', said('m1', 'A canary sang.'))
    const keep = () => world.call('PUT', '/v1/me/profile/MEMORY.md', { text: 'A canary.' }, 'keep-1')
    const kept = await keep()
    expect(kept.status).toBe(200)
    const before = await all(world)
    const bodies = async () => (await stored(world))[1]?.plimsoll_log?.match(/p1\.[^"]+/g)
    const texts = await bodies()
    await encrypt(ANOTHER, [SECRET])
    await asleep(world, 'trip', 'home')
    const older = await secretKeyId(SECRET)
    expect(await wrappedBy(world, ['trip', 'home'])).toEqual([older])
    expect(await world.listed()).toEqual(['home', 'trip'])
    await ring(world)
    const newer = await secretKeyId(ANOTHER)
    expect(await wrappedBy(world, ['trip', 'home'])).toEqual([newer])
    expect(await audited(world)).toMatchObject([{ action: 'rotate-key', counts: { sessions: 2 } }])
    // No text was written again, and nothing is owed.
    expect(await bodies()).toEqual(texts)
    await ring(world)
    expect(await audited(world)).toHaveLength(1)
    expect((await rowsOf(userObject(world.user))).plimsoll_edge_work).not.toContain('rewrap')
    await encrypt(ANOTHER)
    await asleep(world, 'trip', 'home')
    expect(await all(world)).toEqual(before)
    expect(await world.messages('home')).toEqual(['m1: "A canary sang."'])
    expect(await putPart(world)).toBe(204)
    // What was answered under a key before is known yet.
    expect(await keep()).toMatchObject({ status: 200, body: kept.body })
  })

  it('is needed until sessions that failed have done it too', async () => {
    await encrypt(SECRET)
    const world = await made()
    const older = await secretKeyId(SECRET)
    await encrypt(ANOTHER, [SECRET])
    await asleep(world, 'trip')
    const failing = vi
      .spyOn(SessionObject.prototype, 'rewrap')
      .mockRejectedValueOnce(new PlimsollError('ERR_STORAGE', 'the object was not reached'))
    await world.listed()
    await runDurableObjectAlarm(userObject(world.user))
    failing.mockRestore()
    expect(await audited(world)).toEqual([])
    expect(await wrappedBy(world, ['trip'])).toContain(older)
    await ring(world)
    expect(await wrappedBy(world, ['trip'])).not.toContain(older)
    expect(await audited(world)).toHaveLength(1)
  })
})

/** What chats streamed, as it is stored. */
function streamed(world: World): Promise<string> {
  return runInDurableObject(world.stub(), (_, { storage }) =>
    storage.sql
      .exec('SELECT bytes FROM plimsoll_edge_run')
      .toArray()
      .map(({ bytes }) => new TextDecoder('latin1').decode(bytes as ArrayBuffer))
      .join(''),
  )
}
