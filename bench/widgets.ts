/**
 * Chat widgets with a long conversation, each on a page of its own, in one Chromium and in turns:
 * what a page loads, how long it takes until the newest message stands on the screen, and what it
 * holds in memory then and after scrolling up.
 */
import type { BenchOptions, BenchReport } from './bench.ts'
import { bundle } from './bundle.ts'
import { machine } from './machine.ts'
import { widgetsGoals } from './widgets/goals.ts'
import { measureWidgets } from './widgets/measure.ts'
import { MESSAGES } from './widgets/plan.ts'
import { widgetsText } from './widgets/text.ts'

const ROUNDS = { full: 5, quick: 1 }

const PACKAGES = [
  '@assistant-ui/react',
  '@assistant-ui/react-markdown',
  '@tanstack/react-virtual',
  'deep-chat',
  'react',
  'react-dom',
  'vite',
  'playwright',
]

export async function bench({ quick, progress }: BenchOptions): Promise<BenchReport> {
  const rounds = quick ? ROUNDS.quick : ROUNDS.full
  const { gzipKiB: reactKiB } = await bundle({
    name: 'react',
    code: `export * from 'react'; export { createRoot } from 'react-dom/client'`,
  })
  const measured = await measureWidgets(rounds, progress)
  const report = {
    bench: 'widgets',
    machine: machine(PACKAGES),
    messages: MESSAGES,
    rounds,
    reactKiB,
    ...measured,
    goals: widgetsGoals(measured.rows),
  }
  return { json: report, text: widgetsText(report) }
}
