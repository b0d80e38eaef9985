import { afterEach, describe, expect, it, vi } from 'vitest'
import { decide } from '../../../src/kernel/log/decide.ts'
import { sealOp } from '../../../src/kernel/log/seal.ts'
import { PlimsollError } from '../../../src/ports/errors.ts'
import type { LogRow, ScopeStore } from '../../../src/ports/store.ts'
import { encryptedStore } from '../../../src/stores/encrypted/index.ts'
import { OpenedTexts } from '../../../src/stores/encrypted/opened-texts.ts'
import { mapStore } from '../../../src/stores/map.ts'
import { changedStore } from '../../everywhere/changed-store.ts'
import { KEYS } from '../../everywhere/encrypted.ts'

const SCOPE = { userId: 'ada', sessionId: 'trip' }
const CLAIM = { seq: 0, isExact: false, op: undefined }

const append = (scope: ScopeStore, id: string, round = id) =>
  scope.commit(
    [
      sealOp({
        kind: 'append',
        opId: `entry:${id}`,
        round,
        messages: [{ id, role: 'user', content: `text of ${id}`, createdAt: 1, trust: 'user' }],
      }),
    ],
    decide,
  )
const forget = (scope: ScopeStore, id: string) =>
  scope.commit([sealOp({ kind: 'delete', opId: `delete ${id}`, target: `entry:${id}` })], decide)

const textsIn = (rows: readonly LogRow[]): unknown[] =>
  rows.map(({ body, unreadable }) =>
    body === null ? (unreadable ? 'unreadable' : null) : (JSON.parse(body) as { content: string }).content,
  )

/** What is read, and how many texts were decrypted for it. */
async function read(scope: ScopeStore): Promise<readonly [texts: unknown[], decrypted: number]> {
  const decrypt = vi.spyOn(crypto.subtle, 'decrypt')
  const { rows } = await scope.entries()
  const { length } = decrypt.mock.calls
  decrypt.mockRestore()
  return [textsIn(rows), length]
}

