import { describe, expect, it } from 'vitest'
import { decide } from '../../src/kernel/log/decide.ts'
import { PAGE_ROWS, type ScopeStore } from '../../src/ports/store.ts'
import { accepted, bodyOf, IDS, names, type Open, openScope, put, remove } from './samples.ts'

export function describeRegisters(open: Open): void {
  describe('a register', () => {
    it('holds the body of the last put that was accepted, whose opId is its version', async () => {
      const scope = await openScope(open)
      expect(await scope.register('key')).toBeUndefined()
      await scope.commit([put('op-1', 'key', null, { sources: ['entry:m1', 'entry:m2'] })], decide)
      expect(await scope.register('key')).toEqual({
        key: 'key',
        version: 'op-1',
        seq: 1,
        sources: ['entry:m1', 'entry:m2'],
        body: bodyOf('op-1'),
      })
      const results = await scope.commit(
        [put('op-2', 'key', 'op-1'), put('op-3', 'key', 'op-1'), put('op-4', 'key', null)],
        decide,
      )
      expect(results).toEqual([
        accepted(2),
        { status: 'conflict', version: 'op-2' },
        { status: 'conflict', version: 'op-2' },
      ])
      expect(await scope.register('key')).toEqual({
        key: 'key',
        version: 'op-2',
        seq: 2,
        body: bodyOf('op-2'),
      })
    })

    it('of any name is itself and no other', async () => {
      const scope = await openScope(open)
      for (const key of IDS) expect(await scope.register(key), JSON.stringify(key)).toBeUndefined()
      await scope.commit(
        IDS.map((key, index) => put(`op-${index}`, key, null)),
        decide,
      )
      for (const [index, key] of IDS.entries())
        expect(await scope.register(key)).toEqual({
          key,
          version: `op-${index}`,
          seq: index + 1,
          body: bodyOf(`op-${index}`),
        })
      expect((await keys(scope, '')).length).toBe(IDS.length)
    })
  })

  describe('registers', () => {
    it('gives those whose key starts with the prefix, compared code unit by code unit', async () => {
      const scope = await openScope(open)
      const all = [
        'a',
        'a%',
        'a*',
        'a/',
        'a/1',
        'a/10',
        'a/2',
        'a/\uffff',
        'a/\u{1f44d}',
        'a/\uff5e',
        'a0',
        'aa',
        'A/1',
        'á',
        'a\u0301',
        '__proto__',
      ]
      await scope.commit(
        all.map((key, index) => put(`op-${index}`, key, null)),
        decide,
      )
      for (const prefix of [
        '',
        'a',
        'a/',
        'a/1',
        'a%',
        'a*',
        'a_',
        'A',
        '__',
        'a/\ud83d\udc4d',
        'nothing',
        'á',
      ])
        expect(await keys(scope, prefix), prefix).toEqual(all.filter((key) => key.startsWith(prefix)).sort())
    })

    it('goes on after a key, whether or not that is there', async () => {
      const scope = await openScope(open)
      const all = ['k/b', 'k/d', 'k/f', 'l', 'k/\u{1f44d}', 'k/\uff5e']
      await scope.commit(
        all.map((key, index) => put(`op-${index}`, key, null)),
        decide,
      )
      const under = all.filter((key) => key.startsWith('k/')).sort()
      for (const after of ['', 'k', 'k/a', 'k/b', 'k/c', 'k/f', 'k/\u{1f44d}', 'k/\uff5e', 'k/\uffff', 'z'])
        expect(await keys(scope, 'k/', after), after).toEqual(under.filter((key) => key > after))
    })

    it(`gives at most ${PAGE_ROWS} at a time`, async () => {
      const scope = await openScope(open)
      const all = names('fact/', PAGE_ROWS + 188)
      await scope.commit(
        [...all].reverse().map((key) => put(`op-${key}`, key, null)),
        decide,
      )
      expect(await keys(scope, 'fact/')).toEqual(all.slice(0, PAGE_ROWS))
      expect(await keys(scope, 'fact/', all[PAGE_ROWS - 1])).toEqual(all.slice(PAGE_ROWS))
    })

    it('leaves out those that were deleted, and fills its page with others', async () => {
      const scope = await openScope(open)
      const all = names('fact/', PAGE_ROWS + 10)
      await scope.commit(
        [
          ...all.map((key) => put(`op-${key}`, key, null)),
          ...all.slice(5, 10).map((key) => remove(`delete-${key}`, `register:${key}`)),
        ],
        decide,
      )
      const live = [...all.slice(0, 5), ...all.slice(10)]
      expect(await keys(scope, 'fact/')).toEqual(live.slice(0, PAGE_ROWS))
      expect(await keys(scope, 'fact/', all[PAGE_ROWS])).toEqual(
        live.filter((key) => key > (all[PAGE_ROWS] as string)),
      )
    })
  })
}

async function keys(scope: ScopeStore, prefix: string, after?: string): Promise<string[]> {
  return (await scope.registers(prefix, after)).map(({ key }) => key)
}
