/** Contexts that are built in a browser and at the edge from the same log are the same bytes. */
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { mapStore, type Store } from '../../../src/index.ts'
import { runs } from '../support/runs.ts'
import { SqliteFiles } from '../support/sqlite-files.ts'
import { type Happening, PLACES, Places } from '../support/three-places.ts'

const files = new SqliteFiles()
afterAll(() => files.remove())

const place = fc.constantFrom(...PLACES)
const size = fc.oneof({ weight: 6, arbitrary: fc.nat(20) }, { weight: 2, arbitrary: fc.constant(60) })
const target = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true })
const of = <T extends Happening['type']>(...types: readonly T[]) => fc.constantFrom(...types)

const happening = fc.oneof(
  { weight: 8, arbitrary: fc.record({ place, type: of('say', 'answer'), size }) },
  { weight: 4, arbitrary: fc.record({ place, type: of('call'), calls: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 8, arbitrary: fc.record({ place, type: of('result'), size }) },
  { weight: 3, arbitrary: fc.record({ place, type: of('rewind', 'edit', 'forget'), target }) },
  { weight: 2, arbitrary: fc.record({ place, type: of('undo', 'reopen') }) },
  { weight: 3, arbitrary: fc.record({ place, type: of('remember'), size }) },
  { weight: 2, arbitrary: fc.record({ place, type: of('supersede', 'drop'), target }) },
  {
    weight: 8,
    arbitrary: fc.record({ place, type: of('context'), recall: fc.boolean(), preview: fc.boolean() }),
  },
  { weight: 6, arbitrary: fc.record({ place, type: of('sync', 'sync', 'online', 'offline') }) },
  { weight: 2, arbitrary: fc.record({ place, type: of('meet'), recall: fc.boolean() }) },
) as fc.Arbitrary<Happening>

const histories = fc.array(happening, { minLength: 1, maxLength: 60, size: 'max' })

test.each<[string, () => Store]>([
  ['mapStore', mapStore],
  ['sqliteStore', () => files.open()],
])('after any history two devices and the edge show the same, over %s', async (_, open) => {
  await fc.assert(
    fc.asyncProperty(
      histories,
      fc.integer({ min: 400, max: 900 }),
      fc.boolean(),
      async (history, budget, alike) => {
        const places = new Places({ budget, alike, stores: [mapStore(), open()] })
        try {
          await places.play(history)
        } finally {
          await places.close()
        }
      },
    ),
    runs(24),
  )
})

test('after any history a device that keeps the newest part shows the same', async () => {
  let parts = 0
  await fc.assert(
    fc.asyncProperty(
      histories,
      fc.integer({ min: 400, max: 900 }),
      fc.integer({ min: 1, max: 2_000 }),
      async (history, budget, keep) => {
        const places = new Places({ budget, keep })
        try {
          await places.play(history)
        } finally {
          await places.close()
        }
        parts += places.parts
      },
    ),
    runs(24),
  )
  expect(parts).toBeGreaterThan(0)
})

test('of two marks of one name the first holds, here and at home', async () => {
  const places = new Places({ budget: 1_000 })
  await places.play([
    { place: 'edge', type: 'say', size: 1 },
    { place: 'edge', type: 'say', size: 1 },
    { place: 'edge', type: 'meet', recall: false },
    { place: 'edge', type: 'rewind', target: 0.9 },
    { place: 'one', type: 'sync' },
    { place: 'two', type: 'sync' },
    { place: 'two', type: 'context', recall: false, preview: false },
    { place: 'one', type: 'say', size: 2 },
    { place: 'one', type: 'context', recall: false, preview: false },
  ])
  expect(places.epochs.size).toBeGreaterThan(0)
  await places.close()
})

test('of two summaries of one name the first holds, though models said otherwise', async () => {
  const places = new Places({ budget: 400, alike: false })
  const said = Array.from({ length: 6 }, (): Happening => ({ place: 'edge', type: 'say', size: 10 }))
  await places.play([
    ...said.slice(0, 1),
    { place: 'edge', type: 'meet', recall: false },
    ...said,
    { place: 'one', type: 'sync' },
    { place: 'two', type: 'sync' },
    { place: 'one', type: 'context', recall: false, preview: false },
    { place: 'two', type: 'context', recall: false, preview: false },
  ])
  expect(places.summaries.size).toBe(1)
  await places.close()
})

test('recall finds what came before all that it had read', async () => {
  const places = new Places({ budget: 1_000 })
  await places.play([
    { place: 'one', type: 'context', recall: true, preview: false },
    { place: 'one', type: 'context', recall: true, preview: false },
    { place: 'edge', type: 'answer', size: 3 },
    { place: 'edge', type: 'answer', size: 3 },
    { place: 'one', type: 'say', size: 3 },
  ])
  expect(await places.sessions.one.recall.find('coast')).toHaveLength(3)
  await places.close()
})
