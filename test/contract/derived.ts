import { describe, expect, it } from 'vitest'
import { decide } from '../../src/kernel/log/decide.ts'
import { type DerivedRow, PAGE_UNITS, type ScopeStore } from '../../src/ports/store.ts'
import { type DescribeStoreOptions, halfPage } from './abilities.ts'
import {
  append,
  bytesOf,
  erase,
  IDS,
  mark,
  type Open,
  openScope,
  put,
  readAll,
  remove,
  SCOPE,
} from './samples.ts'

export function describeDerived(open: Open, { reopen, kept }: DescribeStoreOptions): void {
  describe('what is derived', () => {
    it('comes back byte for byte, of every size and under any key', async () => {
      const scope = await openScope(open)
      const sizes = [0, 1, 255, 2 ** 18 - 1, 2 ** 18, 2 ** 18 + 1, 3 * 2 ** 20]
      for (const size of sizes) {
        const key = `size ${size}`
        expect(await scope.derive(derived(key, size), 0)).toBe(true)
        expectSame(await scope.derived(key), [derived(key, size)])
      }
      const other = await openScope(open)
      for (const [at, key] of IDS.entries()) await other.derive(derived(key, at), 0)
      expectSame(
        await other.derived(''),
        IDS.map((key, at) => derived(key, at)).sort((a, b) => (a.key < b.key ? -1 : 1)),
      )
    })

    it('is replaced by what is kept under the same key, and only that', async () => {
      const scope = await openScope(open)
      for (const size of [700_000, 3, 0, 600_000]) {
        await scope.derive(derived('a', size), 0)
        await scope.derive(derived('ab', 5), 0)
        expectSame(await scope.derived('a'), [derived('a', size), derived('ab', 5)])
      }
    })

    it('is found by what its key begins with, and after a key, compared code unit by code unit', async () => {
      const scope = await openScope(open)
      const keys = [
        '',
        'k',
        'k/',
        'k/a',
        'k/b',
        'k/\u{1f44d}',
        'k/\uff5e',
        'k/\uffff',
        'k0',
        'l',
        'a\u0000b',
        'é',
      ]
      for (const key of keys) await scope.derive(derived(key, 2), 0)
      keys.sort()
      for (const prefix of ['', 'k', 'k/', 'k/\ud83d', 'k/\uffff', 'a', 'a\u0000', 'z', '\uffff'])
        for (const after of [undefined, '', 'a', 'k', 'k/a', 'k/aa', 'k/\u{1f44d}', 'k/\uffff', 'k0', 'z'])
          expect(
            (await scope.derived(prefix, after)).map(({ key }) => key),
            JSON.stringify([prefix, after]),
          ).toEqual(keys.filter((key) => key.startsWith(prefix) && (after === undefined || key > after)))
    })

    it('is given in pages of so many bytes, and of one row where that alone has more', async () => {
      const scope = await openScope(open)
      const half = halfPage(kept?.bytes)
      const sizes = { a: half, b: half, c: 1, d: half - 1, e: half + 1, f: PAGE_UNITS + 1, g: 0, h: 7 }
      const rows = Object.entries(sizes).map(([key, size]) => derived(key, size))
      for (const row of rows) await scope.derive(row, 0)
      const pages: string[] = []
      let after: string | undefined
      for (;;) {
        const page = await scope.derived('', after)
        const last = page.at(-1)
        if (!last) break
        expectSame(
          page,
          rows.filter(({ key }) => page.some((row) => row.key === key)),
        )
        pages.push(page.map(({ key }) => key).join(''))
        after = last.key
      }
      expect(pages).toEqual(['ab', 'cd', 'e', 'f', 'gh'])
    })

    it('shares no bytes with what was given, nor with what was read before', async () => {
      const scope = await openScope(open)
      const buffer = derived('a', 100).bytes
      const given = { key: 'a', bytes: buffer.subarray(10, 20) }
      await scope.derive(given, 0)
      buffer.fill(0)
      const expected = [{ key: 'a', bytes: derived('a', 100).bytes.slice(10, 20) }]
      const read = await scope.derived('a')
      expectSame(read, expected)
      expect(read[0]?.bytes.buffer.byteLength).toBe(10)
      read[0]?.bytes.fill(0)
      expectSame(await scope.derived('a'), expected)
    })

    it('is outside of the log, and stays where that grows', async () => {
      const scope = await openScope(open)
      const before = await readAll(scope)
      await scope.derive(derived('a', 3), 0)
      expect(await readAll(scope)).toEqual(before)
      await scope.commit([append('op-1', ['m1']), mark('op-2', 'epoch', 'e1')], decide)
      await scope.commit([append('op-3', ['m2']), put('op-4', 'a', null), put('op-5', 'a', null)], decide)
      expectSame(await scope.derived(''), [derived('a', 3)])
    })

    it('is gone as soon as anything is deleted, directly or as it arrives', async () => {
      const scope = await openScope(open)
      await scope.commit([append('op-1', ['m1', 'm2'])], decide)
      const again = async (): Promise<void> => {
        const { seq } = await scope.head()
        for (const key of ['a', 'b']) expect(await scope.derive(derived(key, 300_000), seq)).toBe(true)
      }
      for (const ops of [
        [remove('op-2', 'entry:m1')],
        [append('op-3', ['m3']), remove('op-4', 'register:nobody'), append('op-5', ['m4'])],
        [put('op-6', 'key', null, { sources: ['entry:m1'] })],
        [append('op-7', ['m5']), erase('op-8'), append('op-9', ['m6'])],
      ]) {
        await again()
        await scope.commit(ops, decide)
        expect(await scope.derived('')).toEqual([])
      }
    })

    it('from before a delete or an erase is refused after it, and leaves nothing', async () => {
      const scope = await openScope(open)
      await scope.commit([append('op-1', ['m1', 'm2'])], decide)
      await scope.commit([remove('op-2', 'entry:m1'), append('op-3', ['m3'])], decide)
      for (const seq of [0, 1]) expect(await scope.derive(derived('a', 300_000), seq)).toBe(false)
      expect(await scope.derived('')).toEqual([])
      expect(await scope.derive(derived('a', 4), 3)).toBe(true)
      await scope.commit([append('op-4', ['m4'])], decide)
      expect(await scope.derive(derived('b', 5), 3)).toBe(true)
      expectSame(await scope.derived(''), [derived('a', 4), derived('b', 5)])
      await scope.commit([erase('op-5')], decide)
      await scope.commit([append('op-6', ['m6'])], decide)
      for (const seq of [0, 4]) expect(await scope.derive(derived('a', 1), seq)).toBe(false)
      expect(await scope.derive(derived('c', 6), 6)).toBe(true)
      expectSame(await scope.derived(''), [derived('c', 6)])
    })

    it('is refused to a writer that has not seen what another deleted', async () => {
      const store = await open()
      const [scope, other] = [store.open(SCOPE), store.open(SCOPE)]
      await scope.commit([append('op-1', ['m1'])], decide)
      await scope.head()
      await other.commit([remove('op-2', 'entry:m1')], decide)
      expect(await scope.derive(derived('a', 1), 1)).toBe(false)
      expect(await scope.derived('')).toEqual([])
    })

    it('is of one scope alone, also where that is the first that is kept of it', async () => {
      const store = await open()
      const scopes = [SCOPE, { ...SCOPE, sessionId: 'other' }, { userId: 'ada' }].map((scope) =>
        store.open(scope),
      )
      const [scope, other, third] = scopes as [ScopeStore, ScopeStore, ScopeStore]
      expect(await scope.derived('')).toEqual([])
      for (const [at, one] of scopes.entries()) await one.derive(derived('a', at + 1), 0)
      for (const one of scopes) await one.commit([append('op-1', ['m1'])], decide)
      await other.commit([remove('op-2', 'entry:m1')], decide)
      expect(await other.derived('')).toEqual([])
      expectSame(await scope.derived(''), [derived('a', 1)])
      await third.commit([erase('op-2')], decide)
      expect(await third.derived('')).toEqual([])
      expectSame(await scope.derived(''), [derived('a', 1)])
      expect(await scope.head()).toMatchObject({ seq: 1, ordinal: 1, first: 'm1' })
    })

    it('is there after the store was opened again, and so is what refuses it', async ({ skip }) => {
      if (!reopen) return skip('no reopen was given: this store does not claim to outlive its process')
      const store = await open()
      const scope = store.open(SCOPE)
      await scope.commit([append('op-1', ['m1']), remove('op-2', 'entry:m1'), append('op-3', ['m2'])], decide)
      await scope.derive(derived('a', 700_000), 3)
      const again = (await reopen(store)).open(SCOPE)
      expectSame(await again.derived(''), [derived('a', 700_000)])
      expect(await again.derive(derived('b', 1), 1)).toBe(false)
      expect(await again.derive(derived('b', 1), 3)).toBe(true)
    })
  })
}

function derived(key: string, size: number): DerivedRow {
  return { key, bytes: bytesOf(size) }
}

/** Comparing megabytes by `toEqual` takes seconds. */
function expectSame(rows: readonly DerivedRow[], expected: readonly DerivedRow[]): void {
  const sizes = (all: readonly DerivedRow[]): unknown => all.map(({ key, bytes }) => [key, bytes.length])
  expect(sizes(rows)).toEqual(sizes(expected))
  const differs = rows.filter(({ bytes }, row) => bytes.some((byte, at) => byte !== expected[row]?.bytes[at]))
  expect(differs.map(({ key }) => key)).toEqual([])
}
