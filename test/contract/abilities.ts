import { describe, expect, it } from 'vitest'
import { decide } from '../../src/kernel/log/decide.ts'
import { PAGE_UNITS, type Reads, type Store } from '../../src/ports/store.ts'
import { accepted, append, mark, type Open, put, readAll, remove, SCOPE } from './samples.ts'

export interface DescribeStoreOptions {
  /**
   * Opens the same data again, as after the end of the process. Without it the store need not be
   * durable.
   */
  readonly reopen?: (store: Store) => Promise<Store>
  /**
   * For a store that keeps texts and bytes in another form, for example encrypted: how long it is,
   * in UTF-16 units and in bytes. Pages are limited by what is kept. Default: as long as what was
   * given.
   */
  readonly kept?: { readonly body: (units: number) => number; readonly bytes: (bytes: number) => number }
}

/** The most of which two fill a page, in a store that keeps it in a form of that length. */
export function halfPage(length: (given: number) => number = (given) => given): number {
  let half = PAGE_UNITS / 2
  while (length(half) > PAGE_UNITS / 2) half--
  return half
}

export function describeAbilities(open: Open, { reopen }: DescribeStoreOptions): void {
  describe('durability', () => {
    it('keeps all rows, marks, deletes and results after the store was opened again', async ({ skip }) => {
      if (!reopen) return skip('no reopen was given: this store does not claim to outlive its process')
      const store = await open()
      const ops = [
        append('op-1', ['m1', 'm2'], { derived: ['1', '2'] }),
        mark('op-2', 'epoch', 'e1'),
        put('op-3', 'key', null, { sources: ['entry:m1'] }),
        put('op-4', 'key', 'stale'),
        append('op-5', ['m1']),
        remove('op-6', 'entry:later'),
      ]
      const results = await store.open(SCOPE).commit(ops, decide)
      const before = await readAll(store.open(SCOPE))
      const scope = (await reopen(store)).open(SCOPE)
      expect(await readAll(scope)).toEqual(before)
      expect(await scope.commit(ops, decide)).toEqual(
        results.map((result) => ({ ...result, repeated: true })),
      )
      await scope.commit([append('op-7', ['later']), remove('op-8', 'entry:m1')], decide)
      expect((await scope.entries({ from: 'later' })).rows.map(({ body }) => body)).toEqual([null])
      expect((await scope.register('key'))?.body).toBeNull()
    })
  })

  describe('snapshot', () => {
    it('reads one state of the scope, whatever is committed in between', async ({ skip }) => {
      const store = await open()
      const scope = store.open(SCOPE)
      if (!scope.snapshot) return skip('this store has no snapshot')
      await scope.commit([append('op-1', ['m1', 'm2']), put('op-2', 'key', null)], decide)
      const before = await readAll(scope)
      let committed: Promise<unknown> | undefined
      const read = await scope.snapshot(async (reads) => {
        await reads.head()
        committed ??= store.open(SCOPE).commit([append('op-3', ['m3']), put('op-4', 'key', 'op-2')], decide)
        const { rows } = await reads.entries()
        return { ids: rows.map(({ id }) => id), all: await readAll(reads), key: await reads.register('key') }
      })
      await committed
      expect(read).toMatchObject({ ids: ['m1', 'm2'], all: before, key: { version: 'op-2' } })
      expect(await scope.snapshot((reads) => reads.head())).toMatchObject({ seq: 4 })
    })

    it('of a scope to which nothing was written is empty', async ({ skip }) => {
      const scope = (await open()).open(SCOPE)
      if (!scope.snapshot) return skip('this store has no snapshot')
      expect(await scope.snapshot(readAll)).toEqual(await readAll(scope))
    })

    it('passes on what its work throws, and the store goes on', async ({ skip }) => {
      const scope = (await open()).open(SCOPE)
      if (!scope.snapshot) return skip('this store has no snapshot')
      const failing = async (reads: Reads): Promise<void> => {
        await reads.head()
        throw new TypeError('of the caller')
      }
      await expect(scope.snapshot(failing)).rejects.toThrow(new TypeError('of the caller'))
      expect(await scope.commit([append('op-1', ['m1'])], decide)).toEqual([accepted(1)])
    })
  })

  describe('watch', () => {
    it('calls the listener after a commit of others, until it is stopped or the scope closed', async ({
      skip,
    }) => {
      const store = await open()
      const [watcher, other] = [store.open(SCOPE), store.open(SCOPE)]
      if (!watcher.watch) return skip('this store has no watch')
      const calls = [0, 0]
      const count = (index: number): void => {
        calls[index] = (calls[index] ?? 0) + 1
      }
      const stop = watcher.watch(() => count(0))
      watcher.watch(() => count(1))
      await other.commit([append('op-1', ['m1'])], decide)
      await expect.poll(() => calls.every((times) => times > 0)).toBe(true)

      stop()
      const before = [...calls]
      await other.commit([append('op-2', ['m2'])], decide)
      await expect.poll(() => (calls[1] ?? 0) > (before[1] ?? 0)).toBe(true)
      expect(calls[0]).toBe(before[0])

      await watcher.close()
      const closed = [...calls]
      expect(await other.commit([append('op-3', ['m3'])], decide)).toEqual([accepted(3)])
      expect(calls).toEqual(closed)
    })

    it('tells nobody of a commit to another scope', async ({ skip }) => {
      const store = await open()
      const watcher = store.open(SCOPE)
      if (!watcher.watch) return skip('this store has no watch')
      let calls = 0
      watcher.watch(() => calls++)
      await store.open({ ...SCOPE, sessionId: 'other' }).commit([append('op-1', ['m1'])], decide)
      await store.open({ userId: SCOPE.userId }).commit([put('op-1', 'key', null)], decide)
      expect(calls).toBe(0)
    })
  })
}
