/** What a guest wrote, once they sign in. */
import { expect, test } from 'vitest'
import { auditIn, writeAudit } from '../../../src/features/audit.ts'
import { createMemory } from '../../../src/index.ts'
import { webHost } from '../../../src/platform/web.ts'
import { mapStore } from '../../../src/stores/map.ts'
import { adopt } from '../../../src/sync/adopt.ts'
import { append, put, remove } from '../../contract/samples.ts'
import { ADA, device, idsOf, logOf, refusing, TestHome, write } from '../support/synced.ts'

const GUEST = { userId: 'guest' }
const GUESTS_TRIP = { ...GUEST, sessionId: 'trip' }

test('what a guest wrote offline survives the first sign-in, and reaches the home', async () => {
  const home = new TestHome()
  const base = mapStore()
  const { store } = device(home, { store: base, user: ADA })
  await write(store, [append('a', ['m1', 'm2']), put('p', 'mood', null), append('b', ['m3'])], GUESTS_TRIP)
  await write(store, [put('q', 'mood', 'p'), remove('d', 'entry:m2')], GUESTS_TRIP)
  await write(store, [put('t', 'theme', null)], GUEST)
  const before = await logOf(base, GUESTS_TRIP)
  expect(await adopt({ store, from: GUEST, to: ADA })).toEqual([])
  await store.settled()
  expect(await logOf(base)).toEqual(before)
  expect(await logOf(home.store)).toEqual(before)
  expect(await idsOf(home.store, ADA)).toEqual(['theme'])
  expect(await idsOf(base, GUESTS_TRIP)).toHaveLength(1)
  // Again: nothing is written twice.
  expect(await adopt({ store, from: GUEST, to: ADA })).toEqual([])
  expect(await logOf(base)).toEqual(before)
  await store.close()
})

test('what a guest wrote is not sent before they sign in', async () => {
  const home = new TestHome()
  const { store } = device(home, { user: ADA })
  await write(store, [append('a', ['m1'])], GUESTS_TRIP)
  await store.settled()
  expect(home.calls).toEqual([])
  await store.close()
})

test('what both have stays where it is, and is told', async () => {
  const home = new TestHome()
  const { store, base } = device(home, { user: ADA })
  await write(store, [put('t', 'theme', null)], ADA)
  await write(store, [put('u', 'theme', null)], GUEST)
  expect(await adopt({ store, from: GUEST, to: ADA })).toEqual([
    { scope: GUEST, opId: 'u', result: { status: 'conflict', version: 't' } },
  ])
  expect(await idsOf(base, GUEST)).toEqual(['theme'])
  await store.close()
})

test('records of what a guest did stand beside those of the user', async () => {
  const home = new TestHome()
  const { store, base } = device(home, { user: ADA })
  for (const [user, target] of [
    [ADA, 'of the user'],
    [GUEST, 'of the guest'],
  ] as const) {
    const scope = store.open(user)
    await writeAudit(scope, webHost, { action: 'forget', target })
    await scope.close()
  }
  expect(await adopt({ store, from: GUEST, to: ADA })).toEqual([])
  const records = await auditIn(base.open(ADA), {})
  expect(records.map(({ target }) => target).sort()).toEqual(['of the guest', 'of the user'])
})

test('nothing of a guest is removed before it is kept', async () => {
  const home = new TestHome()
  const base = mapStore()
  await write(base, [append('a', ['m1'])], GUESTS_TRIP)
  const failing = { ...base, open: base.open }
  failing.open = (scope) => {
    const opened = base.open(scope)
    return scope.userId === 'ada' ? Object.assign(opened, { commit: refusing('ERR_STORAGE') }) : opened
  }
  const { store } = device(home, { store: failing, user: ADA })
  await expect(adopt({ store, from: GUEST, to: ADA })).rejects.toMatchObject({ code: 'ERR_STORAGE' })
  expect(await idsOf(base, GUESTS_TRIP)).toEqual(['m1'])
  await store.close()
})

test('what a guest writes while it is copied is copied too', async () => {
  const home = new TestHome()
  const base = mapStore()
  await write(base, [append('a', ['m1'])], GUESTS_TRIP)
  let isFirst = true
  const busy = { ...base, open: base.open }
  busy.open = (scope) => {
    const opened = base.open(scope)
    const { commit } = opened
    if (scope.userId !== 'ada') return opened
    return Object.assign(opened, {
      commit: async (...given: Parameters<typeof commit>) => {
        if (isFirst && given[0].some(({ envelope }) => envelope.opId === 'a')) {
          isFirst = false
          await write(base, [append('b', ['m2'])], GUESTS_TRIP)
        }
        return commit.apply(opened, given)
      },
    })
  }
  const { store } = device(home, { store: busy, user: ADA })
  await adopt({ store, from: GUEST, to: ADA })
  expect(await idsOf(base)).toEqual(['m1', 'm2'])
  await store.close()
})

test('a session of a guest has the same context once it is adopted', async () => {
  const home = new TestHome()
  const { store } = device(home, { user: ADA })
  const memory = createMemory({ store, budget: 16_000 })
  const guest = memory.session({ ...GUEST, sessionId: 'talk' })
  await guest.append({ role: 'user', content: 'Two seats to Turin.' })
  await guest.append({ role: 'assistant', content: 'Booked.' })
  const before = await guest.context()
  await adopt({ store, from: GUEST, to: ADA })
  const after = await memory.session({ ...ADA, sessionId: 'talk' }).context()
  expect(after.blocks).toEqual(before.blocks)
  await store.close()
})
