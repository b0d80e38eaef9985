import { round } from '../stats.ts'
import { type Goal, table, time } from '../table.ts'
import { BETTER, CONTEXT, type NodeReport, type NodeRow, OURS, RAW } from './node.ts'

/** Most that a call may take, as often as the raw driver with the same rows. */
const MOST = 2
const MOST_GROWTH = 1.1

export function nodeGoals({ rows }: NodeReport): Goal[] {
  const goals: Goal[] = []
  for (const synchronous of ['full', 'normal'] as const) {
    const ours = rows.filter((row) => row.synchronous === synchronous && row.what === OURS)
    for (const row of ours) {
      const ratio = ratioTo(rows, row, RAW)
      goals.push({
        goal: `node, ${synchronous}, ${row.messages} messages: append and context, p50 <= ${MOST} x ${RAW}`,
        measured: `${ratio} x`,
        holds: ratio <= MOST,
      })
    }
    const [small, large] = [ours[0], ours.at(-1)]
    if (!small || !large || small === large) continue
    const growth = round(large.p50 / small.p50)
    goals.push({
      goal: `node, ${synchronous}: p50 of ${large.messages} messages <= ${MOST_GROWTH} x that of ${small.messages}`,
      measured: `${growth} x`,
      holds: growth <= MOST_GROWTH,
    })
  }
  return goals
}

/** How many times the p50 of a peer at the same size that of a row is. */
function ratioTo(rows: readonly NodeRow[], { synchronous, messages, p50 }: NodeRow, peer: string): number {
  const other = rows.find(
    (row) => row.what === peer && row.synchronous === synchronous && row.messages === messages,
  )
  return round(p50 / (other?.p50 ?? Number.NaN))
}

export function nodeText({ rows, fills }: NodeReport): string {
  const head = ['', 'synchronous', 'messages', 'p50', 'p99', 'samples', 'ours is']
  const lines = rows.map((row) => {
    const ours = rows.find(
      (one) => one.what === OURS && one.synchronous === row.synchronous && one.messages === row.messages,
    )
    return [
      row.what,
      row.synchronous,
      `${row.messages}`,
      time(row.p50),
      time(row.p99),
      `${row.samples}`,
      ours && [RAW, BETTER].includes(row.what) ? `${ratioTo(rows, ours, row.what)} x` : '',
    ]
  })
  const filled = fills.map(({ messages, seconds }) => `${messages} messages in ${seconds} s`)
  return [
    `Node, files on disk: one exchange appended, then what a model is shown (${CONTEXT} is part of the first)\n`,
    table([head, ...lines]),
    `Files filled and copied twice: ${filled.join(', ')}\n`,
  ].join('\n')
}
