import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { copyScope } from '../../../src/edge/replica/copy-scope.ts'
import { moveScope } from '../../../src/edge/replica/move-scope.ts'
import { remoteScope } from '../../../src/edge/replica/remote-scope.ts'
import { isPlimsollError, mapStore } from '../../../src/index.ts'
import { decide, nothingWritten } from '../../../src/kernel/log/decide.ts'
import type { Name, SealedOp } from '../../../src/ports/op.ts'
import type { LogRow, RegisterRow, Rows, ScopeStore, Store } from '../../../src/ports/store.ts'
import { type FullSession, fullMemory } from '../../contract/full-memory.ts'
import { append, erase, mark, put, readAll, remove, SCOPE } from '../../contract/samples.ts'
import { changedStore } from '../../everywhere/changed-store.ts'
import { FailingStore, type Failure } from '../support/failing-store.ts'
import { histories } from '../support/histories.ts'
import { Household, happenings } from '../support/household.ts'
import { limit, runs } from '../support/runs.ts'
import { Scene, TOOLS } from '../support/scene.ts'
import { sealingStore } from '../support/sealing-store.ts'
import { lost, Namespace, waitingHost } from './namespace.ts'

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f']
const GROUPS = ['g', 'h']
const TARGET = { tenant: 'acme', userId: 'bob', sessionId: 'trip' }
const options = { now: () => 1 }

const name = fc.constantFrom(...NAMES)
const base = fc.option(name, { nil: null })
const source = fc
  .tuple(fc.constantFrom('entry' as const, 'register' as const), name)
  .map(([space, id]): Name => `${space}:${id}`)
const sources = fc.array(source, { maxLength: 2 })
const index = fc.array(
  fc.record({ group: fc.constantFrom(...GROUPS), order: name, weight: fc.integer({ min: -2, max: 2 }) }),
  { maxLength: 2 },
)
const op: fc.Arbitrary<SealedOp> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .record({ opId: fc.uuid(), ids: fc.array(name, { minLength: 1, maxLength: 3 }), ref: name })
      .map(({ opId, ids, ref }) => {
        const content = [{ type: 'media', mediaType: 'image/png', ref: `ref-${ref}` }]
        const { envelope, bodies } = append(opId, ids, {
          bodies: ids.map(() => JSON.stringify({ role: 'user', content, createdAt: 0, trust: 'user' })),
          derived: ids.map((id) => `derived ${id}`),
        })
        return {
          envelope: { ...envelope, attachments: [`ref-${ref}`] },
          bodies,
          derived: ids.map((id) => id),
        }
      }),
  },
  {
    weight: 5,
    arbitrary: fc
      .record({
        opId: fc.uuid(),
        type: fc.constantFrom('epoch' as const, 'summary' as const, 'rewind' as const),
        id: name,
        base,
        sources,
        lane: fc.constantFrom('one', 'two'),
      })
      .map(({ opId, type, id, ...rest }) => mark(opId, type, id, rest)),
  },
  {
    weight: 6,
    arbitrary: fc
      .record({ opId: fc.uuid(), key: name, base: fc.constant(null), sources, index })
      .map(({ opId, key, base, ...rest }) => put(opId, key, base, rest)),
  },
  { weight: 3, arbitrary: fc.tuple(fc.uuid(), name).map(([opId, id]) => remove(opId, `entry:${id}`)) },
  { weight: 2, arbitrary: fc.tuple(fc.uuid(), name).map(([opId, key]) => remove(opId, `register:${key}`)) },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.uuid(), name).map(([opId, ref]) => remove(opId, `attachment:ref-${ref}`)),
  },
  { weight: 1, arbitrary: fc.uuid().map(erase) },
)
const batches = fc.array(fc.array(op, { minLength: 1, maxLength: 3 }), { maxLength: 20, size: 'max' })

