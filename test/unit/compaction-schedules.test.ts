import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Context, LogRow } from '../../src/index.ts'
import { fold } from '../../src/kernel/log/fold.ts'
import { contextAt } from '../../src/operations/context-at.ts'
import { idIn } from '../../src/ports/op.ts'
import { memoryOf } from './support/compacting.ts'
import { expectAllAccounted } from './support/coverage.ts'
import { shown } from './support/messages.ts'
import { runs } from './support/runs.ts'
import { type Choose, Schedule, summariesOf, type Task } from './support/schedules.ts'

/**
 * Law 4, over as much of the log as the context was built from, which is no less than was
 * acknowledged before.
 */
function expectAccounted(context: Context, ids: readonly string[], acknowledged: number): void {
  const { omitted, summary } = context.receipt
  const shownIds = new Set(shown(context).filter((id) => id !== summary?.id))
  const count = [...omitted, ...(summary?.covers ?? [])].reduce(
    (sum, range) => sum + range.count,
    shownIds.size,
  )
  expect(count).toBeGreaterThanOrEqual(acknowledged)
  expectAllAccounted(context, ids.slice(0, count))
}

/**
 * What a context's summary covers and the log shows, it was written from, itself or by the one that
 * it updates.
 */
function expectWrittenFrom(context: Context, rows: readonly LogRow[]): void {
  const { summary } = context.receipt
  if (!summary) return
  expect(memoryOf(context)).toContain('Never fly.')
  const messages = rows.filter(({ kind }) => kind === 'message').map(({ id }) => id)
  const written = new Set([summary.id])
  for (const id of written)
    for (const source of rows.find((row) => row.id === id)?.sources ?? [])
      written.add(idIn('entry', source) ?? source)
  const covered = summary.covers.flatMap(({ from, to }) =>
    messages.slice(messages.indexOf(from), messages.indexOf(to) + 1),
  )
  // What was hidden when it was written, and shown again since, no summary covers that still shows.
  const shows = new Set(fold(rows).units.flatMap(({ row }) => row.id))
  const hidden = rows.some(({ kind }) => kind === 'rewind')
  if (!hidden) expect(covered.filter((id) => shows.has(id) && !written.has(id))).toEqual([])
}

/**
 * Of the summaries that name one base, one took effect, and each that did replaces the one before
 * it.
 */
function expectOneChain(rows: readonly LogRow[]): void {
  let last: string | null = null
  let chain = 0
  for (const { row, mark } of summariesOf(rows)) {
    expect(row.applied).toBe(row.base === last)
    if (!row.applied) continue
    expect(row.chain).toBe(++chain)
    last = row.id
    const upto = rows.find(({ id }) => id === mark.upto)
    expect(mark.count).toBe((upto?.ordinal ?? 0) - 1)
    expect(rows.find(({ id }) => id === mark.seen)).toBeDefined()
  }
}

async function check(
  choose: Choose,
  memories: 'one' | 'two',
  before: number,
  scripts: readonly (readonly Task[])[],
): Promise<Schedule> {
  const schedule = new Schedule(choose, memories)
  await schedule.play(before, scripts)
  expect(schedule.errors).toEqual([])
  const rows = await schedule.rows()
  const ids = rows.filter(({ kind }) => kind === 'message').map(({ id }) => id)
  // Nothing that was acknowledged is lost, nor written twice.
  expect(schedule.acknowledged.filter((id) => ids.filter((one) => one === id).length !== 1)).toEqual([])
  expectOneChain(rows)
  for (const { context, acknowledged } of schedule.contexts) {
    expectAccounted(context, ids, acknowledged)
    expectWrittenFrom(context, rows)
  }
  // All tabs go on, and agree with each other and with one that was not there.
  const contexts = []
  for (const session of [...schedule.tabs, schedule.plain()]) {
    const context = await session.context()
    contexts.push(context)
    await session.compaction.settled()
    expectAccounted(context, ids, ids.length)
    expectWrittenFrom(context, await schedule.rows())
  }
  expect(new Set(contexts.map(({ hash }) => hash)).size).toBe(1)
  const newest = ids.at(-1)
  if (newest) expect((await contextAt(schedule.plain(), newest)).reason).toBe('unrecorded')
  expectOneChain(await schedule.rows())
  return schedule
}

