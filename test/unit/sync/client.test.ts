/** The client half of sync: two devices and a home in one process. */

import { afterEach, expect, test, vi } from 'vitest'
import { decide, nothingWritten } from '../../../src/kernel/log/decide.ts'
import type { SealedOp } from '../../../src/ports/op.ts'
import type { Decision } from '../../../src/ports/store.ts'
import { PUSH_OPS } from '../../../src/ports/sync.ts'
import { mapStore } from '../../../src/stores/map.ts'
import { refusalsOf, signOut, sync } from '../../../src/sync/index.ts'
import { Replica, type ReplicaStore } from '../../../src/sync/replica.ts'
import { NO_STATE, outboxRow } from '../../../src/sync/state.ts'
import { writeLocally } from '../../../src/sync/write.ts'
import { append, erase, mark, names, put, remove } from '../../contract/samples.ts'
import { ownTimeouts } from '../support/own-timeouts.ts'
import {
  ADA,
  device,
  idsOf,
  logOf,
  offline,
  outboxOf,
  refusing,
  TestHome,
  TRIP,
  write,
} from '../support/synced.ts'

afterEach(() => {
  vi.useRealTimers()
})

test('what one device writes, another one reads', async () => {
  const home = new TestHome()
  const [one, two] = [device(home), device(home)]
  await write(one.store, [append('a', ['m1']), put('p', 'mood', null)])
  await one.store.settled()
  two.store.follow(TRIP)
  await two.store.settled()
  expect(await idsOf(two.base)).toEqual(['m1', 'mood'])
  expect(await logOf(two.base)).toEqual(await logOf(one.base))
  expect(await logOf(home.store)).toEqual(await logOf(one.base))
  expect(await outboxOf(one.base)).toBe(0)
  expect(one.store.status).toEqual({ state: 'current', waiting: 0, refused: 0 })
})

test('two offline clients that come back together do not deadlock', async () => {
  const home = new TestHome()
  const all = [device(home), device(home)]
  for (const { store } of all) {
    store.pause()
    store.follow(TRIP)
  }
  const [one, two] = all as [(typeof all)[0], (typeof all)[0]]
  for (const id of names('a', 30)) await write(one.store, [append(id, [id])])
  for (const id of names('b', 30)) await write(two.store, [append(id, [id])])
  for (const { store } of all) store.resume()
  for (const { store } of [...all, ...all]) {
    await store.settled()
    home.poke()
  }
  for (const { store } of all) await store.settled()
  const log = await logOf(home.store)
  expect(log).toHaveLength(60)
  for (const { base } of all) expect(await logOf(base)).toEqual(log)
  // Each in the order in which it was written.
  for (const prefix of ['a', 'b'])
    expect(log.map(({ id }) => id).filter((id) => id.startsWith(prefix))).toEqual(names(prefix, 30))
})

test('the head says how far the home confirmed', async () => {
  const home = new TestHome()
  const { store } = device(home)
  const scope = store.open(TRIP)
  await scope.commit([append('a', ['m1'])], decide)
  await store.settled()
  store.pause()
  await scope.commit([append('b', ['m2'])], decide)
  expect(await scope.head()).toMatchObject({ seq: 2, confirmed: 1 })
  store.resume()
  await store.settled()
  expect(await scope.head()).toMatchObject({ seq: 2, confirmed: 2 })
})

test('no call sends what another user of the device wrote', async () => {
  const home = new TestHome()
  const { store } = device(home, { user: ADA })
  const guest = { userId: 'guest', sessionId: 'trip' }
  await write(store, [append('a', ['m1'])], guest)
  const refused = { code: 'ERR_INVALID_ARGUMENT' }
  expect(() => store.follow(guest)).toThrow(expect.objectContaining(refused))
  await expect(refusalsOf(store).of(guest)).rejects.toMatchObject(refused)
  store.follow(TRIP)
  await store.settled()
  expect(await idsOf(home.store)).toEqual([])
  expect(await outboxOf(store, guest)).toBe(0)
})

test('own bodies do not come back', async () => {
  const home = new TestHome()
  const { store } = device(home)
  await write(store, [append('a', ['m1'])])
  await store.settled()
  const pull = home.calls.flatMap((call) => ('pull' in call ? call.pull : [])).at(-1)
  expect(pull?.known).toEqual([{ from: 1, to: 1 }])
})

