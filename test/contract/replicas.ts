import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decide, NO_ROWS } from '../../src/kernel/log/decide.ts'
import type { Name, SealedOp } from '../../src/ports/op.ts'
import { type OutboxRow, PAGE_ROWS, PAGE_UNITS, type ScopeStore, type Store } from '../../src/ports/store.ts'
import { mapStore } from '../../src/stores/map.ts'
import { type DescribeStoreOptions, halfPage } from './abilities.ts'
import { rebasing, replicating, rowsOf, stateOf } from './rebases.ts'
import {
  accepted,
  append,
  bodyOf,
  erase,
  mark,
  type Open,
  put,
  readAll,
  readLog,
  remove,
  SCOPE,
} from './samples.ts'

/** What a store must do to be the replica of a home. */
export function describeReplicas(open: Open, { reopen, kept }: DescribeStoreOptions): void {
  /** A test of what only some stores can. */
  const test = (sentence: string, run: (scope: ScopeStore, store: Store) => Promise<unknown>): void =>
    it(sentence, async ({ skip }) => {
      const store = await open()
      const scope = store.open(SCOPE)
      if (!scope.outbox) return skip('this store cannot be the replica of a home')
      return run(scope, store)
    })

  describe("a replica's state", () => {
    test('is what was last written, and none where nothing was', async (scope, store) => {
      expect((await rowsOf(scope, [])).replica).toBeUndefined()
      await scope.commit([append('op-1', ['m1'])], decide)
      expect(await rowsOf(scope, [])).not.toHaveProperty('replica')
      for (const state of ['one', '', 'é'.repeat(4_000)]) {
        await scope.commit([], replicating(decide, { state }))
        for (const handle of [scope, store.open(SCOPE)])
          expect((await rowsOf(handle, [])).replica).toBe(state)
      }
      await scope.commit([append('op-2', ['m2'])], decide)
      expect((await rowsOf(scope, [])).replica).toBe('é'.repeat(4_000))
      expect((await rowsOf(store.open({ userId: SCOPE.userId }), [])).replica).toBeUndefined()
    })

    test('is given to plain appends, too, to the handle that wrote it and to others', async (scope, store) => {
      const handles = [scope, store.open(SCOPE)]
      for (let at = 0; at < 6; at++) {
        const [writer] = handles.splice(0, 1) as [ScopeStore]
        if (at % 3 > 0) handles.push(writer)
        else handles.unshift(writer)
        const given: (string | undefined)[] = []
        await writer.commit([append(`op-${at}`, [`m${at}`])], (ops, rows) => {
          given.push(rows.replica)
          return { ...decide(ops, rows), replica: { state: `state ${at}` } }
        })
        expect(given.at(-1)).toBe(at === 0 ? undefined : `state ${at - 1}`)
      }
    })

    test('is given as others wrote it beside the log', async (scope, store) => {
      await scope.commit([append('op-1', ['m1'])], decide)
      for (const state of ['one', 'two']) {
        await store.open(SCOPE).commit([], replicating(decide, { state }))
        const given: (string | undefined)[] = []
        await scope.commit([append(`op-${state}`, [`m-${state}`])], (ops, rows) => {
          given.push(rows.replica)
          return { ...decide(ops, rows), replica: { state: 'mine' } }
        })
        expect(given.at(-1)).toBe(state)
      }
    })

    test('may be the first that is written to a scope', async (scope, store) => {
      await scope.commit([], replicating(decide, { state: 'new', outbox: [row(1)] }))
      expect(await store.scopes()).toEqual([SCOPE])
      expect(await scope.head()).toMatchObject({ seq: 0, ordinal: 0 })
      const other = store.open({ ...SCOPE, sessionId: 'other' })
      await other.commit([append('op-1', ['m1'])], decide)
      expect(await other.outbox?.(0)).toEqual([])
      expect(await scope.commit([append('op-1', ['m1'])], decide)).toEqual([accepted(1)])
      expect(await scope.outbox?.(0)).toEqual([row(1)])
      expect((await rowsOf(scope, [])).replica).toBe('new')
    })

    test('and the outbox outlive an erase, unless that says otherwise', async (scope) => {
      const ops = [append('op-1', ['m1'])]
      await scope.commit(ops, replicating(decide, { state: 'one', outbox: [row(1), row(2)] }))
      await scope.commit([erase('op-2')], decide)
      expect((await rowsOf(scope, [])).replica).toBe('one')
      expect(await scope.outbox?.(0)).toEqual([row(1), row(2)])
      await scope.commit([erase('op-3')], replicating(decide, { state: 'two', sent: [1] }))
      expect((await rowsOf(scope, [])).replica).toBe('two')
      expect(await scope.outbox?.(0)).toEqual([row(2)])
    })
  })

  describe('the outbox', () => {
    test('has what commits wrote into it, in order, until they say that it was sent', async (scope, store) => {
      expect(await scope.outbox?.(0)).toEqual([])
      await scope.commit([append('op-1', ['m1'])], decide)
      expect(await scope.outbox?.(0)).toEqual([])
      for (const order of [1, 2, 9, 10, 11])
        await scope.commit(
          [append(`op/${order}`, [`m/${order}`])],
          replicating(decide, { state: 'state', outbox: [row(order)] }),
        )
      const fresh = reopen ? await reopen(store) : store
      const again = fresh.open(SCOPE)
      expect(await again.outbox?.(0)).toEqual([1, 2, 9, 10, 11].map((order) => row(order)))
      expect(await again.outbox?.(2)).toEqual([9, 10, 11].map((order) => row(order)))
      await again.commit(
        [],
        replicating(decide, { state: 'state', sent: [1, 9, 5], outbox: [row(10, 'new')] }),
      )
      expect(await again.outbox?.(0)).toEqual([row(2), row(10, 'new'), row(11)])
      expect(await again.outbox?.(11)).toEqual([])
      expect((await again.head()).seq).toBe(6)
    })

    test('holds values of any length, each for itself', async (scope) => {
      const values = [
        '',
        'a\u0000b',
        '👍'.repeat(50_000),
        'x'.repeat(2 ** 16 + 1),
        `é${'👍'.repeat(300_000)}`,
      ]
      const rows = values.map((value, at) => row(at + 1, value))
      const turned = rows.map(({ order }, at) => row(order, values.at(-1 - at)))
      for (const [at, outbox] of [[], rows, turned, rows].entries()) {
        await scope.commit([append(`op-${at}`, [`m${at}`])], replicating(decide, { state: '', outbox }))
        expect(await all(scope)).toEqual(outbox)
      }
      await scope.commit([], replicating(decide, { state: '', sent: [1, 3, 4, 5] }))
      expect(await all(scope)).toEqual([rows[1]])
      await scope.commit([], replicating(decide, { state: '', outbox: [row(5, 'short')] }))
      expect(await all(scope)).toEqual([rows[1], row(5, 'short')])
    })

    test(`is given in pages of ${PAGE_ROWS} rows, and of so many units`, async (scope) => {
      const many = Array.from({ length: 2 * PAGE_ROWS + 3 }, (_, at) => row(at + 1))
      await scope.commit([], replicating(decide, { state: '', outbox: many }))
      expect(await scope.outbox?.(0)).toEqual(many.slice(0, PAGE_ROWS))
      expect(await scope.outbox?.(PAGE_ROWS - 1)).toEqual(many.slice(PAGE_ROWS - 1, 2 * PAGE_ROWS - 1))
      expect(await all(scope)).toEqual(many)
      await scope.commit([], replicating(decide, { state: '', sent: many.map(({ order }) => order) }))
      expect(await scope.outbox?.(0)).toEqual([])

      const half = halfPage(kept?.body)
      const lengths = [half, half, 1, half - 1, half + 1, PAGE_UNITS + 1, 7, 8]
      const outbox = lengths.map((length, at) => row(at + 1, 'v'.repeat(length)))
      await scope.commit([], replicating(decide, { state: '', outbox }))
      const pages: number[][] = []
      for (let after = 0; ; ) {
        const page = (await scope.outbox?.(after)) ?? []
        if (page.length === 0) break
        pages.push(page.map(({ order }) => order))
        after = page.at(-1)?.order ?? 0
      }
      expect(pages).toEqual([[1, 2], [3, 4], [5], [6], [7, 8]])
    })

    test('has nothing of a commit that failed', async (scope) => {
      await scope.commit([append('op-1', ['m1'])], replicating(decide, { state: 'one' }))
      const failing = scope.commit([append('op-2', ['m2'])], () => {
        throw new TypeError('of the caller')
      })
      await expect(failing).rejects.toThrow('of the caller')
      // A row of the log that is there already: the whole commit is undone.
      const twice = scope.commit([append('op-3', ['m3'])], (ops, rows) => {
        const { log, ...rest } = decide(ops, rows)
        return { ...rest, log: [...log, ...log], replica: { state: 'two', outbox: [row(1)] } }
      })
      await twice.catch(() => {})
      if ((await scope.head()).seq > 1) return
      expect(await scope.outbox?.(0)).toEqual([])
      expect((await rowsOf(scope, [])).replica).toBe('one')
    })
  })

  describe('the token of an op', () => {
    test('comes back with its first row, and only there', async (scope, store) => {
      const ops = [append('op-1', ['m1', 'm2']), put('op-2', 'key', null), mark('op-3', 'epoch', 'e1')]
      await scope.commit(ops, (given, rows) => {
        const decision = decide(given, rows)
        const log = decision.log.map((one) => (one.place === 0 ? { ...one, tok: `tok of ${one.opId}` } : one))
        return { ...decision, log }
      })
      await scope.commit([append('op-4', ['m3'])], decide)
      for (const handle of [scope, store.open(SCOPE)])
        expect((await readLog(handle)).map(({ tok }) => tok)).toEqual([
          'tok of op-1',
          undefined,
          'tok of op-2',
          'tok of op-3',
          undefined,
        ])
      const fresh = store.open(SCOPE)
      expect((await fresh.entries({ from: 'm1', first: 1 })).rows).toMatchObject([{ tok: 'tok of op-1' }])
      expect((await fresh.entries({ from: 'm2', first: 1 })).rows[0]).not.toHaveProperty('tok')
    })

    test('loses with a deleted entry what stands behind its first space', async (scope, store) => {
      const ops = [append('op-1', ['m1', 'm2']), append('op-2', ['m3']), append('op-3', ['m4'])]
      await scope.commit(ops, (given, rows) => {
        const decision = decide(given, rows)
        const log = decision.log.map((one) => ({ ...one, tok: one.id === 'm4' ? 'm4' : `${one.id} p q` }))
        return { ...decision, log }
      })
      await scope.commit(
        ['m1', 'm3', 'm4'].map((id) => remove(`delete-${id}`, `entry:${id}`)),
        decide,
      )
      for (const handle of [scope, store.open(SCOPE)])
        expect((await readLog(handle)).map(({ tok }) => tok).slice(0, 4)).toEqual([
          'm1',
          'm2 p q',
          'm3',
          'm4',
        ])
    })
  })

  describe('an erase of a replica', () => {
    test('leaves the attachments that it names, and no others', async (scope, store) => {
      const other = store.open({ ...SCOPE, sessionId: 'other' })
      const picture = { mediaType: 'image/png', bytes: Uint8Array.of(1, 2, 3) }
      for (const one of [scope, other])
        for (const id of ['a', 'b', 'c']) await one.attach({ id, ...picture }, 1)
      const kept = ['c', 'a', 'none']
      await scope.commit([erase('op-1')], replicating(decide, { state: 'one', kept }))
      expect(await scope.attached(['a', 'b', 'c'])).toEqual(['a', 'c'])
      expect(await scope.attachment('a')).toEqual({ id: 'a', ...picture })
      expect(await other.attached(['a', 'b', 'c'])).toEqual(['a', 'b', 'c'])
      // What no message names is as old as it was.
      expect(await store.oldestUnused()).toBe(1)
      await scope.commit([erase('op-2')], decide)
      expect(await scope.attached(['a', 'b', 'c'])).toEqual([])
    })
  })

  describe('a rebase', () => {
    test('leaves what is there where the rows that it takes back never were', async (_, store) => {
      let sessions = 0
      await fc.assert(
        fc.asyncProperty(steps, steps, steps, fc.array(fc.nat(3), { maxLength: 3 }), async (...parts) => {
          const [confirmed, waiting, others, again] = parts
          const named = (sessionId: string) => store.open({ ...SCOPE, sessionId })
          const session = `s${sessions++}`
          const [scope, other] = [named(session), named(session)]
          const never = named(`never ${session}`)
          const [before, after] = [mapStore().open(SCOPE), mapStore().open(SCOPE)]

          const shared = await play([never, before, after, scope], 'a', confirmed)
          const { seq } = await scope.head()
          const mine = await play(
            [before, scope],
            'b',
            waiting.filter(({ kind }) => kind !== 'remove'),
          )
          for (const handle of [scope, other]) await everything(handle)
          await other.commit([], decide)

          const theirs = await play([never, after], 'c', others)
          // Waiting ops come again, some in another order, some not at all.
          const late = again.flatMap((at) => mine[at] ?? [])
          for (const op of late) for (const twin of [never, after]) await twin.commit([op], decide)

          const [from, to] = [await stateOf(before, ALL), await stateOf(after, ALL)]
          // What arrived deleted stays so.
          fc.pre([...from.deleted].every((name) => to.deleted.has(name)))
          await scope.commit([...shared, ...theirs, ...late], rebasing(from, to, seq))
          for (const handle of [other, scope, named(session)]) {
            expect(await everything(handle)).toEqual(await everything(never))
            expect(await asked(handle)).toEqual(await asked(never))
          }
          const { head, emptiedAt } = await rowsOf(scope, [])
          expect([head.rebased, emptiedAt]).toEqual([1, head.seq])

          const round = to.log.find(({ kind }) => kind === 'message')?.round ?? 'last'
          const last = append('op-last', ['last'], { round })
          expect(await other.commit([last], decide)).toEqual(await never.commit([last], decide))
          expect(await everything(scope)).toEqual(await everything(never))
        }),
        { numRuns: 25, seed: 20_261_124 },
      )
    })

    test('is seen by who knew a log of the same length and the same end', async (scope, store) => {
      const other = store.open(SCOPE)
      const [first, lost, mine] = [append('op-1', ['m1']), append('op-2', ['m2']), append('op-3', ['m3'])]
      const theirs = append('op-4', ['m4'])
      const [before, after] = [mapStore().open(SCOPE), mapStore().open(SCOPE)]
      for (const op of [first, lost, mine]) for (const one of [scope, before]) await one.commit([op], decide)
      for (const op of [first, theirs, mine]) await after.commit([op], decide)
      expect((await readLog(other)).map(({ id }) => id)).toEqual(['m1', 'm2', 'm3'])
      expect((await other.entries()).rows.length).toBe(3)
      expect(await other.commit([mine], decide)).toEqual([{ ...accepted(3), repeated: true }])

      const names: Name[] = []
      await scope.commit(
        [theirs, mine],
        rebasing(await stateOf(before, names), await stateOf(after, names), 1),
      )
      expect(await other.head()).toMatchObject({ seq: 3, ordinal: 3, first: 'm1', rebased: 1 })
      for (const handle of [other, scope]) {
        expect((await readLog(handle)).map(({ id }) => id)).toEqual(['m1', 'm4', 'm3'])
        expect((await handle.entries({ last: 2 })).rows.map(({ id }) => id)).toEqual(['m4', 'm3'])
        expect((await handle.entries({ from: 'm2' })).rows).toEqual([])
      }
    })

    test('is seen by a plain append of who knew the log before it', async (scope, store) => {
      const other = store.open(SCOPE)
      const ops = [append('op-1', ['m1']), append('op-2', ['m2']), append('op-3', ['m3'])]
      const [before, after] = [mapStore().open(SCOPE), mapStore().open(SCOPE)]
      for (const one of [other, before]) for (const op of ops) await one.commit([op], decide)
      const theirs = [append('op-4', ['m4']), append('op-3', ['m3'])]
      for (const op of [append('op-1', ['m1']), ...theirs]) await after.commit([op], decide)
      await scope.commit(theirs, rebasing(await stateOf(before, []), await stateOf(after, []), 1))

      // The round was taken back: what is known of it must not let this pass.
      const late = append('op-5', ['m5'], { round: 'm2' })
      expect(await other.commit([late], decide)).toEqual([{ status: 'rejected', reason: 'unknown-round' }])
      expect(await other.commit([append('op-6', ['m2'])], decide)).toEqual([accepted(4)])
      expect((await readLog(other)).map(({ id }) => id)).toEqual(['m1', 'm4', 'm3', 'm2'])
    })

    test('is counted, also across an erase, and by who only looks at the head', async (scope, store) => {
      const other = store.open(SCOPE)
      await scope.commit([append('op-1', ['m1'])], decide)
      expect(await other.head()).not.toHaveProperty('rebased')
      const nothing = { to: { seq: 1, ordinal: 1, first: 'm1' }, registers: [], slots: [] }
      for (const rebased of [1, 2, 3]) {
        await scope.commit([], replicating(decide, { state: '', rebase: nothing }))
        for (const handle of [other, scope]) expect(await handle.head()).toMatchObject({ seq: 1, rebased })
      }
      await other.commit([erase('op-2')], decide)
      expect(await scope.head()).toMatchObject({ seq: 2, rebased: 3 })
      const gone = { ...nothing, to: { seq: 0, ordinal: 0 } }
      await scope.commit([], replicating(decide, { state: '', rebase: gone }))
      for (const handle of [other, scope, store.open(SCOPE)])
        expect(await handle.head()).toEqual({ seq: 0, ordinal: 0, marks: new Map(), rebased: 4 })
    })

    test('removes what was derived, and keeps out what is derived from the rows before it', async (scope) => {
      await scope.commit([append('op-1', ['m1']), append('op-2', ['m2'])], decide)
      const derived = { key: 'index', bytes: new Uint8Array([1, 2, 3]) }
      expect(await scope.derive(derived, 2)).toBe(true)
      const rebase = { to: { seq: 1, ordinal: 1, first: 'm1' }, registers: [], slots: [] }
      const ops = [append('op-3', ['m3']), append('op-4', ['m4'])]
      const rows = { ...(await rowsOf(scope, [])), head: { seq: 1, ordinal: 1, marks: new Map() } }
      await scope.commit(ops, (given) => ({ ...decide(given, rows), replica: { state: '', rebase } }))
      expect(await scope.derived('')).toEqual([])
      expect(await scope.derive(derived, 2)).toBe(false)
      expect(await scope.derive(derived, 3)).toBe(true)
    })

    test('may come with an erase, which takes the rest', async (scope, store) => {
      const other = store.open(SCOPE)
      await scope.commit([append('op-1', ['m1'])], decide)
      const waiting = [append('op-2', ['m2']), put('op-3', 'key', null, { sources: ['entry:m1'] })]
      await scope.commit(waiting, replicating(decide, { state: '', outbox: [row(1), row(2)] }))
      await readAll(other)
      const rebase = {
        to: { seq: 1, ordinal: 1, first: 'm1' },
        registers: ['key'],
        slots: [],
      }
      const rows = { ...(await rowsOf(scope, [])), head: { seq: 1, ordinal: 1, marks: new Map() } }
      await scope.commit([erase('op-4'), append('op-5', ['m5'])], (given) => ({
        ...decide(given, rows),
        replica: { state: 'erased', rebase, sent: [1, 2] },
      }))
      for (const handle of [other, scope]) {
        expect(await handle.head()).toMatchObject({ seq: 3, ordinal: 1, first: 'm5', rebased: 1 })
        expect((await readLog(handle)).map(({ seq, id }) => [seq, id])).toEqual([
          [2, 'op-4'],
          [3, 'm5'],
        ])
        expect(await handle.registers('')).toEqual([])
        expect(await handle.outbox?.(0)).toEqual([])
      }
    })

    test('may come with an erase, so that the log begins elsewhere', async (scope, store) => {
      const other = store.open(SCOPE)
      for (const id of ['a1', 'a2', 'a3'])
        await scope.attach({ id, mediaType: 'image/png', bytes: Uint8Array.of(1) }, 1)
      await scope.commit([append('op-1', ['m1']), append('op-2', ['m2']), put('op-3', 'key', null)], decide)
      await readAll(other)
      const to = { seq: 2, ordinal: 2, first: 'm1' }
      const rows = { ...NO_ROWS, head: { ...to, marks: new Map() } }
      const key = { key: 'key', version: 'op-1', seq: 1, body: 'body' }
      await scope.commit([append('op-5', ['m5']), remove('op-6', 'attachment:a2')], (given) => ({
        ...decide(given, rows),
        erase: true,
        registers: [key],
        replica: { state: 'begun', rebase: { to, registers: [], slots: [] }, kept: 'all' },
      }))
      for (const handle of [other, scope]) {
        expect(await handle.head()).toMatchObject({ seq: 4, ordinal: 3, first: 'm1', rebased: 1 })
        expect((await readLog(handle)).map(({ seq, ordinal, id }) => [seq, ordinal, id])).toEqual([
          [3, 3, 'm5'],
          [4, 3, 'attachment:a2'],
        ])
        expect(await handle.entries({ from: 'm2' })).toEqual({ rows: [], more: false })
        expect(await handle.registers('')).toEqual([key])
        expect(await handle.attached(['a1', 'a2', 'a3'])).toEqual(['a1', 'a3'])
      }
      await scope.commit([append('op-7', ['m7'])], decide)
      expect(await other.head()).toMatchObject({ seq: 5, ordinal: 4, first: 'm1' })
    })

    test('takes no delete back: what was deleted stays so, and empty', async (scope) => {
      await scope.commit([append('op-1', ['m1', 'm2'])], decide)
      const deletes = ['entry:m1', 'register:key'] as const
      await scope.commit(
        deletes.map((name) => remove(`delete ${name}`, name)),
        decide,
      )
      const rebase = { to: { seq: 1, ordinal: 2, first: 'm1' }, registers: ['key'], slots: [] }
      await scope.commit([], replicating(decide, { state: '', rebase }))
      expect(await scope.commit([put('op-2', 'key', null)], decide)).toEqual([
        { status: 'rejected', reason: 'deleted' },
      ])
      expect((await scope.entries()).rows.map(({ body }) => body)).toEqual([null, bodyOf('m2')])
      expect([...(await stateOf(scope, deletes)).deleted]).toEqual(deletes)
    })

    test('lets an op be accepted that was refused before', async (scope, store) => {
      const op = put('op-1', 'key', 'what a home knows')
      const conflict = { status: 'conflict', version: null }
      expect(await scope.commit([op], decide)).toEqual([conflict])
      await scope.commit([op], (given, rows) => {
        const known = { key: 'key', version: 'what a home knows', seq: 0, body: null }
        return decide(given, { ...rows, results: new Map(), registers: new Map([['key', known]]) })
      })
      for (const handle of [scope, store.open(SCOPE)])
        expect(await handle.commit([op], decide)).toEqual([{ ...accepted(1), repeated: true }])
      const rebase = { to: { seq: 0, ordinal: 0 }, registers: ['key'], slots: [] }
      await scope.commit([], replicating(decide, { state: '', rebase }))
      for (const handle of [scope, store.open(SCOPE)])
        expect(await handle.commit([op], decide)).toEqual([{ ...conflict, repeated: true }])
    })
  })
}

