/** Which devices have emptied what was deleted, as certificates tell. */
import { expect, test, vi } from 'vitest'
import { createMemory, forget } from '../../../src/index.ts'
import { decide } from '../../../src/kernel/log/decide.ts'
import type { Certificate } from '../../../src/ports/certificate.ts'
import { answerPull } from '../../../src/sync/answer-pull.ts'
import { certify, replicasAt, signOut } from '../../../src/sync/index.ts'
import { append, erase, remove } from '../../contract/samples.ts'
import { device, idsOf, TestHome, TRIP, write } from '../support/synced.ts'

/** Two devices that hold one message, and follow the session. */
async function two() {
  const home = new TestHome()
  const [one, other] = [device(home), device(home)]
  await write(one.store, [append('a', ['m1']), append('b', ['m2'])])
  for (const { store } of [one, other]) {
    store.follow(TRIP)
    await store.settled()
  }
  for (const { store } of [one, other, one]) {
    home.poke()
    await store.settled()
  }
  return { home, one, other }
}

const NOTHING = { target: 'm1' } as Certificate

test('a certificate names the devices that hold nothing of it any more, and those that may', async () => {
  const { home, one, other } = await two()
  const memory = createMemory({ store: one.store, budget: 4_000 })
  const session = memory.session({ userId: 'ada', sessionId: 'trip' })
  other.store.pause()
  await session.append({ id: 'm3', role: 'user', content: 'A secret.' })
  one.store.pause()
  const certificate = await forget(session, 'm3')
  // Nobody has heard of it.
  const { replicas } = await certify(one.store, TRIP, certificate)
  expect([replicas?.confirmed, replicas?.pending.length]).toEqual([[], 2])
  one.store.resume()
  await one.store.settled()
  const known = await certify(one.store, TRIP, certificate)
  expect(known).toEqual({
    ...certificate,
    replicas: { confirmed: [expect.any(String)], pending: [expect.any(String)] },
  })
  expect(await replicasAt(home.store, TRIP)).toEqual(known.replicas)
  other.store.resume()
  await other.store.settled()
  home.poke()
  await one.store.settled()
  const whole = await certify(one.store, TRIP, certificate)
  expect(whole.replicas?.pending).toEqual([])
  expect([...(whole.replicas?.confirmed ?? [])].sort()).toEqual([...(replicas?.pending ?? [])].sort())
  for (const name of whole.replicas?.confirmed ?? []) expect(name).toMatch(/^[0-9a-f]{24}$/)
})

test('a device has another name in each scope, and another one once its user has signed out', async () => {
  const { home, one } = await two()
  const other = { userId: 'ada', sessionId: 'other' }
  one.store.follow(other)
  await write(one.store, [append('c', ['m3'])], other)
  await one.store.settled()
  home.poke()
  await one.store.settled()
  const names = async (scope: typeof TRIP) => (await replicasAt(home.store, scope)).confirmed
  const [trip, here] = [await names(TRIP), await names(other)]
  expect(here).toHaveLength(1)
  expect(trip).not.toContain(here[0])
  await signOut(one.store)
  one.store.resume()
  await one.store.settled()
  home.poke()
  await one.store.settled()
  expect(await names(other)).toHaveLength(2)
})

test('an erase is confirmed by who came back', async () => {
  const { home, one, other } = await two()
  other.store.pause()
  await write(one.store, [erase('x')])
  await one.store.settled()
  expect((await replicasAt(home.store, TRIP)).confirmed).toHaveLength(1)
  other.store.resume()
  await other.store.settled()
  expect(await idsOf(other.base)).toEqual([])
  expect((await replicasAt(home.store, TRIP)).confirmed).toHaveLength(2)
})

test('a device says once more that it has a page that deleted something, and no other page', async () => {
  const { home, one, other } = await two()
  const pulls = () =>
    home.calls.flatMap((call) => ('pull' in call ? call.pull : [])).filter(({ sessionId }) => sessionId)
      .length
  one.store.pause()
  const asked = async (ops: Parameters<typeof write>[1]) => {
    await home.open().commit(ops, decide)
    const before = pulls()
    home.poke()
    await other.store.settled()
    return pulls() - before
  }
  expect(await asked([append('c', ['m3'])])).toBe(1)
  expect(await asked([remove('d', 'entry:m1')])).toBe(2)
  expect(await asked([append('e', ['m4'])])).toBe(1)
})

test('a home that never notes what a device says is not asked for ever', async () => {
  const { home, one } = await two()
  const { pull } = one.link
  one.link.pull = vi.fn(async (requests, signal) => {
    const answers = await pull(requests, signal)
    return answers.map((answer) =>
      'ops' in answer && answer.replicas
        ? { ...answer, replicas: answer.replicas.map(({ name }) => ({ name, seq: 0 })) }
        : answer,
    )
  })
  await write(one.store, [remove('d', 'entry:m1')])
  expect(await one.store.settled()).toMatchObject({ state: 'current' })
  expect(vi.mocked(one.link.pull).mock.calls.length).toBeLessThan(4)
  expect((await certify(one.store, TRIP, NOTHING)).replicas?.confirmed).toEqual([])
  expect((await replicasAt(home.store, TRIP)).confirmed).toHaveLength(1)
})

test('what is no certificate is given no replicas, one that was not awaited before all', async () => {
  const { one } = await two()
  for (const given of [undefined, null, {}, Promise.resolve(NOTHING)] as never[])
    await expect(certify(one.store, TRIP, given)).rejects.toMatchObject({
      code: 'ERR_INVALID_ARGUMENT',
      argument: 'certificate',
    })
})

test('a home knows the replicas that confirmed last, so many and no more', async () => {
  const { home } = await two()
  const scope = home.store.open(TRIP)
  const page = await answerPull(scope, { cursor: 0, anchor: '' }, { newTok: home.newTok })
  if ('reset' in page) throw new Error('reset')
  const { generation, cursor, anchor } = page
  for (let at = 0; at < 100; at++)
    await answerPull(scope, { generation, cursor, anchor, replica: `r${at}` }, { newTok: home.newTok })
  const { confirmed } = await replicasAt(home.store, TRIP)
  expect([confirmed.length, confirmed[0], confirmed.at(-1)]).toEqual([64, 'r36', 'r99'])
})