test('what was written before the store was synced is sent', async () => {
  const home = new TestHome()
  const base = mapStore()
  await write(base, [append('a', ['m1']), put('p', 'mood', null), append('b', ['m2'])])
  await write(base, [put('q', 'mood', 'p'), remove('d', 'entry:m1')])
  const { store } = device(home, { store: base })
  store.follow(TRIP)
  await store.settled()
  expect((await logOf(home.store)).map(({ id, body }) => [id, body])).toEqual([
    ['m1', null],
    ['mood', null],
    ['m2', 'body of m2'],
    ['mood', null],
    ['entry:m1', null],
  ])
  expect(await home.store.open(TRIP).register('mood')).toMatchObject({ version: 'q', body: 'body of q' })
  expect(await logOf(base)).toEqual(await logOf(home.store))
})

test('a put on what another device wrote is told as a conflict, and the app says what holds', async () => {
  const home = new TestHome()
  const [one, two] = [device(home), device(home)]
  await write(one.store, [put('p', 'mood', null, { body: '"old"' })])
  await one.store.settled()
  two.store.follow(TRIP)
  await two.store.settled()
  two.store.pause()
  await write(one.store, [put('q', 'mood', 'p', { body: '"one"' })])
  await write(two.store, [put('r', 'mood', 'p', { body: '"two"' })])
  await one.store.settled()
  const told = vi.fn()
  refusalsOf(two.store).on('conflict', told)
  two.store.resume()
  expect(await two.store.settled()).toMatchObject({ state: 'conflict', refused: 1, waiting: 0 })
  expect(told).toHaveBeenCalledOnce()
  const [refused] = await refusalsOf(two.store).of(TRIP)
  expect(refused).toMatchObject({ mine: 'two', theirs: 'one', refusal: { conflict: 'q' } })
  expect(await two.base.open(TRIP).register('mood')).toMatchObject({ version: 'q' })
  if (refused) await refusalsOf(two.store).resolve(refused, 'mine')
  expect(await two.store.settled()).toMatchObject({ state: 'current', refused: 0 })
  expect(await home.store.open(TRIP).register('mood')).toMatchObject({ body: '"two"' })
  await expect(refusalsOf(two.store).resolve(refused as never, 'mine')).rejects.toMatchObject({
    code: 'ERR_NOT_FOUND',
  })
})

test('what was refused counts until somebody sees to it, though no session is open, and after a reload', async () => {
  const home = new TestHome()
  const { base, store } = device(home)
  await home.open().commit([put('q', 'mood', null)], decide)
  await write(store, [put('p', 'mood', null)])
  await store.settled()
  const other = store.follow({ ...ADA, sessionId: 'other' })
  await store.settled()
  const conflict = { state: 'conflict', waiting: 0, refused: 1 }
  expect(store.status).toEqual(conflict)
  other()
  await store.close()
  const again = device(home, { store: base })
  await again.store.settled()
  home.poke()
  again.store.follow({ ...ADA, sessionId: 'other' })
  expect(await again.store.settled()).toEqual(conflict)
  const [refused] = await refusalsOf(again.store).of(TRIP)
  await refusalsOf(again.store).discard(refused as never)
  expect(await again.store.settled()).toEqual({ state: 'current', waiting: 0, refused: 0 })
})

/** A device whose push does not end, with a message that is pushed. */
async function pushing(home: TestHome) {
  const one = device(home, { baseMs: 600_000, random: () => 1 })
  one.store.follow(TRIP)
  await one.store.settled()
  const { push } = one.link
  const never = vi.fn(() => new Promise<never>(() => {}))
  one.link.push = never
  await write(one.store, [append('a', ['m1'])])
  await vi.waitFor(() => expect(never).toHaveBeenCalledOnce())
  one.link.push = push
  return { ...one, never }
}

test('nothing is asked of a home once a store is closed', async () => {
  const home = new TestHome()
  const { store, link } = await pushing(home)
  home.poke()
  const pull = vi.spyOn(link, 'pull').mockReturnValue(new Promise(() => {}))
  await store.close()
  expect(pull).not.toHaveBeenCalled()
})

test('a request that a pause ended is no failure: it is sent at once again', async () => {
  const home = new TestHome()
  const { store } = await pushing(home)
  store.pause()
  store.resume()
  expect(await store.settled()).toEqual({ state: 'current', waiting: 0, refused: 0 })
  expect(await idsOf(home.store)).toEqual(['m1'])
})

test('nothing is asked between two requests either, once it is paused', async () => {
  const { store, link } = device(new TestHome())
  store.follow(TRIP)
  await store.settled()
  const pull = vi.spyOn(link, 'pull')
  const { push } = link
  link.push = async (requests, signal) => {
    const answers = await push(requests, signal)
    void Promise.resolve().then(() => Promise.resolve().then(() => store.pause()))
    return answers
  }
  await write(store, [append('a', ['m1'])])
  await vi.waitFor(() => expect(store.status.state).toBe('offline'))
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(pull).not.toHaveBeenCalled()
})