const scripts: { readonly [name: string]: readonly (readonly Task[])[] } = {
  'two tabs that talk': [
    ['say', 'context', 'answer', 'say', 'context', 'wait', 'say', 'context'],
    ['context', 'say', 'context', 'answer', 'context'],
  ],
  'a crash in the middle of it': [
    ['say', 'context', 'answer', 'context', 'crash', 'context', 'say', 'context'],
    ['say', 'context', 'crash', 'context'],
  ],
  'a rewind while it is written': [
    ['say', 'context', 'answer', 'context', 'say', 'context'],
    ['context', 'rewind', 'context', 'undo', 'context'],
  ],
  'a tab that is reloaded': [
    ['say', 'context', 'answer', 'reload', 'context', 'say', 'context'],
    ['say', 'context', 'reload', 'say', 'context'],
  ],
}

/** The usual order, but for what is put off at these steps. */
const delaying = (at: readonly number[]): Choose => {
  let step = -1
  return () => (at.includes(++step) ? 'delay' : 0)
}

/** An epoch that a rewind began, taken back beside another tab. */
const undone: [Task[][], number[], number] = [
  [
    ['context', 'answer', 'context', 'undo', 'say', 'say', 'say'],
    ['answer', 'wait', 'say', 'rewind', 'context', 'context'],
  ],
  [9, ...Array.from({ length: 15 }, () => 0), 7, 0, 9, 0, 0, 7, 0, 0, 0, 9, 3].concat(
    Array.from({ length: 73 }, () => 0),
  ),
  7,
]

for (const memories of ['one', 'two'] as const)
  describe(`whatever comes between a compaction and its end, nothing is lost, over ${memories} memor${memories === 'one' ? 'y' : 'ies'}`, () => {
    for (const [name, tasks] of Object.entries(scripts)) {
      it(`${name}: all orders with one thing put off, and many with two`, async () => {
        const usual = await check(delaying([]), memories, 4, tasks)
        expect(summariesOf(await usual.rows()).length).toBeGreaterThan(0)
        for (let one = 0; one < usual.steps; one++) await check(delaying([one]), memories, 4, tasks)
        const pairs = Array.from({ length: usual.steps }, (_, one) =>
          Array.from({ length: usual.steps - one - 1 }, (_, more) => [one, one + more + 1]),
        ).flat()
        const every = Math.max(1, Math.floor(pairs.length / runs(60).numRuns))
        for (let index = 0; index < pairs.length; index += every)
          await check(delaying(pairs[index] ?? []), memories, 4, tasks)
      })

      it(`${name}: orders by chance`, async () => {
        await fc.assert(
          fc.asyncProperty(fc.array(fc.nat(11), { minLength: 200, maxLength: 200 }), async (choices) => {
            let step = 0
            const choose: Choose = (options) => (choices[step++ % choices.length] ?? 0) % options
            await check(choose, memories, 4, tasks)
          }),
          runs(40),
        )
      })
    }

    it('any tasks in orders by chance', async () => {
      const task = fc.constantFrom<Task>(
        ...(['say', 'say', 'answer', 'context', 'context', 'context', 'wait'] as const),
        ...(['rewind', 'undo', 'reload', 'crash'] as const),
      )
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.array(task, { minLength: 3, maxLength: 12 }), { minLength: 2, maxLength: 3 }),
          fc.array(fc.nat(11), { minLength: 100, maxLength: 100 }),
          fc.nat(9),
          async (tasks, choices, before) => {
            let step = 0
            await check(
              (options) => (choices[step++ % choices.length] ?? 0) % options,
              memories,
              before,
              tasks,
            )
          },
        ),
        { ...runs(60), examples: [undone] },
      )
    })
  })
