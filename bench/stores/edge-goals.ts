import { round } from '../stats.ts'
import type { Goal } from '../table.ts'
import type { EdgeReport } from './edge.ts'
import { AGENTS, COMPACTING, OURS, RAW } from './edge-workers.ts'
import type { EdgeRow } from './turns.ts'

const LEAST_OF_RAW = 0.85
const LEAST_OF_AGENTS = 1.6
const MOST_GROWTH = 1.1
/** With automatic compaction armed, by messages in the log. */
const LEAST_OF_COMPACTING: Readonly<Record<number, number>> = { 12000: 40, 100000: 70 }

/** How many times the calls a second of a peer ours are. */
export interface EdgeRatio {
  readonly peer: string
  readonly messages: number
  readonly connections: number
  readonly ratio: number
}

export function edgeRatios(rows: readonly EdgeRow[]): EdgeRatio[] {
  return rows.flatMap((peer): EdgeRatio[] => {
    const { subject, messages, connections } = peer
    const ours = rows.find(
      (row) => row.subject === OURS && row.messages === messages && row.connections === connections,
    )
    if (!ours || subject === OURS) return []
    return [{ peer: subject, messages, connections, ratio: round(ours.perSecond / peer.perSecond) }]
  })
}

export function edgeGoals({ rows, counts }: EdgeReport): Goal[] {
  const ratios = edgeRatios(rows)
  const factors = ratios.flatMap((ratio): Goal[] => {
    const { peer, messages, connections } = ratio
    const least =
      peer === RAW
        ? LEAST_OF_RAW
        : peer === AGENTS
          ? LEAST_OF_AGENTS
          : peer === COMPACTING
            ? LEAST_OF_COMPACTING[messages]
            : undefined
    if (least === undefined) return []
    const goal = `edge, ${messages} messages, c=${connections}: calls/s >= ${least} x ${peer}`
    return [{ goal, measured: `${ratio.ratio} x`, holds: ratio.ratio >= least }]
  })
  return [...factors, ...flat(rows), ...counted(counts)]
}

function flat(rows: readonly EdgeRow[]): Goal[] {
  const ours = rows.filter(({ subject, connections }) => subject === OURS && connections === 1)
  const [first, last] = [ours[0], ours.at(-1)]
  if (!first || !last || first === last) return []
  const ratio = last.p50Ms / first.p50Ms
  const goal = `edge, c=1: p50 at ${last.messages} messages <= ${MOST_GROWTH} x that at ${first.messages}`
  return [{ goal, measured: `${ratio.toFixed(2)} x`, holds: ratio <= MOST_GROWTH }]
}

function counted(counts: EdgeReport['counts']): Goal[] {
  return counts.map(({ messages, apiCalls, objectCalls, commits, mostCommits, beganEpochs }) => ({
    goal: `edge, ${messages} messages: one object call and one commit per API call`,
    measured: `${objectCalls} and ${commits} for ${apiCalls}, ${beganEpochs} of which began an epoch`,
    holds: objectCalls === apiCalls && commits === apiCalls && mostCommits === 1,
  }))
}