test('a listener that throws stops nothing', async () => {
  const home = new TestHome()
  const { store } = device(home, { baseMs: 600_000, random: () => 1 })
  const fail = vi.fn(() => {
    throw new Error('of the app')
  })
  store.subscribe(fail)
  refusalsOf(store).on('rejected', fail)
  home.refuse = ({ envelope: { opId } }) => (opId === 'a' ? 'forbidden' : undefined)
  const scope = store.open(TRIP)
  const [written] = await scope.commit([append('a', ['m1']), append('b', ['m2'])], decide)
  expect(written).toMatchObject({ status: 'accepted' })
  expect(await store.settled()).toMatchObject({ state: 'current', refused: 1 })
  expect(await idsOf(home.store)).toEqual(['m2'])
  expect(fail).toHaveBeenCalledWith(expect.objectContaining({ refusal: { rejected: 'forbidden' } }))
})

test('a home confirms nothing by a place that none of its ops lead to', async () => {
  const home = new TestHome()
  const { base, store, link } = device(home)
  await write(store, [append('a', ['m1'])])
  const { pull } = link
  link.pull = async () => [{ generation: 'g', from: 0, ops: [], cursor: 5, anchor: 'tok', head: 5 }]
  await vi.waitFor(() => expect(store.status.cause).toMatchObject({ code: 'ERR_STORAGE' }))
  expect(await store.open(TRIP).head()).toMatchObject({ seq: 1, confirmed: 0 })
  link.pull = pull
  await store.settled()
  expect(await logOf(base)).toEqual(await logOf(home.store))
})

test.each([{ pollMs: 0 }, { pollMs: Number.NaN }, { baseMs: Number.NaN }, { capMs: -1 }])(
  'a time that is none is refused: %j',
  (options) => {
    const refused = expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' })
    expect(() => device(new TestHome(), options)).toThrow(refused)
  },
)

test.each([
  ['user', { user: 'ada' }],
  ['user', { user: { user: 'ada' } }],
  ['store', { store: undefined }],
  ['store', { store: 'sqlite' }],
  ['transport', { transport: undefined }],
  ['transport', { transport: 'https://memory.example.com' }],
  ['keep', { keep: { days: 3 } }],
])('what cannot be synced is refused at once: %s of %j', (argument, options) => {
  const { link } = device(new TestHome())
  const given = { store: mapStore(), transport: link, lock: false, channel: false, ...options } as never
  expect(() => sync(given)).toThrow(
    expect.objectContaining({
      code: 'ERR_INVALID_ARGUMENT',
      argument: expect.stringMatching(`^${argument}`),
    }),
  )
})

test.each([undefined, 'trip', {}, { userId: '' }, { userId: 'ada', session: 'trip' }])(
  'a scope that is none is refused: %j',
  async (given) => {
    const scope = given as never
    const { store } = device(new TestHome())
    const refused = { code: 'ERR_INVALID_ARGUMENT' }
    expect(() => store.follow(scope)).toThrow(expect.objectContaining(refused))
    await expect(refusalsOf(store).of(scope)).rejects.toMatchObject(refused)
  },
)

test('refusals are told of what there is, to a function', () => {
  const { store } = device(new TestHome())
  const refused = expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' })
  expect(() => refusalsOf(store).on('anything' as never, () => {})).toThrow(refused)
  expect(() => refusalsOf(store).on('conflict', undefined as never)).toThrow(refused)
})

test('a 401 is never permanent', async () => {
  const home = new TestHome()
  const { store, link, base } = device(home)
  const { pull } = link
  link.pull = refusing('ERR_UNAUTHENTICATED')
  await write(store, [append('a', ['m1'])])
  await vi.waitFor(() => expect(store.status.state).toBe('signed-out'))
  expect(await outboxOf(base)).toBe(1)
  link.pull = pull
  await store.settled()
  expect(await idsOf(home.store)).toEqual(['m1'])
})

test('another version of the home stops what is sent, not what is written', async () => {
  const home = new TestHome()
  const { store, link } = device(home)
  const { pull } = link
  link.pull = refusing('ERR_UPGRADE_REQUIRED')
  await write(store, [append('a', ['m1'])])
  await vi.waitFor(() => expect(store.status.state).toBe('upgrade-required'))
  await write(store, [append('b', ['m2'])])
  expect(store.status).toMatchObject({ state: 'upgrade-required', cause: { code: 'ERR_UPGRADE_REQUIRED' } })
  link.pull = pull
  store.resume()
  await store.settled()
  expect(await idsOf(home.store)).toEqual(['m1', 'm2'])
})

