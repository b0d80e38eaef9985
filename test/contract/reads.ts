import { beforeEach, describe, expect, it } from 'vitest'
import { decide } from '../../src/kernel/log/decide.ts'
import type { EntriesQuery, EntryKind, LogRow, ScopeStore } from '../../src/ports/store.ts'
import { isEntry, PAGE_ROWS, PAGE_UNITS, type Page } from '../../src/ports/store.ts'
import { type DescribeStoreOptions, halfPage } from './abilities.ts'
import { append, erase, mark, names, type Open, openScope, put, readLog, remove } from './samples.ts'

export function describeReads(open: Open, { kept }: DescribeStoreOptions): void {
  describe('entries', () => {
    it('gives the rows of every query, oldest first', async () => {
      const scope = await openScope(open)
      await writeMixed(scope)
      const all = (await readLog(scope)).filter(isEntry)
      for (const query of queries())
        expect(await scope.entries(query), JSON.stringify(query)).toEqual(expected(all, query))
    })

    it('gives no rows for an id that no entry has', async () => {
      const scope = await openScope(open)
      await writeMixed(scope)
      for (const id of ['nobody', 'key', 'op-1', 'gone', '__proto__', ''])
        for (const query of [
          { from: id },
          { after: id },
          { to: id },
          { from: id, to: 'm3' },
          { after: id, first: 2 },
          { from: 'm1', to: id },
        ])
          expect(await scope.entries(query), JSON.stringify(query)).toEqual({ rows: [], more: false })
    })

    it(`gives at most ${PAGE_ROWS} rows, the last ones unless the first are asked for`, async () => {
      const scope = await openScope(open)
      const ids = names('m', PAGE_ROWS * 2 + 100)
      for (let at = 0; at < ids.length; at += 100)
        await scope.commit([append(`op-${at}`, ids.slice(at, at + 100))], decide)
      const read = async (query?: EntriesQuery): Promise<string[]> =>
        (await scope.entries(query)).rows.map(({ id }) => id)
      const last = ids.slice(-PAGE_ROWS)
      expect(await read()).toEqual(last)
      expect(await read({ last: PAGE_ROWS + 1 })).toEqual(last)
      expect(await read({ last: 1_000_000 })).toEqual(last)
      expect(await read({ first: PAGE_ROWS + 1 })).toEqual(ids.slice(0, PAGE_ROWS))
      expect(await read({ from: ids[10] as string })).toEqual(last)
      expect(await read({ from: ids[10] as string, first: 1_000_000 })).toEqual(ids.slice(10, PAGE_ROWS + 10))
      expect(await read({ to: ids[700] as string })).toEqual(ids.slice(700 - PAGE_ROWS, 700))
      expect(await read({ to: ids[700] as string, last: 600, kinds: ['message'] })).toEqual(
        ids.slice(700 - PAGE_ROWS, 700),
      )
    })

    it('says whether it ended at a limit, of rows or of what they hold', async () => {
      const scope = await openScope(open)
      const half = 'x'.repeat(halfPage(kept?.body))
      const large = 'y'.repeat(PAGE_UNITS + 1)
      const bodies = { m1: 'short', m2: half, m3: half, m4: large, m5: 'short' }
      for (const [id, body] of Object.entries(bodies))
        await scope.commit([append(`op-${id}`, [id], { bodies: [body] })], decide)
      const read = async (query: EntriesQuery): Promise<readonly [string, boolean]> => {
        const { rows, more } = await scope.entries(query)
        for (const { id, body } of rows) expect(body === bodies[id as keyof typeof bodies]).toBe(true)
        return [rows.map(({ id }) => id).join(' '), more]
      }
      expect(await read({ first: 9 })).toEqual(['m1 m2', true])
      expect(await read({ from: 'm2', first: 9 })).toEqual(['m2 m3', true])
      expect(await read({ from: 'm4', first: 9 })).toEqual(['m4', true])
      expect(await read({ from: 'm5', first: 9 })).toEqual(['m5', false])
      expect(await read({ from: 'm3', first: 9 })).toEqual(['m3', true])
      expect(await read({ after: 'm3', first: 9 })).toEqual(['m4', true])
      expect(await read({ after: 'm4', first: 9 })).toEqual(['m5', false])
      expect(await read({ after: 'm5', first: 9 })).toEqual(['', false])
      expect(await read({ last: 9 })).toEqual(['m5', true])
      expect(await read({ to: 'm5', last: 9 })).toEqual(['m4', true])
      expect(await read({ to: 'm4', last: 9 })).toEqual(['m2 m3', true])
      expect(await read({ to: 'm2', last: 9 })).toEqual(['m1', false])
      expect(await read({ to: 'm2', last: 1 })).toEqual(['m1', true])

      const changes = async (seq: number): Promise<readonly [string, boolean]> => {
        const { rows, more } = await scope.changesSince(seq)
        return [rows.map(({ id }) => id).join(' '), more]
      }
      expect(await changes(0)).toEqual(['m1 m2', true])
      expect(await changes(1)).toEqual(['m2 m3', true])
      expect(await changes(3)).toEqual(['m4', true])
      expect(await changes(4)).toEqual(['m5', false])
    })

    it('gives all rows of an op in one page of changes, however much they hold', async () => {
      const scope = await openScope(open)
      const bodies = Array.from({ length: 3 }, (_, index) => `${index}`.repeat(PAGE_UNITS / 2))
      await scope.commit([append('op-1', ['m1']), append('op-2', ['m2', 'm3', 'm4'], { bodies })], decide)
      const { rows, more } = await scope.changesSince(0)
      expect([rows.map(({ id }) => id), more]).toEqual([['m1'], true])
      const rest = await scope.changesSince(1)
      expect([rest.rows.map(({ body }) => body), rest.more]).toEqual([bodies, false])
    })

    it('finds the few of a kind among many', async () => {
      const scope = await openScope(open)
      await scope.commit([mark('op-0', 'rewind', 'r1')], decide)
      await scope.commit([append('op-1', names('m', PAGE_ROWS * 2))], decide)
      await scope.commit([mark('op-2', 'rewind', 'r2')], decide)
      const kinds: readonly EntryKind[] = ['rewind']
      const ids = async (query: EntriesQuery): Promise<string[]> =>
        (await scope.entries(query)).rows.map(({ id }) => id)
      expect(await ids({ kinds })).toEqual(['r1', 'r2'])
      expect(await ids({ kinds, last: 1 })).toEqual(['r2'])
      expect(await ids({ kinds, first: 1 })).toEqual(['r1'])
      expect(await ids({ kinds, to: 'r2', last: 2 })).toEqual(['r1'])
      expect(await ids({ kinds: ['summary'] })).toEqual([])
      await scope.commit([mark('op-3', 'lease', 'l1')], decide)
      expect(await ids({ kinds: ['lease', 'rewind'], from: 'r2' })).toEqual(['r2', 'l1'])
    })
  })

  describe('changesSince', () => {
    it('gives every row after a seq, oldest first, with the head', async () => {
      const scope = await openScope(open)
      expect(await scope.changesSince(0)).toEqual({ rows: [], head: await scope.head(), more: false })
      await writeMixed(scope)
      const head = await scope.head()
      const all = await readLog(scope)
      for (let seq = 0; seq <= head.seq + 1; seq++)
        expect(await scope.changesSince(seq)).toEqual({
          rows: all.filter((row) => row.seq > seq),
          head,
          more: false,
        })
    })

    it(`gives at most ${PAGE_ROWS} rows, and never parts those of an op`, async () => {
      const scope = await openScope(open)
      const sizes = [PAGE_ROWS - 12, 12, 1, 300, 212, 300, 213, 1, PAGE_ROWS + 88, 2, PAGE_ROWS]
      for (const [index, size] of sizes.entries())
        await scope.commit([append(`op-${index}`, names(`m${index}-`, size))], decide)
      const pages: number[][] = []
      for (let seq = 0, more = true; more; ) {
        const page = await scope.changesSince(seq)
        const ops = [...new Set(page.rows.map((row) => row.seq))]
        expect(ops.length).toBeGreaterThan(0)
        expect(ops).toEqual(ops.map((_, index) => seq + 1 + index))
        expect(page.rows.length).toBe(ops.reduce((sum, op) => sum + (sizes[op - 1] ?? 0), 0))
        if (ops.length > 1) expect(page.rows.length).toBeLessThanOrEqual(PAGE_ROWS)
        expect(page.head.seq).toBe(sizes.length)
        pages.push(ops)
        seq = ops.at(-1) ?? seq
        more = page.more
        expect(more).toBe(seq < sizes.length)
      }
      expect(pages.flat()).toEqual(sizes.map((_, index) => index + 1))
    })
  })

  describe('head', () => {
    it('of an empty scope has seq 0 and nothing else', async () => {
      const scope = await openScope(open)
      expect(await scope.head()).toEqual({ seq: 0, ordinal: 0, marks: new Map() })
    })

    it('counts ops and messages, and knows the first message and the current mark of each slot', async () => {
      const scope = await openScope(open)
      await scope.commit([put('op-1', 'key', null), mark('op-2', 'rewind', 'r1')], decide)
      expect(await scope.head()).toEqual({ seq: 2, ordinal: 0, marks: new Map() })
      await scope.commit([append('op-3', ['m1', 'm2'])], decide)
      await scope.commit(
        [
          mark('op-4', 'epoch', 'e1'),
          mark('op-5', 'epoch', 'e2', { lane: 'other' }),
          mark('op-6', 'summary', 's1', { lane: 'other' }),
        ],
        decide,
      )
      await scope.commit([mark('op-7', 'epoch', 'e3', { base: 'e1' })], decide)
      await scope.commit([mark('op-8', 'epoch', 'e4', { base: 'e1' })], decide)
      await scope.commit([append('op-9', ['m3']), remove('op-10', 'entry:m1')], decide)
      expect(await scope.head()).toEqual({
        seq: 10,
        ordinal: 3,
        first: 'm1',
        marks: new Map([
          ['epoch/lane', { slot: 'epoch/lane', id: 'e3', seq: 7, chain: 2 }],
          ['epoch/other', { slot: 'epoch/other', id: 'e2', seq: 5, chain: 1 }],
          ['summary/other', { slot: 'summary/other', id: 's1', seq: 6, chain: 1 }],
        ]),
      })
    })

    it('keeps lanes apart by any spelling', async () => {
      const scope = await openScope(open)
      const lanes = ['a', 'a/b', '__proto__', 'é', 'e\u0301', ' ', 'a ', 'summary/a']
      const ops = lanes.flatMap((lane, index) => [
        mark(`e${index}`, 'epoch', `e${index}`, { lane }),
        mark(`s${index}`, 'summary', `s${index}`, { lane }),
      ])
      await scope.commit(ops, decide)
      const { marks } = await scope.head()
      expect(marks.size).toBe(lanes.length * 2)
      lanes.forEach((lane, index) => {
        expect(marks.get(`epoch/${lane}`)?.id).toBe(`e${index}`)
        expect(marks.get(`summary/${lane}`)?.id).toBe(`s${index}`)
      })
    })
  })

  describe('what was read', () => {
    let scope: ScopeStore
    beforeEach(async () => {
      scope = await openScope(open)
      await writeMixed(scope)
    })

    it('does not change with later commits', async () => {
      const read = [
        await scope.head(),
        await scope.changesSince(0),
        await scope.entries(),
        await scope.register('key'),
        await scope.registers(''),
      ]
      const before = read.map(copy)
      await scope.commit(
        [
          append('late-1', ['late-m1']),
          mark('late-2', 'epoch', 'late-e', { base: 'e2' }),
          mark('late-3', 'epoch', 'late-f', { lane: 'late' }),
          remove('late-4', 'entry:m1'),
          remove('late-5', 'register:key'),
        ],
        decide,
      )
      expect(read.map(copy)).toEqual(before)
      await scope.commit([erase('late-6')], decide)
      expect(read.map(copy)).toEqual(before)
    })
  })
}

