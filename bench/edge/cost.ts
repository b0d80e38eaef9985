import { setTimeout as pause } from 'node:timers/promises'
import { dollarsOf, PRICES, type Taken } from '../../test/everywhere/prices.ts'
import type { BareWorkerd } from '../../test/kill/bare-workerd.ts'
import { round } from '../stats.ts'
import { cpuTime } from '../stores/cpu-time.ts'
import type { Counts } from '../stores/edge-orders.ts'
import { type Goal, table } from '../table.ts'
import type { CallCounts } from './counts.ts'
import type { FakeModel } from './fake-model.ts'
import { AFTER_MS, KINDS, type Kind, makeCall } from './kinds.ts'
import type { EdgeSubject } from './subjects.ts'

/** Of each reply of the slow model: until its first word, and from that to the last. */
const SLOW = { delayMs: 2_000, talkMs: 8_000 }
/** Chats that go on at once, each in a session of its own. */
const CHATS = 4
const WARM_UP = 5
/** Dollars for a million chats of one step. */
const MOST_DOLLARS = 10

/** What one call takes, and what a million of them cost. */
export interface CallCost extends Taken {
  readonly call: string
  readonly dollars: number
}

/** Of the kinds of calls that were counted. */
export function costsOf(counts: readonly CallCounts[]): CallCost[] {
  return counts.map(({ call, objectCalls, frames, alarms, rowsRead, rowsWritten }) =>
    priced(call, {
      rowsWritten: rowsWritten[0] + alarms,
      rowsRead: rowsRead[0],
      objectRequests: objectCalls,
      frames,
    }),
  )
}

/**
 * Of chats whose model takes ten seconds for each step. Rows, requests and frames are counted.
 * The CPU time of the whole process, of another edge that counts nothing, stands both for what the
 * Worker is billed for and for the time for which the object is: neither is longer.
 */
export async function measureSlowChats(
  { counted, open }: { readonly counted: EdgeSubject; readonly open: EdgeSubject },
  workerd: BareWorkerd,
  model: FakeModel,
  steps: readonly number[],
): Promise<CallCost[]> {
  const chat = KINDS.find(({ call }) => call === 'chat of one step') as Kind
  const sessions = Array.from({ length: CHATS }, (_, index) => `slow-${index}`)
  const costs: CallCost[] = []
  for (const wanted of steps) {
    model.steps = wanted
    const run = async ({ port, fill }: EdgeSubject): Promise<number> => {
      const at = `http://127.0.0.1:${port}`
      Object.assign(model, { delayMs: 0, talkMs: 0 })
      for (const session of sessions) {
        await fill(`${session}-${wanted}`, 40)
        // The first makes tables, and code that has not run is slow.
        for (let made = 0; made < WARM_UP; made++) await makeCall(at, chat, `${session}-${wanted}`, made)
      }
      Object.assign(model, SLOW)
      await pause(AFTER_MS)
      if (port === counted.port) await fetch(`${at}/counts`).then((answer) => answer.json())
      const before = cpuTime(workerd.pid) ?? 0
      await Promise.all(sessions.map((session) => makeCall(at, chat, `${session}-${wanted}`, WARM_UP)))
      await pause(AFTER_MS)
      return ((cpuTime(workerd.pid) ?? 0) - before) / CHATS
    }
    await run(counted)
    const answer = await fetch(`http://127.0.0.1:${counted.port}/counts`)
    const all = (await answer.json()) as Counts
    const cpuMs = await run(open)
    costs.push(
      priced(`chat of ${wanted} step${wanted === 1 ? '' : 's'}, ${wanted * 10} s of the model`, {
        rowsWritten: (all.rowsWritten + all.alarms) / CHATS,
        rowsRead: all.rowsRead / CHATS,
        objectRequests: all.calls / CHATS,
        frames: (all.frames ?? 0) / CHATS,
        cpuMs: round(cpuMs),
        objectSeconds: cpuMs / 1_000,
      }),
    )
  }
  Object.assign(model, { delayMs: 0, talkMs: 0, steps: 1 })
  return costs
}

export function costGoals(costs: readonly CallCost[]): Goal[] {
  return costs
    .filter(({ call }) => call.startsWith('chat of 1 step,'))
    .map(({ call, dollars }) => ({
      goal: `a million: ${call}: at most $${MOST_DOLLARS}`,
      measured: `$${dollars}`,
      holds: dollars <= MOST_DOLLARS,
    }))
}

export function costTable(costs: readonly CallCost[]): string {
  const head = ['', 'rows written', 'read', 'requests', 'frames', 'CPU, ms, at most', 'a million']
  const lines = costs.map(({ call, rowsWritten, rowsRead, objectRequests, frames, cpuMs, dollars }) => [
    call,
    ...[rowsWritten, rowsRead, objectRequests, frames].map((value) => `${round(value)}`),
    cpuMs === undefined ? '' : `${cpuMs}`,
    `$${dollars.toFixed(2)}`,
  ])
  return table([head, ...lines])
}

/** The prices that it is reckoned with. */
export function priceTable(): string {
  return table(Object.entries(PRICES).map(([what, dollars]) => [what, `$${dollars} a million`]))
}

function priced(call: string, taken: Taken): CallCost {
  return { call, ...taken, dollars: round(dollarsOf(taken)) }
}
