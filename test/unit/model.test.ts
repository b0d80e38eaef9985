import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decide } from '../../src/kernel/log/decide.ts'
import { fold } from '../../src/kernel/log/fold.ts'
import type { Name, SealedOp } from '../../src/ports/op.ts'
import type { LogRow } from '../../src/ports/store.ts'
import { isEntry } from '../../src/ports/store.ts'
import { mapStore } from '../../src/stores/map.ts'
import { Home } from './support/home.ts'
import { Reference, showReference } from './support/reference.ts'
import { runs } from './support/runs.ts'
import { shownIn } from './support/shown.ts'
import { type Act, scripts, secretOf, World } from './support/writers.ts'

function worlds(without: readonly Act[] = []): fc.Arbitrary<World> {
  return fc
    .integer({ min: 2, max: 3 })
    .chain((writers) => scripts(writers, without).map((script) => new World(writers, script)))
}

describe('writers that race and go offline', () => {
  it('leave what a reader of the whole log would expect, op by op', () => {
    fc.assert(
      fc.property(worlds(), (world) => {
        const reference = new Reference()
        for (const { ops, results, after } of world.deliveries) {
          expect(results).toEqual(ops.map((op) => reference.take(op)))
          expect(after.rows).toEqual(reference.rows)
          expect(sorted(after.registers)).toEqual(sorted(reference.registers))
          expect(new Set(after.places)).toEqual(new Set(reference.places))
          expect(after.places).toHaveLength(reference.places.length)
          expect(after.sums).toEqual(reference.sums)
        }
        expect(new Set(world.home.deleted)).toEqual(reference.deleted)
      }),
      runs(150),
    )
  })

  it('leave the same rows in one batch, in any batches, and op by op', () => {
    fc.assert(
      fc.property(worlds(), fc.array(fc.integer({ min: 1, max: 9 })), ({ ops, home }, sizes) => {
        for (const batches of [[ops], cut(ops, sizes), ops.map((op) => [op])])
          expect(contentOf(replay(batches))).toEqual(contentOf(home))
      }),
      runs(100),
    )
  })

  it('leave the same rows in the map store', async () => {
    await fc.assert(
      fc.asyncProperty(worlds(), async ({ deliveries, home }) => {
        const scope = mapStore().open({ userId: 'ada' })
        for (const { ops, results } of deliveries) expect(await scope.commit(ops, decide)).toEqual(results)
        expect((await scope.changesSince(0)).rows).toEqual(home.rows)
        expect(await scope.registers('')).toEqual(sorted(home.registers).filter(({ body }) => body !== null))
        for (const row of home.registers) expect(await scope.register(row.key)).toEqual(row)
        for (const group of ['all', 'of/0', 'of/1'])
          expect((await scope.indexed(group)).map(({ key }) => key)).toEqual(
            home.places
              .filter((place) => place.group === group)
              .sort((a, b) => (a.order === b.order ? (a.key < b.key ? -1 : 1) : a.order < b.order ? -1 : 1))
              .map(({ key }) => key),
          )
        expect(await scope.sums(['all', 'of/0', 'of/1'])).toEqual(home.sums)
        expect(await scope.head()).toEqual(home.head)
      }),
      runs(100),
    )
  })

  it('number their ops without gaps, and no row moves or changes but by delete and erase', () => {
    fc.assert(
      fc.property(worlds(), ({ deliveries }) => {
        let before: readonly LogRow[] = []
        let count = 0
        for (const { ops, results, after } of deliveries) {
          const fresh = results.filter((result) => result.status === 'accepted' && !result.repeated)
          expect(fresh.map((result) => result.status === 'accepted' && result.seq)).toEqual(
            fresh.map((_, index) => count + 1 + index),
          )
          count += fresh.length
          expect(after.head.seq).toBe(count)
          const wiped = ops.some((op, index) => op.envelope.kind === 'erase' && !results[index]?.repeated)
          if (!wiped)
            expect(after.rows.slice(0, before.length).map((row) => lasting(row, after.deleted))).toEqual(
              before.map((row) => lasting(row, after.deleted)),
            )
          expect(places(after.rows)).toEqual(places(after.rows).sort(([a, b], [c, d]) => a - c || b - d))
          const messages = after.rows.filter(({ kind }) => kind === 'message')
          expect(messages.map(({ ordinal }) => ordinal)).toEqual(messages.map((_, index) => index + 1))
          before = after.rows
        }
      }),
      runs(100),
    )
  })

  it('lose no op: each is in the log, refused with a reason, or erased', () => {
    fc.assert(
      fc.property(worlds(['erase']), ({ made, home, writers }) => {
        const known = new Set([...home.rows, ...home.refused].map(({ opId }) => opId))
        for (const { envelope } of made) expect(known).toContain(envelope.opId)
        const entries = home.rows.filter(isEntry).map(({ id }) => id)
        expect(new Set(entries).size).toBe(entries.length)
        for (const { confirmed } of writers) expect(contentOf(confirmed)).toEqual(contentOf(home))
      }),
      runs(60),
    )
  })

  it('change nothing by sending any of their traffic again', () => {
    fc.assert(
      fc.property(worlds(), fc.array(fc.tuple(fc.nat(), fc.nat(8))), ({ current, home }, again) => {
        const ops = current.flatMap((delivery) => delivery.ops)
        const results = current.flatMap((delivery) => delivery.results)
        const before = contentOf(home)
        for (const [at, length] of [...again, [0, ops.length] as const]) {
          const from = at % Math.max(1, ops.length)
          const part = ops.slice(from, from + length)
          expect(home.commit(part)).toEqual(
            results.slice(from, from + length).map((one) => ({ ...one, repeated: true })),
          )
        }
        expect(contentOf(home)).toEqual(before)
      }),
      runs(60),
    )
  })

  it('apply a mark only where it replaces the one that is current, and change nothing by one that lost', () => {
    fc.assert(
      fc.property(worlds(['erase', 'clash']), ({ home, ops }) => {
        for (const slot of new Set(home.rows.flatMap((row) => slotOf(row) ?? []))) {
          let current: string | null = null
          let chain = 0
          for (const row of home.rows.filter((one) => slotOf(one) === slot)) {
            expect(row.applied).toBe(row.base === current)
            if (row.applied) current = row.id
            expect(row.chain).toBe(row.applied ? ++chain : undefined)
          }
          expect(home.head.marks.get(slot)?.id ?? null).toBe(current)
        }
        const lost = new Set(home.rows.filter(({ applied }) => applied === false).map(({ opId }) => opId))
        const without = replay([ops.filter(({ envelope }) => !lost.has(envelope.opId))])
        expect(marksOf(without)).toEqual(marksOf(home))
        expect(shownIn(fold(without.rows))).toEqual(shownIn(fold(home.rows)))
      }),
      runs(100),
    )
  })

  it('lose no update: each accepted put names the version before it', () => {
    fc.assert(
      fc.property(worlds(['erase']), ({ ops, home }) => {
        const bases = new Map(ops.map(({ envelope }) => [envelope.opId, envelope.base]))
        const versions = new Map<string, string>()
        for (const { kind, id, opId } of home.rows) {
          if (kind !== 'put') continue
          expect(bases.get(opId)).toBe(versions.get(id) ?? null)
          versions.set(id, opId)
        }
        for (const { key, version, body } of home.registers)
          if (body !== null) expect(version).toBe(versions.get(key))
      }),
      runs(60),
    )
  })

  it('find deleted text in no row, whichever came first: the text, what quotes it, or the delete', () => {
    fc.assert(
      fc.property(worlds(['erase']), ({ home, deliveries }) => {
        const bodies = [...home.rows, ...home.registers].flatMap(({ body }) => body ?? []).join()
        for (const { kind, id } of home.rows)
          if (kind === 'delete') expect(bodies).not.toContain(secretOf(id))
        for (const { after } of deliveries)
          for (const row of after.rows)
            if (row.body === null && isEntry(row)) expect(row).not.toHaveProperty('derived')
      }),
      runs(150),
    )
  })

  it('all see what a reader of the whole log would expect', () => {
    fc.assert(
      fc.property(worlds(), ({ deliveries }) => {
        for (const { after } of deliveries)
          expect(shownIn(fold(after.rows))).toEqual(showReference(after.rows))
      }),
      runs(100),
    )
  })

  it('never see their rounds interleave', () => {
    fc.assert(
      fc.property(worlds(), ({ home }) => {
        const { units } = fold(home.rows)
        const rounds = units.map(({ round }) => round)
        const borders = rounds.filter((round, index) => rounds[index - 1] !== round)
        expect(new Set(borders).size).toBe(borders.length)
        const opened = home.rows.filter((row) => row.round === row.id).map(({ id }) => id)
        expect(borders).toEqual(opened.filter((id) => borders.includes(id)))
      }),
      runs(60),
    )
  })
})

