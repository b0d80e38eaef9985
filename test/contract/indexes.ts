import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decide } from '../../src/kernel/log/decide.ts'
import type { IndexEntry } from '../../src/ports/op.ts'
import { type IndexQuery, PAGE_ROWS, type Reads, type ScopeStore, type Sum } from '../../src/ports/store.ts'
import type { DescribeStoreOptions } from './abilities.ts'
import {
  accepted,
  append,
  bodyOf,
  erase,
  IDS,
  mark,
  names,
  type Open,
  openScope,
  put,
  readAll,
  remove,
  SCOPE,
} from './samples.ts'

/**
 * Orders whose code units sort otherwise than their code points, their UTF-8 bytes, or a language.
 */
const ORDERS: readonly string[] = [
  '',
  '\u0000',
  '0',
  '10',
  '2',
  'A',
  'Z',
  'a',
  'a\u0000',
  'a\u0000b',
  'a ',
  'aa',
  'b',
  '\u00e9',
  'e\u0301',
  '\ud7ff',
  '\ud83d',
  '\u{1f44d}',
  '\u{10ffff}',
  '\ue000',
  '\uff5e',
  '\uffff',
]

/** Groups that run together where names are joined, folded or trimmed. */
const GROUPS: readonly string[] = ['', 'a/', 'b', 'ab', '\ud83d', '\uffff', ...IDS]