/** A log of every kind of row, with ops of one and of several rows. */
async function writeMixed(scope: ScopeStore): Promise<void> {
  await scope.commit([append('op-1', ['m1', 'm2']), mark('op-2', 'epoch', 'e1')], decide)
  await scope.commit([put('op-3', 'key', null), append('op-4', ['m3'], { round: 'm1' })], decide)
  await scope.commit([mark('op-5', 'rewind', 'r1'), mark('op-6', 'summary', 's1')], decide)
  await scope.commit(
    [append('op-7', ['m4', 'm5', 'm6']), remove('op-8', 'entry:m5'), remove('op-9', 'entry:gone')],
    decide,
  )
  await scope.commit([mark('op-10', 'epoch', 'e2', { base: 'e1' }), mark('op-11', 'epoch', 'e3')], decide)
}

function queries(): EntriesQuery[] {
  const limits: EntriesQuery[] = [
    {},
    { last: 0 },
    { last: 2 },
    { first: 0 },
    { first: 3 },
    { first: 1, last: 2 },
    { last: 99 },
  ]
  const kinds: (readonly EntryKind[] | undefined)[] = [
    undefined,
    [],
    ['message'],
    ['epoch', 'rewind'],
    ['summary'],
  ]
  const ids = ['m1', 'm2', 'e1', 'm5', 'e3']
  const starts: EntriesQuery[] = [{}, ...ids.flatMap((id) => [{ from: id }, { after: id }])]
  const ends: EntriesQuery[] = [{}, ...ids.map((to) => ({ to }))]
  return starts.flatMap((start) =>
    ends.flatMap((end) =>
      limits.flatMap((limit) =>
        kinds.map((kind) => ({ ...limit, ...start, ...end, ...(kind && { kinds: kind }) })),
      ),
    ),
  )
}

function expected(all: readonly LogRow[], { from, after, to, first, last, kinds }: EntriesQuery): Page {
  const place = all.findIndex(({ id }) => id === (after ?? from))
  const start = after !== undefined ? place + 1 : from !== undefined ? place : 0
  const end = to === undefined ? all.length : all.findIndex(({ id }) => id === to)
  const found = all
    .slice(start, Math.max(start, end))
    .filter(({ kind }) => !kinds || kinds.some((one) => one === kind))
  const limit = first ?? last ?? PAGE_ROWS
  const rows = first !== undefined ? found.slice(0, first) : limit === 0 ? [] : found.slice(-limit)
  return { rows, more: rows.length === limit }
}

/** A deep copy, maps included. */
function copy(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_, inner) => (inner instanceof Map ? [...inner] : inner)))
}
