import { readRange } from '../kernel/log/entries.ts'
import { fold, type Unit } from '../kernel/log/fold.ts'
import { LEASE, type LeaseMark } from '../ports/lease.ts'
import type { Message } from '../ports/message.ts'
import type { LogRow, ScopeStore } from '../ports/store.ts'
import { parseBody } from '../text/json.ts'
import type { CallUsage, PastCall, PastStep } from './middleware.ts'
import { callsOf } from './transcript.ts'
import { NO_USAGE } from './usage.ts'

/** What a log says of the run that answers a message. */
export interface Round {
  /** Its steps, as they show. */
  readonly steps: readonly PastStep[]
  /** Calls of the newest of them that have no result. */
  readonly pending: readonly PastCall['call'][]
  /** The reply that ended it. */
  readonly answer: Message | undefined
  /** The lease that counts. */
  readonly lease: LeaseMark | undefined
  /** Whether an entry shows in it. */
  shows(id: string): boolean
}

/** Undefined: the message is not there, or does not show. */
export async function readRound(store: ScopeStore, message: string): Promise<Round | undefined> {
  const rows = await readRange(store, message)
  const { units, unshown } = fold(rows)
  const own = units.filter(({ round }) => round === message)
  if (own[0]?.row.id !== message) return undefined
  const ids = new Set(own.flatMap(({ row, results }) => [row.id, ...results.map((one) => one.row.id)]))
  const replies = own.filter((unit) => unit.message.role === 'assistant')
  const newest = replies.at(-1)
  // A reply of nothing shows nowhere, and ends a run all the same.
  const empty = unshown.findLast(({ row, reason }) => reason === 'empty' && row.round === message)
  const steps = replies.map(stepOf)
  const isOver = newest && newest.calls.length === 0
  return {
    steps,
    pending: newest ? callsOf(newest.message).filter((_, index) => !newest.calls[index]?.answered) : [],
    answer: isOver ? newest.message : empty && { id: empty.row.id, ...NOTHING },
    lease: leaseIn(rows, message),
    shows: (id) => ids.has(id) || id === empty?.row.id,
  }
}

const NOTHING = { role: 'assistant', content: '', createdAt: 0, trust: 'import' } as const

/**
 * The lease of a message that counts, by the order of its marks: the first one, until another one
 * was written after its end, after it was given back, or after anything was hidden. One that is
 * renewed keeps its place. Pure.
 */
export function leaseIn(rows: readonly LogRow[], message: string): LeaseMark | undefined {
  let held: LeaseMark | undefined
  for (const row of rows) {
    // What is said again, or asked for again, waits for nobody who answered it before.
    if (row.kind === 'rewind' && held) held = { ...held, until: 0 }
    const mark = row.kind === LEASE ? leaseMarkIn(row.id, row.body) : undefined
    if (mark?.of !== message) continue
    if (!held || mark.term === held.term || mark.at >= held.until) held = mark
  }
  return held
}

/** @param body as it is stored */
export function leaseMarkIn(id: string, body: string | null): LeaseMark | undefined {
  const mark = parseBody(id, body) as Partial<LeaseMark> | undefined
  const { of, holder, term, at, until, over } = mark ?? {}
  if (typeof of !== 'string' || typeof term !== 'string') return undefined
  if (typeof at !== 'number' || typeof until !== 'number') return undefined
  return { id, of, term, at, until, holder: String(holder), ...(over === true && { over }) }
}

function stepOf({ message, results, calls }: Unit, index: number): PastStep {
  const ofStep = callsOf(message)
  const { model: _, ...usage } = (message.metadata?.usage ?? {}) as Partial<CallUsage> & { model?: string }
  return {
    step: index + 1,
    message,
    calls: results.flatMap(({ joined }) =>
      joined.map(
        ({ part: { output, isError = false }, call }): PastCall => ({
          call: ofStep[calls.indexOf(call)] as PastCall['call'],
          output,
          isError,
        }),
      ),
    ),
    usage: { ...usage, predicted: usage.predicted ?? NO_USAGE.predicted },
  }
}
