import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { heldScope } from '../../../src/edge/objects/held-scope.ts'
import { UserReplica } from '../../../src/edge/replica/user-replica.ts'
import { decide } from '../../../src/kernel/log/decide.ts'
import { allOrNone, look, once } from '../../../src/kernel/log/once.ts'
import type { IndexEntry, Name, Scope, SealedOp } from '../../../src/ports/op.ts'
import type { Reads, RegisterRow, ScopeStore, Store } from '../../../src/ports/store.ts'
import { mapStore } from '../../../src/stores/map.ts'
import { erase, put, remove } from '../../contract/samples.ts'
import { changedStore } from '../../everywhere/changed-store.ts'
import { limit, runs } from '../support/runs.ts'
import { type Fault, lost, Namespace, platformError, waitingHost } from './namespace.ts'

const USER: Scope = { tenant: 'acme', userId: 'ada' }
const SESSIONS = ['trip', 'work']
const KEYS = ['fact/a', 'fact/b', 'fact/c', 'fact/d', 'profile/x', 'settings', 'skill/s', 'skill-text/s', '']
const LISTED = ['session/trip', 'session/work', 'session/none']
const GROUPS = ['fact', 'fact/near', '']

/** A step of a play; names are fractions of what may be named. */
type Step =
  | { readonly type: 'home' | 'replica'; readonly ops: readonly SealedOp[]; readonly rule: number }
  | { readonly type: 'refresh' | 'poke' | 'settle' | 'reopen' }
  | { readonly type: 'miss'; readonly key: string }
  | { readonly type: 'fault'; readonly fault: Fault }
  /** The replica's own store fails, before or after it wrote. */
  | { readonly type: 'local'; readonly when: 'before' | 'after' }

const RULES = [decide, allOrNone, once, look]

const key = fc.constantFrom(...KEYS, ...LISTED)
const index: fc.Arbitrary<IndexEntry[]> = fc.array(
  fc
    .record({
      group: fc.constantFrom(...GROUPS),
      order: fc.option(fc.constantFrom('1', '2', '3'), { nil: undefined }),
      weight: fc.option(fc.integer({ min: -2, max: 3 }), { nil: undefined }),
    })
    .map(({ group, order, weight }) => ({
      group,
      ...(order !== undefined && { order }),
      ...(weight !== undefined && { weight }),
    })),
  { maxLength: 3 },
)
const target = fc.oneof(
  key.map((key): Name => `register:${key}`),
  fc.constantFrom<Name>('entry:m1', 'entry:m2'),
)
const puts = fc
  .record({
    opId: fc.uuid(),
    key,
    sources: fc.option(fc.array(target, { maxLength: 2 }), {
      nil: undefined,
    }),
    index,
  })
  .map(({ opId, key, sources, index }) =>
    // Where a session is listed, it stands in no index.
    put(opId, key, null, {
      ...(sources && { sources }),
      ...(!LISTED.includes(key) && index.length > 0 && { index }),
    }),
  )
const op: fc.Arbitrary<SealedOp> = fc.oneof(
  { weight: 12, arbitrary: puts },
  {
    weight: 3,
    arbitrary: fc.tuple(fc.uuid(), target).map(([opId, target]) => remove(opId, target)),
  },
  { weight: 1, arbitrary: fc.uuid().map(erase) },
)
const ops = fc.array(op, { minLength: 1, maxLength: 4 })
const rule = fc.nat(RULES.length - 1)
const fault: fc.Arbitrary<Fault> = fc.record({
  when: fc.constantFrom('before' as const, 'after' as const),
  error: fc.constantFrom(
    lost(),
    platformError('overloaded', { overloaded: true }),
    platformError('thrown', { remote: true }),
    new Error('broken'),
  ),
})
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ type: fc.constant('home' as const), ops, rule: fc.constant(0) }) },
  { weight: 6, arbitrary: fc.record({ type: fc.constant('replica' as const), ops, rule }) },
  { weight: 3, arbitrary: fc.constant({ type: 'refresh' } as const) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('miss' as const), key }) },
  { weight: 1, arbitrary: fc.constant({ type: 'poke' } as const) },
  { weight: 2, arbitrary: fc.constant({ type: 'settle' } as const) },
  { weight: 1, arbitrary: fc.constant({ type: 'reopen' } as const) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('fault' as const), fault }) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('local' as const),
      when: fc.constantFrom('before' as const, 'after' as const),
    }),
  },
)

