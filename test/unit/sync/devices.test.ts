import { expect, test } from 'vitest'
import { checkPushed, createMemory, forget, mapStore, readAudit, standard } from '../../../src/index.ts'
import {
  homeStore,
  httpTransport,
  type Refused,
  refusalsOf,
  sync,
  syncServer,
} from '../../../src/sync/index.ts'

const USER = { userId: 'ada' }
const TRIP = { ...USER, sessionId: 'trip' }

/** A home behind HTTP, and two devices that can be cut off from it. */
function world() {
  const base = mapStore()
  const home = createMemory({ store: homeStore(base), budget: 4_000, use: standard() })
  const network = { isUp: true }
  const answer = syncServer({
    store: base,
    authenticate: async () => USER,
    check: (scope, ops) => checkPushed(home, scope, ops),
  })
  const device = () => {
    const refused: Refused[] = []
    const transport = httpTransport({
      url: 'http://home.example',
      token: 'token',
      fetch: async (url, init) => {
        if (!network.isUp) throw new TypeError('fetch failed')
        return answer(new Request(url, init))
      },
    })
    const store = sync({ store: mapStore(), transport, baseMs: 1, capMs: 5, channel: false, lock: false })
    refusalsOf(store).on('conflict', (one) => refused.push(one))
    refusalsOf(store).on('rejected', (one) => refused.push(one))
    const memory = createMemory({ store, budget: 4_000, use: standard() })
    return { store, memory, refused, session: memory.session(TRIP), user: memory.user(USER) }
  }
  const [one, other] = [device(), device()]
  const settle = async () => {
    for (const { store } of [one, other, one, other]) {
      store.resume()
      await store.settled()
    }
  }
  return {
    home,
    network,
    one,
    other,
    settle,
    close: () => Promise.all([one.store.close(), other.store.close()]),
  }
}

test('two devices that met the same session offline show one context, as their home does', async () => {
  const { home, network, one, other, settle, close } = world()
  network.isUp = false
  await one.session.append({ role: 'user', content: 'Which train is early?' })
  await one.session.context()
  await one.session.facts.remember({ kind: 'finding', text: 'The 9:40 is full' })
  await other.session.append({ role: 'user', content: 'And which one is cheap?' })
  await other.session.context()
  network.isUp = true
  await settle()
  const contexts = []
  for (const session of [one.session, other.session, home.session(TRIP)]) {
    contexts.push(await session.context())
    await settle()
  }
  const [first, ...others] = contexts
  for (const context of others) expect(context).toEqual(first)
  expect(JSON.stringify(first?.blocks)).toContain('The 9:40 is full')
  // Both listed the session: that is nobody's conflict.
  expect([...one.refused, ...other.refused]).toEqual([])
  expect(other.store.status).toMatchObject({ state: 'current', waiting: 0, refused: 0 })
  await close()
})

test('two devices that forget offline keep what they were told, and the record of both', async () => {
  const { home, network, one, other, settle, close } = world()
  await one.session.append(['m1', 'm2', 'm3'].map((id) => ({ id, role: 'user', content: id }) as const))
  await other.session.history()
  await settle()
  network.isUp = false
  await forget(one.session, 'm1')
  await forget(other.session, 'm2')
  network.isUp = true
  await settle()
  for (const session of [one.session, other.session, home.session(TRIP)])
    expect((await session.history()).map(({ id }) => id)).toEqual(['m3'])
  expect([...one.refused, ...other.refused]).toEqual([])
  for (const { memory } of [one, other])
    expect((await readAudit(memory, USER)).map(({ target }) => target).sort()).toEqual(['m1', 'm2'])
  await close()
})

test('a document that two devices changed offline is a conflict, with both texts', async () => {
  const { network, one, other, settle, close } = world()
  network.isUp = false
  await one.user.profile.set('SOUL.md', 'Be brief.')
  await other.user.profile.set('SOUL.md', 'Be kind.')
  other.store.pause()
  network.isUp = true
  one.store.resume()
  await one.store.settled()
  await settle()
  expect([...one.refused, ...other.refused]).toMatchObject([
    { op: { key: 'profile/SOUL.md' }, mine: { text: 'Be kind.' }, theirs: { text: 'Be brief.' } },
  ])
  expect(other.store.status.state).toBe('conflict')
  await refusalsOf(other.store).resolve(other.refused[0] as Refused, 'mine')
  await settle()
  expect((await one.user.profile.get('SOUL.md'))?.text).toBe('Be kind.')
  expect(other.store.status.state).toBe('current')
  await close()
})
