/** What goes in one scope of a user with what is gone in another one. */
import { expect, test } from 'vitest'
import { shownName } from '../../../src/forgetting/shown.ts'
import { mapStore } from '../../../src/index.ts'
import { SECRET } from '../../../src/kernel/context/secret.ts'
import { decide } from '../../../src/kernel/log/decide.ts'
import { webHost } from '../../../src/platform/web.ts'
import type { Name, Scope } from '../../../src/ports/op.ts'
import { cascade } from '../../../src/sync/cascade.ts'
import { append, put, readLog, remove } from '../../contract/samples.ts'
import { ADA, TRIP } from '../support/synced.ts'

const HOME: Scope = { ...ADA, sessionId: 'home' }
const FACT: Name = 'register:fact/x'
const SHOWN: Name = 'user:fact/x'

function world() {
  const store = mapStore()
  const parts = {
    open: (scope: Scope) => store.open(scope),
    scopes: async () => [ADA, TRIP, HOME],
    host: webHost,
  }
  return { store, gone: (scope: Scope, ...names: readonly Name[]) => cascade(parts, scope, names) }
}

const head = put('h', 'head/1', null, { sources: [SHOWN] })

test('a head that shows what the user has deleted goes, no matter which device brought it', async () => {
  const { store, gone } = world()
  await store.open(ADA).commit([put('f', 'fact/x', null), remove('d', FACT)], decide)
  await store.open(TRIP).commit([head], decide)
  await gone(TRIP, SHOWN)
  expect(await store.open(TRIP).register('head/1')).toMatchObject({ body: null })
})

test('a head that shows what the user has stays', async () => {
  const { store, gone } = world()
  await store.open(ADA).commit([put('f', 'fact/x', null)], decide)
  await store.open(TRIP).commit([head], decide)
  await gone(TRIP, SHOWN)
  expect((await store.open(TRIP).register('head/1'))?.body).toBeTypeOf('string')
  expect(await readLog(store.open(TRIP))).toHaveLength(1)
})

test('where nothing derives from what is gone, nothing is written, as where it is done already', async () => {
  const { store, gone } = world()
  await store.open(ADA).commit([put('f', 'fact/x', null)], decide)
  await store.open(TRIP).commit([append('a', ['m1'])], decide)
  await gone(TRIP, 'entry:m1', 'register:fact/other')
  expect(await readLog(store.open(ADA))).toHaveLength(1)
  await store.open(TRIP).commit([head], decide)
  for (let again = 0; again < 2; again++) {
    await gone(ADA, FACT)
    expect(await readLog(store.open(TRIP))).toHaveLength(3)
    expect(await readLog(store.open(HOME))).toHaveLength(0)
  }
})

test('what goes takes along what derives from that in turn, from scope to scope', async () => {
  const { store, gone } = world()
  await store.open(ADA).commit([put('f', 'fact/x', null, { sources: ['entry:m1'] })], decide)
  await store.open(HOME).commit([head, put('s', 'fact/y', null, { sources: [SHOWN] })], decide)
  await store.open(ADA).commit([put('n', 'kept/1', null, { sources: ['register:fact/y'] })], decide)
  await gone(TRIP, 'entry:m1')
  for (const [scope, key] of [
    [ADA, 'fact/x'],
    [HOME, 'head/1'],
    [HOME, 'fact/y'],
    [ADA, 'kept/1'],
  ] as const)
    expect([key, (await store.open(scope).register(key))?.body]).toEqual([key, null])
  // The user's scope hashes nothing.
  expect(await store.open(ADA).register(SECRET)).toBe(undefined)
})

test('of a document that two devices began, heads that showed the text of either go with it', async () => {
  const { store, gone } = world()
  const document = (since: string) => ({ body: JSON.stringify({ text: since, since }) })
  const shownOf = (since: string) => shownName('profile/A.md', { since })
  const shows = (key: string, source: Name) => put(key, `head/${key}`, null, { sources: [source] })
  await store
    .open(ADA)
    .commit(
      [put('one', 'profile/A.md', null, document('one')), remove('off', 'register:profile/A.md@one')],
      decide,
    )
  await store
    .open(TRIP)
    .commit(
      [
        shows('mine', shownOf('one')),
        shows('theirs', shownOf('an@other')),
        shows('beside', 'user:profile/A.md@home.md@one'),
      ],
      decide,
    )
  await gone(ADA, 'register:profile/A.md@one')
  const left = async () => (await store.open(TRIP).registers('head/')).map(({ key }) => key)
  expect(await left()).toEqual(['head/beside'])
  // Written again, it is another one, which shows.
  await store.open(ADA).commit([put('new', 'profile/A.md', 'one', document('new'))], decide)
  await store.open(TRIP).commit([shows('now', shownOf('new'))], decide)
  await gone(ADA, 'register:profile/A.md@one')
  await gone(TRIP, shownOf('one'))
  expect(await left()).toEqual(['head/beside', 'head/now'])
})

test('the secret of a session is another one then, unless it is sealed', async () => {
  for (const [body, isNew] of [
    [JSON.stringify('a5'.repeat(32)), true],
    ['sealed', false],
  ] as const) {
    const { store, gone } = world()
    await store.open(TRIP).commit([put('k', SECRET, null, { body }), head], decide)
    await gone(ADA, FACT)
    const after = (await store.open(TRIP).register(SECRET))?.body
    expect(after === body).toBe(!isNew)
    if (isNew) expect(JSON.parse(after ?? '')).toMatch(/^[0-9a-f]{64}$/)
  }
})