function row(order: number, value = `value ${order}`): OutboxRow {
  return { order, value }
}

async function all(scope: ScopeStore): Promise<OutboxRow[]> {
  const rows: OutboxRow[] = []
  for (;;) {
    const page = (await scope.outbox?.(rows.at(-1)?.order ?? 0)) ?? []
    if (page.length === 0) return rows
    rows.push(...page)
  }
}

const KEYS = ['k1', 'k2', 'k3']
const GROUPS = ['', 'g']
/** All entries that any step may write. */
const ENTRIES = ['a', 'b', 'c'].flatMap((part) => [0, 1, 2, 3].map((at) => `${part}${at}`))
const ALL: readonly Name[] = [
  ...KEYS.map((key): Name => `register:${key}`),
  ...ENTRIES.map((id): Name => `entry:${id}`),
]

interface Step {
  readonly kind: 'append' | 'long' | 'epoch' | 'summary' | 'put' | 'remove'
  readonly key: string
  readonly order: string
  readonly source: Name
  /** Of a message: in a round of its own, or in the first one. */
  readonly opens: boolean
}

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    kind: fc.constantFrom('append', 'append', 'long', 'epoch', 'summary', 'put', 'put', 'remove'),
    key: fc.constantFrom(...KEYS),
    order: fc.constantFrom('1', '2', '3'),
    source: fc.constantFrom(...ALL),
    opens: fc.boolean(),
  }),
  { maxLength: 4 },
)

