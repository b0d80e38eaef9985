/** What derives across the scopes of a user from what another device forgets. */
import { expect, test } from 'vitest'
import { createMemory, forget, forgetFact, standard } from '../../../src/index.ts'
import { deleteSession } from '../../../src/operations/delete-session.ts'
import type { Store } from '../../../src/ports/store.ts'
import { readScopes } from '../../../src/sync/read.ts'
import { signOut } from '../../../src/sync/sign-out.ts'
import type { SyncedStore } from '../../../src/sync/sync.ts'
import { readLog } from '../../contract/samples.ts'
import { ADA, device, TestHome, TRIP } from '../support/synced.ts'

const SECRET = 'the code of the door at the back of the old harbour building is xylomarquen'
const HOME = { ...ADA, sessionId: 'home' }

/** A device that is offline but in `settle`. */
function offlineDevice(server: TestHome) {
  const { store, base, link } = device(server)
  store.pause()
  const memory = createMemory({ store, budget: 4_000, use: standard() })
  return { store, base, link, memory, of: (scope: typeof TRIP) => memory.session(scope) }
}

async function settle(...devices: readonly { readonly store: SyncedStore }[]): Promise<void> {
  for (const { store } of devices) {
    const ends = [ADA, TRIP, HOME].map((scope) => store.follow(scope))
    store.resume()
    await store.settled()
    store.pause()
    for (const end of ends) end()
  }
}

/** All that a store holds, as text. */
async function textIn(store: Store): Promise<string> {
  const all: unknown[] = []
  for (const scope of await readScopes(store)) {
    const open = store.open(scope)
    all.push(await readLog(open), await open.registers(''), await open.outbox?.(0))
  }
  return JSON.stringify(all)
}

async function expectForgotten(server: TestHome, devices: readonly { readonly base: Store }[]) {
  for (const store of [server.store, ...devices.map(({ base }) => base)])
    expect(await textIn(store)).not.toContain('xylomarquen')
}

test('a fact that was found offline in a message that another device forgets leaves no note', async () => {
  const server = new TestHome()
  const [one, two] = [offlineDevice(server), offlineDevice(server)]
  await one.of(TRIP).append({ id: 'said', role: 'user', content: `Mind that ${SECRET}.` })
  await settle(one, two)
  await one.of(TRIP).facts.remember({ kind: 'finding', text: SECRET, sources: ['said'] })
  await two.of(TRIP).history()
  await forget(two.of(TRIP), 'said')
  await settle(two, one, two)
  await expectForgotten(server, [one, two])
})

test('a note that was written again offline goes with the fact that another device forgets', async () => {
  const server = new TestHome()
  const [one, two] = [offlineDevice(server), offlineDevice(server)]
  const { fact } = await one.of(TRIP).facts.remember({ kind: 'finding', text: SECRET })
  await settle(one, two)
  await one.of(TRIP).facts.remember({ kind: 'finding', text: `${SECRET} now` })
  await forget(two.of(TRIP), fact.id, { kind: 'fact' })
  await settle(one, two, one)
  await expectForgotten(server, [one, two])
})

test('a session that the forgetting device has never seen shows the fact no more', async () => {
  const server = new TestHome()
  const [one, two] = [offlineDevice(server), offlineDevice(server)]
  const { fact } = await one.of(TRIP).facts.remember({ kind: 'preference', text: SECRET })
  await settle(one, two)
  await one.of(HOME).append({ role: 'user', content: 'Which door?' })
  expect(JSON.stringify((await one.of(HOME).context()).blocks)).toContain('xylomarquen')
  await forgetFact(two.memory, ADA, fact.id)
  await settle(two, one, two)
  await expectForgotten(server, [one, two])
})

test.each(['before', 'after'])(
  'a fact that was found offline %s another device erased its session leaves no note',
  async (order) => {
    const server = new TestHome()
    const [one, two] = [offlineDevice(server), offlineDevice(server)]
    await one.of(TRIP).append({ role: 'user', content: 'Hello.' })
    await settle(one, two)
    await one.of(TRIP).facts.remember({ kind: 'finding', text: SECRET })
    await deleteSession(two.memory, ADA, 'trip')
    await settle(...(order === 'before' ? [one, two, one, two] : [two, one, two, one]))
    await expectForgotten(server, [one, two])
  },
)

test('what a session handed to the user stays where another device erased the session meanwhile', async () => {
  const server = new TestHome()
  const [one, two] = [offlineDevice(server), offlineDevice(server)]
  await one.of(TRIP).append({ id: 'said', role: 'user', content: 'I like windows.' })
  await settle(one, two)
  await one.of(TRIP).facts.remember({ kind: 'preference', text: 'Likes windows.', sources: ['said'] })
  await deleteSession(two.memory, ADA, 'trip')
  await settle(two, one, two)
  expect(await two.of(HOME).facts.list()).toMatchObject([{ text: 'Likes windows.' }])
})

test.each(['deleted', 'forbidden'] as const)(
  'a head that the home refuses as %s, since it shows what was forgotten, is not kept aside',
  async (rejected) => {
    const server = new TestHome()
    const [one, two] = [offlineDevice(server), offlineDevice(server)]
    const { fact } = await one.of(TRIP).facts.remember({ kind: 'preference', text: SECRET })
    await settle(one, two)
    await one.of(HOME).append({ role: 'user', content: 'Which door?' })
    expect(JSON.stringify((await one.of(HOME).context()).blocks)).toContain('xylomarquen')
    await forgetFact(two.memory, ADA, fact.id)
    await settle(two)
    server.refuse = ({ envelope: { sources = [] } }) =>
      sources.some((name) => name.startsWith('user:')) ? rejected : undefined
    await settle(one, two, one)
    await expectForgotten(server, [one, two])
    expect(one.store.status.refused).toBe(0)
    expect(await signOut(one.store)).toEqual({ done: true, lost: [] })
  },
)

test('what the home refuses, since it was deleted there, is kept aside without what it said', async () => {
  const server = new TestHome()
  const one = offlineDevice(server)
  await one.of(TRIP).append({ role: 'user', content: SECRET })
  server.refuse = ({ envelope: { kind } }) => (kind === 'append' ? 'deleted' : undefined)
  await settle(one)
  expect(one.store.status.refused).toBe(1)
  await expectForgotten(server, [one])
})

test('what a process that ended left to be looked at, the next one does', async () => {
  const server = new TestHome()
  const [one, two] = [offlineDevice(server), offlineDevice(server)]
  await one.of(TRIP).append({ id: 'said', role: 'user', content: `Mind that ${SECRET}.` })
  await settle(one, two)
  await one.of(TRIP).facts.remember({ kind: 'finding', text: SECRET, sources: ['said'] })
  await forget(two.of(TRIP), 'said')
  await settle(two)
  // It ends as soon as it has the page that says so.
  const pull = one.link.pull
  const { base } = one
  one.link.pull = async (requests, signal) => {
    const answers = await pull(requests, signal)
    setTimeout(() => one.store.close())
    return answers
  }
  one.store.follow(TRIP)
  one.store.resume()
  await one.store.settled().catch(() => {})
  const again = device(server, { store: base })
  again.store.follow(TRIP)
  await again.store.settled()
  await again.store.close()
  await settle(two)
  await expectForgotten(server, [one, two])
})