test('one poison op blocks nothing', async () => {
  const home = new TestHome()
  const { store, link, base } = device(home)
  const { push } = link
  link.push = async (requests, signal) => {
    const isBad = requests.some(({ ops }) => ops.some(({ envelope }) => envelope.opId === 'poison'))
    return isBad ? refusing('ERR_INVALID_ARGUMENT')() : push(requests, signal)
  }
  const told = vi.fn()
  refusalsOf(store).on('rejected', told)
  await write(store, [append('a', ['m1']), append('poison', ['m2']), append('b', ['m3'])])
  await write(store, [put('p', 'mood', null)], ADA)
  await store.settled()
  expect(await idsOf(home.store)).toEqual(['m1', 'm3'])
  expect(await idsOf(home.store, ADA)).toEqual(['mood'])
  expect(await logOf(base)).toEqual(await logOf(home.store))
  expect(told).toHaveBeenCalledOnce()
  const [refused] = await refusalsOf(store).of(TRIP)
  expect(refused).toMatchObject({ bodies: ['body of m2'], refusal: { rejected: 'forbidden' } })
  if (refused) await refusalsOf(store).discard(refused)
  expect(await refusalsOf(store).of(TRIP)).toEqual([])
})

test('a home that takes nothing at all makes no dead letter', async () => {
  const home = new TestHome()
  const { store, link, base } = device(home)
  link.push = refusing('ERR_INVALID_ARGUMENT')
  await write(store, [append('a', ['m1']), append('b', ['m2'])])
  await vi.waitFor(() => expect(store.status.cause?.code).toBe('ERR_INVALID_ARGUMENT'))
  expect(await refusalsOf(store).of(TRIP)).toEqual([])
  expect(await idsOf(base)).toEqual(['m1', 'm2'])
  expect(await outboxOf(base)).toBe(2)
})

test('a failure of bookkeeping after a send makes no dead letter', async () => {
  const home = new TestHome()
  const inner = mapStore()
  let isFailing = false
  const base = {
    ...inner,
    open: (scope: typeof TRIP) => {
      const opened = inner.open(scope)
      const { commit } = opened
      return Object.assign(opened, {
        commit: (...args: Parameters<typeof commit>) =>
          isFailing ? refusing('ERR_STORAGE')() : commit.apply(opened, args),
      })
    },
  }
  const { store, link } = device(home, { store: base })
  const { push } = link
  link.push = async (requests, signal) => {
    const answers = await push(requests, signal)
    isFailing = true
    return answers
  }
  await write(store, [append('a', ['m1'])])
  await vi.waitFor(() => expect(store.status.cause?.code).toBe('ERR_STORAGE'))
  isFailing = false
  link.push = push
  expect(await store.settled()).toMatchObject({ refused: 0, waiting: 0 })
  expect(await idsOf(home.store)).toEqual(['m1'])
  expect(await idsOf(inner)).toEqual(['m1'])
})

test('a lost echo does not wedge', async () => {
  const home = new TestHome()
  const { store, link, base } = device(home)
  const { push } = link
  let lost = 3
  link.push = async (requests, signal) => {
    const answers = await push(requests, signal)
    if (lost-- > 0) throw new TypeError('the connection broke')
    return answers
  }
  for (const id of names('m', 5)) await write(store, [append(id, [id])])
  await store.settled()
  expect(await idsOf(home.store)).toEqual(names('m', 5))
  expect(await logOf(base)).toEqual(await logOf(home.store))
})

test('a home that was restored to an older state gets back what it lost', async () => {
  const home = new TestHome()
  const { store, base } = device(home)
  await write(store, [append('a', ['m1'])])
  await store.settled()
  const older = mapStore()
  home.store = older
  await home.open().commit([append('a', ['m1'])], decide)
  await write(store, [append('b', ['m2']), put('p', 'mood', null)])
  await store.settled()
  expect(await idsOf(home.store)).toEqual(['m1', 'm2', 'mood'])
  expect(await logOf(base)).toEqual(await logOf(home.store))
})

test('a home that was emptied gets back all of it', async () => {
  const home = new TestHome()
  const { store, base } = device(home)
  store.follow(TRIP)
  await write(store, [append('a', ['m1']), put('p', 'mood', null)])
  await store.settled()
  home.store = mapStore()
  home.poke()
  await vi.waitFor(async () => expect(await idsOf(home.store)).toEqual(['m1', 'mood']))
  await store.settled()
  expect(await logOf(base)).toEqual(await logOf(home.store))
})