/** Plays steps on scopes that are alike. @returns the ops */
async function play(scopes: readonly ScopeStore[], part: string, all: readonly Step[]): Promise<SealedOp[]> {
  const ops: SealedOp[] = []
  for (const [at, step] of all.entries()) {
    const op = await opOf(scopes[0] as ScopeStore, `${part}${at}`, step)
    ops.push(op)
    for (const scope of scopes) await scope.commit([op], decide)
  }
  return ops
}

async function opOf(
  scope: ScopeStore,
  id: string,
  { kind, key, order, source, opens }: Step,
): Promise<SealedOp> {
  const { marks, first } = await scope.head()
  switch (kind) {
    case 'append':
    case 'long': {
      const round = opens ? id : (first ?? id)
      return append(`op-${id}`, [id], {
        round,
        derived: [`of ${id}`],
        ...(kind === 'long' && { bodies: [id.repeat(80_000)] }),
      })
    }
    case 'epoch':
    case 'summary': {
      const base = marks.get(`${kind}/lane`)?.id ?? null
      return mark(`op-${id}`, kind, id, { base, sources: [source] })
    }
    case 'put': {
      const base = (await scope.register(key))?.version ?? null
      const index = [
        { group: 'g', order },
        { group: '', order: id, weight: 2 },
      ]
      return put(`op-${id}`, key, base, { sources: [source], index, body: `${key} by ${id}` })
    }
    default:
      return remove(`op-${id}`, source)
  }
}

