import fc from 'fast-check'
import { expect, it } from 'vitest'
import { decide } from '../../../src/kernel/log/decide.ts'
import { sealMessage } from '../../../src/kernel/log/message.ts'
import { mapStore } from '../../../src/stores/map.ts'
import { seqBefore } from '../../../src/sync/newest.ts'
import { mark, put } from '../../contract/samples.ts'
import { runs } from '../../everywhere/runs.ts'

/** A row of the log: a message of a day, a mark, or a value. */
const rows = fc.array(
  fc.record({
    what: fc.constantFrom('message', 'message', 'message', 'mark', 'put'),
    day: fc.nat(20),
    length: fc.oneof(fc.nat(40), fc.constant(400)),
  }),
  { minLength: 1, maxLength: 200 },
)
type Rows = typeof rows extends fc.Arbitrary<infer Value> ? Value : never

const bodyOf = ({ day, length }: Rows[number], at: number): string =>
  sealMessage({ id: `m${at}`, role: 'user', content: 'é'.repeat(length), createdAt: day, trust: 'user' })

async function scopeOf(all: Rows) {
  const scope = mapStore().open({ userId: 'ada' })
  for (const [at, row] of all.entries()) {
    const envelope = { opId: `o${at}`, kind: 'append', round: `m${at}`, ids: [`m${at}`] } as const
    const op = {
      message: { envelope, bodies: [bodyOf(row, at)] },
      mark: mark(`o${at}`, 'rewind', `k${at}`),
      put: put(`o${at}`, `key/${at}`, null),
    }[row.what]
    if (op) await scope.commit([op], decide)
  }
  return scope
}

it('the newest bytes are those of the fewest ops that have so many', async () => {
  await fc.assert(
    fc.asyncProperty(rows, fc.integer({ min: 1, max: 20_000 }), fc.nat(5), async (all, bytes, behind) => {
      const scope = await scopeOf(all)
      const head = Math.max(1, all.length - behind)
      const from = await seqBefore(scope, head, { bytes })
      const entries = (await scope.changesSince(0)).rows.filter(({ kind }) => kind !== 'put')
      const sizeAfter = (seq: number) =>
        entries.reduce(
          (sum, row) => sum + (row.seq > seq && row.seq <= head ? Buffer.byteLength(row.body ?? '') : 0),
          0,
        )
      if (from > 0) expect(sizeAfter(from)).toBeGreaterThanOrEqual(Math.min(bytes, sizeAfter(head - 1)))
      if (from < head - 1) expect(sizeAfter(from + 1)).toBeLessThan(bytes)
    }),
    runs(60),
  )
})

it('the newest days begin with the first message of them, however clocks went', async () => {
  await fc.assert(
    fc.asyncProperty(rows, fc.nat(21), async (all, since) => {
      const from = await seqBefore(await scopeOf(all), all.length, { since })
      const times = all.map(({ what, day }) => (what === 'message' ? day : undefined))
      const first = times.findIndex((day) => day !== undefined && day >= since)
      // Behind so many that are older, nobody looks on.
      const old = times.slice(first, from).filter((day) => day !== undefined && day < since)
      if (old.length >= 64) return
      const isOldFirst = times.slice(0, first).some((day) => day !== undefined)
      if (first < 0) expect(from).toBe(times.some((day) => day !== undefined) ? all.length - 1 : 0)
      else expect(from).toBe(isOldFirst ? Math.min(first, all.length - 1) : 0)
    }),
    runs(60),
  )
})

it('what is behind the newest seq that counts does not, nor has a mark a time', async () => {
  const message = { what: 'message', day: 1, length: 1 } as const
  const all: Rows = [message, message, { ...message, day: 9 }, { ...message, what: 'mark' }, message]
  const scope = await scopeOf(all)
  expect(await seqBefore(scope, 3, { bytes: 1 })).toBe(2)
  expect(await seqBefore(scope, 5, { since: 5 })).toBe(2)
  expect(await seqBefore(await scopeOf(all.toSpliced(2, 1)), 4, { since: 5 })).toBe(3)
})

it('one of these days behind 64 messages in a row that are older is not looked for', async () => {
  const messages = (days: readonly number[]): Rows => days.map((day) => ({ what: 'message', day, length: 1 }))
  const old = Array<number>(63).fill(1)
  expect(await seqBefore(await scopeOf(messages([9, ...old, 9])), 65, { since: 5 })).toBe(0)
  expect(await seqBefore(await scopeOf(messages([9, 1, ...old, 9])), 66, { since: 5 })).toBe(65)
})
