import type { EdgeReport } from '../edge.ts'
import { round } from '../stats.ts'
import type { EdgeRow } from '../stores/turns.ts'
import type { Goal } from '../table.ts'
import { costGoals } from './cost.ts'
import { FULL } from './sizes.ts'
import { OPEN, RAW, SIGNED } from './subjects.ts'

/** Least share of the raw worker's calls a second. */
const LEAST_OF_RAW: Readonly<Record<string, number>> = { [OPEN]: 0.85, [SIGNED]: 0.75 }
/** CPU time of a call beside the raw worker's, at so many connections. */
const MOST_CPU = { connections: 8, ofRaw: 2.2 }
const MOST_KIB = 400
/** Of a chat over its model, until its first word. */
const MOST_OVER_MS = 4

/** A subject beside the raw worker, at one size and number of connections. */
export interface EdgeRatio {
  readonly subject: string
  readonly messages: number
  readonly connections: number
  /** Of calls a second. */
  readonly ofRaw: number
  /** CPU time of a call beside the raw worker's, in microseconds. */
  readonly moreCpu?: number
  /** Of the raw worker's CPU time. */
  readonly cpuOfRaw?: number
}

export function edgeRatios(rows: readonly EdgeRow[]): EdgeRatio[] {
  return rows.flatMap((row): EdgeRatio[] => {
    const { subject, messages, connections, perSecond, cpuMicroseconds } = row
    const raw = rows.find(
      (one) => one.subject === RAW && one.messages === messages && one.connections === connections,
    )
    if (!raw || subject === RAW) return []
    return [
      {
        subject,
        messages,
        connections,
        ofRaw: round(perSecond / raw.perSecond),
        ...(cpuMicroseconds !== undefined &&
          raw.cpuMicroseconds !== undefined && {
            moreCpu: round(cpuMicroseconds - raw.cpuMicroseconds),
            cpuOfRaw: round(cpuMicroseconds / raw.cpuMicroseconds),
          }),
      },
    ]
  })
}

export function edgeGoals({
  rows,
  chats,
  costs,
  sizes,
}: Pick<EdgeReport, 'rows' | 'chats' | 'costs' | 'sizes'>): Goal[] {
  const speeds = edgeRatios(rows).flatMap(({ subject, messages, connections, ofRaw }): Goal[] => {
    const least = LEAST_OF_RAW[subject]
    if (least === undefined) return []
    const goal = `${subject}, ${messages} messages, c=${connections}: calls/s >= ${least} x ${RAW}`
    return [{ goal, measured: `${ofRaw} x`, holds: ofRaw >= least }]
  })
  const cpu = edgeRatios(rows).flatMap(({ subject, messages, connections, cpuOfRaw }): Goal[] => {
    if (subject !== OPEN || connections !== MOST_CPU.connections || cpuOfRaw === undefined) return []
    const goal = `${subject}, ${messages} messages, c=${connections}: CPU <= ${MOST_CPU.ofRaw} x ${RAW}`
    return [{ goal, measured: `${cpuOfRaw} x`, holds: cpuOfRaw <= MOST_CPU.ofRaw }]
  })
  const words = chats.map(({ subject, delayMs, overMs }) => ({
    goal: `${subject}, model waits ${delayMs} ms: first word <= ${MOST_OVER_MS} ms over the model`,
    measured: `${overMs} ms`,
    holds: overMs <= MOST_OVER_MS,
  }))
  const full = sizes.find(({ name }) => name === FULL)
  const size = full && {
    goal: `${FULL} <= ${MOST_KIB} KiB gzip`,
    measured: `${full.gzipKiB} KiB`,
    holds: full.gzipKiB <= MOST_KIB,
  }
  return [...speeds, ...cpu, ...words, ...costGoals(costs), ...(size ? [size] : [])]
}
