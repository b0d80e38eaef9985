/** Random histories of two devices and their home, over each store, until all are the same. */

import { IDBFactory, IDBKeyRange } from 'fake-indexeddb'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { decide } from '../../../src/kernel/log/decide.ts'
import type { Name } from '../../../src/ports/op.ts'
import type { Store } from '../../../src/ports/store.ts'
import { dexieStore } from '../../../src/stores/dexie.ts'
import { mapStore } from '../../../src/stores/map.ts'
import { append, erase, mark, put, remove } from '../../contract/samples.ts'
import { limit, runs } from '../../everywhere/runs.ts'
import { SqliteFiles } from '../support/sqlite-files.ts'
import { device, logOf, TestHome, TRIP } from '../support/synced.ts'

const files = new SqliteFiles()
afterAll(() => files.remove())

const REMOVING: ReadonlySet<string> = new Set(['delete', 'erase'])

interface Step {
  readonly kind: Op | 'pause' | 'resume' | 'settle' | 'crash' | 'lose' | 'refuse'
  /** A device; 2: the home itself. */
  readonly by: 0 | 1 | 2
  readonly n: number
}

type Op = 'append' | 'put' | 'mark' | 'delete' | 'erase'

const by = fc.constantFrom(0 as const, 1 as const)
const byAll = fc.constantFrom(0 as const, 1 as const, 2 as const)
const n = fc.nat(5)
const kinds = <Kind extends string>(weight: number, ...all: readonly Kind[]) => ({
  weight,
  arbitrary: fc.constantFrom(...all),
})
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.oneof(
        kinds(8, 'append' as const),
        kinds(5, 'put' as const),
        kinds(3, 'mark' as const),
        kinds(3, 'delete' as const),
        kinds(1, 'erase' as const),
      ),
      by: byAll,
      n,
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constantFrom<Step['kind']>('pause', 'resume', 'settle', 'settle', 'crash', 'lose', 'refuse'),
      by,
      n,
    }),
  },
)

/** What all are to have alike. */
async function held(store: Store) {
  const scope = store.open(TRIP)
  const { ordinal, first, marks } = await scope.head()
  const log = (await logOf(store)).map(({ contexts: _, ...row }) => row)
  // A home counts on over an erase.
  const since = log[0]?.kind === 'erase' ? log[0].seq : 0
  const place = (seq: number) => seq - since
  const registers = await scope.registers('')
  await scope.close()
  return {
    ordinal,
    first,
    marks: [...marks.values()].map((one) => ({ ...one, seq: place(one.seq) })),
    log: log.flatMap((row) => (row.kind === 'erase' ? [] : { ...row, seq: place(row.seq) })),
    registers: registers.map((row) => ({ ...row, seq: place(row.seq) })),
  }
}

async function play(steps: readonly Step[], open: () => Store): Promise<void> {
  const home = new TestHome()
  const quick = { baseMs: 1, delayMs: 0, stalledMs: 1e6 }
  const devices = [0, 1].map(() => device(home, { ...quick, store: open() }))
  for (const { store } of devices) store.follow(TRIP)
  let made = 0
  const bound = async (at: number) => {
    const { store } = devices[at] as (typeof devices)[0]
    if (store.status.state !== 'offline') await store.settled()
  }
  for (const one of steps) {
    const one0 = devices[one.by === 2 ? 0 : one.by] as (typeof devices)[0]
    if (one.kind === 'pause') one0.store.pause()
    else if (one.kind === 'resume') one0.store.resume()
    else if (one.kind === 'settle') await bound(one.by)
    else if (one.kind === 'crash') {
      await one0.store.close()
      const next = device(home, { ...quick, store: one0.base })
      next.store.follow(TRIP)
      devices[one.by] = next
    } else if (one.kind === 'lose') {
      const { push } = one0.link
      one0.link.push = async (...given) => {
        one0.link.push = push
        await push(...given)
        throw new Error('the answer is lost')
      }
    } else if (one.kind === 'refuse') {
      const { push } = one0.link
      one0.link.push = async (requests, signal) => {
        one0.link.push = push
        // A delete that is refused is not taken back: what it emptied is gone here.
        const isTaken = requests.some(({ ops }) => ops.some(({ envelope }) => REMOVING.has(envelope.kind)))
        if (isTaken) return push(requests, signal)
        const answers = await push(
          requests.map((request) => ({ ...request, ops: [] })),
          signal,
        )
        return answers.map((answer, at) =>
          'results' in answer
            ? {
                ...answer,
                results: (requests[at]?.ops ?? []).map(() => ({ rejected: 'forbidden' as const })),
              }
            : answer,
        )
      }
    } else {
      const scope = one.by === 2 ? home.open() : one0.store.open(TRIP)
      const id = `${one.by}-${made++}`
      const rows = (await logOf({ open: () => scope } as never)).filter(({ kind }) => kind === 'message')
      const some = rows[(one.n * 7) % Math.max(1, rows.length)]
      const live = one.by === 2 ? home.open() : one0.store.open(TRIP)
      if (one.kind === 'append')
        await live.commit(
          [append(`o${id}`, [`m${id}`, `n${id}`], some && one.n > 2 ? { round: some.round ?? '' } : {})],
          decide,
        )
      else if (one.kind === 'put') {
        const sources: Name[] = some && one.n > 3 ? [`entry:${some.id}`] : []
        // What a delete empties beside its target is not taken back either, where the home has
        // another value there: so nobody else writes to what derives from something.
        const key = sources.length > 0 ? `from${one.by}` : one.n % 2 ? 'a' : 'b'
        const version = (await live.register(key))?.version ?? null
        await live.commit(
          [put(`o${id}`, key, version, { body: JSON.stringify(id), ...(sources.length > 0 && { sources }) })],
          decide,
        )
      } else if (one.kind === 'mark') {
        const { marks } = await live.head()
        const base = marks.get('epoch/lane')?.id ?? null
        await live.commit([mark(`o${id}`, 'epoch', `e${id}`, { base })], decide)
      } else if (one.kind === 'delete') {
        const target: Name = one.n === 0 ? 'register:a' : `entry:${some?.id ?? 'none'}`
        await live.commit([remove(`o${id}`, target)], decide)
      } else await live.commit([erase(`o${id}`)], decide)
      await live.close()
    }
  }
  for (const { store } of devices) store.resume()
  for (let round = 0; round < 3; round++)
    for (const { store } of devices) {
      home.poke()
      await store.settled()
    }
  const there = await held(home.store)
  for (const { store, base } of devices) {
    expect(store.status).toMatchObject({ waiting: 0 })
    expect(await held(base)).toEqual(there)
    await store.close()
  }
}

test.each([
  ['the map store', () => mapStore(), 600],
  ['Dexie', () => dexieStore({ name: 'meet', channel: null, IDBKeyRange, indexedDB: new IDBFactory() }), 24],
  ['SQLite', () => files.open(), 24],
])('two devices over %s end with what their home has', { timeout: limit(20_000) }, async (_, open, count) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 24 }), (steps) => play(steps, open)),
    runs(count),
  )
})