/** All that a scope holds, and all that its commits would go by. */
async function everything(scope: ScopeStore): Promise<unknown> {
  const { head, ...all } = (await readAll(scope)) as { head: Awaited<ReturnType<ScopeStore['head']>> }
  const { indexed: _, marks, ...rest } = head
  const lists: unknown[] = []
  for (const group of GROUPS) lists.push(await scope.indexed(group))
  // Those that messages name; others are not told of.
  const attached = NAMES.map((ref) => `ref-${ref}`).filter((ref) =>
    JSON.stringify(all).includes(`\\"${ref}\\"`),
  )
  const attachments = await Promise.all(attached.map((ref) => scope.attachment(ref)))
  let rows: Rows | undefined
  const names = [...NAMES, ...NAMES.map((ref) => `ref-${ref}`)]
  const probes = names.flatMap((id) => [
    put(`probe-${id}`, id, null),
    remove(`probe/${id}`, `entry:${id}`),
    remove(`probe//${id}`, `attachment:${id}`),
  ])
  await scope.commit([...probes, append('probe', names)], (_, read) => {
    rows = read
    return nothingWritten([])
  })
  const { head: __, emptiedAt: ___, dependents, ...decided } = rows as Rows
  return {
    ...all,
    head: { ...rest, marks: [...marks].sort() },
    lists,
    attachments,
    sums: [...(await scope.sums(GROUPS))].sort(),
    decided: Object.entries(decided).map(([name, map]) => [
      name,
      [...map].map((one) => JSON.stringify(one)).sort(),
    ]),
    dependents: [...dependents].map(([one, others]) => JSON.stringify([one, [...others].sort()])).sort(),
  }
}

/** A store with pages of so few ops that little makes many of them. */
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

/** A store that cannot decrypt one row, or one register. */
function unreadableAt(store: Store, name: string): Store {
  const row = <Row extends LogRow>(one: Row): Row =>
    one.id === name && one.kind === 'message' ? { ...one, body: null, unreadable: true } : one
  const register = (one: RegisterRow): RegisterRow =>
    one.key === name ? { ...one, body: null, unreadable: true } : one
  return changedStore(store, (inner) => ({
    changesSince: async (seq) => {
      const page = await inner.changesSince(seq)
      return { ...page, rows: page.rows.map(row) }
    },
    registers: async (...query) => (await inner.registers(...query)).map(register),
    register: async (key) => {
      const one = await inner.register(key)
      return one && register(one)
    },
  }))
}

async function write(scope: ScopeStore, ops: readonly SealedOp[]): Promise<void> {
  for (const { envelope } of ops)
    for (const id of envelope.attachments ?? [])
      await scope.attach({ id, mediaType: 'image/png', bytes: new TextEncoder().encode(id) }, 1)
  const based: SealedOp[] = []
  for (const { envelope, ...rest } of ops) {
    const { key } = envelope
    const base = key === undefined ? envelope.base : ((await scope.register(key))?.version ?? null)
    based.push({ ...rest, envelope: { ...envelope, ...(base !== undefined && { base }) } })
  }
  await scope.commit(based, decide)
}

const failure: fc.Arbitrary<Failure> = fc.record({
  at: fc.integer({ min: 1, max: 60 }),
  when: fc.constantFrom('before' as const, 'after' as const),
  isEnd: fc.boolean(),
})

