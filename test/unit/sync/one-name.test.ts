import { expect, test } from 'vitest'
import { decide } from '../../../src/kernel/log/decide.ts'
import { sealMessage } from '../../../src/kernel/log/message.ts'
import type { Message } from '../../../src/ports/message.ts'
import type { SealedOp } from '../../../src/ports/op.ts'
import { mapStore } from '../../../src/stores/map.ts'
import { refusalsOf } from '../../../src/sync/refusals.ts'
import { append, mark, put, remove } from '../../contract/samples.ts'
import { device, logOf, outboxOf, TestHome, TRIP, write } from '../support/synced.ts'

const BEFORE = [append('a', ['m1']), append('b', ['m2'])]
const [ONE, OTHER] = [{ lane: 'one' }, { lane: 'other' }]

async function settleAll(home: TestHome, all: readonly ReturnType<typeof device>[]): Promise<void> {
  for (let round = 0; round < 3; round++) {
    home.poke()
    for (const { store } of all) await store.settled()
  }
}

test.each<readonly [name: string, first: SealedOp, second: SealedOp]>([
  ['deletes of different messages', remove('x', 'entry:m1'), remove('x', 'entry:m2')],
  ['marks of different lanes', mark('x', 'epoch', 'e1', ONE), mark('x', 'epoch', 'e1', OTHER)],
  ['marks of different kinds', mark('x', 'epoch', 'e1', ONE), mark('x', 'summary', 'e1', ONE)],
  ['marks on different bases', mark('x', 'epoch', 'e1'), mark('x', 'epoch', 'e1', { base: 'e0' })],
  ['a message and a delete', append('x', ['m9']), remove('x', 'entry:m2')],
  ['a delete and a message', remove('x', 'entry:m2'), append('x', ['m9'])],
  ['a delete and a put', remove('x', 'entry:m2'), put('x', 'mood', null)],
  ['messages of different ids', append('x', ['m8']), append('x', ['m9'])],
  ['puts of different keys', put('x', 'mood', null, { body: '1' }), put('x', 'other', null, { body: '1' })],
])('of two devices that give one name to %s, the first holds everywhere', async (_, first, second) => {
  const home = new TestHome()
  const [one, two] = [device(home), device(home)]
  const settle = () => settleAll(home, [one, two])
  for (const { store } of [one, two]) store.follow(TRIP)
  await write(one.store, BEFORE)
  await settle()
  expect(await logOf(two.base)).toHaveLength(2)
  two.store.pause()
  await write(two.store, [second])
  await write(one.store, [first])
  await one.store.settled()
  two.store.resume()
  await settle()
  const log = await logOf(home.store)
  const { kind, target, ids } = first.envelope
  const firsts = log.filter(({ opId }) => opId === 'x')
  expect(firsts.map(({ id }) => id)).toEqual(kind === 'delete' ? [target] : ids)
  expect(await logOf(one.base)).toEqual(log)
  expect(await logOf(two.base)).toEqual(log)
  const refused = await refusalsOf(two.store).of(TRIP)
  const isLost = second.envelope.kind === 'append' || second.envelope.kind === 'put'
  expect(refused.map(({ op, refusal }) => [op, refusal])).toEqual(
    isLost ? [[second.envelope, { rejected: 'duplicate-id' }]] : [],
  )
  expect(await refusalsOf(one.store).of(TRIP)).toEqual([])
})

/** Three devices that hold the messages from before. */
async function threeDevices() {
  const home = new TestHome()
  const all = [device(home), device(home), device(home)] as const
  for (const { store } of all) store.follow(TRIP)
  await write(all[0].store, BEFORE)
  await settleAll(home, all)
  return { home, all }
}

const TAKEN = append('c', ['m3'])
const PUT = put('d', 'mood', null)

