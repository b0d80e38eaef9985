import { describe, expect, it } from 'vitest'
import { decide } from '../../src/kernel/log/decide.ts'
import type { ScopeStore } from '../../src/ports/store.ts'
import type { DescribeStoreOptions } from './abilities.ts'
import { append, erase, mark, type Open, openScope, put, readLog, remove, SCOPE } from './samples.ts'

const seen = (hash: string, seq: number) => ({ contexts: [{ hash, seq }] })

export function describeContexts(open: Open, { reopen }: DescribeStoreOptions): void {
  describe('the hashes of contexts that were handed out', () => {
    const hashes = async (scope: ScopeStore) =>
      (await readLog(scope)).flatMap(({ id, contexts }) => (contexts ? [[id, ...contexts]] : []))
    const openTalk = async () => {
      const scope = await openScope(open)
      await scope.commit([append('op-1', ['m1']), put('op-2', 'key', null)], decide)
      await scope.commit([append('op-3', ['m2', 'm3'], { round: 'm1', ...seen('one', 2) })], decide)
      await scope.commit([append('op-4', ['m4'])], decide)
      await scope.commit([append('op-5', ['m5'], { round: 'm4', ...seen('two', 4) })], decide)
      return scope
    }

    it('are in the first row of the op that they came with', async () => {
      const store = await open()
      const scope = store.open(SCOPE)
      await scope.commit([append('op-1', ['m1'])], decide)
      const contexts = [
        { hash: 'one', seq: 1 },
        { hash: 'other', seq: 1 },
      ]
      await scope.commit([append('op-2', ['m2', 'm3'], { round: 'm1', contexts })], decide)
      expect(await hashes(scope)).toEqual([['m2', 'one', 'other']])
      expect((await scope.entries({ from: 'm2' })).rows.map((row) => row.contexts)).toEqual([
        ['one', 'other'],
        undefined,
      ])
      const again = await reopen?.(store)
      if (again) expect(await hashes(again.open(SCOPE))).toEqual([['m2', 'one', 'other']])
    })

    it('are cleared after an entry that is deleted, and kept before it', async () => {
      const scope = await openTalk()
      await scope.commit([remove('op-6', 'entry:m3')], decide)
      expect(await hashes(scope)).toEqual([['m2', 'one'], ['m5']])
      await scope.commit([remove('op-7', 'entry:m1')], decide)
      expect(await hashes(scope)).toEqual([['m2'], ['m5']])
    })

    it('are cleared all with a register that is deleted, or that derives from what is', async () => {
      const one = await openTalk()
      await one.commit([remove('op-6', 'register:key')], decide)
      expect(await hashes(one)).toEqual([['m2'], ['m5']])
      const other = await openTalk()
      await other.commit([put('op-6', 'late', null, { sources: ['entry:m4'] })], decide)
      await other.commit([remove('op-7', 'entry:m4')], decide)
      expect(await hashes(other)).toEqual([['m2'], ['m5']])
    })

    it('stay where nothing goes that they could hold', async () => {
      const scope = await openTalk()
      await scope.commit(
        [
          remove('op-6', 'entry:nothing'),
          remove('op-7', 'register:nothing'),
          remove('op-8', 'attachment:m1'),
        ],
        decide,
      )
      await scope.commit([mark('op-9', 'summary', 's1', { sources: ['entry:m5'] })], decide)
      await scope.commit([remove('op-10', 'entry:m5')], decide)
      expect(await hashes(scope)).toEqual([
        ['m2', 'one'],
        ['m5', 'two'],
      ])
    })

    it('are cleared once: what is deleted again clears nothing', async () => {
      const scope = await openTalk()
      await scope.commit([remove('op-6', 'entry:m1'), remove('op-7', 'register:key')], decide)
      await scope.commit([append('op-8', ['m6'], seen('three', 7))], decide)
      await scope.commit([remove('op-9', 'entry:m1'), remove('op-10', 'register:key')], decide)
      expect(await hashes(scope)).toEqual([['m2'], ['m5'], ['m6', 'three']])
    })

    it('of what was handed out before something was forgotten or erased are not written', async () => {
      const scope = await openTalk()
      await scope.commit([remove('op-6', 'entry:m1')], decide)
      await scope.commit([append('op-7', ['m6'], seen('stale', 5))], decide)
      await scope.commit([append('op-8', ['m7'], seen('fresh', 6))], decide)
      expect(await hashes(scope)).toEqual([['m2'], ['m5'], ['m7', 'fresh']])
      await scope.commit([erase('op-9')], decide)
      await scope.commit([append('op-10', ['m8'], seen('before', 8))], decide)
      expect(await hashes(scope)).toEqual([])
      const other = await openScope(open)
      await other.commit([erase('op-1'), append('op-2', ['m1'], seen('before', 9))], decide)
      expect(await hashes(other)).toEqual([])
    })

    it('of a commit that deletes are cleared with it', async () => {
      const scope = await openTalk()
      await scope.commit([append('op-6', ['m6'], seen('three', 5)), remove('op-7', 'entry:m4')], decide)
      expect(await hashes(scope)).toEqual([['m2', 'one'], ['m5'], ['m6']])
    })
  })
}
