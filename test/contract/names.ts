import { describe, expect, it } from 'vitest'
import { decide } from '../../src/kernel/log/decide.ts'
import { once } from '../../src/kernel/log/once.ts'
import {
  accepted,
  append,
  bodyOf,
  mark,
  type Open,
  openScope,
  put,
  readAll,
  readLog,
  remove,
} from './samples.ts'

const NAME = 'checkpoint'
const picture = { id: NAME, mediaType: 'image/png', bytes: new Uint8Array([1, 2, 3]) }
const duplicate = { status: 'rejected', reason: 'duplicate-id' }

export function describeNames(open: Open): void {
  describe('an entry, a register and an attachment of one name', () => {
    const openAll = async () => {
      const scope = await openScope(open)
      await scope.attach(picture, 1)
      await scope.commit([append('op-1', [NAME, 'm2']), put('op-2', NAME, null)], decide)
      const there = async () => ({
        entry: (await scope.entries({ from: NAME, first: 1 })).rows[0]?.body,
        register: (await scope.register(NAME))?.body,
        attachment: (await scope.attachment(NAME))?.id,
      })
      return { scope, there }
    }
    const all = { entry: bodyOf(NAME), register: bodyOf('op-2'), attachment: NAME }

    it('go each by its own delete', async () => {
      for (const [space, gone] of [
        ['entry', { ...all, entry: null }],
        ['register', { ...all, register: null }],
        ['attachment', { ...all, attachment: undefined }],
      ] as const) {
        const { scope, there } = await openAll()
        expect(await there()).toEqual(all)
        await scope.commit([remove('op-3', `${space}:${NAME}`)], decide)
        expect(await there()).toEqual(gone)
        expect((await readLog(scope)).at(-1)).toMatchObject({ kind: 'delete', id: `${space}:${NAME}` })
      }
    })

    it('are written and put after a delete of another one', async () => {
      const scope = await openScope(open)
      await scope.commit([remove('op-1', `attachment:${NAME}`)], decide)
      expect(await scope.attach(picture, 1)).toBe('deleted')
      const ops = [append('op-2', [NAME]), put('op-3', NAME, null)]
      expect(await scope.commit(ops, decide)).toEqual([accepted(2), accepted(3)])
      expect((await scope.entries()).rows.map(({ body }) => body)).toEqual([bodyOf(NAME)])
      await scope.commit([remove('op-4', `entry:${NAME}`)], decide)
      expect(await scope.commit([put('op-5', NAME, 'op-3')], decide)).toEqual([accepted(5)])
      const other = await openScope(open)
      await other.commit([remove('op-1', `register:${NAME}`)], decide)
      expect(await other.attach(picture, 1)).toBe('stored')
      expect(await other.commit([put('op-2', NAME, null)], decide)).toEqual([
        { status: 'rejected', reason: 'deleted' },
      ])
    })

    it('are sources each of its own', async () => {
      const { scope } = await openAll()
      const ops = [
        mark('op-3', 'summary', 's1', { sources: [`entry:${NAME}`] }),
        put('op-4', 'of-register', null, { sources: [`register:${NAME}`] }),
        put('op-5', 'of-attachment', null, { sources: [`attachment:${NAME}`] }),
        put('op-6', 'of-summary', null, { sources: ['entry:s1'] }),
        put('op-7', 'of-nothing', null, { sources: ['register:s1'] }),
      ]
      await scope.commit(ops, decide)
      const live = async () => (await scope.registers('of-')).map(({ key }) => key)
      await scope.commit([remove('op-8', `entry:${NAME}`)], decide)
      expect(await live()).toEqual(['of-attachment', 'of-nothing', 'of-register'])
      await scope.commit([remove('op-9', `attachment:${NAME}`)], decide)
      expect(await live()).toEqual(['of-nothing', 'of-register'])
      await scope.commit([remove('op-10', `register:${NAME}`)], decide)
      expect(await live()).toEqual(['of-nothing'])
    })
  })

  describe('an op that is one with its first entry', () => {
    it('has the id by which it is read, and repeated gives its first result', async () => {
      const scope = await openScope(open)
      const ops = [append('entry:m1', ['m1']), mark('entry:e1', 'epoch', 'e1')]
      expect(await scope.commit(ops, decide)).toEqual([accepted(1), accepted(2)])
      expect((await readLog(scope)).map(({ opId }) => opId)).toEqual(['entry:m1', 'entry:e1'])
      const before = await readAll(scope)
      const again = [
        { ...accepted(1), repeated: true },
        { ...accepted(2), repeated: true },
      ]
      expect(await scope.commit(ops, decide)).toEqual(again)
      expect(await scope.commit(ops.slice(0, 1), once)).toEqual(again.slice(0, 1))
      expect(await readAll(scope)).toEqual(before)
    })

    it('is known by it alone, whatever it holds beside', async () => {
      const scope = await openScope(open)
      await scope.commit([append('entry:m1', ['m1', 'm2'])], decide)
      await scope.commit([append('op-2', ['m3'])], decide)
      const before = await readAll(scope)
      const log = await readLog(scope)
      expect(log.map(({ opId }) => opId)).toEqual(['entry:m1', 'entry:m1', 'op-2'])
      for (const ids of [['m1', 'm2'], ['m1'], ['m1', 'm4']])
        expect(await scope.commit([append('entry:m1', ids)], decide)).toEqual([
          { ...accepted(1), repeated: true },
        ])
      expect(await scope.commit([append('entry:m2', ['m2'])], decide)).toEqual([duplicate])
      expect(await readAll(scope)).toEqual(before)
    })

    it('is not taken for an op of another name, nor another op for it', async () => {
      const scope = await openScope(open)
      await scope.commit([append('m1', ['m2']), append('entry:m1', ['m1'])], decide)
      expect((await readLog(scope)).map(({ id, opId }) => [id, opId])).toEqual([
        ['m2', 'm1'],
        ['m1', 'entry:m1'],
      ])
      // The entry is there, of another op.
      expect(await scope.commit([append('entry:m2', ['m2'])], once)).toEqual([duplicate])
      expect(await scope.commit([append('m1', ['m2'])], decide)).toEqual([{ ...accepted(1), repeated: true }])
    })

    it('is refused where it begins with something else', async () => {
      const scope = await openScope(open)
      await scope.commit([append('op-1', ['m1'])], decide)
      const ops = [
        append('entry:m2', ['m3', 'm2']),
        append('entry:m4', ['m5']),
        put('entry:key', 'key', null),
        remove('entry:m6', 'entry:m1'),
      ]
      expect(await scope.commit(ops, decide)).toEqual(ops.map(() => duplicate))
      expect((await scope.head()).seq).toBe(1)
    })
  })

  describe('a mark of an unknown kind', () => {
    it('is kept with all that it has, and never applied', async () => {
      const scope = await openScope(open)
      await scope.commit([append('op-1', ['m1'])], decide)
      const { marks } = await scope.head()
      expect(
        await scope.commit(
          [
            mark('op-2', 'lease', 'l1', { sources: ['entry:m1'] }),
            mark('op-3', 'lease', 'l2', { base: 'l1' }),
          ],
          decide,
        ),
      ).toEqual([accepted(2, false), accepted(3, false)])
      expect((await scope.head()).marks).toEqual(marks)
      const rows = (await scope.entries({ from: 'l1' })).rows
      expect(rows).toMatchObject([
        { kind: 'lease', id: 'l1', lane: 'lane', base: null, applied: false, sources: ['entry:m1'] },
        { kind: 'lease', id: 'l2', lane: 'lane', base: 'l1', applied: false, body: bodyOf('l2') },
      ])
      expect(rows.map(({ chain }) => chain)).toEqual([undefined, undefined])
      expect(await readLog(scope, 1)).toEqual(rows)
      const known = await scope.entries({ kinds: ['epoch', 'summary', 'rewind'] })
      expect(known.rows).toEqual([])
      await scope.commit([remove('op-4', 'entry:m1')], decide)
      const bodies = (await scope.entries({ from: 'l1' })).rows.map(({ body }) => body)
      expect(bodies).toEqual([null, bodyOf('l2')])
    })
  })
}