/** Every answer of a scope that a replica gives too. */
async function answers(scope: Pick<Reads, 'register' | 'registers' | 'indexed' | 'sums'>): Promise<unknown> {
  const keys = [...KEYS, 'session/trip', 'never']
  const registers: unknown[] = []
  for (const key of keys) registers.push((await scope.register(key)) ?? null)
  const lists: unknown[] = []
  for (const prefix of ['fact/', 'skill', 'profile/', 'settings', 'x'])
    for (const after of [undefined, 'fact/b', 'skill/s']) lists.push(await all(scope, prefix, after))
  for (const group of GROUPS) {
    lists.push(await scope.indexed(group))
    lists.push(await scope.indexed(group, { first: 1, after: { order: '1', key: 'fact/b' }, to: '3' }))
  }
  return { registers, lists, sums: [...(await scope.sums(GROUPS))].sort() }
}

/** Of a store with short pages, all of them. */
async function all(scope: Pick<Reads, 'registers'>, prefix: string, after?: string): Promise<RegisterRow[]> {
  const rows: RegisterRow[] = []
  for (let last = after; ; last = rows.at(-1)?.key) {
    const page = await scope.registers(prefix, last)
    rows.push(...page)
    if (page.length === 0) return rows
  }
}

/** A store that gives so few rows at once that little makes many pages. */
function shortPages(store: Store, first: number): Store {
  return changedStore(store, (inner) => ({
    registers: async (prefix, after) => (await inner.registers(prefix, after)).slice(0, first),
    changesSince: async (seq) => {
      const page = await inner.changesSince(seq)
      const seqs = [...new Set(page.rows.map(({ seq }) => seq))].slice(0, first)
      const rows = page.rows.filter(({ seq }) => seqs.includes(seq))
      return { rows, head: page.head, more: page.more || rows.length < page.rows.length }
    },
  }))
}

/** Puts that name the version that is there, so that most of them are accepted. */
async function based(scope: ScopeStore, given: readonly SealedOp[]): Promise<readonly SealedOp[]> {
  const versions = new Map<string, string | null>()
  const ops: SealedOp[] = []
  for (const { envelope, bodies } of given) {
    const { key, opId } = envelope
    if (key === undefined) {
      ops.push({ envelope, bodies })
      continue
    }
    const base = versions.get(key) ?? (await scope.register(key))?.version ?? null
    versions.set(key, opId)
    ops.push({ envelope: { ...envelope, base }, bodies })
  }
  return ops
}

class Play {
  readonly home: ScopeStore
  readonly namespace: Namespace
  readonly #store: Store
  readonly #locals = SESSIONS.map(() => mapStore())
  readonly #fails: ('before' | 'after' | undefined)[] = []
  readonly #waiting = waitingHost()
  readonly replicas: UserReplica[]

  constructor(pages: number) {
    this.#store = shortPages(mapStore(), pages)
    this.home = this.#store.open(USER)
    this.namespace = new Namespace(this.#store)
    this.replicas = SESSIONS.map((_, index) => this.#open(index))
  }

  local(index: number): ScopeStore {
    return (this.#locals[index] as Store).open(USER)
  }

  async take(step: Step, index: number): Promise<void> {
    const replica = this.replicas[index] as UserReplica
    switch (step.type) {
      case 'home':
        await this.home.commit(await based(this.home, step.ops), decide)
        return
      case 'replica':
        await based(replica, step.ops)
          .then((ops) => replica.commit(ops, RULES[step.rule] ?? decide))
          .catch(() => {})
        return
      case 'refresh':
        await replica.refresh({ olderThan: 0 })
        return
      case 'miss':
        await replica.register(step.key).catch(() => {})
        return
      case 'poke':
        replica.poke()
        return
      case 'reopen':
        this.replicas[index] = this.#open(index)
        return
      case 'fault':
        this.namespace.faults.push(step.fault)
        return
      case 'local':
        this.#fails[index] = step.when
        return
      case 'settle':
    }
  }

  /** No more faults. */
  calm(): void {
    this.namespace.faults = []
    this.#fails.length = 0
  }

  #open(index: number): UserReplica {
    const local = changedStore(this.#locals[index] as Store, (inner) => ({
      commit: async (ops, decide) => {
        const fails = this.#fails[index]
        this.#fails[index] = undefined
        if (fails === 'before') throw new Error('nothing was written')
        const results = await inner.commit(ops, decide)
        if (fails === 'after') throw new Error('nobody heard of it')
        return results
      },
    })).open(USER)
    // What was opened before is gone with its process.
    const check = (): void => {
      if (this.replicas[index] !== replica) throw new Error('the process ended')
    }
    const replica = new UserReplica({
      local: heldScope(local, check),
      scope: USER,
      sessionId: SESSIONS[index] ?? '',
      stub: () => this.namespace.get(),
      host: this.#waiting.host,
    })
    return replica
  }
}