describe('a copy of a scope', () => {
  it('is the source in all that can be read and decided, however often it was cut off', {
    timeout: limit(60_000),
  }, async () => {
    await fc.assert(
      fc.asyncProperty(
        batches,
        fc.array(failure, { maxLength: 3 }),
        fc.constantFrom(1, 3, 512),
        async (all, failures, pages) => {
          const [source, target] = [mapStore(), mapStore()]
          const [from, to] = [shortPages(source, pages).open(SCOPE), target.open(TARGET)]
          for (const ops of all) await write(source.open(SCOPE), ops)
          for (const one of failures) {
            const cut = new FailingStore(target, one).store.open(TARGET)
            await copyScope(from, cut, options).catch((error: Error) => {
              expect(error.message).toMatch(/^(call \d+ never arrived|nobody heard of call \d+)$/)
            })
          }
          const { seq } = await copyScope(from, to, options)
          expect(seq).toBe((await from.head()).seq)
          expect(await everything(to)).toEqual(await everything(source.open(SCOPE)))
          const before = await everything(to)
          await copyScope(from, to, options)
          expect(await everything(to)).toEqual(before)
          expect(await target.oldestUnused()).toBeUndefined()
        },
      ),
      runs(300),
    )
  })

  it('writes what a store in between made of the bodies, which seals them', {
    timeout: limit(60_000),
  }, async () => {
    await fc.assert(
      fc.asyncProperty(batches, fc.constantFrom(1, 512), async (all, pages) => {
        const [source, target] = [sealingStore(mapStore()), sealingStore(mapStore())]
        for (const ops of all) await write(source.open(SCOPE), ops)
        const to = target.open(TARGET)
        await copyScope(shortPages(source, pages).open(SCOPE), to, options)
        expect(await everything(to)).toEqual(await everything(source.open(SCOPE)))
      }),
      runs(100),
    )
  })

  it('has what the source wrote while it was copied, deletes of what had been copied included', {
    timeout: limit(60_000),
  }, async () => {
    await fc.assert(
      fc.asyncProperty(
        batches,
        fc.array(fc.tuple(fc.integer({ min: 1, max: 30 }), fc.array(op, { minLength: 1, maxLength: 3 })), {
          maxLength: 4,
        }),
        fc.constantFrom(1, 3, 512),
        async (all, late, pages) => {
          const source = mapStore()
          const store = shortPages(source, pages)
          const home = source.open(SCOPE)
          for (const ops of all) await write(home, ops)
          let calls = 0
          const writing = changedStore(store, (inner) => {
            const then =
              <Args extends unknown[], Result>(call: (...args: Args) => Promise<Result>) =>
              async (...args: Args): Promise<Result> => {
                const result = await call.apply(inner, args)
                calls++
                for (const [at, ops] of late) if (at === calls) await write(home, ops.map(withoutAttachments))
                return result
              }
            return {
              changesSince: then(inner.changesSince),
              registers: then(inner.registers),
              register: then(inner.register),
              head: then(inner.head),
            }
          }).open(SCOPE)
          const to = mapStore().open(TARGET)
          try {
            const { seq } = await copyScope(writing, to, options)
            // Written after the last look.
            if ((await home.head()).seq > seq) await copyScope(store.open(SCOPE), to, options)
          } catch (error) {
            // It was erased in the middle.
            if (!isPlimsollError(error, 'ERR_CONFLICT') || late.every(([, ops]) => !ops.some(isErase)))
              throw error
            return
          }
          expect(await everything(to)).toEqual(await everything(home))
        },
      ),
      runs(300),
    )
  })

  it('gives the same contexts, byte for byte, and goes on as the source would', {
    timeout: limit(60_000),
  }, async () => {
    await fc.assert(
      fc.asyncProperty(histories, fc.integer({ min: 300, max: 3_000 }), async (actions, budget) => {
        const scene = new Scene({ budget })
        await scene.play(actions, async () => {})
        const store = mapStore()
        await copyScope(scene.log, store.open({ userId: 'ada', sessionId: 'trip' }), options)
        const contexts = await Promise.all(
          [scene.store, store].map(async (one) => {
            let ids = 0
            const newId = () => `later-${ids++}`
            const open = () =>
              fullMemory({ store: one, budget, clock: () => 0, newId }).session({
                userId: 'ada',
                sessionId: 'trip',
              })
            const found: unknown[] = [await contextOf(open())]
            for (const content of ['Go on.', 'And then? '.repeat(40)]) {
              await open().append({ role: 'user', content })
              found.push(await contextOf(open()))
            }
            return found
          }),
        )
        expect(contexts[1]).toEqual(contexts[0])
      }),
      runs(60),
    )
  })

  it('remembers what the source did: facts, checkpoint and skills show in its contexts', {
    timeout: limit(60_000),
  }, async () => {
    await fc.assert(
      fc.asyncProperty(happenings, async (played) => {
        const household = new Household({ budget: 4_000 })
        await household.play(played, async () => {})
        const store = mapStore()
        const scopes = [{ userId: 'ada', sessionId: 'trip' }, { userId: 'ada' }]
        for (const scope of scopes) await copyScope(household.store.open(scope), store.open(scope), options)
        const [context, copied] = await Promise.all(
          [household.store, store].map(async (one) => {
            const memory = fullMemory({ store: one, budget: 4_000, clock: () => household.now })
            return contextOf(memory.session({ userId: 'ada', sessionId: 'trip' }))
          }),
        )
        expect(copied).toEqual(context)
      }),
      runs(40),
    )
  })

  it('is refused where the target holds something else, which stays as it is', async () => {
    const from = mapStore().open(SCOPE)
    await from.commit([append('op-1', ['a']), append('op-2', ['b']), append('op-3', ['c'])], decide)
    const others: readonly (readonly SealedOp[])[] = [
      [append('op-1', ['x'])],
      [append('op-1', ['a']), append('op-9', ['b'])],
      [append('op-1', ['a'], { bodies: ['something else'] })],
      [append('op-1', ['a']), append('op-2', ['b']), append('op-3', ['c']), append('op-4', ['d'])],
      [append('op-1', ['a']), remove('op-2', 'entry:a')],
    ]
    for (const ops of others) {
      const to = mapStore().open(TARGET)
      await to.commit(ops, decide)
      const before = await everything(to)
      await expect(copyScope(from, to, options)).rejects.toMatchObject({ code: 'ERR_CONFLICT' })
      expect(await everything(to)).toEqual(before)
    }
  })

  it('is refused where the source was erased since the last run, and where others write to the target', async () => {
    const store = shortPages(mapStore(), 1)
    const from = store.open(SCOPE)
    await from.commit([append('op-1', ['a']), append('op-2', ['b'])], decide)
    const to = mapStore().open(TARGET)
    await copyScope(from, to, options)
    await from.commit([erase('op-3'), append('op-4', ['c'])], decide)
    await expect(copyScope(from, to, options)).rejects.toMatchObject({ code: 'ERR_CONFLICT' })

    const target = mapStore()
    let reads = 0
    const racing = changedStore(store, (inner) => ({
      registers: async (...args) => {
        if (reads++ === 0) await target.open(TARGET).commit([put('other', 'key', null)], decide)
        return inner.registers(...args)
      },
    })).open(SCOPE)
    await from.commit([put('op-5', 'key', null)], decide)
    await expect(copyScope(racing, target.open(TARGET), options)).rejects.toMatchObject({
      code: 'ERR_CONFLICT',
    })
  })

  it('empties what is deleted at the source after it was copied', async () => {
    const source = mapStore()
    const home = source.open(SCOPE)
    await home.commit([append('op-1', ['a']), append('op-2', ['b']), append('op-3', ['c'])], decide)
    let pages = 0
    const from = changedStore(shortPages(source, 1), (inner) => ({
      changesSince: async (seq) => {
        if (pages++ === 2) await home.commit([remove('op-4', 'entry:a')], decide)
        return inner.changesSince(seq)
      },
    })).open(SCOPE)
    const to = mapStore().open(TARGET)
    await copyScope(from, to, options)
    expect(await everything(to)).toEqual(await everything(home))
    expect(JSON.stringify(await readAll(to))).not.toContain('body of a')
  })

  it.each(['message', 'fact', 'gone'] as const)(
    'is refused where the source cannot read a row, which is not taken for one that was forgotten: %s',
    async (name) => {
      for (const isCopied of [false, true]) {
        const source = mapStore()
        const from = source.open(SCOPE)
        await from.commit(
          [
            append('op-1', ['message']),
            put('op-2', 'fact', null),
            put('op-3', 'gone', null),
            remove('op-4', 'register:gone'),
          ],
          decide,
        )
        const to = mapStore().open(TARGET)
        if (isCopied) await copyScope(from, to, options)
        const before = await readAll(to)
        const unreadable = unreadableAt(source, name).open(SCOPE)
        await expect(moveScope(unreadable, to, { ...options, opId: 'move' })).rejects.toMatchObject({
          code: 'ERR_DECRYPT',
          id: name,
        })
        if (isCopied) expect(await readAll(to)).toEqual(before)
        expect((await from.head()).seq).toBe(4)
      }
    },
  )

  it('is refused where the target cannot read what it has', async () => {
    const [source, target] = [mapStore(), mapStore()]
    await source.open(SCOPE).commit([append('op-1', ['message'])], decide)
    await copyScope(source.open(SCOPE), target.open(TARGET), options)
    const to = unreadableAt(target, 'message').open(TARGET)
    await expect(copyScope(source.open(SCOPE), to, options)).rejects.toMatchObject({ code: 'ERR_DECRYPT' })
  })

  it('writes nothing a second time', async () => {
    const from = mapStore().open(SCOPE)
    await from.commit([append('op-1', ['a']), put('op-2', 'key', null), put('op-3', 'gone', null)], decide)
    await from.commit([remove('op-4', 'register:gone')], decide)
    const store = mapStore()
    await copyScope(from, store.open(TARGET), options)
    const again = changedStore(store, (inner) => ({
      commit: (ops, rule) =>
        inner.commit(ops, (given, rows) => {
          const { log, registers } = rule(given, rows)
          expect([log, registers]).toEqual([[], []])
          return nothingWritten([])
        }),
    })).open(TARGET)
    await copyScope(from, again, options)
    expect.assertions(2)
  })

  it('is given up where the source changes at every look', async () => {
    const store = mapStore()
    await store.open(SCOPE).commit([append('op', ['a'])], decide)
    let writes = 0
    const changing = changedStore(store, (inner) => ({
      registers: async (...args) => {
        await inner.commit([append(`op-${++writes}`, [`m-${writes}`])], decide)
        return inner.registers(...args)
      },
    })).open(SCOPE)
    await expect(copyScope(changing, mapStore().open(TARGET), options)).rejects.toMatchObject({
      code: 'ERR_CONFLICT',
    })
  })

  it('takes bounded pages, whatever the sizes', async () => {
    const from = mapStore().open(SCOPE)
    const body = 'x'.repeat(300_000)
    for (let at = 0; at < 8; at++)
      await from.commit(
        [put(`put-${at}`, `key-${at}`, null, { body }), append(`op-${at}`, [`m${at}`])],
        decide,
      )
    const store = mapStore()
    const sizes: number[] = []
    const to = changedStore(store, (inner) => ({
      commit: (ops, rule) =>
        inner.commit(ops, (given, rows) => {
          const decision = rule(given, rows)
          sizes.push(decision.registers.reduce((sum, { body }) => sum + (body?.length ?? 0), 0))
          return decision
        }),
    })).open(TARGET)
    await copyScope(from, to, options)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(2 ** 20)
    expect(await everything(store.open(TARGET))).toEqual(await everything(from))
  })
})