test('an erase wipes the devices that come back, and what is written after it stays', async () => {
  const home = new TestHome()
  const [one, two] = [device(home), device(home)]
  await write(one.store, [append('a', ['m1'])])
  await one.store.settled()
  two.store.follow(TRIP)
  await two.store.settled()
  two.store.pause()
  await write(two.store, [append('b', ['m2'])])
  await write(one.store, [erase('e'), append('c', ['m3'])])
  await one.store.settled()
  two.store.resume()
  await two.store.settled()
  expect(await idsOf(one.base)).toEqual(['m3'])
  expect(await idsOf(two.base)).toEqual(['m3'])
  expect(await outboxOf(two.base)).toBe(0)
})

test('an idle client sends nothing in ten minutes', async () => {
  vi.useFakeTimers()
  const home = new TestHome()
  const timeouts = ownTimeouts()
  const { store } = device(home, { host: timeouts.host })
  const scope = store.open(TRIP)
  await scope.commit([append('a', ['m1'])], decide)
  await vi.advanceTimersByTimeAsync(5_000)
  expect(store.status.state).toBe('current')
  const before = home.calls.length
  await vi.advanceTimersByTimeAsync(10 * 60_000)
  expect(home.calls).toHaveLength(before)
  expect(timeouts.open.size).toBe(0)
})

test('a write is one push and one pull', async () => {
  vi.useFakeTimers()
  const home = new TestHome()
  const { store } = device(home)
  const scope = store.open(TRIP)
  await scope.commit([append('a', ['m1'])], decide)
  await vi.advanceTimersByTimeAsync(1_000)
  home.calls.length = 0
  await scope.commit([append('b', ['m2'])], decide)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(home.calls.map((call) => Object.keys(call)[0])).toEqual(['push', 'pull'])
})

test('a connection over which nothing moves is told as stalled', async () => {
  vi.useFakeTimers()
  const home = new TestHome()
  const { store, link } = device(home)
  const scope = store.open(TRIP)
  const { push } = link
  await vi.advanceTimersByTimeAsync(1_000)
  link.push = async (requests) => requests.map(({ generation }) => ({ generation, results: [], head: 0 }))
  await scope.commit([append('a', ['m1'])], decide)
  await vi.advanceTimersByTimeAsync(20_000)
  expect(store.status.state).toBe('syncing')
  await vi.advanceTimersByTimeAsync(20_000)
  expect(store.status).toMatchObject({ state: 'stalled', waiting: 1 })
  expect(home.calls.length).toBeLessThan(100)
  link.push = push
  await vi.advanceTimersByTimeAsync(70_000)
  expect(store.status.state).toBe('current')
})

test('a request that is never answered is told as stalled', async () => {
  vi.useFakeTimers()
  const home = new TestHome()
  const { store, link } = device(home)
  link.pull = () => new Promise(() => {})
  store.follow(TRIP)
  await vi.advanceTimersByTimeAsync(31_000)
  expect(store.status.state).toBe('stalled')
})

test('an outbox survives a sign-out, or its loss is told', async () => {
  const home = new TestHome()
  const { store, link, base } = device(home)
  await write(store, [append('a', ['m1'])])
  await store.settled()
  link.push = offline
  link.pull = offline
  await write(store, [append('b', ['m2'])])
  const lost = [{ scope: TRIP, waiting: 1, refused: 0 }]
  expect(await signOut(store)).toEqual({ done: false, lost })
  expect(await idsOf(base)).toEqual(['m1', 'm2'])
  expect(await signOut(store, { force: true })).toEqual({ done: true, lost })
  expect(await idsOf(base)).toEqual([])
  expect(store.status.state).toBe('signed-out')
  expect(await idsOf(home.store)).toEqual(['m1'])
})

test('all is sent after sign-outs that removed nothing: two at once, and one that failed', async () => {
  const home = new TestHome()
  const { store, base, link } = device(home)
  const { push } = link
  link.push = offline
  await write(store, [append('a', ['m1'])])
  const kept = { done: false, lost: [{ scope: TRIP, waiting: 1, refused: 0 }] }
  expect(await Promise.all([signOut(store), signOut(store, { dryRun: true })])).toEqual([kept, kept])
  const scopes = vi.spyOn(base, 'scopes').mockRejectedValueOnce(new Error('no'))
  await expect(signOut(store)).rejects.toThrow('no')
  scopes.mockRestore()
  link.push = push
  await store.settled()
  expect(await idsOf(home.store)).toEqual(['m1'])
})