/** `[seq, place]` of each row. */
const places = (rows: readonly LogRow[]): [number, number][] => rows.map(({ seq, place }) => [seq, place])

/** What stays in a row for ever, its body too unless it was deleted. */
function lasting(row: LogRow | undefined, deleted: readonly Name[]): object | undefined {
  if (!row || !deleted.includes(`entry:${row.id}`)) return row
  const { body: _, derived: __, ...rest } = row
  return rest
}

function slotOf({ kind, lane }: LogRow): string | undefined {
  return kind === 'epoch' || kind === 'summary' ? `${kind}/${lane}` : undefined
}

/** The current marks, without the seqs. */
function marksOf({ marks }: Home): object[] {
  return marks.map(({ slot, id, chain }) => ({ slot, id, chain })).sort((a, b) => (a.slot < b.slot ? -1 : 1))
}

function contentOf({ rows, registers, places, sums, head: all, refused, deleted }: Home): object {
  // What comes into an index and goes in one batch never stood there.
  const { indexed: _, ...head } = all
  return {
    rows,
    registers: sorted(registers),
    places: new Set(places),
    sums,
    head,
    refused,
    deleted: new Set(deleted),
  }
}

function replay(batches: readonly (readonly SealedOp[])[]): Home {
  const home = new Home(decide)
  for (const batch of batches) home.commit(batch)
  return home
}

/** Cuts a list into pieces of the given sizes, over and over. */
function cut<Value>(values: readonly Value[], sizes: readonly number[]): Value[][] {
  const pieces: Value[][] = []
  for (let at = 0; at < values.length; at += pieces.at(-1)?.length ?? 0)
    pieces.push(values.slice(at, at + (sizes[pieces.length % Math.max(1, sizes.length)] ?? 1)))
  return pieces
}

function sorted<Row extends { readonly key: string }>(rows: readonly Row[]): Row[] {
  return [...rows].sort((a, b) => (a.key < b.key ? -1 : 1))
}
