import fc from 'fast-check'
import { expect, it } from 'vitest'
import { decide } from '../../src/kernel/log/decide.ts'
import type { Name, OpResult, SealedOp } from '../../src/ports/op.ts'
import type { Decision, EntriesQuery, IndexQuery, ScopeStore, Store } from '../../src/ports/store.ts'
import { mapStore } from '../../src/stores/map.ts'
import { rebasing, stateOf } from '../contract/rebases.ts'
import { append, erase, mark, put, remove, SCOPE, TEXTS } from '../contract/samples.ts'
import { codePoint } from './code-point.ts'
import { limit, runs } from './runs.ts'

/** Few names, so that ops meet; some that engines are known to mix up. */
const NAMES = ['a', 'b', 'c', 'A', 'a ', 'a\u0000', 'é', 'e\u0301', '\uff5e', '\u{1f44d}', '__proto__']
const LANES = ['lane', 'a/b']
const GROUPS = ['', 'a', 'a/b', 'a\u0000', '\uff5e', '\u{1f44d}']
const PREFIXES = ['', 'a', 'b', '\ud83d']

const name = fc.constantFrom(...NAMES)
const opId = fc.oneof(
  { weight: 4, arbitrary: fc.uuid() },
  { weight: 1, arbitrary: name },
  { weight: 2, arbitrary: name.map((id) => `entry:${id}`) },
)
const target = fc
  .tuple(fc.constantFrom('entry' as const, 'register' as const, 'attachment' as const), name)
  .map(([space, id]): Name => `${space}:${id}`)
const base = fc.option(name, { nil: null })
const sources = fc.option(fc.array(target, { maxLength: 3 }), { nil: undefined })
const text = fc.oneof(
  fc.string({ unit: codePoint, maxLength: 40 }),
  fc.constantFrom(...Object.values(TEXTS).filter(({ length }) => length < 1_000)),
)

const appends = fc
  .record({
    opId,
    ids: fc.array(name, { minLength: 1, maxLength: 3 }),
    round: fc.option(name, { nil: undefined }),
    text,
    derived: fc.option(text, { nil: undefined }),
    contexts: fc.option(fc.array(fc.record({ hash: fc.uuid(), seq: fc.nat(20) }), { maxLength: 2 }), {
      nil: undefined,
    }),
    isWhole: fc.boolean(),
  })
  .map(({ opId, ids: all, round, text, derived, contexts, isWhole }) => {
    const ids = isWhole ? all.slice(0, 1) : all
    return append(isWhole ? `entry:${ids[0]}` : opId, ids, {
      ...(round !== undefined && { round }),
      bodies: ids.map((id) => text + id),
      derived: ids.map(() => derived),
      ...(contexts && { contexts }),
    })
  })
const marks = fc
  .record({
    opId,
    id: name,
    base,
    sources,
    type: fc.constantFrom('epoch', 'summary', 'rewind', 'lease'),
    lane: fc.constantFrom(...LANES),
  })
  .map(({ opId, id, type, sources, ...rest }) =>
    mark(opId, type, id, { ...rest, ...(sources && { sources }) }),
  )
const index = fc.option(
  fc.array(
    fc.record(
      { group: fc.constantFrom(...GROUPS), order: name, weight: fc.integer({ min: -3, max: 3 }) },
      { requiredKeys: ['group'], noNullPrototype: true },
    ),
    { maxLength: 4 },
  ),
  { nil: undefined },
)
const puts = fc
  .record({ opId, key: name, base, sources, index, body: text })
  .map(({ opId, key, base, sources, index, body }) =>
    put(opId, key, base, { body, ...(sources && { sources }), ...(index && { index }) }),
  )
const removes = fc.record({ opId, target }).map(({ opId, target }) => remove(opId, target))
const erases = opId.map(erase)

const op: fc.Arbitrary<SealedOp> = fc.oneof(
  { weight: 8, arbitrary: appends },
  { weight: 4, arbitrary: marks },
  { weight: 4, arbitrary: puts },
  { weight: 3, arbitrary: removes },
  { weight: 1, arbitrary: erases },
)
/** Ops to write, and how many that were accepted are taken back before. */
const steps = fc.array(
  fc.record({
    ops: fc.array(op, { minLength: 1, maxLength: 4 }),
    back: fc.oneof(
      { weight: 5, arbitrary: fc.constant(0) },
      { weight: 1, arbitrary: fc.integer({ min: 1, max: 6 }) },
    ),
  }),
  { maxLength: 12 },
)

const ALL = (['entry', 'register', 'attachment'] as const).flatMap((space) =>
  NAMES.map((id): Name => `${space}:${id}`),
)

const QUERIES: readonly EntriesQuery[] = [
  {},
  { last: 2 },
  { first: 3 },
  { kinds: ['message'], last: 3 },
  { kinds: ['epoch', 'rewind'] },
  { kinds: ['summary'], first: 1 },
  ...NAMES.flatMap((id) => [
    { from: id, first: 2 },
    { after: id, first: 2 },
    { to: id, last: 2 },
    { from: id, to: 'b' },
  ]),
]

