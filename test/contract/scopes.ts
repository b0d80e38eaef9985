import { describe, expect, it } from 'vitest'
import { decide } from '../../src/kernel/log/decide.ts'
import type { Scope } from '../../src/ports/op.ts'
import { PAGE_ROWS, type Store } from '../../src/ports/store.ts'
import type { DescribeStoreOptions } from './abilities.ts'
import { append, erase, IDS, names, type Open, put } from './samples.ts'

export function describeScopes(open: Open, { reopen }: DescribeStoreOptions): void {
  describe('scopes', () => {
    it('are those to which anything was written, of whatever tenant, user and name', async () => {
      const store = await open()
      expect(await store.scopes()).toEqual([])
      const written: Scope[] = IDS.flatMap((id) => [
        { userId: id },
        { tenant: id, userId: id },
        { userId: id, sessionId: id },
        { tenant: 'acme', userId: 'ada', sessionId: id },
      ])
      for (const scope of written) await store.open(scope).commit([append('op-1', ['m1'])], decide)
      expect(sorted(await readScopes(store))).toEqual(sorted(written))
    })

    it('are those with nothing but registers, attachments or derived rows too', async () => {
      const store = await open()
      const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((userId) => store.open({ userId }))
      await a?.commit([put('op-1', 'key', null)], decide)
      await b?.attach({ id: 'one', mediaType: 'image/png', bytes: Uint8Array.of(1) }, 1)
      await c?.derive({ key: 'key', bytes: Uint8Array.of(1) }, 0)
      await d?.head()
      await d?.register('key')
      expect((await readScopes(store)).map(({ userId }) => userId).sort()).toEqual(['a', 'b', 'c'])
    })

    it('stay when they are erased, since the row of the erase does', async () => {
      const store = await open()
      const scope = store.open({ userId: 'ada', sessionId: 'trip' })
      await scope.commit([append('op-1', ['m1'])], decide)
      await scope.commit([erase('op-2')], decide)
      expect(await store.scopes()).toEqual([{ userId: 'ada', sessionId: 'trip' }])
    })

    it(`come ${PAGE_ROWS} at a time, each once, in an order in which none changes its place`, async () => {
      const store = await open()
      const ids = names('user-', PAGE_ROWS + 3)
      for (const userId of ids) await store.open({ userId }).commit([put('op-1', 'key', null)], decide)
      const first = await store.scopes()
      expect(first.length).toBe(PAGE_ROWS)
      const rest = await store.scopes(first.at(-1))
      expect(rest.length).toBe(3)
      expect([...first, ...rest].map(({ userId }) => userId).sort()).toEqual(ids)
      expect(await store.scopes(rest.at(-1))).toEqual([])
      await store.open({ userId: 'user-0000x' }).commit([put('op-1', 'key', null)], decide)
      await store.open(first[0] as Scope).commit([erase('op-2')], decide)
      const again = await readScopes(store)
      expect(again.filter(({ userId }) => userId !== 'user-0000x')).toEqual([...first, ...rest])
    })

    it('go on after one that is not there', async () => {
      const store = await open()
      for (const userId of ['a', 'c']) await store.open({ userId }).commit([put('op-1', 'key', null)], decide)
      const after = await store.scopes({ userId: 'b' })
      const before = (await store.scopes()).filter(
        (one) => !after.some(({ userId }) => userId === one.userId),
      )
      expect(before.length + after.length).toBe(2)
      await store.open({ userId: 'b' }).commit([put('op-1', 'key', null)], decide)
      expect(await store.scopes({ userId: 'b' })).toEqual(after)
    })

    it('are there after the store was opened again', async ({ skip }) => {
      if (!reopen) return skip('no reopen was given: this store does not claim to outlive its process')
      const store = await open()
      await store.open({ tenant: 'acme', userId: 'ada' }).commit([put('op-1', 'key', null)], decide)
      expect(await (await reopen(store)).scopes()).toEqual([{ tenant: 'acme', userId: 'ada' }])
    })
  })
}

/** All of them, page by page. */
async function readScopes(store: Store): Promise<readonly Scope[]> {
  const all: Scope[] = []
  for (let after: Scope | undefined; ; ) {
    const page = await store.scopes(after)
    if (page.length === 0) return all
    all.push(...page)
    after = page.at(-1)
  }
}

function sorted(scopes: readonly Scope[]): readonly string[] {
  return scopes.map(({ tenant, userId, sessionId }) => JSON.stringify([tenant, userId, sessionId])).sort()
}
