import { describe, expect, it } from 'vitest'
import { decide } from '../../src/kernel/log/decide.ts'
import type { Scope } from '../../src/ports/op.ts'
import { append, bodyOf, IDS, mark, type Open, openScope, put, readAll, TEXTS } from './samples.ts'

/** Pairs and triples that run together where ids are joined, folded or trimmed. */
const SCOPES: readonly Scope[] = [
  { userId: 'a', sessionId: 'b:c' },
  { userId: 'a:b', sessionId: 'c' },
  { userId: 'a', sessionId: 'b/c' },
  { userId: 'a/b', sessionId: 'c' },
  { userId: 'a', sessionId: 'b\u0000c' },
  { userId: 'a\u0000b', sessionId: 'c' },
  { userId: 'a","b', sessionId: 'c' },
  { userId: 'a', sessionId: 'b","c' },
  { tenant: 'a', userId: 'b' },
  { userId: 'a', sessionId: 'b' },
  { userId: 'b', sessionId: 'a' },
  { tenant: 'a', userId: 'b', sessionId: 'c' },
  { tenant: 'a:b', userId: 'c' },
  { userId: 'a:b:c' },
  { tenant: ' ', userId: 'u' },
  { tenant: 'null', userId: 'u' },
  { tenant: 'undefined', userId: 'u' },
  { tenant: '\u0000', userId: 'u' },
  { tenant: '-', userId: 'u' },
  { userId: 'u' },
  { userId: 'u', sessionId: 'default' },
  { userId: 'u', sessionId: 'null' },
  { userId: 'u', sessionId: ' ' },
  { userId: 'u', sessionId: 'u' },
  ...IDS.map((userId) => ({ userId, sessionId: 's' })),
  ...IDS.map((sessionId) => ({ userId: 'someone', sessionId })),
  ...IDS.map((tenant) => ({ tenant, userId: 'someone' })),
]

export function describeIsolation(open: Open): void {
  describe('a scope', () => {
    it('shares nothing with another, however alike they are spelt', async () => {
      const store = await open()
      for (const [index, scope] of SCOPES.entries())
        await store.open(scope).commit([append('op-1', ['m1'], { bodies: [`log ${index}`] })], decide)
      for (const [index, scope] of SCOPES.entries()) {
        const own = store.open(scope)
        expect(await own.head(), JSON.stringify(scope)).toMatchObject({ seq: 1, ordinal: 1 })
        await own.commit([put('op-2', 'key', null, { body: `register ${index}` })], decide)
      }
      for (const [index, scope] of SCOPES.entries()) {
        const own = store.open({ ...scope })
        expect((await own.entries()).rows.map(({ body }) => body)).toEqual([`log ${index}`])
        expect((await own.registers('')).map(({ body }) => body)).toEqual([`register ${index}`])
      }
    })

    it('is the same one whenever it is opened again', async () => {
      const store = await open()
      const scope = { tenant: 't', userId: 'ada', sessionId: 'trip' }
      await store.open(scope).commit([append('op-1', ['m1'])], decide)
      const other = store.open({ sessionId: 'trip', userId: 'ada', tenant: 't' })
      await other.commit([append('op-2', ['m2'])], decide)
      await other.close()
      expect((await store.open(scope).entries()).rows.map(({ id }) => id)).toEqual(['m1', 'm2'])
    })

    it('is not made by reading it', async () => {
      const store = await open()
      const scope = store.open({ userId: 'nobody' })
      expect(await readAll(scope)).toEqual({
        head: { seq: 0, ordinal: 0, marks: new Map() },
        log: [],
        registers: [],
      })
      expect((await scope.entries({ first: 1 })).rows).toEqual([])
      expect(await scope.register('key')).toBeUndefined()
    })
  })

  describe('an id', () => {
    it('of any spelling names its own entry, op, round and lane', async () => {
      const scope = await openScope(open)
      const ops = IDS.flatMap((id, index) => [
        append(id, [id]),
        append(`reply ${index}`, [`reply ${index}`], { round: id }),
        mark(`mark ${index}`, 'epoch', `mark ${index}`, { lane: id }),
      ])
      const results = await scope.commit(ops, decide)
      expect(results.every((result) => result.status === 'accepted' && result.applied)).toBe(true)
      for (const [index, id] of IDS.entries()) {
        const {
          rows: [row, reply],
        } = await scope.entries({ from: id, first: 2 })
        expect(row).toMatchObject({ id, opId: id, round: id, body: bodyOf(id) })
        expect(reply).toMatchObject({ id: `reply ${index}`, round: id })
        expect((await scope.head()).marks.get(`epoch/${id}`)?.id).toBe(`mark ${index}`)
      }
      const again = await scope.commit(ops, decide)
      expect(again.every((result) => result.repeated)).toBe(true)
    })
  })

  describe('a text', () => {
    for (const [name, text] of Object.entries(TEXTS))
      it(`comes back as it was: ${name}`, async () => {
        const scope = await openScope(open)
        await scope.commit(
          [
            append('op-1', ['m1'], { bodies: [text], derived: [text] }),
            put('op-2', 'key', null, { body: text }),
          ],
          decide,
        )
        const {
          rows: [row],
        } = await scope.entries()
        // Not toBe: a difference in 64 KiB would be printed whole.
        expect([row?.body === text, row?.derived === text]).toEqual([true, true])
        expect((await scope.changesSince(0)).rows[0]?.body === text).toBe(true)
        expect((await scope.register('key'))?.body === text).toBe(true)
        expect((await scope.registers('k'))[0]?.body === text).toBe(true)
      })
  })
}