test('nothing is sent after a sign-out, though what another one would lose is asked for then', async () => {
  const { store } = device(new TestHome())
  await write(store, [append('a', ['m1'])])
  await store.settled()
  expect(await signOut(store)).toEqual({ done: true, lost: [] })
  expect(await signOut(store, { dryRun: true })).toEqual({ done: false, lost: [] })
  expect(store.status.state).toBe('signed-out')
})

test('two tabs without a lock lose and double nothing', async () => {
  const home = new TestHome()
  const base = mapStore()
  const [one, two] = [device(home, { store: base }), device(home, { store: base })]
  await Promise.all(names('m', 40).map((id, at) => write(at % 2 ? one.store : two.store, [append(id, [id])])))
  await Promise.all([one.store.settled(), two.store.settled()])
  expect([...(await idsOf(home.store))].sort()).toEqual(names('m', 40))
  expect(await logOf(base)).toEqual(await logOf(home.store))
  expect(await outboxOf(base)).toBe(0)
})

test('many ops go in parts, and come in pages', async () => {
  const home = new TestHome()
  const [one, two] = [device(home), device(home)]
  one.store.pause()
  for (const id of names('m', 1_100)) await write(one.store, [append(id, [id])])
  one.store.resume()
  await one.store.settled()
  two.store.follow(TRIP)
  await two.store.settled()
  expect(await logOf(two.base)).toEqual(await logOf(home.store))
  const sizes = home.calls.flatMap((call) => ('push' in call ? call.push.map(({ ops }) => ops.length) : []))
  expect(Math.max(...sizes)).toBe(PUSH_OPS)
})

test('what goes in parts is asked for once, when all of it is sent', async () => {
  const home = new TestHome()
  const { store } = device(home)
  store.follow(TRIP)
  await store.settled()
  store.pause()
  for (const id of names('m', 2 * PUSH_OPS + 1)) await write(store, [append(id, [id])])
  home.calls.length = 0
  store.resume()
  await store.settled()
  const kinds = home.calls.map((call) => Object.keys(call)[0])
  expect(kinds.slice(0, 4)).toEqual(['push', 'push', 'push', 'pull'])
})

test('what waits is found when the app starts again', async () => {
  const home = new TestHome()
  const first = device(home)
  first.store.pause()
  await write(first.store, [append('a', ['m1'])])
  await first.store.close()
  const { store } = device(home, { store: first.base })
  await store.settled()
  expect(await idsOf(home.store)).toEqual(['m1'])
})

test('what waits is counted where nothing was ever sent', async () => {
  const base = mapStore()
  const network = { isOnline: () => false, listen: () => () => {} }
  const { store } = device(new TestHome(), { store: base, network })
  const scope = store.open(TRIP)
  await scope.commit([append('a', ['m1'])], decide)
  await vi.waitFor(() => expect(store.status).toEqual({ state: 'offline', waiting: 1, refused: 0 }))
  await store.close()
  const again = device(new TestHome(), { store: base, network }).store
  await vi.waitFor(() => expect(again.status).toEqual({ state: 'offline', waiting: 1, refused: 0 }))
})

test('a home that never finds the place is asked now and then', async () => {
  const home = new TestHome()
  const { link, store } = device(home, { baseMs: 60_000 })
  let pulls = 0
  link.pull = async (requests) => {
    // Else it would be asked without an end.
    if (++pulls > 100) throw new Error('asked again and again')
    return requests.map(() => ({ reset: 'diverged', generation: 'other' }))
  }
  await write(store, [append('a', ['m1'])])
  await expect.poll(() => pulls).toBeGreaterThan(0)
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect(pulls).toBeLessThan(20)
})

test('a put that waits to a new register stays, where the home lost its log', async () => {
  const home = new TestHome()
  const { store, link, base } = device(home)
  store.follow(TRIP)
  await write(store, [append('a', ['m1'])])
  await store.settled()
  store.pause()
  await write(store, [put('p', 'mood', null)])
  home.store = mapStore()
  await home.open().commit([append('other', ['m0'])], decide)
  const { push } = link
  link.push = refusing('ERR_OVERLOADED')
  store.resume()
  await vi.waitFor(async () => expect(await idsOf(base)).toContain('m0'))
  expect(await idsOf(base)).toEqual(['m0', 'm1', 'mood'])
  link.push = push
  await store.settled()
  expect(await refusalsOf(store).of(TRIP)).toEqual([])
  expect(await home.store.open(TRIP).register('mood')).toMatchObject({ version: 'p' })
  expect(await logOf(base)).toEqual(await logOf(home.store))
})