test.each<readonly [name: string, refused: SealedOp]>([
  ['a message', append('x', ['m3'])],
  ['a put', put('x', 'mood', null)],
])('a delete whose name the home refused to %s goes under another name', async (_, refused) => {
  const { home, all } = await threeDevices()
  const [one, two, three] = all
  two.store.pause()
  await write(two.store, [remove('x', 'entry:m2')])
  three.store.pause()
  await write(three.store, [refused])
  await write(one.store, [TAKEN, PUT])
  await one.store.settled()
  three.store.resume()
  await three.store.settled()
  expect(await refusalsOf(three.store).of(TRIP)).toHaveLength(1)
  two.store.resume()
  await settleAll(home, all)
  const log = await logOf(home.store)
  expect(log.find(({ id }) => id === 'm2')).toMatchObject({ body: null })
  for (const { base } of all) expect(await logOf(base)).toEqual(log)
  expect(await refusalsOf(two.store).of(TRIP)).toEqual([])
  expect(await outboxOf(two.base)).toBe(0)
})

test('deletes of two devices under a name that is taken each get a name of their own', async () => {
  const { home, all } = await threeDevices()
  const [one, two, three] = all
  for (const { store } of [two, three]) store.pause()
  await write(two.store, [remove('x', 'entry:m1')])
  await write(three.store, [remove('x', 'entry:m2')])
  await write(one.store, [append('x', ['m3'])])
  await one.store.settled()
  for (const { store } of [two, three]) store.resume()
  await settleAll(home, all)
  const log = await logOf(home.store)
  expect(log.filter(({ kind, body }) => kind === 'message' && body === null)).toHaveLength(2)
  for (const { base } of all) expect(await logOf(base)).toEqual(log)
})

test('of what the library notes beside a write of a taken name, nobody is told', async () => {
  const home = new TestHome()
  const [one, two] = [device(home), device(home)]
  two.store.pause()
  await write(two.store, [put('x', 'untold/fact/b', null)])
  await write(one.store, [put('x', 'untold/fact/a', null)])
  await one.store.settled()
  two.store.resume()
  await two.store.settled()
  expect(await logOf(two.base)).toEqual(await logOf(home.store))
  expect(await refusalsOf(two.store).of(TRIP)).toEqual([])
  expect(await outboxOf(two.base)).toBe(0)
})

const said = (content: Message['content'], createdAt: number): SealedOp => ({
  ...append('entry:m9', ['m9']),
  bodies: [sealMessage({ id: 'm9', role: 'user', content, createdAt, trust: 'user' })],
})

test.each<readonly [name: string, first: SealedOp, second: SealedOp, isRefused: boolean]>([
  ['a message of another text', said('One.', 1), said('Two.', 1), true],
  ['the same message, said at another time', said('One.', 1), said('One.', 2), false],
  ['the same message, as a part', said('One.', 1), said([{ type: 'text', text: 'One.' }], 1), false],
  ['a sealed message', append('entry:m9', ['m9']), said('Two.', 1), false],
])('of two devices that give one id to %s, the second hears of it', async (_, first, second, isRefused) => {
  const home = new TestHome()
  const [one, two] = [device(home), device(home)]
  for (const { store } of [one, two]) store.follow(TRIP)
  await one.store.settled()
  await two.store.settled()
  two.store.pause()
  const heard: unknown[] = []
  const refusals = refusalsOf(two.store)
  refusals.on('rejected', ({ bodies }) => heard.push(bodies))
  await write(two.store, [second])
  await write(one.store, [first])
  await one.store.settled()
  two.store.resume()
  await two.store.settled()
  expect(await logOf(two.base)).toEqual(await logOf(home.store))
  expect(heard).toEqual(isRefused ? [second.bodies] : [])
  expect((await refusals.of(TRIP)).map(({ bodies }) => bodies)).toEqual(heard)
  // It stays where all that the home has is read once more.
  home.store = mapStore()
  await home.open().commit([first, append('z', ['m10'])], decide)
  home.poke()
  await two.store.settled()
  expect(await refusals.of(TRIP)).toHaveLength(heard.length)
  // What is forgotten at home is forgotten of what was refused, too.
  await home.open().commit([remove('y', 'entry:m9')], decide)
  home.poke()
  await two.store.settled()
  expect((await refusals.of(TRIP)).flatMap(({ bodies }) => bodies)).toEqual(isRefused ? [null] : [])
})
