/** Bytes that messages name, between devices and their home. */

import { afterEach, expect, test, vi } from 'vitest'
import { decide } from '../../../src/kernel/log/decide.ts'
import { sealOp } from '../../../src/kernel/log/seal.ts'
import type { SealedOp } from '../../../src/ports/op.ts'
import type { Attachment, Store } from '../../../src/ports/store.ts'
import type { SyncOp } from '../../../src/ports/sync.ts'
import { mapStore } from '../../../src/stores/map.ts'
import { MapScopeStore } from '../../../src/stores/map-scope.ts'
import { answerPull } from '../../../src/sync/answer-pull.ts'
import { deciding } from '../../../src/sync/deciding.ts'
import { answerPush } from '../../../src/sync/home.ts'
import { takeAttachment } from '../../../src/sync/home-attachments.ts'
import { type HomeState, readState } from '../../../src/sync/home-state.ts'
import { httpTransport } from '../../../src/sync/http.ts'
import { refusalsOf } from '../../../src/sync/index.ts'
import { Replica, type ReplicaStore } from '../../../src/sync/replica.ts'
import { resetReplica } from '../../../src/sync/resets.ts'
import { syncServer } from '../../../src/sync/server.ts'
import { append, erase, readLog, remove } from '../../contract/samples.ts'
import { ADA, device, idsOf, offline, outboxOf, refusing, TestHome, TRIP, write } from '../support/synced.ts'

afterEach(() => {
  vi.useRealTimers()
})

function picture(id: string, length = 5): Attachment {
  const bytes = Uint8Array.from({ length }, (_, at) => (at * 7 + id.length) % 256)
  return { id, mediaType: 'image/png', bytes }
}

/** A message that names attachments. */
function naming(id: string, ...attachments: readonly string[]): SealedOp {
  const content = attachments.map((ref) => ({ type: 'media', mediaType: 'image/png', ref }) as const)
  const message = { id, role: 'user', content, createdAt: 1, trust: 'user' } as const
  return sealOp({ kind: 'append', opId: `entry:${id}`, round: id, messages: [message] })
}

async function attach(store: Store, ...all: readonly Attachment[]): Promise<void> {
  const scope = store.open(TRIP)
  for (const one of all) await scope.attach(one, 1)
  await scope.close()
}

/** A device with a message whose picture it could not fetch yet. */
async function wanting(home = new TestHome()): Promise<ReturnType<typeof device>> {
  const [one, two] = [device(home), device(home)]
  await attach(one.store, picture('p'))
  await write(one.store, [naming('m1', 'p')])
  await one.store.settled()
  two.link.attachment = offline
  two.store.follow(TRIP)
  await vi.waitFor(async () => expect(await idsOf(two.base)).toEqual(['m1']))
  return two
}

async function pausedWanting(): Promise<ReturnType<typeof device>> {
  const two = await wanting()
  two.store.pause()
  return two
}

