/** What the home refused is kept aside, and goes with what it derives from. */
import { expect, test } from 'vitest'
import { createMemory, forget, standard } from '../../../src/index.ts'
import { decide } from '../../../src/kernel/log/decide.ts'
import { refusalsOf } from '../../../src/sync/refusals.ts'
import { append, mark, put, readLog, remove } from '../../contract/samples.ts'
import { ADA, device, refusing, TestHome, TRIP, write } from '../support/synced.ts'

/** As long as that, a text with one more word is near to it, and merged with it. */
const DOOR = Array.from({ length: 40 }, (_, place) => `word${place}`).join(' ')
const SECRET = `${DOOR} xylomarquen`

function offlineDevice(server: TestHome) {
  const { store, base } = device(server)
  store.pause()
  const memory = createMemory({ store, budget: 4_000, use: standard() })
  return { store, base, session: memory.session(TRIP) }
}

async function settle(...devices: readonly ReturnType<typeof offlineDevice>[]): Promise<void> {
  for (const { store } of devices) {
    const ends = [ADA, TRIP].map((scope) => store.follow(scope))
    store.resume()
    await store.settled()
    store.pause()
    for (const end of ends) end()
  }
}

const ORDERS = ['elsewhere, later', 'here, later', 'elsewhere, before'] as const

test.each(
  (['finding', 'preference'] as const).flatMap((kind) => ORDERS.map((order) => [kind, order] as const)),
)('a %s that is refused goes with the message that it is from, forgotten %s', async (kind, order) => {
  const server = new TestHome()
  const [one, two] = [offlineDevice(server), offlineDevice(server)]
  await one.session.append({ id: 'said', role: 'user', content: `Mind that ${SECRET}.` })
  await one.session.facts.remember({ kind, text: DOOR })
  await settle(one, two)
  await two.session.facts.remember({ kind, text: SECRET, sources: ['said'] })
  await one.session.facts.remember({ kind, text: `${DOOR} now` })
  if (order === 'elsewhere, before') await forget(one.session, 'said')
  await settle(one, two)
  expect(two.store.status.refused).toBe(1)
  if (order === 'elsewhere, later') await forget(one.session, 'said')
  if (order === 'here, later') await forget(two.session, 'said')
  await settle(one, two, one, two)
  for (const scope of [TRIP, ADA]) {
    for (const { op } of await refusalsOf(two.store).of(scope)) expect(op).not.toHaveProperty('index')
    for (const store of [server.store, one.base, two.base]) {
      const open = store.open(scope)
      const all = [await readLog(open), await open.registers(''), await open.outbox?.(0)]
      expect(JSON.stringify(all)).not.toContain('xylomarquen')
    }
  }
})

const FROM = { sources: ['entry:m1'] } as const

test.each([
  ['a mark', 'later', mark('x', 'summary', 'x', FROM)],
  ['a mark', 'before', mark('x', 'summary', 'x', FROM)],
  ['a put', 'later', put('x', 'mood', null, FROM)],
  ['a put', 'before', put('x', 'mood', null, FROM)],
])('%s that the home does not take goes with what it is from, deleted %s', async (_, order, op) => {
  const server = new TestHome()
  server.refuse = ({ envelope }) => (envelope.opId === 'x' ? 'forbidden' : undefined)
  const { store, base } = device(server)
  store.follow(TRIP)
  await write(store, [append('a', ['m1'])])
  await store.settled()
  const [body] = op.bodies
  const bodies = async () => (await refusalsOf(store).of(TRIP)).flatMap((refused) => refused.bodies)
  const forgotten = async () => {
    await server.open().commit([remove('y', 'entry:m1')], decide)
    server.poke()
  }
  if (order === 'before') {
    store.pause()
    await write(store, [op])
    await forgotten()
    store.resume()
    await store.settled()
  } else {
    await write(store, [op])
    await store.settled()
    expect(await bodies()).toEqual([body])
    await forgotten()
    await store.settled()
  }
  expect(await bodies()).toEqual([null])
  expect(JSON.stringify(await base.open(TRIP).outbox?.(0))).not.toContain(body)
})

test('what waits, and is refused after the home told what is deleted, says nothing of that', async () => {
  const server = new TestHome()
  const { store, link } = device(server)
  store.follow(TRIP)
  await write(store, [append('a', ['m1']), put('p', 'mood', null)])
  await store.settled()
  store.pause()
  await write(store, [put('x', 'mood', 'p', FROM)])
  await server.open().commit([put('q', 'mood', 'p'), remove('y', 'entry:m1')], decide)
  const { push, pull } = link
  link.push = refusing('ERR_INTERNAL')
  link.pull = async (...all) => {
    link.push = push
    return pull(...all)
  }
  store.resume()
  await store.settled()
  expect((await refusalsOf(store).of(TRIP)).map(({ bodies }) => bodies)).toEqual([[null]])
})

test.each(['later', 'before', 'between'] as const)(
  'what derives from something by way of what was refused too goes with it, deleted %s',
  async (order) => {
    const server = new TestHome()
    server.refuse = ({ envelope }) => ('xy'.includes(envelope.opId) ? 'forbidden' : undefined)
    const { store } = device(server)
    store.follow(TRIP)
    await write(store, [append('a', ['m1'])])
    await store.settled()
    const forgotten = async () => {
      await server.open().commit([remove('z', 'entry:m1')], decide)
      server.poke()
    }
    const other = put('y', 'taste', null, { sources: ['register:mood'] })
    store.pause()
    await write(
      store,
      order === 'between' ? [put('x', 'mood', null, FROM)] : [put('x', 'mood', null, FROM), other],
    )
    if (order === 'before') await forgotten()
    store.resume()
    await store.settled()
    if (order === 'later') await forgotten()
    if (order === 'between') {
      await write(store, [other])
      await forgotten()
    }
    await store.settled()
    expect((await refusalsOf(store).of(TRIP)).map(({ bodies }) => bodies)).toEqual([[null], [null]])
  },
)

test('a fact whose op has a taken name is known to no other session', async () => {
  const server = new TestHome()
  const [one, two] = [offlineDevice(server), offlineDevice(server)]
  await one.session.facts.remember({ kind: 'finding', id: 'f1', text: DOOR }, { opId: 'o' })
  await two.session.facts.remember({ kind: 'finding', id: 'f2', text: 'xylomarquen' }, { opId: 'o' })
  await settle(one, two, one, two)
  expect(two.store.status.refused).toBe(1)
  for (const store of [server.store, one.base, two.base])
    expect(JSON.stringify(await store.open(ADA).registers(''))).not.toContain('xylomarquen')
})