describe('a replica of a user’s scope', () => {
  it(
    'answers as its home does once it is refreshed, whatever was written, deleted, erased and lost',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.tuple(step, fc.nat(1)), { maxLength: 40, size: 'max' }),
          fc.constantFrom(1, 2, 5, 512),
          fc.array(fc.nat(60), { maxLength: 80, size: 'max' }),
          async (steps, pages, turns) => {
            const play = new Play(pages)
            play.namespace.turns = [...turns]
            // Steps up to the next that settles go on at the same time.
            let running: Promise<void>[] = []
            for (const [step, index] of steps) {
              running.push(play.take(step, index))
              if (step.type === 'settle') {
                await Promise.all(running)
                running = []
              }
            }
            await Promise.all(running)
            play.calm()
            for (const [index, replica] of play.replicas.entries()) {
              replica.poke()
              expect(await replica.refresh()).toBeUndefined()
              expect((await replica.head()).seq).toBe((await play.home.head()).seq)
              if (index === 0) expect(await answers(replica)).toEqual(await answers(play.home))
              expect(await play.local(index).register(LISTED[1 - index] ?? '')).toBeUndefined()
              expect(await replica.registers('session/')).toEqual(await play.home.registers('session/'))
              expect(await replica.register('session/none')).toEqual(await play.home.register('session/none'))
            }
          },
        ),
        runs(400),
      )
    },
    limit(60_000),
  )

  it(
    'is at every moment what its home was at one, as one whole',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { maxLength: 40, size: 'max' }),
          fc.constantFrom(1, 2, 5, 512),
          async (steps, pages) => {
            const play = new Play(pages)
            const states = new Map<number, unknown>([[0, await known(play.home, true)]])
            const commit: ScopeStore['commit'] = (ops, rule) => play.home.commit(ops, rule)
            for (const step of steps) {
              if (step.type === 'home')
                // One by one, so that all states are known.
                for (const op of await based(play.home, step.ops)) {
                  await commit([op], decide)
                  states.set((await play.home.head()).seq, await known(play.home, true))
                }
              else await play.take(step, 0)
              const { seq } = await play.home.head()
              if (!states.has(seq)) states.set(seq, await known(play.home, true))
              const at = (await play.local(0).head()).seq
              const marker = (await play.local(0).changesSince(at - 1)).rows.at(-1)
              const isWhole = marker?.id !== 'replica/part'
              const state = states.get(at)
              expect(await known(play.local(0), isWhole)).toEqual(
                isWhole ? state : await withoutDeleted(state as Known, play.local(0)),
              )
            }
          },
        ),
        runs(300),
      )
    },
    limit(60_000),
  )

  it(
    'reads its own writes, so that every conflict is settled by reading again',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.tuple(fc.constantFrom('fact/a', 'fact/b'), fc.nat(2)), { minLength: 1, maxLength: 30 }),
          fc.constantFrom(1, 512),
          fc.array(fc.nat(60), { maxLength: 80, size: 'max' }),
          async (writes, pages, turns) => {
            const play = new Play(pages)
            play.namespace.turns = [...turns]
            let names = 0
            const write = async (scope: ScopeStore, key: string): Promise<void> => {
              for (let attempt = 0; ; attempt++) {
                expect(attempt).toBeLessThan(writes.length + 1)
                const row = await scope.register(key)
                const body = `${row?.body ?? ''}.`
                const op = put(`op-${names++}`, key, row?.version ?? null, { body })
                const [result] = await scope.commit([op], allOrNone)
                if (result?.status === 'accepted') {
                  expect((await scope.register(key))?.seq).toBeGreaterThanOrEqual(result.seq)
                  return
                }
              }
            }
            const scopes = [play.home, ...play.replicas]
            await Promise.all(writes.map(([key, index]) => write(scopes[index] as ScopeStore, key)))
            for (const key of ['fact/a', 'fact/b']) {
              const count = writes.filter(([one]) => one === key).length
              expect((await play.home.register(key))?.body ?? '').toBe('.'.repeat(count))
            }
          },
        ),
        runs(100),
      )
    },
    limit(60_000),
  )
})

interface Known {
  readonly registers: readonly (RegisterRow | null)[]
}

async function known(scope: Reads, isWhole: boolean): Promise<Known> {
  const registers: (RegisterRow | null)[] = []
  for (const key of [...KEYS, 'session/trip']) registers.push((await scope.register(key)) ?? null)
  const lists: unknown[] = []
  for (const prefix of ['fact/', 'skill']) lists.push(await all(scope, prefix))
  for (const group of GROUPS) lists.push(await scope.indexed(group))
  const sums = [...(await scope.sums(GROUPS))].sort()
  return { registers, ...{ lists, sums, isWhole } }
}

/** The same, but for what was deleted and is not known here. */
async function withoutDeleted(state: Known, local: Reads): Promise<Known> {
  const registers = await Promise.all(
    state.registers.map(async (row) =>
      row?.body === null ? ((await local.register(row.key)) ?? null) : row,
    ),
  )
  return { ...state, registers, ...{ isWhole: false } }
}