describe('a session that moves', () => {
  const opId = 'move'

  it('leaves an erased source in another object, whatever was lost on the way, and moves once', {
    timeout: limit(60_000),
  }, async () => {
    await fc.assert(
      fc.asyncProperty(
        batches,
        fc.array(
          fc.option(fc.constantFrom('before' as const, 'after' as const), { nil: undefined, freq: 4 }),
          {
            maxLength: 40,
          },
        ),
        async (all, losses) => {
          const [source, reference] = [mapStore(), mapStore()]
          for (const store of [source, reference]) for (const ops of all) await write(store.open(SCOPE), ops)
          const namespace = new Namespace(source)
          namespace.faults = losses.map((when) => when && { when, error: lost() })
          const from = remoteScope({ stub: () => namespace.get(), scope: SCOPE, host: waitingHost().host })
          const to = mapStore().open(TARGET)
          for (let attempt = 0; ; attempt++) {
            const error = await moveScope(from, to, { ...options, opId }).then(
              () => undefined,
              (thrown: unknown) => thrown,
            )
            if (error === undefined) break
            expect(error).toMatchObject({ code: 'ERR_STORAGE' })
            expect(attempt).toBeLessThan(40)
          }
          expect(await everything(to)).toEqual(await everything(reference.open(SCOPE)))
          namespace.faults = []
          const left = await readAll(source.open(SCOPE))
          expect(left).toMatchObject({ registers: [], head: { ordinal: 0 } })
          expect(JSON.stringify(left)).not.toContain('body of')
          await moveScope(from, to, { ...options, opId })
          expect(await everything(to)).toEqual(await everything(reference.open(SCOPE)))
        },
      ),
      runs(150),
    )
  })

  it('takes along what is written between its copy and its erase', async () => {
    const source = mapStore()
    await source.open(SCOPE).commit([append('op-1', ['a'])], decide)
    let isWritten = false
    const from = changedStore(source, (inner) => ({
      commit: async (ops, rule) => {
        // The second commit is the erase.
        if (
          ops[0]?.envelope.kind === 'erase' &&
          (await inner.head()).seq === 1 &&
          (await to.head()).seq === 1
        )
          isWritten = (await inner.commit([append('op-2', ['b'])], decide)).length > 0
        return inner.commit(ops, rule)
      },
    })).open(SCOPE)
    const to = mapStore().open(TARGET)
    await moveScope(from, to, { ...options, opId })
    expect(isWritten).toBe(true)
    expect((await to.entries()).rows.map(({ id }) => id)).toEqual(['a', 'b'])
    expect((await from.head()).ordinal).toBe(0)
  })

  it('leaves an empty source empty', async () => {
    const [from, to] = [mapStore().open(SCOPE), mapStore().open(TARGET)]
    await moveScope(from, to, { ...options, opId })
    expect([(await from.head()).seq, (await to.head()).seq]).toEqual([0, 0])
  })
})

function isErase({ envelope }: SealedOp): boolean {
  return envelope.kind === 'erase'
}

/** Nothing is put late under an id that a message has named before. */
function withoutAttachments({ envelope: { attachments: _, ...envelope }, ...rest }: SealedOp): SealedOp {
  return { ...rest, envelope }
}

async function contextOf(session: FullSession): Promise<unknown> {
  try {
    return await session.context({ tools: TOOLS, onPending: 'abandon' })
  } catch (error) {
    if (!isPlimsollError(error, 'ERR_BUDGET_TOO_SMALL')) throw error
    return error.breakdown
  }
}
