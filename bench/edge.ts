/**
 * The edge as it is deployed, in one bare workerd with a raw worker and the memory alone: calls,
 * what they do in objects, replies of chats, and how large it is.
 */
import { rmSync } from 'node:fs'
import { BareWorkerd } from '../test/kill/bare-workerd.ts'
import type { BenchOptions, BenchReport } from './bench.ts'
import { measureAgainst } from './edge/against.ts'
import { type ChatPlan, type ChatRow, measureChat } from './edge/chat.ts'
import { type CallCost, costsOf, measureSlowChats } from './edge/cost.ts'
import { type CallCounts, measureCounts } from './edge/counts.ts'
import { FakeModel } from './edge/fake-model.ts'
import { edgeGoals, edgeRatios } from './edge/goals.ts'
import { type EdgeSize, measureSizes } from './edge/sizes.ts'
import { edgeSubjects, OPEN, SIGNED } from './edge/subjects.ts'
import { edgeText } from './edge/text.ts'
import { type Machine, machine } from './machine.ts'
import { DURABILITY } from './stores/edge.ts'
import { temporaryFolder } from './stores/temporary.ts'
import { type EdgeFill, type EdgeRow, type TurnPlan, takeTurns } from './stores/turns.ts'

interface Plan {
  readonly turns: TurnPlan
  readonly chat: ChatPlan
  /** API calls of a kind that are counted, and the messages in their session at first. */
  readonly counted: number
  readonly countedAt: number
  /** Of chats whose model takes ten seconds for each step. */
  readonly slowSteps: readonly number[]
}

const FULL: Plan = {
  turns: { sizes: [1_000, 12_000, 100_000], connections: [1, 8], rounds: 5, roundMs: 800 },
  chat: { chats: 100, delaysMs: [0, 50], messages: 1_000 },
  counted: 60,
  countedAt: 1_000,
  slowSteps: [1, 3],
}

const QUICK: Plan = {
  turns: { sizes: [1_000], connections: [1, 8], rounds: 3, roundMs: 400 },
  chat: { chats: 30, delaysMs: [0, 50], messages: 1_000 },
  counted: 20,
  countedAt: 1_000,
  slowSteps: [1],
}

const PACKAGES = ['workerd', 'hono', 'zod', 'jose', 'ai', 'esbuild']

export interface EdgeReport {
  readonly bench: 'edge'
  readonly machine: Machine
  readonly durability: string
  readonly subjects: readonly { readonly name: string; readonly call: string }[]
  readonly rows: readonly EdgeRow[]
  readonly fills: readonly EdgeFill[]
  readonly counts: readonly CallCounts[]
  readonly costs: readonly CallCost[]
  readonly chats: readonly ChatRow[]
  readonly sizes: readonly EdgeSize[]
}

export async function bench({ quick, against, progress }: BenchOptions): Promise<BenchReport> {
  if (against !== undefined) return measureAgainst(against, { quick, progress })
  const measured = await measure(quick ? QUICK : FULL, progress)
  const report = { ...measured, ratios: edgeRatios(measured.rows), goals: edgeGoals(measured) }
  return { json: report, text: edgeText(report) }
}

async function measure(plan: Plan, progress: (line: string) => void): Promise<EdgeReport> {
  const folder = temporaryFolder()
  const model = new FakeModel()
  await model.start()
  const { timed, counted } = await edgeSubjects(folder, model.url)
  const workerd = new BareWorkerd(
    folder,
    [...timed, counted].map(({ worker }) => worker),
  )
  // Before the folder goes, which it would write to.
  process.prependOnceListener('exit', () => void workerd.kill())
  try {
    await workerd.start()
    const { rows, fills } = await takeTurns(timed, workerd, plan.turns, progress)
    progress('edge: chats')
    const talking = timed.filter(({ name }) => name === OPEN || name === SIGNED)
    const chats = await measureChat(talking, model, plan.chat)
    progress('edge: counting')
    model.delayMs = 0
    const counts = await measureCounts(counted, workerd, plan.counted, plan.countedAt)
    progress('edge: chats of a slow model')
    const open = timed.find(({ name }) => name === OPEN) as (typeof timed)[number]
    const slow = await measureSlowChats({ counted, open }, workerd, model, plan.slowSteps)
    progress('edge: sizes')
    return {
      bench: 'edge',
      machine: machine(PACKAGES),
      durability: DURABILITY,
      subjects: timed.map(({ name, call }) => ({ name, call })),
      rows,
      fills,
      counts,
      costs: [...costsOf(counts), ...slow],
      chats,
      sizes: await measureSizes(),
    }
  } finally {
    await workerd.kill()
    model.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
