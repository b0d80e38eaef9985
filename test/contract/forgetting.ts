import { describe, expect, it } from 'vitest'
import { decide } from '../../src/kernel/log/decide.ts'
import type { LogRow, ScopeStore } from '../../src/ports/store.ts'
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
} from './samples.ts'

export function describeForgetting(open: Open): void {
  describe('delete', () => {
    it('empties an entry, and leaves its row as it was otherwise', async () => {
      const scope = await openScope(open)
      await scope.commit([append('op-1', ['m1', 'm2', 'm3'], { derived: ['1', '2', '3'] })], decide)
      const before = await readLog(scope)
      await scope.commit([append('op-2', ['m4'])], decide)
      expect(await scope.commit([remove('op-3', 'entry:m2')], decide)).toEqual([accepted(3)])
      const after = await readLog(scope)
      expect(after.slice(0, 3)).toEqual(before.map((row) => (row.id === 'm2' ? emptied(row) : row)))
      expect((await scope.entries({ from: 'm2', to: 'm3' })).rows).toEqual([after[1]])
      expect(await scope.head()).toMatchObject({ seq: 3, ordinal: 4, first: 'm1' })
    })

    it('holds for an entry that arrives later, whole or in part', async () => {
      const scope = await openScope(open)
      await scope.commit([remove('op-1', 'entry:m2'), remove('op-2', 'entry:s1')], decide)
      const results = await scope.commit(
        [append('op-3', ['m1', 'm2', 'm3'], { derived: ['1', '2', '3'] }), mark('op-4', 'summary', 's1')],
        decide,
      )
      expect(results).toEqual([accepted(3), accepted(4)])
      const bodies = (await scope.entries()).rows.map(({ body, derived }) => [body, derived])
      expect(bodies).toEqual([
        [bodyOf('m1'), '1'],
        [null, undefined],
        [bodyOf('m3'), '3'],
        [null, undefined],
      ])
    })

    it('holds for an entry that arrives later into a log that has others', async () => {
      const scope = await openScope(open)
      await scope.commit([append('op-1', ['m1'])], decide)
      await scope.commit([remove('op-2', 'entry:m2')], decide)
      await scope.commit([append('op-3', ['m2'])], decide)
      expect((await scope.entries()).rows.map(({ body }) => body)).toEqual([bodyOf('m1'), null])
    })

    it('leaves a tombstone of a register, and refuses to write it again', async () => {
      const scope = await openScope(open)
      await scope.commit(
        [
          put('op-1', 'key', null, { sources: ['entry:m1'] }),
          remove('op-2', 'register:key'),
          remove('op-3', 'register:later'),
        ],
        decide,
      )
      expect(await scope.register('key')).toEqual({ key: 'key', version: 'op-2', seq: 2, body: null })
      expect(await scope.registers('')).toEqual([])
      const refused = { status: 'rejected', reason: 'deleted' }
      const again = [put('op-4', 'key', 'op-2'), put('op-5', 'key', null), put('op-6', 'later', null)]
      expect(await scope.commit(again, decide)).toEqual([refused, refused, refused])
      expect(await scope.register('later')).toBeUndefined()
    })

    it('reaches what names its target as a source, and what names that in turn', async () => {
      const scope = await openScope(open)
      await writeSources(scope)
      await scope.commit([remove('op-9', 'entry:m1')], decide)
      await expectCascade(scope, 'op-9', 9)
    })

    it('reaches as far within one commit', async () => {
      const scope = await openScope(open)
      await scope.commit([...sources, remove('op-9', 'entry:m1')], decide)
      await expectCascade(scope, 'op-9', 9)
    })

    it('reaches what has many sources by each of them', async () => {
      const scope = await openScope(open)
      for (const removed of [0, 50, 98]) {
        const key = `from-${removed}`
        const sources = names(`${key}/m`, 99)
        const derived = put(`op-${key}`, key, null, { sources: sources.map((id) => `entry:${id}` as const) })
        await scope.commit([append(`said-${removed}`, sources), derived], decide)
        await scope.commit([remove(`removed-${removed}`, `entry:${sources[removed]}`)], decide)
      }
      expect(await scope.registers('')).toEqual([])
    })

    it('reaches through cycles, and 300 links of a chain', async () => {
      const scope = await openScope(open)
      const keys = names('fact/', 300)
      const links = keys.map((key, index) =>
        put(`op-${key}`, key, null, {
          sources: [index === 0 ? 'entry:m1' : `register:${keys[index - 1]}`],
        }),
      )
      const cycle = [
        put('x', 'x', null, { sources: ['register:y', 'register:fact/0299'] }),
        put('y', 'y', null, { sources: ['register:x', 'register:y'] }),
      ]
      await scope.commit([append('op-1', ['m1']), ...links, ...cycle], decide)
      await scope.commit([remove('op-2', 'entry:m1')], decide)
      expect(await scope.registers('')).toEqual([])
    })

    it('holds for what arrives later and derives from its target', async () => {
      const scope = await openScope(open)
      await scope.commit([append('op-1', ['m1', 'm2'])], decide)
      await scope.commit([remove('op-2', 'entry:m1')], decide)
      await scope.commit([mark('op-3', 'summary', 's1', { sources: ['entry:m1', 'entry:m2'] })], decide)
      await scope.commit([put('op-4', 'fact/1', null, { sources: ['entry:s1'] })], decide)
      await scope.commit(
        [
          put('op-5', 'fact/2', null, { sources: ['register:fact/1'] }),
          put('op-6', 'fact/3', null, { sources: ['entry:m2'] }),
        ],
        decide,
      )
      expect((await scope.entries({ from: 's1' })).rows.map(({ body }) => body)).toEqual([null])
      expect((await scope.registers('')).map(({ key }) => key)).toEqual(['fact/3'])
    })

    it('holds for what arrives with it in one commit', async () => {
      const scope = await openScope(open)
      const ops = [
        append('op-1', ['m1', 'm2'], { derived: ['1', '2'] }),
        remove('op-2', 'entry:m1'),
        mark('op-3', 'summary', 's1', { sources: ['entry:m1'] }),
        put('op-4', 'fact/1', null, { sources: ['entry:s1'] }),
        put('op-5', 'fact/2', null, { sources: ['register:fact/1'] }),
        put('op-6', 'fact/1', 'op-4'),
      ]
      const rejected = { status: 'rejected', reason: 'deleted' }
      expect(await scope.commit(ops, decide)).toEqual(
        [1, 2, 3, 4, 5].map((seq) => accepted(seq)).concat(rejected as never),
      )
      const bodies = (await scope.entries()).rows.map(({ body, derived }) => [body, derived])
      expect(bodies).toEqual([
        [null, undefined],
        [bodyOf('m2'), '2'],
        [null, undefined],
      ])
      expect(await scope.registers('')).toEqual([])
    })

    it('follows what a register names now, not what it named once', async () => {
      const scope = await openScope(open)
      await scope.commit(
        [append('op-1', ['m1', 'm2']), put('op-2', 'key', null, { sources: ['entry:m1'] })],
        decide,
      )
      await scope.commit([put('op-3', 'key', 'op-2', { sources: ['entry:m2'] })], decide)
      await scope.commit([remove('op-4', 'entry:m1')], decide)
      expect((await scope.register('key'))?.body).toBe(bodyOf('op-3'))
      await scope.commit([remove('op-5', 'entry:m2')], decide)
      expect((await scope.register('key'))?.body).toBeNull()
    })

    it('follows what registers name after the ops before it in its commit', async () => {
      const chain = [
        append('op-1', ['m1', 'm2']),
        put('op-2', 'a', null),
        put('op-3', 'b', null, { sources: ['register:a'] }),
      ]
      const gains = [put('op-4', 'a', 'op-2', { sources: ['entry:m1'] }), remove('op-5', 'entry:m1')]
      const loses = [
        put('op-6', 'c', null, { sources: ['entry:m2'] }),
        put('op-7', 'd', null, { sources: ['register:c'] }),
      ]
      const lost = [put('op-8', 'c', 'op-6'), remove('op-9', 'entry:m2')]
      const scope = await openScope(open)
      await scope.commit([...chain, ...loses], decide)
      await scope.commit([...gains, ...lost], decide)
      expect((await scope.registers('')).map(({ key }) => key)).toEqual(['c', 'd'])
      const other = await openScope(open)
      for (const op of [...chain, ...loses, ...gains, ...lost]) await other.commit([op], decide)
      expect(await readAll(other)).toEqual(await readAll(scope))
    })

    it('of what nothing has is accepted, and changes nothing else', async () => {
      const scope = await openScope(open)
      await scope.commit([append('op-1', ['m1']), put('op-2', 'key', null)], decide)
      const before = await readLog(scope)
      expect(
        await scope.commit([remove('op-3', 'register:nobody'), remove('op-4', 'register:nobody')], decide),
      ).toEqual([accepted(3), accepted(4)])
      expect((await readLog(scope)).slice(0, 2)).toEqual(before)
      expect((await scope.register('key'))?.body).toBe(bodyOf('op-2'))
    })
  })

  describe('erase', () => {
    it('empties the scope but for its own row, and counts on', async () => {
      const scope = await openScope(open)
      await writeSources(scope)
      await scope.commit([remove('op-9', 'entry:m9')], decide)
      expect(await scope.commit([erase('op-10')], decide)).toEqual([accepted(10)])
      const row = { seq: 10, place: 0, kind: 'erase', id: 'op-10', opId: 'op-10', ordinal: 0, body: null }
      expect(await readAll(scope)).toEqual({
        head: { seq: 10, ordinal: 0, marks: new Map() },
        log: [row],
        registers: [],
      })
      expect(await scope.register('fact/1')).toBeUndefined()
      expect((await scope.entries()).rows).toEqual([])
      expect((await scope.entries({ from: 'm1' })).rows).toEqual([])
    })

    it('forgets ids, keys, marks, deletes and results', async () => {
      const scope = await openScope(open)
      const ops = [
        append('op-1', ['m1']),
        mark('op-2', 'epoch', 'e1'),
        put('op-3', 'key', null),
        remove('op-4', 'entry:m9'),
        put('op-5', 'key', 'stale'),
      ]
      const again = [
        append('op-1', ['m1']),
        append('op-6', ['m9']),
        mark('op-7', 'epoch', 'e1'),
        put('op-8', 'key', null),
        put('op-5', 'key', 'stale'),
      ]
      const results = [
        accepted(6),
        accepted(7),
        accepted(8),
        accepted(9),
        { status: 'conflict', version: 'op-8' },
      ]
      await scope.commit(ops, decide)
      await scope.commit([erase('erase')], decide)
      expect(await scope.commit(again, decide)).toEqual(results)
      const other = await openScope(open)
      expect((await other.commit([...ops, erase('erase'), ...again], decide)).slice(-5)).toEqual(results)
      expect(await readAll(other)).toEqual(await readAll(scope))
      expect(await scope.head()).toMatchObject({ seq: 9, ordinal: 2, first: 'm1' })
      const third = await openScope(open)
      await third.commit(ops, decide)
      expect((await third.commit([erase('erase'), ...again], decide)).slice(-5)).toEqual(results)
      expect(await readAll(third)).toEqual(await readAll(scope))
    })

    it('forgets what was derived from what', async () => {
      const scope = await openScope(open)
      const before = [
        put('op-1', 'fact/1', null, { sources: ['entry:m1'] }),
        mark('op-2', 'summary', 's1', { sources: ['entry:m1'] }),
      ]
      const after = [
        erase('erase'),
        remove('op-3', 'entry:m1'),
        put('op-4', 'fact/1', null),
        mark('op-5', 'summary', 's1'),
      ]
      await scope.commit(before, decide)
      expect(await scope.commit(after, decide)).toEqual([accepted(3), accepted(4), accepted(5), accepted(6)])
      expect((await scope.register('fact/1'))?.body).toBe(bodyOf('op-4'))
      expect((await scope.entries()).rows.map(({ body }) => body)).toEqual([bodyOf('s1')])
    })

    it('keeps a delete that follows it', async () => {
      const scope = await openScope(open)
      await scope.commit([append('op-1', ['m1'])], decide)
      await scope.commit([erase('op-2'), remove('op-3', 'entry:m1'), remove('op-4', 'register:key')], decide)
      await scope.commit([append('op-5', ['m1'])], decide)
      expect((await scope.entries()).rows.map(({ body }) => body)).toEqual([null])
      const rejected = { status: 'rejected', reason: 'deleted' }
      expect(await scope.commit([put('op-6', 'key', null)], decide)).toEqual([rejected])
    })

    it('repeated, gives its first result and erases nothing', async () => {
      const scope = await openScope(open)
      await scope.commit([append('op-1', ['m1']), erase('op-2'), append('op-3', ['m3'])], decide)
      expect(await scope.commit([erase('op-2')], decide)).toEqual([{ ...accepted(2), repeated: true }])
      expect((await scope.entries()).rows.map(({ id }) => id)).toEqual(['m3'])
    })

    it('leaves other scopes alone', async () => {
      const store = await open()
      const scopes = [{ userId: 'ada' }, { userId: 'ada', sessionId: 'a' }, { userId: 'ada', sessionId: 'b' }]
      for (const scope of scopes)
        await store.open(scope).commit([append('op-1', ['m1']), put('op-2', 'key', null)], decide)
      await store.open({ userId: 'ada', sessionId: 'a' }).commit([erase('op-3')], decide)
      const counts = await Promise.all(
        scopes.map(async (scope) => (await store.open(scope).entries()).rows.length),
      )
      expect(counts).toEqual([1, 0, 1])
    })
  })
}