const PLACES: readonly IndexQuery[] = [
  {},
  { first: 2 },
  { to: 'b' },
  { after: { order: 'a', key: 'b' } },
  { after: { order: '\uff5e', key: '' }, first: 1 },
  { after: { order: 'A', key: '\u{1f44d}' }, to: '\uff5e' },
]

/** Every answer that a scope gives, each one as it is. */
async function answers(scope: ScopeStore): Promise<readonly unknown[]> {
  const { marks, ...head } = await scope.head()
  const slots = [...marks].sort(([one], [other]) => (one < other ? -1 : 1))
  const given: unknown[] = [head, slots]
  for (let seq = 0; seq <= head.seq; seq += 1 + (seq >> 2)) {
    const { rows, more } = await scope.changesSince(seq)
    given.push(rows, more)
  }
  for (const query of QUERIES) given.push(await scope.entries(query))
  for (const key of NAMES) given.push(await scope.register(key))
  for (const prefix of PREFIXES)
    for (const after of [undefined, 'a', '\uff5e']) given.push(await scope.registers(prefix, after))
  for (const group of GROUPS) for (const query of PLACES) given.push(await scope.indexed(group, query))
  given.push([...(await scope.sums(GROUPS))].sort(([one], [other]) => (one < other ? -1 : 1)))
  return given
}

/** What made a scope: ops that were accepted, and names that deletes left which are no more. */
type Past = (SealedOp | readonly Name[])[]

/**
 * Takes back the last few ops that were accepted, but none that is erased, and writes others in
 * their place.
 *
 * @param past becomes what it is then
 */
async function rebase(
  [scope, reference]: readonly [ScopeStore, ScopeStore],
  past: Past,
  back: number,
  ops: readonly SealedOp[],
): Promise<void> {
  const start = past.findLastIndex((one) => 'envelope' in one && one.envelope.kind === 'erase') + 1
  past.splice(Math.max(start, past.length - back))
  const from = await stateOf(reference, ALL)
  const after = mapStore().open(SCOPE)
  for (const one of past) await playAgain(after, one)
  const { seq } = await after.head()
  past.push([...from.deleted])
  await playAgain(after, [...from.deleted])
  const others = ops.filter(({ envelope }) => envelope.kind !== 'erase')
  const wrote: Decision[] = []
  const results = await after.commit(others, (given, rows) => {
    wrote.push(decide(given, rows))
    return wrote[0] as Decision
  })
  const given = [...past.slice(start).flatMap((one) => ('envelope' in one ? one : [])), ...others]
  const decided = rebasing(from, await stateOf(after, ALL), seq, wrote)
  for (const one of [scope, reference]) await one.commit(given, decided)
  past.push(...others.filter((_, at) => isNew(results[at])))
}

async function playAgain(scope: ScopeStore, one: Past[number]): Promise<void> {
  if ('envelope' in one) await scope.commit([one], decide)
  else await scope.commit([], (_, rows) => ({ ...decide([], rows), emptied: one }))
}

function isNew(result: OpResult | undefined): boolean {
  return result?.status === 'accepted' && !result.repeated
}

/**
 * The same random ops on a store and on the map store: the same results, and after each commit the
 * same answers, to the writer and, where `again` opens the same data, to somebody who has not read
 * anything yet. A store that can be the replica of a home also takes ops back, which is seen by who
 * knew them.
 */
export function describeDifferential(
  storeName: string,
  open: () => Store,
  { again, runs: count = 100 }: { readonly again?: (store: Store) => Store; readonly runs?: number } = {},
): void {
  it(`the ${storeName} store answers as the map store does, whatever is written`, {
    timeout: limit(120_000),
  }, async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const store = open()
        const [scope, reference] = [store.open(SCOPE), mapStore().open(SCOPE)]
        const past: Past = []
        let other: ScopeStore | undefined
        for (const { ops, back } of all) {
          const rebases = back > 0 && past.length > 0 && scope.outbox !== undefined
          if (rebases) {
            other ??= (again?.(store) ?? store).open(SCOPE)
            expect(await answers(other)).toStrictEqual(await answers(reference))
            await rebase([scope, reference], past, back, ops)
            expect(await answers(other)).toStrictEqual(await answers(reference))
          } else {
            const results = await scope.commit(ops, decide)
            expect(results).toStrictEqual(await reference.commit(ops, decide))
            past.push(...ops.filter((_, at) => isNew(results[at])))
          }
          expect(await answers(scope)).toStrictEqual(await answers(reference))
        }
        if (again) expect(await answers(again(store).open(SCOPE))).toStrictEqual(await answers(reference))
      }),
      runs(count),
    )
  })
}