describe('texts that were decrypted', () => {
  afterEach(() => vi.restoreAllMocks())

  it('are not decrypted again when their rows are read again', async () => {
    const store = encryptedStore(mapStore(), KEYS)
    await append(store.open(SCOPE), 'a')
    await append(store.open(SCOPE), 'b')
    expect(await read(store.open(SCOPE))).toEqual([['text of a', 'text of b'], 2])
    expect(await read(store.open(SCOPE))).toEqual([['text of a', 'text of b'], 0])
    // Of another one under the same names they are others.
    const other = { ...SCOPE, userId: 'bob' }
    await append(store.open(other), 'a')
    expect((await read(store.open(other)))[1]).toBeGreaterThan(0)
  })

  it('go with what is forgotten, here or by another store', async () => {
    const below = mapStore()
    const [one, two] = [encryptedStore(below, KEYS), encryptedStore(below, KEYS)]
    for (const id of ['a', 'b', 'c']) await append(one.open(SCOPE), id)
    await read(one.open(SCOPE))
    await forget(one.open(SCOPE), 'a')
    expect(await read(one.open(SCOPE))).toEqual([[null, 'text of b', 'text of c'], 2])
    const { seq } = await one.open(SCOPE).head()
    await forget(two.open(SCOPE), 'b')
    expect((await one.open(SCOPE).changesSince(seq)).rows.map(({ kind }) => kind)).toEqual(['delete'])
    expect(await read(one.open(SCOPE))).toEqual([[null, null, 'text of c'], 1])
  })

  it('go with what is forgotten by a commit whose answer is lost', async () => {
    let isLost = false
    const below = changedStore(mapStore(), (inner) => ({
      commit: async (ops, decide) => {
        const results = await inner.commit(ops, decide)
        if (isLost) throw new PlimsollError('ERR_STORAGE', 'lost')
        return results
      },
    }))
    const store = encryptedStore(below, KEYS)
    await append(store.open(SCOPE), 'a')
    await append(store.open(SCOPE), 'b')
    await read(store.open(SCOPE))
    isLost = true
    await expect(forget(store.open(SCOPE), 'a')).rejects.toMatchObject({ code: 'ERR_STORAGE' })
    expect(await read(store.open(SCOPE))).toEqual([[null, 'text of b'], 1])
  })

  it.each<readonly [string, (rows: readonly LogRow[]) => readonly LogRow[]]>([
    ['another text', ([a, b]) => [{ ...(a as LogRow), body: (b as LogRow).body }, b as LogRow]],
    ['another op', ([a, b]) => [{ ...(a as LogRow), opId: 'other' }, b as LogRow]],
    ['another round', ([a, b]) => [{ ...(a as LogRow), round: 'b' }, b as LogRow]],
    ['another id', ([a, b]) => [{ ...(a as LogRow), id: 'z' }, b as LogRow]],
  ])('are not taken for those of a row that has %s by now', async (_, change) => {
    let isChanged = false
    const below = changedStore(mapStore(), (inner) => ({
      entries: async (query) => {
        const page = await inner.entries(query)
        return isChanged ? { ...page, rows: change(page.rows) } : page
      },
    }))
    const store = encryptedStore(below, KEYS)
    await append(store.open(SCOPE), 'a')
    await append(store.open(SCOPE), 'b')
    expect((await read(store.open(SCOPE)))[0]).toEqual(['text of a', 'text of b'])
    isChanged = true
    expect((await read(store.open(SCOPE)))[0]).toEqual(['unreadable', 'text of b'])
  })

  it('are found by all that their text is bound to', () => {
    const texts = new OpenedTexts()
    const place = { scope: SCOPE, kind: 'message', opId: 'a', id: 'a', field: 'body', rest: '[0]' } as const
    const opened = { claim: CLAIM, head: null, text: 'a' }
    texts.keep(place, 'sealed', opened, 0)
    expect(texts.find({ ...place }, 'sealed')).toBe(opened)
    for (const other of [
      { scope: { ...SCOPE, userId: 'bob' } },
      { scope: { ...SCOPE, tenant: 'acme' } },
      { scope: { ...SCOPE, sessionId: 'work' } },
      { kind: 'summary' },
      { opId: 'b' },
      { id: 'b' },
      { field: 'bytes' },
      { rest: '[1]' },
    ] as const)
      expect(texts.find({ ...place, ...other }, 'sealed')).toBe(undefined)
    expect(texts.find(place, 'other')).toBe(undefined)
  })

  it('take bounded room, and none that were read before something was forgotten', () => {
    const texts = new OpenedTexts()
    const placeOf = (id: string) => ({ scope: SCOPE, kind: 'message', opId: id, id, field: 'body' }) as const
    const sealed = 'x'.repeat(100_000)
    const keep = (id: string, cleared = 0) =>
      texts.keep(placeOf(id), sealed, { claim: CLAIM, head: null, text: id }, cleared)
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) keep(id)
    expect(['a', 'b', 'f'].map((id) => texts.find(placeOf(id), sealed)?.text)).toEqual([undefined, 'b', 'f'])
    // So does all that a row says of itself, such as the ids of its sources.
    const keepLong = (id: string) =>
      texts.keep({ ...placeOf(id), rest: sealed.repeat(5) }, '', { claim: CLAIM, head: null, text: id }, 0)
    for (const id of ['g', 'h', 'i']) keepLong(id)
    expect(texts.find(placeOf('f'), sealed)).toBe(undefined)
    expect(texts.find({ ...placeOf('i'), rest: sealed.repeat(5) }, '')?.text).toBe('i')
    texts.clear()
    keep('g')
    expect(['b', 'g'].map((id) => texts.find(placeOf(id), sealed))).toEqual([undefined, undefined])
    keep('g', texts.cleared)
    expect(texts.find(placeOf('g'), sealed)?.text).toBe('g')
  })
})