const sources = [
  append('op-1', ['m1', 'm2']),
  mark('op-2', 'summary', 's1', { sources: ['entry:m1'] }),
  mark('op-3', 'epoch', 'e1', { sources: ['entry:s1'] }),
  put('op-4', 'fact/1', null, { sources: ['entry:m2', 'entry:s1'] }),
  put('op-5', 'fact/2', null, { sources: ['register:fact/1'] }),
  put('op-6', 'fact/3', null, { sources: ['entry:m2'] }),
  mark('op-7', 'summary', 's2', { base: 's1', sources: ['entry:m2'] }),
  put('op-8', 'fact/m1', null),
]

async function writeSources(scope: ScopeStore): Promise<void> {
  for (const op of sources) await scope.commit([op], decide)
}

async function expectCascade(scope: ScopeStore, opId: string, seq: number): Promise<void> {
  const bodies = (await scope.entries()).rows.map(({ id, body }) => [id, body])
  expect(bodies).toEqual([
    ['m1', null],
    ['m2', bodyOf('m2')],
    ['s1', null],
    ['e1', null],
    ['s2', bodyOf('s2')],
  ])
  expect((await scope.registers('')).map(({ key }) => key)).toEqual(['fact/3', 'fact/m1'])
  for (const key of ['fact/1', 'fact/2'])
    expect(await scope.register(key)).toEqual({ key, version: opId, seq, body: null })
  const rejected = { status: 'rejected', reason: 'deleted' }
  expect(await scope.commit([put('late', 'fact/2', opId)], decide)).toEqual([rejected])
}

function emptied({ derived: _, ...row }: LogRow): LogRow {
  return { ...row, body: null }
}
