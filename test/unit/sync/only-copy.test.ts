/**
 * What others' sync lost: a side that is empty, or is gone in the middle, is no reason to delete
 * anything, and what only one side has is kept.
 */

import { expect, test, vi } from 'vitest'
import { mapStore } from '../../../src/stores/map.ts'
import { refusalsOf } from '../../../src/sync/index.ts'
import { append, remove } from '../../contract/samples.ts'
import { ADA, device, idsOf, logOf, outboxOf, refusing, TestHome, TRIP, write } from '../support/synced.ts'

test('delete only with corroboration: what is missing at home is deleted nowhere', async () => {
  const home = new TestHome()
  const one = device(home)
  const other = device(home)
  for (const { store } of [one, other]) store.follow(TRIP)
  await write(one.store, [append('a', ['m1']), append('b', ['m2'])])
  await one.store.settled()
  other.store.resume()
  await other.store.settled()
  // The home lost all of it, and one of the devices too.
  home.store = mapStore()
  const before = home.calls.length
  for (const { store } of [other, one]) {
    store.resume()
    await store.settled()
  }
  expect(await idsOf(one.base)).toEqual(['m1', 'm2'])
  expect(await idsOf(other.base)).toEqual(['m1', 'm2'])
  expect(await idsOf(home)).toEqual(['m1', 'm2'])
  const pushed = home.calls.slice(before).flatMap((call) => ('push' in call ? call.push : []))
  const kinds = new Set(pushed.flatMap(({ ops }) => ops.map(({ envelope }) => envelope.kind)))
  expect([...kinds]).toEqual(['append'])
  // A delete that somebody wrote is one.
  await write(one.store, [remove('d', 'entry:m1')])
  await one.store.settled()
  other.store.resume()
  await other.store.settled()
  expect((await logOf(other.base))[0]).toMatchObject({ id: 'm1', body: null })
  await one.store.close()
  await other.store.close()
})

test('delete only with corroboration: a device that was wiped deletes nothing', async () => {
  const home = new TestHome()
  const one = device(home)
  await write(one.store, [append('a', ['m1'])])
  await one.store.settled()
  await one.store.close()
  const again = device(home)
  again.store.follow(TRIP)
  await again.store.settled()
  expect(await idsOf(again.base)).toEqual(['m1'])
  expect(await idsOf(home)).toEqual(['m1'])
  await again.store.close()
})

test('keep the only copy: what a home refuses, or never answers, stays on the device', async () => {
  const home = new TestHome()
  const { store, base, link } = device(home)
  await write(store, [append('a', ['m1'])])
  for (const code of ['ERR_INTERNAL', 'ERR_UNAUTHENTICATED', 'ERR_OFFLINE'] as const) {
    link.push = refusing(code)
    link.pull = refusing(code)
    store.resume()
    await vi.waitFor(() => expect(store.status.cause?.code).toBe(code))
    expect(await idsOf(base)).toEqual(['m1'])
    expect(await outboxOf(base)).toBe(1)
    expect(await refusalsOf(store).of(TRIP)).toEqual([])
  }
  Object.assign(link, home.link())
  store.resume()
  await store.settled()
  expect(await idsOf(home)).toEqual(['m1'])
  await store.close()
})

test('final flush: the end of an app waits for no home, and the next one sends what was left', async () => {
  const home = new TestHome()
  const { store, base, link } = device(home)
  let isAsked = false
  link.pull = () => {
    isAsked = true
    return new Promise(() => {})
  }
  await write(store, [append('a', ['m1'])])
  await vi.waitFor(() => expect(isAsked).toBe(true))
  await store.close()
  expect(await outboxOf(base)).toBe(1)
  const next = device(home, { store: base, user: ADA })
  await next.store.settled()
  expect(await idsOf(home)).toEqual(['m1'])
  expect(await outboxOf(base)).toBe(0)
  await next.store.close()
})
