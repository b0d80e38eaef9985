import { describe, expect, it } from 'vitest'
import { decide, nothingWritten } from '../../src/kernel/log/decide.ts'
import type { SealedOp } from '../../src/ports/op.ts'
import type { Decide, Rows } from '../../src/ports/store.ts'
import { isEntry } from '../../src/ports/store.ts'
import {
  accepted,
  append,
  bodyOf,
  erase,
  mark,
  names,
  type Open,
  openScope,
  put,
  readAll,
  readLog,
  remove,
  SCOPE,
} from './samples.ts'

export function describeCommits(open: Open): void {
  describe('commit', () => {
    it('gives one result for each op, in their order', async () => {
      const scope = await openScope(open)
      const results = await scope.commit(
        [
          append('op-1', ['m1', 'm2']),
          append('op-2', ['m3'], { round: 'nowhere' }),
          put('op-3', 'key', 'never written'),
          mark('op-4', 'epoch', 'e1'),
          mark('op-5', 'epoch', 'e2'),
          put('op-6', 'key', null),
        ],
        decide,
      )
      expect(results).toEqual([
        accepted(1),
        { status: 'rejected', reason: 'unknown-round' },
        { status: 'conflict', version: null },
        accepted(2),
        accepted(3, false),
        accepted(4),
      ])
    })

    it('writes an op without the bodies that were forgotten where it comes from', async () => {
      const scope = await openScope(open)
      // A store may write plain appends in another way, once it knows the log.
      for (const at of [1, 2]) await scope.commit([append(`op-${at}`, [`m${at}`])], decide)
      await scope.commit([append('op-3', ['m3', 'm4'], { bodies: [null, 'left'] })], decide)
      const gone = { ...put('op-4', 'key', null), bodies: [null] }
      await scope.commit([append('op-5', ['m5'], { bodies: [null] }), gone], decide)
      const { rows } = await scope.entries()
      expect(rows.map(({ body }) => body)).toEqual([bodyOf('m1'), bodyOf('m2'), null, 'left', null])
      expect(await scope.register('key')).toMatchObject({ version: 'op-4', body: null })
    })

    it('tells a decision of the ops that were seen before, and of no others', async () => {
      const scope = await openScope(open)
      await scope.commit([append('op-1', ['m1']), put('op-2', 'key', null)], decide)
      const told: (readonly string[])[] = []
      const telling: Decide = (ops, rows) => {
        told.push([...rows.results.keys()])
        return decide(ops, rows)
      }
      // Named: an entry of an earlier op, and its register.
      await scope.commit([append('op-3', ['m2'], { round: 'm1' })], telling)
      await scope.commit([put('op-4', 'key', 'op-2'), remove('op-5', 'entry:m1')], telling)
      await scope.commit([append('op-6', ['m3']), append('op-3', ['m2'], { round: 'm1' })], telling)
      // A store may decide more than once.
      expect([...new Set(told.map((one) => one.join()))]).toEqual(['', 'op-3'])
    })

    it('gives no results for no ops, and changes nothing', async () => {
      const scope = await openScope(open)
      await scope.commit([append('op-1', ['m1'])], decide)
      const before = await readAll(scope)
      expect(await scope.commit([], decide)).toEqual([])
      expect(await readAll(scope)).toEqual(before)
    })

    it('numbers accepted ops from 1 without a gap, whatever their kinds, and writes every field', async () => {
      const scope = await openScope(open)
      const ops = [
        append('op-1', ['m1', 'm2', 'm3'], { derived: ['{"n":1}', undefined, '{"n":3}'] }),
        mark('op-2', 'epoch', 'e1'),
        mark('op-3', 'summary', 's1', { sources: ['entry:m1', 'entry:m2'] }),
        put('op-4', 'key', 'stale'),
        put('op-5', 'key', null),
        mark('op-6', 'rewind', 'r1'),
        mark('op-7', 'epoch', 'e2', { base: 'not e1' }),
        append('op-8', ['m1']),
        append('op-9', ['m4'], { round: 'm1' }),
        remove('op-10', 'register:nothing'),
        mark('op-11', 'epoch', 'e3', { base: 'e1' }),
      ]
      for (const op of ops) await scope.commit([op], decide)
      expect(await readLog(scope)).toEqual([
        message(1, 0, 'm1', 'op-1', 1, 'm1', '{"n":1}'),
        message(1, 1, 'm2', 'op-1', 2, 'm1'),
        message(1, 2, 'm3', 'op-1', 3, 'm1', '{"n":3}'),
        { ...row(2, 'epoch', 'e1', 'op-2', 3), lane: 'lane', base: null, applied: true, chain: 1 },
        {
          ...row(3, 'summary', 's1', 'op-3', 3),
          lane: 'lane',
          base: null,
          applied: true,
          chain: 1,
          sources: ['entry:m1', 'entry:m2'],
        },
        { ...row(4, 'put', 'key', 'op-5', 3), body: null },
        { ...row(5, 'rewind', 'r1', 'op-6', 3), base: null, applied: true },
        { ...row(6, 'epoch', 'e2', 'op-7', 3), lane: 'lane', base: 'not e1', applied: false },
        message(7, 0, 'm4', 'op-9', 4, 'm1'),
        { ...row(8, 'delete', 'register:nothing', 'op-10', 4), body: null },
        { ...row(9, 'epoch', 'e3', 'op-11', 4), lane: 'lane', base: 'e1', applied: true, chain: 2 },
      ])
    })

    it('writes nothing when decide throws, and passes on what it threw', async () => {
      const scope = await openScope(open)
      await scope.commit([append('op-1', ['m1'])], decide)
      const before = await readAll(scope)
      const failing: Decide = (ops, rows) => {
        decide(ops, rows)
        throw new Error('no decision')
      }
      const ops = [
        append('op-2', ['m2', 'm3']),
        put('op-3', 'key', null),
        remove('op-4', 'entry:m1'),
        erase('op-5'),
      ]
      await expect(scope.commit(ops, failing)).rejects.toThrow('no decision')
      expect(await readAll(scope)).toEqual(before)
      expect(await scope.commit(ops.slice(0, 2), decide)).toEqual([accepted(2), accepted(3)])
    })

    it('remembers only what was written: a decision without rows leaves its ops to be sent again', async () => {
      const scope = await openScope(open)
      const none: Decide = (ops, rows) => nothingWritten(decide(ops, rows).results)
      const ops = [append('op-1', ['m1']), append('op-2', ['m2'], { round: 'nowhere' })]
      expect(await scope.commit(ops, none)).toEqual([
        accepted(1),
        { status: 'rejected', reason: 'unknown-round' },
      ])
      expect((await scope.head()).seq).toBe(0)
      expect(await scope.commit([append('op-1', ['m1']), append('op-2', ['m2'])], decide)).toEqual([
        accepted(1),
        accepted(2),
      ])
    })

    it('writes nothing of a long op of which one id is taken', async () => {
      const scope = await openScope(open)
      await scope.commit([append('op-1', ['m1'])], decide)
      const before = await readAll(scope)
      const results = await scope.commit([append('op-2', [...names('n', 12), 'm1'])], decide)
      expect(results).toEqual([{ status: 'rejected', reason: 'duplicate-id' }])
      expect(await readAll(scope)).toEqual(before)
    })

    it('writes nothing of an op that comes again with other messages', async () => {
      const scope = await openScope(open)
      await scope.commit([append('op-1', ['m1'])], decide)
      await scope.commit([append('op-2', ['m2'])], decide)
      const again = await scope.commit([append('op-2', ['m3'])], decide)
      expect(again).toEqual([{ ...accepted(2), repeated: true }])
      expect((await scope.entries()).rows.map(({ id }) => id)).toEqual(['m1', 'm2'])
    })

    it('knows a round that was not read here, also where a refusal writes nothing', async () => {
      const store = await open()
      await store.open(SCOPE).commit([append('op-1', ['m1']), append('op-2', ['m2'])], decide)
      const scope = store.open(SCOPE)
      await scope.head()
      const all: Decide = (ops, rows) => {
        const decision = decide(ops, rows)
        if (decision.results.every(({ status }) => status === 'accepted')) return decision
        return { ...decision, log: [], registers: [], emptied: [], marks: [], refused: [], used: [] }
      }
      expect(await scope.commit([append('op-3', ['m3'], { round: 'm1' })], all)).toEqual([accepted(3)])
      const refused = [{ status: 'rejected', reason: 'unknown-round' }]
      expect(await scope.commit([append('op-4', ['m4'], { round: 'm3' })], all)).toEqual(refused)
      expect((await scope.head()).seq).toBe(3)
    })

    it('gives an op that was refused the same answer ever after, whatever it holds by then', async () => {
      const scope = await openScope(open)
      await scope.commit([append('first', ['m1', 'm2'])], decide)
      const refused = { status: 'rejected', reason: 'unknown-round' }
      for (const [index, round] of ['m2', 'nowhere'].entries()) {
        const other = append(`other-${index}`, [`n${index}`])
        const results = await scope.commit([append(`op-${index}`, ['m3'], { round }), other], decide)
        expect(results).toEqual([refused, accepted(2 * index + 2)])
        await scope.commit([append(`more-${index}`, [`o${index}`])], decide)
        const again = await scope.commit([append(`op-${index}`, ['m3'], { round: 'm1' })], decide)
        expect(again).toEqual([{ ...refused, repeated: true }])
      }
      expect((await scope.entries()).rows.map(({ id }) => id)).toEqual(['m1', 'm2', 'n0', 'o0', 'n1', 'o1'])
    })

    it('gives that answer to who knew the scope before the op was refused, too', async () => {
      const store = await open()
      const [one, other] = [store.open(SCOPE), store.open(SCOPE)]
      await one.commit([append('op-1', ['m1'])], decide)
      const [result] = await other.commit([append('op-2', ['m2'], { round: 'later' })], decide)
      // By now it could be accepted, if nobody knew of it.
      const again = append('op-2', ['m2'])
      expect(await one.commit([again], decide)).toEqual([{ ...result, repeated: true }])
      await one.commit([append('op-3', ['m3'])], decide)
      for (const scope of [one, other])
        expect(await scope.commit([again], decide)).toEqual([{ ...result, repeated: true }])
    })

    it('sees an erase that was followed by the same ops, so that the log ends as it did', async () => {
      const store = await open()
      const [one, other] = [store.open(SCOPE), store.open(SCOPE)]
      for (const id of ['m1', 'm2']) await one.commit([append(`op-${id}`, [id])], decide)
      await one.changesSince(0)
      await other.commit([erase('op-3')], decide)
      await other.commit([append('op-m2', ['m2'])], decide)
      expect(await one.head()).toMatchObject({ seq: 4, ordinal: 1, first: 'm2' })
      expect((await readLog(one)).map(({ id }) => id)).toEqual(['op-3', 'm2'])
      expect(await one.commit([append('op-4', ['m4'])], decide)).toEqual([accepted(5)])
      expect((await readLog(other)).map(({ seq }) => seq)).toEqual([3, 4, 5])
    })

    it('writes all that it decides, whatever the ops are', async () => {
      const store = await open()
      for (const ops of [[], [append('op-2', ['m2'])]]) {
        const scope = store.open({ ...SCOPE, sessionId: `${ops.length}` })
        await scope.commit([append('op-1', ['m1'])], decide)
        await scope.commit(ops, (given, rows) => {
          const { head } = rows
          const { log, emptied } = decide([remove('remove', 'entry:m1')], rows)
          const said = decide(given, { ...rows, head: { ...head, seq: head.seq + 1 } })
          return { ...said, log: [...log, ...said.log], emptied }
        })
        expect((await readLog(scope)).map(({ id, body }) => [id, body === null])).toEqual([
          ['m1', true],
          ['entry:m1', true],
          ...ops.map(() => ['m2', false]),
        ])
      }
    })

    it('shows decide all rows that the ops name', async () => {
      const scope = await openScope(open)
      await scope.commit(
        [
          append('op-1', ['m1', 'm2']),
          mark('op-2', 'summary', 's1', { sources: ['entry:m2'] }),
          put('op-3', 'key', null, { sources: ['entry:s1'] }),
          put('op-4', 'other', 'stale'),
          put('op-5', 'gone', null),
          remove('op-6', 'register:gone'),
          remove('op-7', 'entry:later'),
        ],
        decide,
      )
      const seen: Rows[] = []
      const spying: Decide = (ops, rows) => {
        seen.push(rows)
        return decide(ops, rows)
      }
      const log = await readLog(scope)
      const head = await scope.head()
      const registers = [await scope.register('key'), await scope.register('gone')]
      await scope.commit(
        [
          append('op-8', ['later', 'm2'], { round: 'm1' }),
          put('op-4', 'other', null),
          put('op-9', 'gone', null),
          remove('op-10', 'entry:m2'),
          mark('op-11', 'epoch', 'e1', { sources: ['register:gone', 'entry:m1'] }),
        ],
        spying,
      )
      expect(seen).toHaveLength(1)
      const rows = seen[0] as Rows
      expect(rows.head).toEqual(head)
      expect(rows.results.get('op-4')).toEqual({ status: 'conflict', version: null })
      expect(rows.results.has('op-8')).toBe(false)
      // Bodies are opaque: a store may keep them in another form.
      expect(withoutBody(rows.entries.get('m1'))).toEqual(withoutBody(log[0]))
      expect(withoutBody(rows.entries.get('m2'))).toEqual(withoutBody(log[1]))
      expect(withoutBody(rows.registers.get('key'))).toEqual(withoutBody(registers[0]))
      expect(rows.registers.get('gone')).toEqual(registers[1])
      expect([...rows.deleted].sort()).toEqual(['entry:later', 'register:gone'])
      expect(rows.dependents.get('entry:m2')).toEqual(['entry:s1'])
      expect(rows.dependents.get('entry:s1')).toEqual(['register:key'])
    })

    it('lets a conflict or a rejection stop nothing', async () => {
      const scope = await openScope(open)
      const ops = names('m', 20).flatMap((id, index): SealedOp[] => [
        append(`good-${index}`, [id]),
        append(`twin-${index}`, [id]),
        put(`put-${index}`, 'key', index === 0 ? null : `put-${index - 1}`),
        put(`stale-${index}`, 'key', 'stale'),
        append(`stray-${index}`, [`stray-${index}`], { round: 'nowhere' }),
      ])
      const results = await scope.commit(ops, decide)
      results.forEach((result, index) => {
        const round = Math.floor(index / 5)
        const expected = [
          accepted(round * 2 + 1),
          { status: 'rejected', reason: 'duplicate-id' },
          accepted(round * 2 + 2),
          { status: 'conflict', version: `put-${round}` },
          { status: 'rejected', reason: 'unknown-round' },
        ]
        expect(result).toEqual(expected[index % 5])
      })
      expect((await scope.head()).seq).toBe(40)
    })

    it('refuses an op that names an entry twice, and one that names a mark that is there', async () => {
      const scope = await openScope(open)
      const refused = { status: 'rejected', reason: 'duplicate-id' }
      expect(await scope.commit([append('op-1', ['m1', 'm2', 'm1'])], decide)).toEqual([refused])
      await scope.commit([mark('op-2', 'epoch', 'e1')], decide)
      const ops = [
        mark('op-3', 'epoch', 'e1', { base: 'e1' }),
        append('op-4', ['e1']),
        append('op-5', ['m1']),
      ]
      expect(await scope.commit(ops, decide)).toEqual([refused, refused, accepted(2)])
      expect(await scope.commit([mark('op-6', 'rewind', 'm1')], decide)).toEqual([refused])
    })

    it('lets only a message that opened a round be named as one', async () => {
      const scope = await openScope(open)
      await scope.commit(
        [append('op-1', ['m1', 'm2']), mark('op-2', 'epoch', 'e1'), put('op-3', 'key', null)],
        decide,
      )
      const refused = { status: 'rejected', reason: 'unknown-round' }
      const rounds = ['m2', 'e1', 'key', 'n4', 'nobody']
      const ops = rounds.map((round, index) =>
        append(`stray-${index}`, ['n1', 'n2', 'n3', 'n4'].slice(index), { round }),
      )
      expect(await scope.commit(ops.slice(0, 4), decide)).toEqual([refused, refused, refused, accepted(4)])
      expect(await scope.commit([append('op-4', ['m3'], { round: 'm1' })], decide)).toEqual([accepted(5)])
    })

    it('applies a rewind whatever it names as its base: rewinds are a set', async () => {
      const scope = await openScope(open)
      const ops = [
        mark('op-1', 'rewind', 'r1'),
        mark('op-2', 'rewind', 'r2', { base: 'r1' }),
        mark('op-3', 'rewind', 'r3', { base: 'nobody' }),
        mark('op-4', 'rewind', 'r4'),
      ]
      expect(await scope.commit(ops, decide)).toEqual([accepted(1), accepted(2), accepted(3), accepted(4)])
      expect((await scope.head()).marks.size).toBe(0)
    })

    it('takes 300 ops in one commit, and 300 messages in one op', async () => {
      const scope = await openScope(open)
      const ids = names('m', 300)
      const ops = ids.map((id) => append(`op-${id}`, [id], { round: ids[0] ?? '' }))
      const puts = names('fact/', 300).map((key) => put(`op-${key}`, key, null))
      expect(await scope.commit(ops, decide)).toEqual(ids.map((_, index) => accepted(index + 1)))
      expect(await scope.commit(puts, decide)).toEqual(puts.map((_, index) => accepted(index + 301)))
      expect(await scope.commit([append('long', names('n', 300))], decide)).toEqual([accepted(601)])
      expect(await scope.commit([...ops, ...puts], decide)).toEqual(
        [...ops, ...puts].map((_, index) => ({ ...accepted(index + 1), repeated: true })),
      )
      expect(await scope.head()).toMatchObject({ seq: 601, ordinal: 600, first: 'm0000' })
      const deletes = ids.map((id) => remove(`delete-${id}`, `entry:${id}`))
      await scope.commit(deletes, decide)
      const bodies = (await readLog(scope)).filter(isEntry).map(({ body }) => body)
      expect(bodies.slice(0, 300).every((body) => body === null)).toBe(true)
      expect(bodies.slice(300).every((body) => body !== null)).toBe(true)
    })
  })

  describe('a repeated op', () => {
    const ops = [
      append('op-1', ['m1', 'm2']),
      mark('op-2', 'epoch', 'e1'),
      mark('op-3', 'epoch', 'e2', { base: 'stale' }),
      put('op-4', 'key', null),
      put('op-5', 'key', null),
      append('op-6', ['m1']),
      append('op-7', ['m3'], { round: 'nowhere' }),
      remove('op-8', 'register:m2'),
      put('op-9', 'm2', null),
    ]
    const first = [
      accepted(1),
      accepted(2),
      accepted(3, false),
      accepted(4),
      { status: 'conflict', version: 'op-4' },
      { status: 'rejected', reason: 'duplicate-id' },
      { status: 'rejected', reason: 'unknown-round' },
      accepted(5),
      { status: 'rejected', reason: 'deleted' },
    ]
    const again = first.map((result) => ({ ...result, repeated: true }))

    it('gives its first result, whatever that was, and changes nothing', async () => {
      const scope = await openScope(open)
      expect(await scope.commit(ops, decide)).toEqual(first)
      await scope.commit([append('op-10', ['nowhere']), put('op-11', 'key', 'op-4')], decide)
      const before = await readAll(scope)
      expect(await scope.commit(ops, decide)).toEqual(again)
      for (const [index, op] of ops.entries())
        expect(await scope.commit([op], decide)).toEqual([again[index]])
      expect(await readAll(scope)).toEqual(before)
    })

    it('gives its first result within one commit too', async () => {
      const scope = await openScope(open)
      expect(await scope.commit([...ops, ...ops], decide)).toEqual([...first, ...again])
      expect((await scope.head()).seq).toBe(5)
    })

    it('changes nothing where its content is another: the first wins', async () => {
      const scope = await openScope(open)
      await scope.commit([append('op-1', ['m1']), put('op-2', 'key', null)], decide)
      const before = await readAll(scope)
      const others = [append('op-1', ['m2', 'm3']), put('op-2', 'other', null), remove('op-1', 'entry:m1')]
      expect(await scope.commit(others, decide)).toEqual([
        { ...accepted(1), repeated: true },
        { ...accepted(2), repeated: true },
        { ...accepted(1), repeated: true },
      ])
      expect(await readAll(scope)).toEqual(before)
    })

    it('is written once, sent 100 times in parallel', async () => {
      const store = await open()
      const sent = Array.from({ length: 100 }, (_, index) =>
        store.open({ userId: 'ada' }).commit([append('op-1', ['m1', `n${index}`])], decide),
      )
      const results = (await Promise.all(sent)).flat()
      expect(results.filter((result) => !result.repeated)).toEqual([accepted(1)])
      expect(results.filter((result) => result.repeated)).toHaveLength(99)
      expect(await readLog(store.open({ userId: 'ada' }))).toHaveLength(2)
    })
  })

  describe('concurrent commits', () => {
    it('of 64 writers take one order without gaps, and each writer keeps its own', async () => {
      const store = await open()
      const scope = { userId: 'ada', sessionId: 'busy' }
      const writers = names('w', 64)
      await Promise.all(
        writers.map(async (writer) => {
          const own = store.open(scope)
          for (let turn = 0; turn < 4; turn++) {
            const id = `${writer}-${turn}`
            await own.commit(
              [append(id, [id, `${id}-reply`]), put(`put-${id}`, writer, previous(writer, turn))],
              decide,
            )
          }
        }),
      )
      const log = await readLog(store.open(scope))
      expect([...new Set(log.map(({ seq }) => seq))]).toEqual(
        Array.from({ length: 512 }, (_, index) => index + 1),
      )
      const messages = log.filter(({ kind }) => kind === 'message')
      expect(messages.map(({ ordinal }) => ordinal)).toEqual(messages.map((_, index) => index + 1))
      for (const writer of writers) {
        const own = messages.filter(({ id }) => id.startsWith(writer)).map(({ id }) => id)
        expect(own).toEqual([0, 1, 2, 3].flatMap((turn) => [`${writer}-${turn}`, `${writer}-${turn}-reply`]))
        expect((await store.open(scope).register(writer))?.version).toBe(`put-${writer}-3`)
      }
    })

    it('to one register lose no update', async () => {
      const store = await open()
      const written = new Map<string, string | null>()
      await Promise.all(
        names('w', 16).map(async (writer) => {
          const own = store.open({ userId: 'ada' })
          for (let attempt = 0; ; attempt++) {
            const opId = `${writer}-${attempt}`
            const base = (await own.register('counter'))?.version ?? null
            const [result] = await own.commit([put(opId, 'counter', base)], decide)
            if (result?.status !== 'accepted') continue
            written.set(opId, base)
            return
          }
        }),
      )
      const bases = [...written.values()]
      expect(new Set(bases).size).toBe(16)
      expect(bases).toContain(null)
      const last = (await store.open({ userId: 'ada' }).register('counter'))?.version
      expect([...written.keys()].filter((version) => !bases.includes(version))).toEqual([last])
    })

    it('that replace one mark apply exactly one', async () => {
      const store = await open()
      const sent = names('e', 32).map((id) =>
        store.open({ userId: 'ada' }).commit([mark(id, 'epoch', id)], decide),
      )
      const results = (await Promise.all(sent)).flat()
      expect(results.filter((result) => result.status === 'accepted' && result.applied)).toHaveLength(1)
      const rows = (await readLog(store.open({ userId: 'ada' }))).filter((row) => row.applied)
      const { marks } = await store.open({ userId: 'ada' }).head()
      expect(rows.map(({ id }) => id)).toEqual([marks.get('epoch/lane')?.id])
    })
  })
}

function previous(writer: string, turn: number): string | null {
  return turn === 0 ? null : `put-${writer}-${turn - 1}`
}

function row(seq: number, kind: string, id: string, opId: string, ordinal: number): object {
  return { seq, place: 0, kind, id, opId, ordinal, body: bodyOf(id) }
}

function message(
  seq: number,
  place: number,
  id: string,
  opId: string,
  ordinal: number,
  round: string,
  derived?: string,
): object {
  const own = { seq, place, kind: 'message', id, opId, ordinal, round, body: bodyOf(id) }
  return { ...own, ...(derived !== undefined && { derived }) }
}

function withoutBody(row: { readonly body: string | null } | undefined): unknown {
  return { ...row, body: typeof row?.body }
}
