import { expect, test } from 'vitest'
import type { SealedOp } from '../../../src/ports/op.ts'
import { append, mark, put, remove } from '../../contract/samples.ts'
import { device, logOf, TestHome, TRIP, write } from '../support/synced.ts'

const BEFORE = [append('a', ['m1']), append('b', ['m2'])]
const [ONE, OTHER] = [{ lane: 'one' }, { lane: 'other' }]

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
  const settle = async () => {
    for (let round = 0; round < 3; round++) {
      home.poke()
      for (const { store } of [one, two]) await store.settled()
    }
  }
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
})