/** A scope during whose `attach` something else happens. */
function attachingBy(scope: ReplicaStore, attach: ReplicaStore['attach']): ReplicaStore {
  return new Proxy(scope, {
    get: (target, field) => {
      const value = Reflect.get(target, field)
      if (field === 'attach') return attach
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

function bytesIn(store: Pick<Store, 'open'>, id: string): Promise<Attachment | undefined> {
  return store.open(TRIP).attachment(id)
}

test('what was attached offline reaches the home and the other device, and stays there', async () => {
  const home = new TestHome()
  const [one, two] = [device(home), device(home)]
  one.store.pause()
  const all = [picture('p'), picture('empty', 0), picture('large', 700_001)]
  await attach(one.store, ...all)
  await write(one.store, [naming('m1', 'p', 'empty'), naming('m2', 'large')])
  one.store.resume()
  expect(await one.store.settled()).toMatchObject({ state: 'current', waiting: 0 })
  two.store.follow(TRIP)
  expect(await two.store.settled()).toMatchObject({ state: 'current', waiting: 0 })
  for (const store of [home.store, two.base]) {
    for (const one of all) expect(await bytesIn(store, one.id)).toEqual(one)
    // Each is named by a message, whenever its bytes came.
    expect(await store.oldestUnused()).toBeUndefined()
  }
  expect(home.attached).toEqual(['p', 'empty', 'large'])
  expect(home.given).toEqual(['p', 'empty', 'large'])
  expect(await outboxOf(two.base)).toBe(0)
})

test('no message is at home before its bytes are', async () => {
  const home = new TestHome()
  const { link, store } = device(home)
  link.attach = refusing('ERR_INTERNAL')
  await attach(store, picture('p'))
  await write(store, [append('a', ['m1']), naming('m2', 'p'), append('b', ['m3'])])
  await vi.waitFor(async () => expect(store.status.cause).toMatchObject({ code: 'ERR_INTERNAL' }))
  expect(await idsOf(home.store)).toEqual(['m1'])
  link.attach = home.attach
  store.resume()
  await store.settled()
  expect(await idsOf(home.store)).toEqual(['m1', 'm2', 'm3'])
})

test('a message whose bytes are nowhere is sent all the same', async () => {
  const home = new TestHome()
  const [one, two] = [device(home), device(home)]
  await write(one.store, [naming('m1', 'none'), append('a', ['m2'])])
  await one.store.settled()
  expect(await idsOf(home.store)).toEqual(['m1', 'm2'])
  two.store.follow(TRIP)
  await two.store.settled()
  expect(await idsOf(two.base)).toEqual(['m1', 'm2'])
  expect(await outboxOf(two.base)).toBe(0)
})

test.each([
  ['ERR_ENTRY_TOO_LARGE', 'too-large'],
  ['ERR_DUPLICATE_ID', 'duplicate-id'],
] as const)(
  'bytes that the home never takes (%s) are told, with their message alone',
  async (code, rejected) => {
    const home = new TestHome()
    const { link, store } = device(home)
    link.attach = refusing(code)
    const told = vi.fn()
    refusalsOf(store).on('rejected', told)
    store.follow(TRIP)
    await attach(store, picture('p'))
    await write(store, [naming('m1', 'p'), append('a', ['m2'])])
    expect(await store.settled()).toMatchObject({ waiting: 0, refused: 1 })
    expect(told).toHaveBeenCalledOnce()
    expect(await refusalsOf(store).of(TRIP)).toMatchObject([{ refusal: { rejected } }])
    expect(await idsOf(home.store)).toEqual(['m2'])
  },
)

test('other bytes under an id that the home has are not taken for the same', async () => {
  const home = new TestHome()
  await home.open().attach(picture('p', 9), 1)
  await home.open().commit([naming('m0', 'p')], decide)
  const { store } = device(home)
  store.pause()
  await attach(store, picture('p'))
  await write(store, [naming('m1', 'p')])
  store.resume()
  await store.settled()
  // The home has bytes of that name, so it does not ask for any.
  expect(home.attached).toEqual([])
  expect(await bytesIn(home.store, 'p')).toEqual(picture('p', 9))
})

test('bytes that cannot be fetched hold up nothing, and are asked for again later', async () => {
  const home = new TestHome()
  const [one, two] = [device(home), device(home)]
  await attach(one.store, picture('p'), picture('q'))
  await write(one.store, [naming('m1', 'p'), naming('m2', 'q')])
  await one.store.settled()
  const { attachment } = two.link
  two.link.attachment = (request, signal) =>
    request.id === 'p' ? refusing('ERR_INTERNAL')() : attachment(request, signal)
  two.store.follow(TRIP)
  await two.store.settled()
  expect(await bytesIn(two.base, 'q')).toEqual(picture('q'))
  expect(await bytesIn(two.base, 'p')).toBeUndefined()
  two.link.attachment = attachment
  two.store.resume()
  await two.store.settled()
  expect(await bytesIn(two.base, 'p')).toEqual(picture('p'))
})

test('bytes that a home has no time for now are asked for again when it said', async () => {
  const home = new TestHome()
  const [one, two] = [device(home), device(home)]
  await attach(one.store, picture('p'), picture('q'))
  await write(one.store, [naming('m1', 'p'), naming('m2', 'q')])
  await one.store.settled()
  const { attachment } = two.link
  const busy = vi.fn(refusing('ERR_RATE_LIMIT', { retryAfter: 0.02 })).mockName('busy')
  two.link.attachment = (...asked) => (busy.mock.calls.length < 2 ? busy() : attachment(...asked))
  two.store.follow(TRIP)
  await two.store.settled()
  expect(busy).toHaveBeenCalledTimes(2)
  for (const id of ['p', 'q']) expect(await bytesIn(two.base, id)).toEqual(picture(id))
})

test('a device that ends before it has fetched all goes on when it starts again', async () => {
  const home = new TestHome()
  const two = await wanting(home)
  await two.store.close()
  const again = device(home, { store: two.base })
  await again.store.settled()
  expect(await bytesIn(two.base, 'p')).toEqual(picture('p'))
})

test('what is deleted is gone everywhere, and comes back nowhere', async () => {
  const home = new TestHome()
  const [one, two, late] = [device(home), device(home), device(home)]
  await attach(one.store, picture('p'))
  await write(one.store, [naming('m1', 'p')])
  await one.store.settled()
  for (const { store } of [two, late]) store.follow(TRIP)
  await two.store.settled()
  // One fetches the bytes while they are deleted.
  const { attachment } = late.link
  late.link.attachment = async (request, signal) => {
    const found = await attachment(request, signal)
    await write(one.store, [remove('d', 'entry:m1'), remove('e', 'attachment:p')])
    await one.store.settled()
    return found
  }
  await late.store.settled()
  for (const { store } of [two, late]) {
    home.poke()
    await store.settled()
  }
  home.poke()
  await late.store.settled()
  for (const store of [home.store, one.base, two.base, late.base])
    expect(await bytesIn(store, 'p')).toBeUndefined()
  await attach(two.store, picture('p'))
  expect(await bytesIn(two.base, 'p')).toBeUndefined()
})

test('an erase takes bytes along, those too that are on their way', async () => {
  const home = new TestHome()
  const [one, two] = [device(home), device(home)]
  one.store.follow(TRIP)
  await attach(one.store, picture('p'), picture('q'))
  await write(one.store, [naming('m1', 'p'), naming('m2', 'q')])
  await one.store.settled()
  const { attachment } = two.link
  two.link.attachment = async (request, signal) => {
    const found = await attachment(request, signal)
    // The app erases all while an answer is on its way.
    await write(two.store, [erase('x')])
    return found
  }
  two.store.follow(TRIP)
  await two.store.settled()
  home.poke()
  await one.store.settled()
  for (const store of [home.store, one.base, two.base])
    for (const id of ['p', 'q']) expect(await bytesIn(store, id)).toBeUndefined()
  expect(await outboxOf(two.base)).toBe(0)
})

test('a home erased while it is sent bytes keeps none of them', async () => {
  const home = new TestHome()
  const { link, store } = device(home)
  await write(store, [append('a', ['m1'])])
  await store.settled()
  const { attach: send } = link
  link.attach = async (request, ...rest) => {
    await home.open().commit([erase('x')], decide)
    return send(request, ...rest)
  }
  await attach(store, picture('p'))
  await write(store, [naming('m2', 'p')])
  await store.settled()
  expect(await bytesIn(home.store, 'p')).toBeUndefined()
})

test('nor where it is erased between its look and the bytes', async () => {
  const home = new TestHome()
  await home.open().commit([append('a', ['m1'])], decide)
  const scope = home.store.open(TRIP)
  const { generation } = (await readState(scope)) as HomeState
  const slow = {
    ...deciding(scope, (rule) => rule),
    attach: async (...given: Parameters<typeof scope.attach>) => {
      await home.open().commit([erase('x')], decide)
      return scope.attach(...given)
    },
  }
  expect(await takeAttachment(slow, { generation, id: 'p' }, picture('p'), 1)).toBe('deleted')
  expect(await bytesIn(home.store, 'p')).toBeUndefined()
})

test('nor bytes of a log that was erased', async () => {
  const home = new TestHome()
  await home.open().commit([append('a', ['m1'])], decide)
  const scope = home.store.open(TRIP)
  const { generation } = (await readState(scope)) as HomeState
  await home.open().commit([erase('x')], decide)
  const sent = vi.spyOn(scope, 'attach')
  expect(await takeAttachment(scope, { generation, id: 'p' }, picture('p'), 1)).toBe('deleted')
  expect(sent).not.toHaveBeenCalled()
})

test('no bytes are asked for that only an op names which is refused', async () => {
  const home = new TestHome()
  const scope = home.store.open(TRIP)
  const { envelope, bodies } = naming('m1', 'p')
  const answer = await answerPush(
    scope,
    { generation: '', ops: [{ envelope, bodies }] },
    { newTok: home.newTok, refuse: () => 'forbidden' },
  )
  expect(answer).toMatchObject({ results: [{ rejected: 'forbidden' }] })
  expect(answer).not.toHaveProperty('lacks')
})

test('bytes that a home cannot take do not keep away what it has to tell', async () => {
  const home = new TestHome()
  const [one, two] = [device(home), device(home)]
  one.link.attach = refusing('ERR_INTERNAL')
  one.store.follow(TRIP)
  await one.store.settled()
  await attach(one.store, picture('p'))
  await write(one.store, [naming('m1', 'p')])
  await vi.waitFor(() => expect(one.store.status.cause?.code).toBe('ERR_INTERNAL'))
  one.store.pause()
  await write(two.store, [append('a', ['m2'])])
  await two.store.settled()
  one.store.resume()
  await vi.waitFor(async () => expect(await idsOf(one.base)).toContain('m2'))
  expect(one.store.status.cause?.code).toBe('ERR_INTERNAL')
})

test('however many a push does without, each is looked at once', async () => {
  const ids = Array.from({ length: 200 }, (_, at) => `p${at}`)
  let reads = 0
  const without = new Proxy(ids, {
    get: (list, field) => {
      reads++
      return Reflect.get(list, field)
    },
  })
  const { envelope, bodies } = naming('m1', ...ids)
  const home = new TestHome()
  const answer = await answerPush(
    home.store.open(TRIP),
    { generation: '', ops: [{ envelope, bodies }], without },
    { newTok: home.newTok },
  )
  expect(answer).toMatchObject({ results: [{ seq: 1 }] })
  expect(reads).toBeLessThan(3 * ids.length)
})

test('a home looks whether bytes are there without loading them', async () => {
  const home = new TestHome()
  const scope = home.store.open(TRIP)
  await scope.attach(picture('p'), 1)
  const loaded = vi.spyOn(scope, 'attachment')
  const push = ({ envelope, bodies }: SealedOp) =>
    answerPush(scope, { generation: '', ops: [{ envelope, bodies }] }, { newTok: home.newTok })
  expect(await push(naming('m1', 'p'))).toMatchObject({ results: [{ seq: 1 }] })
  expect(await push(naming('m2', 'p', 'q', 'q'))).toMatchObject({ results: [], lacks: ['q'] })
  expect(loaded).not.toHaveBeenCalled()
})

test('a home gets no bytes but of what was pushed to it', async () => {
  const home = new TestHome()
  const { link, store } = device(home)
  const { push } = link
  let left = 3
  link.push = async (requests, signal) => {
    const answers = await push(requests, signal)
    if (left-- <= 0) return answers
    const lacks = ['secret', 'p', 'later', 'p']
    return answers.map((one) => ('results' in one ? { ...one, results: [], lacks } : one))
  }
  await attach(store, picture('secret'), picture('p'), picture('later'))
  store.pause()
  await write(store, [naming('m1', 'p')])
  store.resume()
  await store.settled()
  expect([...new Set(home.attached)]).toEqual(['p'])
  expect(await idsOf(home.store)).toEqual(['m1'])
})

test('where bytes cannot be sent, nothing else of the scope is sent in that step', async () => {
  const home = new TestHome()
  const { link, store } = device(home, { random: () => 1, baseMs: 10_000 })
  link.attach = vi.fn(refusing('ERR_INTERNAL'))
  const other = { ...ADA, sessionId: 'other' }
  await attach(store, picture('p'), picture('q'))
  await write(store, [naming('m1', 'p', 'q')])
  await write(store, [append('a', ['m2'])], other)
  await vi.waitFor(() => expect(store.status.cause?.code).toBe('ERR_INTERNAL'))
  await vi.waitFor(async () => expect(await idsOf(home.store, other)).toEqual(['m2']))
  expect(link.attach).toHaveBeenCalledOnce()
})

test('nothing is sent of a message whose other bytes the home never takes', async () => {
  const home = new TestHome()
  const { link, store } = device(home)
  const { attach: send } = link
  link.attach = async (request, ...rest) =>
    request.id === 'p' ? refusing('ERR_ENTRY_TOO_LARGE')() : send(request, ...rest)
  store.follow(TRIP)
  await attach(store, picture('p'), picture('q'), picture('r'))
  store.pause()
  await write(store, [naming('m1', 'p', 'q'), naming('m2', 'r')])
  store.resume()
  expect(await store.settled()).toMatchObject({ waiting: 0, refused: 1 })
  expect(home.attached).toEqual(['r'])
})

test('a device that ends right after it was reset has the bytes of what waits', async () => {
  const base = mapStore()
  await write(base, [append('a', ['m1'])])
  await attach(base, picture('p'), picture('old'))
  await write(base, [naming('m2', 'p')])
  const replica = new Replica(attachingBy(base.open(TRIP) as ReplicaStore, refusing('ERR_INTERRUPTED')))
  const view = await replica.view()
  expect(await resetReplica(replica, view, 'too-old', 'g')).toBe(true)
  expect(await bytesIn(base, 'p')).toEqual(picture('p'))
  expect(await bytesIn(base, 'old')).toBeUndefined()
  expect(await base.oldestUnused()).toBeUndefined()
})

test.each([
  ['that can be read', (op: SealedOp) => op.bodies],
  ['that the home cannot read', () => ['sealed']],
] as const)('a home forgets with a message, %s, which bytes it named', async (_, bodiesOf) => {
  const home = new TestHome()
  const scope = home.store.open(TRIP)
  const name = 'passport-of-ada.png'
  const op = naming('m1', name)
  const push = (ops: readonly SyncOp[]) => answerPush(scope, { generation: '', ops }, { newTok: home.newTok })
  await scope.attach(picture(name), 1)
  await push([{ envelope: op.envelope, bodies: bodiesOf(op) }])
  const pull = () => answerPull(scope, { cursor: 0, anchor: '' }, { newTok: home.newTok })
  expect(await pull()).toMatchObject({ ops: [{ envelope: { attachments: [name] } }] })
  await push([remove('d', 'entry:m1')].map(({ envelope }) => ({ envelope, bodies: [] })))
  expect(JSON.stringify(await readLog(scope))).not.toContain(name)
  expect(JSON.stringify(await pull())).not.toContain(name)
})

test('of messages that came together, what is left names its bytes when one is forgotten', async () => {
  const home = new TestHome()
  const scope = home.store.open(TRIP)
  const envelope = { opId: 'o', kind: 'append', ids: ['m1', 'm2'], round: 'm1', attachments: ['p'] } as const
  const push = (ops: readonly SyncOp[]) =>
    answerPush(scope, { generation: '', ops, without: ['p'] }, { newTok: home.newTok })
  await push([{ envelope, bodies: ['sealed', 'sealed'] }])
  await push([{ envelope: remove('d', 'entry:m1').envelope, bodies: [] }])
  const answer = await answerPull(scope, { cursor: 0, anchor: '' }, { newTok: home.newTok })
  expect(answer).toMatchObject({ ops: [{ envelope: { attachments: ['p'] } }, {}] })
})

test('what is still to be fetched goes with an erase on the device', async () => {
  const two = await pausedWanting()
  await write(two.store, [erase('x')])
  const rows = (await two.base.open(TRIP).outbox?.(0)) ?? []
  expect(rows.filter(({ value }) => value.includes('"wants"'))).toEqual([])
})

test('bytes that are here already are neither fetched nor loaded', async () => {
  const two = await pausedWanting()
  await attach(two.base, picture('p'))
  const loaded = vi.spyOn(MapScopeStore.prototype, 'attachment')
  two.store.resume()
  await two.store.settled()
  expect(loaded).not.toHaveBeenCalled()
  loaded.mockRestore()
  expect(await outboxOf(two.base)).toBe(0)
  expect(await two.base.oldestUnused()).toBeUndefined()
  expect(await bytesIn(two.base, 'p')).toEqual(picture('p'))
})

test('bytes that come when nobody wants them any more are not kept', async () => {
  const base = mapStore()
  await write(base, [append('a', ['m1'])])
  const replica = new Replica(base.open(TRIP) as ReplicaStore)
  await replica.fetched({ order: 7, wants: 'p' }, picture('p'), 1)
  expect(await bytesIn(base, 'p')).toBeUndefined()
  expect(await base.oldestUnused()).toBeUndefined()
})

test('bytes that come behind an erase on the device are not kept', async () => {
  const two = await pausedWanting()
  const scope = two.base.open(TRIP) as ReplicaStore
  const [wanted] = (await new Replica(scope).view()).wanted
  if (!wanted) throw new Error('nothing is wanted')
  const erasing: ReplicaStore['attach'] = async (attachment, at) => {
    await write(two.store, [erase('x')])
    return scope.attach(attachment, at)
  }
  await new Replica(attachingBy(scope, erasing)).fetched(wanted, picture('p'), 1)
  expect(await bytesIn(two.base, 'p')).toBeUndefined()
})

test('bytes that another process on the same store fetched meanwhile stay', async () => {
  const two = await pausedWanting()
  const scope = two.base.open(TRIP) as ReplicaStore
  const other = new Replica(scope)
  const [wanted] = (await other.view()).wanted
  if (!wanted) throw new Error('nothing is wanted')
  const attaching: ReplicaStore['attach'] = async (attachment, at) => {
    const outcome = await scope.attach(attachment, at)
    await other.fetched(wanted, attachment, 1)
    return outcome
  }
  await new Replica(attachingBy(scope, attaching)).fetched(wanted, picture('p'), 1)
  expect(await bytesIn(two.base, 'p')).toEqual(picture('p'))
  expect(await outboxOf(two.base)).toBe(0)
})

test('a home that asks for the same bytes again and again is asked ever less often', async () => {
  const home = new TestHome()
  const { link, store } = device(home, { random: () => 1, baseMs: 10_000 })
  link.push = async (requests) =>
    requests.map(({ generation }) => ({ generation, results: [], head: 0, lacks: ['p'] }))
  await attach(store, picture('p'))
  await write(store, [naming('m1', 'p')])
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect(home.attached.length).toBeLessThan(8)
  expect(store.status.cause).toBeUndefined()
})

test('a home that was restored is sent the bytes again', async () => {
  const home = new TestHome()
  const { store } = device(home)
  await attach(store, picture('p'))
  await write(store, [naming('m1', 'p')])
  await store.settled()
  home.store = mapStore()
  await write(store, [append('a', ['m2'])])
  await store.settled()
  expect([...(await idsOf(home.store))].sort()).toEqual(['m1', 'm2'])
  expect(await bytesIn(home.store, 'p')).toEqual(picture('p'))
})

test('over HTTP bytes and type come as they are, and too many are refused', async () => {
  const base = mapStore()
  const answer = syncServer({ store: base, authenticate: async () => ({ userId: 'ada' }), maxBytes: 1_000 })
  const transport = httpTransport({
    url: 'https://home.example',
    token: 'ada',
    fetch: (url, init) => answer(new Request(url, init)),
  })
  const { signal } = new AbortController()
  const asked = { sessionId: 'a &=/…', generation: 'g', id: '../?' }
  const given = { ...picture(asked.id, 1_000), mediaType: 'text/html; charset=latin1' }
  expect(await transport.attachment(asked, signal)).toBeUndefined()
  expect(await transport.attach(asked, given, signal)).toBe('stored')
  expect(await transport.attach(asked, given, signal)).toBe('kept')
  expect(await transport.attachment(asked, signal)).toEqual(given)
  await expect(transport.attach(asked, picture(asked.id, 9), signal)).rejects.toMatchObject({
    code: 'ERR_DUPLICATE_ID',
  })
  await expect(transport.attach(asked, picture('x', 1_001), signal)).rejects.toMatchObject({
    code: 'ERR_ENTRY_TOO_LARGE',
  })
})