test('what was written before the home was first seen is wiped by an erase too', async () => {
  const home = new TestHome()
  await home.open().commit([append('a', ['m1'])], decide)
  const { store, link, base } = device(home)
  const { push } = link
  link.push = offline
  store.follow(TRIP)
  await write(store, [append('b', ['m2'])])
  await vi.waitFor(() => expect(store.status).toMatchObject({ state: 'offline', waiting: 1 }))
  await home.open().commit([erase('e')], decide)
  await home.open().commit([append('c', ['m3'])], decide)
  link.push = push
  await store.settled()
  expect(await idsOf(base)).toEqual(['m3'])
  expect(await outboxOf(base)).toBe(0)
})

test('what another device deletes is gone from what waits and from what was refused', async () => {
  const home = new TestHome()
  const { store, link, base } = device(home)
  store.follow(TRIP)
  await write(store, [put('p', 'mood', null)])
  await store.settled()
  const { push } = link
  link.push = async (requests) =>
    requests.map(({ generation, ops }) => ({
      generation,
      results: ops.map(() => ({ rejected: 'forbidden' as const })),
      head: 1,
    }))
  await write(store, [append('x', ['m1'])])
  await store.settled()
  link.push = refusing('ERR_OVERLOADED')
  await write(store, [put('q', 'mood', 'p', { body: 'a secret' })])
  await home.open().commit([remove('d', 'register:mood'), remove('f', 'entry:m1')], decide)
  home.poke()
  await vi.waitFor(async () => expect(await idsOf(base)).toContain('register:mood'))
  const rows = await base.open(TRIP).outbox?.(0)
  expect(JSON.stringify(rows)).not.toMatch(/a secret|body of m1/)
  link.push = push
  await store.settled()
  expect((await refusalsOf(store).of(TRIP)).map(({ refusal }) => refusal)).toEqual([
    { rejected: 'forbidden' },
    { rejected: 'deleted' },
  ])
})

test('an op that the home lost after its answer is sent again', async () => {
  const home = new TestHome()
  const { store, link, base } = device(home)
  store.follow(TRIP)
  await write(store, [append('a', ['m1'])])
  await store.settled()
  const { push } = link
  // Answered, and then gone: the home was restored to what it was before.
  link.push = async (requests) => {
    link.push = push
    return requests.map(({ generation, ops }) => ({
      generation,
      results: ops.map((_, index) => ({ seq: 2 + index })),
      head: 1 + ops.length,
    }))
  }
  await write(store, [append('b', ['m2'])])
  await store.settled()
  expect(await idsOf(home.store)).toEqual(['m1', 'm2'])
  expect(await outboxOf(base)).toBe(0)
})

test('what an answer says of another log is not believed', async () => {
  const home = new TestHome()
  const { store, link } = device(home)
  store.follow(TRIP)
  await write(store, [append('a', ['m1'])])
  await store.settled()
  const { push } = link
  link.push = async (requests) => {
    link.push = push
    const results = requests[0]?.ops.map(() => ({ rejected: 'forbidden' as const })) ?? []
    return [{ generation: 'another', results, head: 9 }]
  }
  await write(store, [append('b', ['m2'])])
  expect(await store.settled()).toMatchObject({ refused: 0 })
  expect(await idsOf(home.store)).toEqual(['m1', 'm2'])
})

test('nothing of an erased log comes back while the erase waits', async () => {
  const home = new TestHome()
  const { store, link, base } = device(home)
  store.follow(TRIP)
  await write(store, [append('a', ['m1'])])
  await store.settled()
  const { push } = link
  link.push = refusing('ERR_OVERLOADED')
  await write(store, [erase('e'), append('b', ['m2'])])
  await home.open().commit([append('c', ['m3'])], decide)
  const pulls = () => home.calls.filter((call) => 'pull' in call).length
  const before = pulls()
  store.resume()
  await vi.waitFor(() => expect(store.status.cause?.code).toBe('ERR_OVERLOADED'))
  expect(pulls()).toBe(before)
  expect((await idsOf(base)).at(-1)).toBe('m2')
  link.push = push
  await store.settled()
  expect(await idsOf(base)).toEqual(['m2'])
  expect((await idsOf(home.store)).at(-1)).toBe('m2')
  const pushed = home.calls.flatMap((call) => ('push' in call ? call.push.map(({ ops }) => ops.length) : []))
  expect(pushed).toEqual([1, 1, 1])
})

