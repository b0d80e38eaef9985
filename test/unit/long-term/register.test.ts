import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { changeRegister, type RegisterChange, readRegister } from '../../../src/features/register.ts'
import { decide } from '../../../src/kernel/log/decide.ts'
import { sealOp } from '../../../src/kernel/log/seal.ts'
import type { Host } from '../../../src/ports/host.ts'
import type { ScopeStore } from '../../../src/ports/store.ts'
import { mapStore } from '../../../src/stores/map.ts'
import { changedStore } from '../../everywhere/changed-store.ts'
import { runs } from '../support/runs.ts'

let ids = 0
const host = { newId: () => `id-${++ids}` } as Host
const open = (store = mapStore()): ScopeStore => store.open({ userId: 'ada' })
const change = (store: ScopeStore, more: Partial<RegisterChange<number>>): Promise<string | null> =>
  changeRegister<number>(store, host, {
    operation: 'count',
    key: 'counter',
    change: (value = 0) => value + 1,
    ...more,
  })
const read = async (store: ScopeStore): Promise<unknown> => (await readRegister(store, 'counter')).value
const seqOf = async (store: ScopeStore): Promise<number> => (await store.head()).seq

beforeEach(() => {
  ids = 0
})

describe('changing a register', () => {
  it('gives the new version, and that of what is there where nothing changes', async () => {
    const store = open()
    expect(await change(store, {})).toBe('id-1')
    expect(await change(store, {})).toBe('id-2')
    const seq = await seqOf(store)
    expect(await change(store, { change: (value = 0) => value })).toBe('id-2')
    expect(await seqOf(store)).toBe(seq)
  })

  it('writes again where only its places in the indexes change', async () => {
    const store = open()
    const at = (weight: number) => ({
      change: () => 1,
      index: () => [{ group: 'counters', order: 'counter', weight }],
    })
    await change(store, at(3))
    expect(await change(store, at(3))).toBe('id-1')
    expect(await change(store, at(4))).toBe('id-3')
    expect((await store.sums(['counters'])).get('counters')).toEqual({ count: 1, weight: 4 })
    expect(await change(store, { ...at(4), change: () => null })).toBe(null)
    expect((await store.sums(['counters'])).size).toBe(0)
  })

  it('writes a value that was changed in place', async () => {
    const store = open()
    const push = () =>
      changeRegister<string[]>(store, host, {
        operation: 'push',
        key: 'list',
        change: (list = []) => {
          list.push('one')
          return list
        },
      })
    await push()
    await push()
    expect((await readRegister(store, 'list')).value).toEqual(['one', 'one'])
  })

  it('takes a register off, which then has neither value nor version, and may be written again', async () => {
    const store = open()
    await change(store, {})
    expect(await change(store, { change: () => null })).toBe(null)
    expect(await readRegister(store, 'counter')).toMatchObject({ value: undefined, version: null })
    const seq = await seqOf(store)
    expect(await change(store, { change: () => null })).toBe(null)
    expect(await seqOf(store)).toBe(seq)
    await change(store, { ifVersion: null })
    expect(await read(store)).toBe(1)
  })

  it('is refused at once, with the version that is there, where that is not the one that was asked for', async () => {
    const store = open()
    const first = await change(store, {})
    const second = await change(store, { ifVersion: first })
    const seq = await seqOf(store)
    const refused = { code: 'ERR_CONFLICT', version: second }
    let asked = 0
    const counted = { change: (): number => ++asked }
    await expect(change(store, { ...counted, ifVersion: first })).rejects.toMatchObject(refused)
    await expect(change(store, { ...counted, ifVersion: null })).rejects.toMatchObject(refused)
    await change(store, { change: () => null })
    await expect(change(store, { ...counted, ifVersion: second })).rejects.toMatchObject({
      code: 'ERR_CONFLICT',
      version: null,
    })
    expect(asked).toBe(0)
    expect(await seqOf(store)).toBe(seq + 1)
  })

  it('is a no-op when its op is repeated, whatever was written since and whatever version it asked for', async () => {
    const store = open()
    const first = await change(store, {})
    const named = { opId: 'mine', ifVersion: first }
    expect(await change(store, named)).toBe('mine')
    expect(await change(store, named)).toBe('mine')
    await change(store, {})
    expect(await change(store, named)).toBe('mine')
    expect(await change(store, { opId: 'mine' })).toBe('mine')
    await expect(change(store, { opId: 'entry:mine' })).rejects.toMatchObject({
      code: 'ERR_INVALID_ARGUMENT',
    })
    expect(await read(store)).toBe(3)
  })

  it('is refused under a name of its own too, in one try, and that name can be used for another', async () => {
    let commits = 0
    const store = open(
      changedStore(mapStore(), (scope) => ({
        commit: (ops, decision) => {
          commits++
          return scope.commit(ops, decision)
        },
      })),
    )
    const first = await change(store, {})
    const second = await change(store, {})
    const named = { opId: 'mine', ifVersion: first }
    await expect(change(store, named)).rejects.toMatchObject({ code: 'ERR_CONFLICT', version: second })
    expect(commits).toBe(3)
    const unchanged = { ...named, change: (value = 0) => value }
    await expect(change(store, unchanged)).rejects.toMatchObject({ code: 'ERR_CONFLICT', version: second })
    expect(await change(store, { ...named, ifVersion: second })).toBe('mine')
    expect(await read(store)).toBe(3)
  })

  it('tries again where another wrote in between, eight times in all', async () => {
    for (const interruptions of [7, 8]) {
      let left = interruptions
      const inner = mapStore()
      const other = open(inner)
      const store = open(
        changedStore(inner, (scope) => ({
          commit: async (ops, decision) => {
            if (left-- > 0) await change(other, {})
            return scope.commit(ops, decision)
          },
        })),
      )
      const outcome = await change(store, { opId: 'mine' }).catch((error: unknown) => error)
      const { version } = await readRegister(other, 'counter')
      if (interruptions === 7) expect(outcome).toBe('mine')
      else expect(outcome).toMatchObject({ code: 'ERR_CONFLICT', version })
      expect(await read(other)).toBe(8)
    }
  })

  it('that was deleted for ever is refused', async () => {
    const store = open()
    await change(store, {})
    await store.commit([sealOp({ kind: 'delete', opId: 'delete', target: 'register:counter' })], decide)
    await expect(change(store, {})).rejects.toMatchObject({ code: 'ERR_NOT_FOUND', id: 'counter' })
    expect(await change(store, { change: () => null })).toBe(null)
  })

  it('loses no update, however many write at once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 5 }),
        async (counts) => {
          const store = mapStore()
          const write = async (count: number): Promise<void> => {
            for (let left = count; left > 0; ) {
              const done = await change(open(store), {}).catch(() => undefined)
              if (done !== undefined) left--
            }
          }
          await Promise.all(counts.map(write))
          expect(await read(open(store))).toBe(counts.reduce((sum, count) => sum + count, 0))
        },
      ),
      runs(50),
    )
  })
})