export function describeIndexes(open: Open, { reopen }: DescribeStoreOptions): void {
  describe('an index', () => {
    it('lists registers by order, code unit by code unit, and those of one order by key', async () => {
      const scope = await openScope(open)
      const places = ORDERS.flatMap((order) => ORDERS.map((key) => ({ order, key: `${key}.` })))
      const keys = ORDERS.map((key) => `${key}.`)
      await scope.commit(
        [...keys].reverse().map((key, at) => put(`op-${at}`, key, null, { index: ORDERS.map(inGroup) })),
        decide,
      )
      expect(await keysIn(scope)).toEqual(places.sort(byPlace).map(({ key }) => key))
    })

    it('gives the registers as they are, with where they stand', async () => {
      const scope = await openScope(open)
      const index = [
        { group: 'group', order: '2', weight: 3 },
        { group: 'other', order: '' },
        { group: 'sum' },
      ]
      await scope.commit(
        [put('op-1', 'b', null, { index, sources: ['entry:m1'] }), place('op-2', 'a', '1')],
        decide,
      )
      const row = {
        key: 'b',
        version: 'op-1',
        seq: 1,
        sources: ['entry:m1'],
        index,
        body: bodyOf('op-1'),
      }
      expect(await scope.indexed('group')).toEqual([await scope.register('a'), row])
      expect(await scope.indexed('other')).toEqual([row])
      expect(await scope.indexed('sum')).toEqual([])
      expect(await scope.register('b')).toEqual(row)
      expect(await scope.registers('b')).toEqual([row])
    })

    it('goes on after a place whether or not anything stands there, and ends before an order', async () => {
      const scope = await openScope(open)
      const places = ['', 'a', 'b', '\u{1f44d}', '\uff5e'].flatMap((order) =>
        ['k1', 'k2', 'k\u{1f44d}', 'k\uff5e'].map((key) => ({ order, key: `${key} of ${order}` })),
      )
      await scope.commit(
        places.map(({ order, key }, at) => place(`op-${at}`, key, order)),
        decide,
      )
      places.sort(byPlace)
      const afters = [
        undefined,
        ...places,
        { order: '', key: '' },
        { order: 'a', key: '\uffff' },
        { order: 'aa', key: 'k1 of a' },
        { order: '\u{1f44d}', key: 'k2' },
        { order: '\uffff', key: '' },
      ]
      for (const after of afters)
        for (const to of [undefined, '', 'a', 'aa', '\u{1f44d}', '\uff5e', '\uffff'])
          for (const first of [undefined, 0, 1, 3, 99]) {
            const query = {
              ...(after && { after }),
              ...(to !== undefined && { to }),
              ...(first !== undefined && { first }),
            }
            const expected = places
              .filter((one) => (!after || byPlace(one, after) > 0) && (to === undefined || one.order < to))
              .slice(0, first)
            expect(await keysIn(scope, query), JSON.stringify(query)).toEqual(expected.map(({ key }) => key))
          }
    })

    it(`gives at most ${PAGE_ROWS} at a time`, async () => {
      const scope = await openScope(open)
      const all = names('fact/', PAGE_ROWS + 188)
      await scope.commit(
        [...all].reverse().map((key) => place(`op-${key}`, key, key.slice(0, -1))),
        decide,
      )
      const last = all[PAGE_ROWS - 1] as string
      const after = { order: last.slice(0, -1), key: last }
      expect(await keysIn(scope)).toEqual(all.slice(0, PAGE_ROWS))
      expect(await keysIn(scope, { first: PAGE_ROWS + 1 })).toEqual(all.slice(0, PAGE_ROWS))
      expect(await keysIn(scope, { after })).toEqual(all.slice(PAGE_ROWS))
    })

    it('lists a register where its last put says, and nowhere else', async () => {
      const scope = await openScope(open)
      const places = (...orders: string[]): IndexEntry[] => orders.map(inGroup)
      await scope.commit(
        [put('op-1', 'x', null, { index: places('1', '3') }), place('op-2', 'y', '2')],
        decide,
      )
      expect(await keysIn(scope)).toEqual(['x', 'y', 'x'])
      await scope.commit([put('op-3', 'x', 'op-1', { index: places('0', '1') })], decide)
      expect(await keysIn(scope)).toEqual(['x', 'x', 'y'])
      await scope.commit(
        [
          put('op-4', 'x', 'op-3', { index: places('9') }),
          put('op-5', 'x', 'op-4', { index: [{ group: 'other', order: '1' }] }),
          place('op-6', 'y', '3', 'op-2'),
        ],
        decide,
      )
      expect(await keysIn(scope)).toEqual(['y'])
      expect(await scope.indexed('group')).toMatchObject([{ version: 'op-6' }])
      expect((await scope.indexed('other')).map(({ version }) => version)).toEqual(['op-5'])
      await scope.commit([put('op-7', 'x', 'op-5'), put('op-8', 'y', 'op-6', { index: [] })], decide)
      expect([...(await keysIn(scope)), ...(await scope.indexed('other'))]).toEqual([])
    })

    it('gives what a register holds now, where a put leaves its places as they were', async () => {
      const scope = await openScope(open)
      const index = [{ group: 'group', order: '1', weight: 2 }]
      await scope.commit([put('op-1', 'x', null, { index })], decide)
      await scope.commit([put('op-2', 'x', 'op-1', { index })], decide)
      expect(await scope.indexed('group')).toMatchObject([{ version: 'op-2', body: bodyOf('op-2') }])
      expect(await sumOf(scope)).toEqual({ count: 1, weight: 2 })
    })

    it('lists a register once in a place, however often its put names that', async () => {
      const scope = await openScope(open)
      const twice = [inGroup('1'), inGroup('1'), { ...inGroup('1'), weight: 1 }]
      await scope.commit([put('op-1', 'x', null, { index: twice })], decide)
      expect(await keysIn(scope)).toEqual(['x'])
      await scope.commit([put('op-2', 'x', 'op-1', { index: twice.slice(1) })], decide)
      expect(await keysIn(scope)).toEqual(['x'])
      await scope.commit([put('op-3', 'x', 'op-2', { index: twice.slice(0, 1) })], decide)
      expect(await keysIn(scope)).toEqual(['x'])
      await scope.commit([put('op-4', 'x', 'op-3')], decide)
      expect(await keysIn(scope)).toEqual([])
    })

    it('is as it was after a conflict, a rejection, and an op that comes again', async () => {
      const scope = await openScope(open)
      const index = [{ group: 'group', order: '1', weight: 5 }]
      const elsewhere = [{ group: 'group', order: '0', weight: 7 }]
      await scope.commit([put('op-1', 'x', null, { index }), remove('op-2', 'register:gone')], decide)
      const again = [
        put('op-3', 'x', null, { index: elsewhere }),
        put('op-4', 'gone', null, { index: elsewhere }),
        put('op-1', 'x', null, { index: elsewhere }),
      ]
      expect(await scope.commit(again, decide)).toEqual([
        { status: 'conflict', version: 'op-1' },
        { status: 'rejected', reason: 'deleted' },
        { ...accepted(1), repeated: true },
      ])
      expect(await scope.indexed('group')).toEqual([await scope.register('x')])
      expect(await sumOf(scope)).toEqual({ count: 1, weight: 5 })
    })

    it('takes back the places of a register that is deleted, and what it added', async () => {
      const scope = await openScope(open)
      const index = [
        { group: 'group', order: '1', weight: 5 },
        { group: 'other', weight: 2 },
      ]
      for (const key of ['x', 'y']) await scope.commit([put(`op-${key}`, key, null, { index })], decide)
      await scope.commit([remove('op-3', 'register:x')], decide)
      expect(await keysIn(scope)).toEqual(['y'])
      expect(await scope.sums(['group', 'other'])).toEqual(
        new Map([
          ['group', { count: 1, weight: 5 }],
          ['other', { count: 1, weight: 2 }],
        ]),
      )
      await scope.commit([remove('op-4', 'register:y')], decide)
      expect([...(await keysIn(scope)), ...(await scope.sums(['group', 'other']))]).toEqual([])
    })

    it('takes back the places of all that derives from what is deleted', async () => {
      const index = [{ group: 'group', order: '1', weight: 1 }]
      const ops = [
        append('op-1', ['m1', 'm2']),
        mark('op-2', 'summary', 's1', { sources: ['entry:m1'] }),
        put('op-3', 'x', null, { index, sources: ['entry:s1'] }),
        put('op-4', 'y', null, { index, sources: ['register:x', 'entry:m2'] }),
        put('op-5', 'z', null, { index, sources: ['entry:m2'] }),
      ]
      const together = await openScope(open)
      await together.commit([...ops, remove('op-6', 'entry:m1')], decide)
      const apart = await openScope(open)
      await apart.commit(ops, decide)
      expect(await keysIn(apart)).toEqual(['x', 'y', 'z'])
      await apart.commit([remove('op-6', 'entry:m1')], decide)
      for (const scope of [together, apart]) {
        expect(await keysIn(scope)).toEqual(['z'])
        expect(await sumOf(scope)).toEqual({ count: 1, weight: 1 })
      }
    })

    it('never lists what arrives deleted, and no longer what is written over with that', async () => {
      const scope = await openScope(open)
      const index = [{ group: 'group', order: '1', weight: 1 }]
      await scope.commit([put('op-1', 'x', null, { index }), remove('op-2', 'entry:m1')], decide)
      await scope.commit([put('op-3', 'y', null, { index, sources: ['entry:m1'] })], decide)
      expect(await keysIn(scope)).toEqual(['x'])
      await scope.commit([put('op-4', 'x', 'op-1', { index, sources: ['entry:m1'] })], decide)
      expect([...(await keysIn(scope)), ...(await scope.sums(['group']))]).toEqual([])
    })

    it('is empty after an erase, but for what comes after that', async () => {
      const index = [{ group: 'group', order: '1', weight: 1 }]
      const before = ['x', 'y', 'z'].map((key) => put(`op-${key}`, key, null, { index }))
      const after = [
        erase('erase'),
        put('again', 'y', null, { index: [{ ...index[0], weight: 9 } as IndexEntry] }),
      ]
      const scope = await openScope(open)
      await scope.commit(before, decide)
      await scope.commit([erase('first')], decide)
      expect([...(await keysIn(scope)), ...(await scope.sums(['group']))]).toEqual([])
      await scope.commit([put('op-1', 'x', null, { index })], decide)
      await scope.commit(after, decide)
      const other = await openScope(open)
      await other.commit([...before, ...after], decide)
      for (const one of [scope, other]) {
        expect(await keysIn(one)).toEqual(['y'])
        expect(await sumOf(one)).toEqual({ count: 1, weight: 9 })
      }
    })

    it('keeps groups apart, however alike they are spelt, and scopes', async () => {
      const store = await open()
      const scopes = [SCOPE, { ...SCOPE, sessionId: 'other' }, { userId: 'ada' }].map((scope) =>
        store.open(scope),
      )
      for (const [nth, scope] of scopes.entries())
        await scope.commit(
          GROUPS.map((group, at) =>
            put(`op-${at}`, `key ${at}`, null, { index: [{ group, order: '1', weight: at * 3 + nth }] }),
          ),
          decide,
        )
      await scopes[2]?.commit([erase('erase')], decide)
      for (const [nth, scope] of scopes.slice(0, 2).entries()) {
        for (const [at, group] of GROUPS.entries())
          expect(
            (await scope.indexed(group)).map(({ key }) => key),
            JSON.stringify(group),
          ).toEqual([`key ${at}`])
        expect(await scope.sums([...GROUPS, 'nothing'])).toEqual(
          new Map(GROUPS.map((group, at) => [group, { count: 1, weight: at * 3 + nth }])),
        )
      }
      expect(await scopes[2]?.sums(GROUPS)).toEqual(new Map())
    })

    it('of a scope to which nothing was written is empty, and is not made by reading it', async () => {
      const scope = await openScope(open)
      const before = await readAll(scope)
      expect(await scope.indexed('group', { after: { order: '', key: '' } })).toEqual([])
      expect(await scope.sums(['group'])).toEqual(new Map())
      expect(await scope.sums([])).toEqual(new Map())
      expect(await readAll(scope)).toEqual(before)
    })

    it('is the same one in a snapshot, whatever is committed in between', async ({ skip }) => {
      const store = await open()
      const scope = store.open(SCOPE)
      if (!scope.snapshot) return skip('this store has no snapshot')
      const index = [{ group: 'group', order: '1', weight: 1 }]
      await scope.commit([put('op-1', 'x', null, { index })], decide)
      let committed: Promise<unknown> | undefined
      const read = await scope.snapshot(async (reads) => {
        await reads.head()
        committed ??= store.open(SCOPE).commit([put('op-2', 'y', null, { index })], decide)
        return [await keysIn(reads), await sumOf(reads)]
      })
      await committed
      expect(read).toEqual([['x'], { count: 1, weight: 1 }])
      expect(await scope.snapshot(keysIn)).toEqual(['x', 'y'])
    })

    it('and its sums are there after the store was opened again', async ({ skip }) => {
      if (!reopen) return skip('no reopen was given: this store does not claim to outlive its process')
      const store = await open()
      const index = [{ group: 'group', order: '1', weight: 4 }]
      await store
        .open(SCOPE)
        .commit([put('op-1', 'x', null, { index }), put('op-2', 'y', null, { index })], decide)
      const scope = (await reopen(store)).open(SCOPE)
      expect(await keysIn(scope)).toEqual(['x', 'y'])
      expect(await sumOf(scope)).toEqual({ count: 2, weight: 8 })
      await scope.commit([remove('op-3', 'register:x')], decide)
      expect(await keysIn(scope)).toEqual(['y'])
      expect(await sumOf(scope)).toEqual({ count: 1, weight: 4 })
    })
  })

  describe('sums', () => {
    it('count registers that are listed nowhere, and leave out those without a weight', async () => {
      const scope = await openScope(open)
      const index = [{ group: 'sum', weight: -7 }, { group: 'list', order: '1' }, { group: 'neither' }]
      await scope.commit([put('op-1', 'x', null, { index }), place('op-2', 'y', '1')], decide)
      expect(await scope.sums(['sum', 'list', 'neither', 'group', 'sum'])).toEqual(
        new Map([['sum', { count: 1, weight: -7 }]]),
      )
    })

    it('of groups that come to 0 are there for as long as they have registers', async () => {
      const scope = await openScope(open)
      const weighs = (weight: number): IndexEntry[] => [{ group: 'group', weight }]
      await scope.commit([put('op-1', 'x', null, { index: weighs(0) })], decide)
      expect(await sumOf(scope)).toEqual({ count: 1, weight: 0 })
      await scope.commit([put('op-2', 'x', 'op-1', { index: weighs(2 ** 40) })], decide)
      await scope.commit([put('op-3', 'y', null, { index: weighs(-(2 ** 40)) })], decide)
      expect(await sumOf(scope)).toEqual({ count: 2, weight: 0 })
      await scope.commit([remove('op-4', 'register:x'), remove('op-5', 'register:y')], decide)
      expect(await sumOf(scope)).toBeUndefined()
    })

    it('are those of more groups than a statement may name', async () => {
      const scope = await openScope(open)
      const groups = names('group/', 250)
      const index = groups.map((group, weight) => ({ group, weight }))
      await scope.commit([put('op-1', 'x', null, { index })], decide)
      expect(await scope.sums(groups)).toEqual(
        new Map(groups.map((group, weight) => [group, { count: 1, weight }])),
      )
    })

    it('are what the live registers add up to, whatever was put and deleted', async () => {
      const groups = ['a', 'b', 'c']
      const keys = ['k1', 'k2', 'k3', 'k4']
      const entry = fc.record({ group: fc.constantFrom(...groups), weight: fc.integer({ min: -9, max: 9 }) })
      const steps = fc.array(
        fc.record({
          key: fc.constantFrom(...keys),
          index: fc.option(fc.array(entry, { maxLength: 3 }), { nil: undefined, freq: 4 }),
          deletes: fc.integer({ min: 0, max: 5 }).map((one) => one === 0),
        }),
        { maxLength: 12 },
      )
      await fc.assert(
        fc.asyncProperty(fc.array(steps, { maxLength: 3 }), async (batches) => {
          const scope = await openScope(open)
          const live = new Map<string, { readonly version: string; readonly index: readonly IndexEntry[] }>()
          const gone = new Set<string>()
          let count = 0
          for (const steps of batches) {
            const ops = steps.map(({ key, index, deletes }) => {
              const opId = `op-${count++}`
              if (deletes) {
                live.delete(key)
                gone.add(key)
                return remove(opId, `register:${key}`)
              }
              const base = live.get(key)?.version ?? null
              if (!gone.has(key)) live.set(key, { version: opId, index: index ?? [] })
              return put(opId, key, base, index && { index })
            })
            await scope.commit(ops, decide)
            const sums = new Map<string, Sum>()
            for (const { group, weight = 0 } of [...live.values()].flatMap(({ index }) => index)) {
              const sum = sums.get(group) ?? { count: 0, weight: 0 }
              sums.set(group, { count: sum.count + 1, weight: sum.weight + weight })
            }
            expect(await scope.sums(groups)).toEqual(sums)
          }
        }),
        { numRuns: 30 },
      )
    })
  })
}

function inGroup(order: string): IndexEntry {
  return { group: 'group', order }
}

function place(opId: string, key: string, order: string, base: string | null = null): ReturnType<typeof put> {
  return put(opId, key, base, { index: [inGroup(order)] })
}

interface Place {
  readonly order: string
  readonly key: string
}

function byPlace(one: Place, other: Place): number {
  if (one.order !== other.order) return one.order < other.order ? -1 : 1
  return one.key === other.key ? 0 : one.key < other.key ? -1 : 1
}

async function keysIn(scope: Reads, query?: IndexQuery): Promise<string[]> {
  return (await scope.indexed('group', query)).map(({ key }) => key)
}

async function sumOf(scope: Pick<ScopeStore, 'sums'>): Promise<Sum | undefined> {
  return (await scope.sums(['group'])).get('group')
}