/** All that is read from a scope, but for its past: that it was rebased, and had an index. */
async function everything(scope: ScopeStore): Promise<unknown> {
  const { rebased: _, indexed: __, ...head } = await scope.head()
  return {
    head,
    log: await readLog(scope),
    newest: await scope.entries({ last: 3 }),
    marks: await scope.entries({ kinds: ['epoch', 'summary'] }),
    after: await Promise.all(ENTRIES.map((after) => scope.entries({ after, first: 2 }))),
    since: await scope.changesSince(2).then(({ rows }) => rows),
    registers: await scope.registers(''),
    tombstones: await Promise.all(KEYS.map((key) => scope.register(key))),
    indexed: await Promise.all(GROUPS.map((group) => scope.indexed(group))),
    sums: await scope.sums(GROUPS),
  }
}

/** What commits read of all names and ops of a scope. */
async function asked(scope: ScopeStore): Promise<unknown> {
  const deletes = ALL.map((target, at) => ({
    opId: `op-${ENTRIES[at] ?? `?${at}`}`,
    kind: 'delete' as const,
    ids: [],
    target,
  }))
  const { head, results, entries, registers, deleted, dependents } = await rowsOf(scope, deletes)
  const { rebased: _, indexed: __, ...rest } = head
  return {
    head: rest,
    results: [...results].filter(([, { status }]) => status === 'accepted').sort(),
    entries,
    registers,
    deleted,
    dependents: [...dependents].map(([name, names]) => [name, [...names].sort()]).sort(),
  }
}