test('what was written before the store was synced is sent before what is written at once', async () => {
  const home = new TestHome()
  const base = mapStore()
  await write(base, [append('a', ['m1'])])
  const { store } = device(home, { store: base })
  await write(store, [append('b', ['m2'])])
  await store.settled()
  expect(await idsOf(home.store)).toEqual(['m1', 'm2'])
})

test('a scope whose pushes are all refused makes no dead letter', async () => {
  const home = new TestHome()
  const { store, link, base } = device(home)
  link.push = async (requests) =>
    requests.map(() => ({ error: { code: 'ERR_INVALID_ARGUMENT', message: 'no' } }))
  await write(store, [append('a', ['m1'])])
  await vi.waitFor(() => expect(store.status.cause?.code).toBe('ERR_INVALID_ARGUMENT'))
  expect(await refusalsOf(store).of(TRIP)).toEqual([])
  expect(await idsOf(base)).toEqual(['m1'])
})

/** Two devices on one log: what the second one wrote while it was cut off came home last. */
async function secondOf(
  first: readonly SealedOp[],
  second: readonly SealedOp[],
  before: readonly SealedOp[] = [],
) {
  const home = new TestHome()
  const [one, two] = [device(home), device(home)]
  if (before.length > 0) await write(one.store, before)
  for (const { store } of [one, two]) {
    store.follow(TRIP)
    await store.settled()
  }
  two.store.pause()
  await write(one.store, first)
  await one.store.settled()
  await write(two.store, second)
  two.store.resume()
  await two.store.settled()
  home.poke()
  await one.store.settled()
  return { home, one, two }
}

test('a mark that another device wrote first under its name is as the home has it', async () => {
  const marked = (body: string) => ({ ...mark('e', 'epoch', 'e1'), bodies: [body] })
  const { home, one, two } = await secondOf(
    [marked('of one')],
    [marked('of two'), append('b', ['m2'])],
    [append('a', ['m1'])],
  )
  expect((await logOf(home.store)).map(({ body }) => body)).toContain('of one')
  for (const { base } of [one, two]) expect(await logOf(base)).toEqual(await logOf(home.store))
})

test.each(['mood', 'other'])(
  'a put that another device wrote first under its name is as the home has it, its key %s',
  async (key) => {
    const { home, one, two } = await secondOf(
      [put('p', 'mood', null, { body: 'of one' })],
      [put('p', key, null, { body: 'of two' }), append('b', ['m2'])],
    )
    for (const { base } of [one, two]) {
      expect(await logOf(base)).toEqual(await logOf(home.store))
      const registers = await base.open(TRIP).registers('')
      expect(registers.map((row) => [row.key, row.body])).toEqual([['mood', 'of one']])
    }
  },
)

test.each([
  ['in its place', []],
  ['elsewhere', ['before']],
])('a message that another device wrote first under its id is as the home has it, %s', async (_, before) => {
  const said = (body: string) => ({ ...append('entry:m1', ['m1']), bodies: [body] })
  const { home, one, two } = await secondOf(
    [...before.map((id) => append(id, [id])), said('of one')],
    [said('of two'), append('b', ['m2'])],
  )
  expect((await logOf(home.store)).map(({ body }) => body)).toContain('of one')
  for (const { base } of [one, two]) expect(await logOf(base)).toEqual(await logOf(home.store))
})

test('nothing is decided on a state that has passed', async () => {
  const store = mapStore().open(TRIP) as ReplicaStore
  const replica = new Replica(store)
  const one = await replica.view()
  await store.commit([append('a', ['m1'])], (ops, rows) => writeLocally(ops, rows, decide) as Decision)
  const change = { ...nothingWritten([]), replica: { state: '{}' } }
  expect(await replica.write(one, [], () => change)).toBe(false)
  expect((await replica.view()).waiting).toHaveLength(1)
})

test('another tab sees that what was refused is discarded', async () => {
  const store = mapStore().open(TRIP) as ReplicaStore
  const [one, two] = [new Replica(store), new Replica(store)]
  const state = JSON.stringify(NO_STATE)
  const refused = outboxRow({
    order: 1,
    envelope: append('a', ['m1']).envelope,
    bodies: ['b'],
    refusal: { rejected: 'forbidden' },
  })
  await store.commit([], () => ({ ...nothingWritten([]), replica: { state, outbox: [refused] } }))
  expect((await two.view()).outbox).toHaveLength(1)
  await one.discard([1])
  expect((await two.view()).outbox).toEqual([])
})
