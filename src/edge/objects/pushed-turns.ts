import { leaseMarkIn, readRound } from '../../agent/round.ts'
import { roundOf } from '../../agent/transcript.ts'
import { LEASE, type LeaseMark } from '../../ports/lease.ts'
import type { Json, Message } from '../../ports/message.ts'
import type { SyncOp } from '../../ports/sync.ts'
import { pushedChat, pushedKey } from '../turn/pushed-chat.ts'
import type { Turns } from '../turn/turns.ts'
import type { WorkQueue } from '../work/work-queue.ts'
import type { SessionHome } from './session-home.ts'
import type { LeaseSettings } from './settings.ts'

/** The kind of work that answers what replicas pushed. */
export const PUSHED = 'pushed'

const AFTER_MS = 1_000
/** How soon it looks again where the session's agent is at something else. */
const BUSY_MS = 1_000
/** How soon it looks whether a turn that it began came to an end. */
const BEGUN_MS = 30_000
/** Messages that may wait at once; the oldest of more is left alone. */
const MOST = 16

export interface PushedTurnsParts {
  readonly work: Pick<WorkQueue, 'schedule' | 'payloadOf'>
  readonly turns: Pick<Turns, 'start' | 'current' | 'hasFailed'>
  /** Contract: the session, if it is there. */
  readonly home: () => SessionHome | undefined
  readonly now: () => number
}

/**
 * Answers what replicas push, and goes on with what one of them began to answer, once nobody else
 * has the lease of it. The alarm looks, so that the object need not be awake while others answer.
 */
export class PushedTurns {
  readonly #parts: PushedTurnsParts
  #begun: { readonly message: string; readonly run: string } | undefined

  constructor(parts: PushedTurnsParts) {
    this.#parts = parts
  }

  /** Notes what there is to be looked at, after ops that a push has written. */
  async note(ops: readonly SyncOp[], { afterMs = AFTER_MS }: LeaseSettings): Promise<void> {
    const { work, now } = this.#parts
    const said = ops.flatMap(saidIn).at(-1)
    const leases = ops.flatMap(leasesIn)
    const messages = [...leases.map(({ of }) => of), ...(said === undefined ? [] : [said])]
    if (messages.length === 0) return
    const known = (work.payloadOf(PUSHED) ?? []) as readonly string[]
    const payload = [...new Set([...known, ...messages])].slice(-MOST)
    const dues = [...leases.map(({ until }) => until), ...(said === undefined ? [] : [now() + afterMs])]
    await work.schedule(PUSHED, Math.max(now(), Math.min(...dues)), { payload })
  }

  /** What the alarm does. @returns when it is to look again; undefined: nothing is left */
  async look(payload: Json | undefined): Promise<number | undefined> {
    const dues: number[] = []
    for (const message of payload as readonly string[]) {
      const due = await this.#lookAt(message)
      if (due !== undefined) dues.push(due)
    }
    return dues.length === 0 ? undefined : Math.min(...dues)
  }

  /** @throws as {@link Turns.start} */
  async #lookAt(message: string): Promise<number | undefined> {
    const { turns, home: open, now } = this.#parts
    const home = open()
    const round = home && (await readRound(home.store, message))
    if (!round || round.answer || round.lease?.over) return undefined
    const { current } = turns
    if (current !== undefined && this.#begun?.run === current && this.#begun.message === message)
      return now() + BEGUN_MS
    const { lease } = round
    if (lease && lease.until > now()) return lease.until
    // Who went on without an answer asks for one to what they said last.
    const isBegun = lease !== undefined || round.steps.length > 0
    if (!isBegun && roundOf(await home.session().history({ rounds: 1 })) !== message) return undefined
    if (current !== undefined) return now() + BUSY_MS
    // Somebody is to ask for it.
    if (turns.hasFailed(pushedKey(message))) return undefined
    // It goes on without a reader.
    const { run } = await turns.start(pushedChat(message))
    this.#begun = { message, run }
    return now() + BEGUN_MS
  }
}

/** Ids of what a user says in an op. */
function saidIn({ envelope: { kind, ids }, bodies }: SyncOp): readonly string[] {
  if (kind !== 'append') return []
  return ids.filter((_, index) => {
    const body = bodies[index]
    return body != null && (JSON.parse(body) as Partial<Message>).role === 'user'
  })
}

function leasesIn({ envelope: { mark, ids }, bodies: [body] }: SyncOp): readonly LeaseMark[] {
  const lease = mark === LEASE ? leaseMarkIn(ids[0] ?? '', body ?? null) : undefined
  return lease ? [lease] : []
}
