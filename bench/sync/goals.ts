import { round } from '../stats.ts'
import type { Goal } from '../table.ts'
import { LIMIT, OURS } from './orders.ts'
import type { PokeRow } from './pokes.ts'
import type { TransferReport, TransferRow } from './transfer.ts'

/** Of the raw JSON of all messages, each direction. */
const MOST_BYTES = 1.3
/** Of the time of one request and one transaction. */
const MOST_TIME = 2
/** How many times the time of ours that of a peer is. */
const LEAST_LEAD = 3
const MOST_POKE_MS = 100

/** How many times the time of a peer that of ours is. */
export interface TransferRatio extends Pick<TransferRow, 'direction' | 'durability'> {
  readonly peer: string
  readonly ratio: number
}

export function transferRatios(rows: readonly TransferRow[]): TransferRatio[] {
  return rows.flatMap(({ subject, direction, durability, ms }): TransferRatio[] => {
    const ours = rows.find(
      (row) => row.subject === OURS && row.direction === direction && row.durability === durability,
    )
    if (!ours || subject === OURS) return []
    return [{ direction, durability, peer: subject, ratio: round(ours.ms / ms) }]
  })
}

export function syncGoals({ rows }: TransferReport, pokes: readonly PokeRow[]): Goal[] {
  return [...bytesGoals(rows), ...timeGoals(rows), ...pokes.map(pokeGoal)]
}

/** The durability makes no difference to what is sent. */
function bytesGoals(rows: readonly TransferRow[]): Goal[] {
  return rows
    .filter(({ subject, durability }) => subject === OURS && durability === 'strict')
    .flatMap(({ direction, rawBytes, ...row }) =>
      (['up', 'down'] as const).map((way) => {
        const ratio = row[`${way}Bytes`] / rawBytes
        return {
          goal: `${direction}, bytes ${way} <= ${MOST_BYTES} x the raw JSON`,
          measured: `${ratio.toFixed(3)} x`,
          holds: ratio <= MOST_BYTES,
        }
      }),
    )
}

function timeGoals(rows: readonly TransferRow[]): Goal[] {
  return transferRatios(rows).map(({ direction, durability, peer, ratio }) =>
    peer === LIMIT
      ? {
          goal: `${direction}, ${durability}: time <= ${MOST_TIME} x ${LIMIT}`,
          measured: `${ratio} x`,
          holds: ratio <= MOST_TIME,
        }
      : {
          goal: `${direction}, ${durability}: at least ${LEAST_LEAD} times as fast as ${peer}`,
          measured: `${round(1 / ratio)} times`,
          holds: 1 / ratio >= LEAST_LEAD,
        },
  )
}

function pokeGoal({ home, p50Ms }: PokeRow): Goal {
  return {
    goal: `a change shows on the other screen, ${home}: p50 <= ${MOST_POKE_MS} ms`,
    measured: `${p50Ms} ms`,
    holds: p50Ms <= MOST_POKE_MS,
  }
}
