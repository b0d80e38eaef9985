import { aborted } from '../ports/aborted.ts'
import { isPlimsollError, type PlimsollError } from '../ports/errors.ts'
import type { AbortSignalLike, Controller, Host } from '../ports/host.ts'
import type { Scope } from '../ports/op.ts'
import {
  type Answers,
  PUSH_OPS,
  PUSH_UNITS,
  type PullAnswer,
  type PullRequest,
  type PushRejection,
  type PushRequest,
  SYNC_SCOPES,
  type SyncFailure,
  type SyncScope,
  type Transport,
} from '../ports/sync.ts'
import type { KeepLocal } from './keep-local.ts'
import { leftOf } from './pace.ts'
import type { Room, ScopeSync, Step } from './scope-sync.ts'
import { errorOf, plimsollError, STATES } from './status.ts'

export interface ExchangeParts {
  readonly transport: Transport
  readonly host: Pick<Host, 'now' | 'controller'>
  /** Contract: says why nothing may be asked now, if so. */
  readonly stopped: () => PlimsollError | undefined
  /** Called where a scope alone could not be answered. */
  readonly onFailure: (sync: ScopeSync, error: PlimsollError) => void
  /** Called with the home's time, as `HomeTime.heard` takes it. */
  readonly onTime: (time: number, sentAt: number) => void
  /** Called with what an answer brought. */
  readonly onStep: (sync: ScopeSync, step: Step) => Promise<void>
}

interface Asked<Request> {
  readonly sync: ScopeSync
  readonly request: Request
}

type Call<Request, Answer> = (
  requests: readonly (Request & SyncScope)[],
  signal: AbortSignalLike,
) => Promise<Answers<Answer>>

/** Errors that say that a push is not to be sent again as it is. */
const REJECTIONS: { readonly [code: string]: PushRejection } = {
  ERR_DUPLICATE_ID: 'duplicate-id',
  ERR_ENTRY_TOO_LARGE: 'too-large',
  ERR_INVALID_ARGUMENT: 'forbidden',
}

function isRejection(error: unknown): error is PlimsollError {
  return isPlimsollError(error) && REJECTIONS[error.code] !== undefined
}

const NO_ANSWER: SyncFailure = { error: { code: 'ERR_INTERNAL', message: 'sync: no answer for a scope' } }

/** Requests about several scopes, one after the other. */
export class Exchange {
  readonly #parts: ExchangeParts
  /** Scopes of one request. */
  together = SYNC_SCOPES
  /** End the requests that are under way. */
  readonly #requests = new Set<Controller>()

  constructor(parts: ExchangeParts) {
    this.#parts = parts
  }

  /** Ends what is under way. @param reason as `stopped` gives it from now on */
  abort(reason: PlimsollError): void {
    for (const request of this.#requests) request.abort(reason)
  }

  /** Pushes and pulls once. @returns whether anything moved */
  async step(due: readonly ScopeSync[]): Promise<boolean> {
    let hasMoved = false
    let failure: unknown
    try {
      hasMoved = await this.#push(due)
    } catch (error) {
      // A home that takes nothing now may still have something to tell.
      if (!isPlimsollError(error) || STATES[error.code]) throw error
      failure = error
    }
    if (await this.#pull(due)) hasMoved = true
    if (await this.#fetch(due)) hasMoved = true
    if (failure) throw failure
    return hasMoved
  }

  async #pull(due: readonly ScopeSync[]): Promise<boolean> {
    const { transport, host, onFailure } = this.#parts
    const now = host.now()
    // What failed to take something is asked all the same, unless it said when to come again.
    const isHeld = ({ pace }: ScopeSync): boolean =>
      leftOf(pace, now) > 0 && pace.cause?.retryAfter !== undefined
    let hasMoved = false
    const next: ScopeSync[] = []
    for (const sync of due.filter((one) => !isHeld(one) && !one.isSending && one.isPullDue))
      await this.#alone(sync, async () => {
        const start = await sync.keep?.startOf(sync, now)
        if (start === undefined) next.push(sync)
        else if (await this.start(sync, start)) hasMoved = true
      })
    const asked = await this.#requestsOf(next, (sync) => sync.pullRequest())
    let answers: Awaited<ReturnType<Transport['pull']>>
    try {
      answers = await this.#ask(transport.pull.bind(transport), asked)
    } catch (error) {
      const [first] = asked
      if (!first || !isRejection(error)) throw error
      if (asked.length === 1) onFailure(first.sync, error)
      return this.#parted(asked) || hasMoved
    }
    for (const [index, { sync, request }] of asked.entries()) {
      const answer = answers[index] ?? NO_ANSWER
      if ('error' in answer) onFailure(sync, errorOf(answer))
      else if (await this.#alone(sync, () => this.#took(sync, sync.pulled(request, answer)))) hasMoved = true
    }
    return hasMoved
  }

  /** Has each go alone, until the one that cannot be asked about is found. */
  #parted({ length }: readonly unknown[]): boolean {
    if (length > 1) this.together = 1
    return length > 1
  }

  /**
   * Works on one scope: what fails there holds up no other.
   *
   * @throws what says that none can be reached
   */
  async #alone<Result>(sync: ScopeSync, work: () => Promise<Result>): Promise<Result | undefined> {
    try {
      return await work()
    } catch (cause) {
      const error = plimsollError(cause, 'ERR_STORAGE', 'sync: the store failed')
      if (STATES[error.code]) throw error
      this.#parts.onFailure(sync, error)
      return undefined
    }
  }

  /** Begins a log elsewhere. @returns whether anything moved. @throws what keeps it from that */
  async start(sync: ScopeSync, start: NonNullable<PullRequest['start']>): Promise<boolean> {
    const { transport } = this.#parts
    const ask = async (request: PullRequest): Promise<PullAnswer> => {
      const [answer = NO_ANSWER] = await this.#ask(transport.pull.bind(transport), [{ sync, request }])
      if ('error' in answer) throw errorOf(answer)
      return answer
    }
    return this.#took(sync, (sync.keep as KeepLocal).startOver(sync, start, ask))
  }

  /** Sends what homes asked for. @throws what says that no scope can be reached now */
  async #supply(due: readonly ScopeSync[]): Promise<void> {
    const { transport, onFailure } = this.#parts
    for (const sync of due)
      for (let [id] = sync.lacks; id !== undefined; [id] = sync.lacks) {
        const request = { ...named(sync.scope), generation: sync.generation, id }
        const found = await sync.replica.store.attachment(id)
        try {
          const outcome = found && (await this.#call((signal) => transport.attach(request, found, signal)))
          sync.supplied(id, outcome !== undefined && outcome !== 'deleted')
        } catch (error) {
          if (!isPlimsollError(error) || STATES[error.code]) throw error
          const rejected = REJECTIONS[error.code]
          if (rejected) {
            sync.unsuppliable(id, rejected)
            continue
          }
          onFailure(sync, error)
          break
        }
      }
  }

  /** Fetches one attachment of each scope: what is written meanwhile is sent before another one. */
  async #fetch(due: readonly ScopeSync[]): Promise<boolean> {
    const { transport, host } = this.#parts
    let hasMoved = false
    for (const sync of due) {
      const { wanted, replica } = sync
      if (!wanted) continue
      const request = { ...named(sync.scope), generation: sync.generation, id: wanted.wants }
      try {
        const [known] = await replica.store.attached([wanted.wants])
        const found =
          known === undefined
            ? await this.#call((signal) => transport.attachment(request, signal))
            : undefined
        await replica.fetched(wanted, found, host.now())
        hasMoved = true
      } catch (error) {
        if (!isPlimsollError(error) || STATES[error.code] || error.retryAfter) throw error
        sync.unfetchable(wanted)
      }
    }
    return hasMoved
  }

  async #push(due: readonly ScopeSync[]): Promise<boolean> {
    const { transport, onFailure } = this.#parts
    await this.#supply(due)
    const now = this.#parts.host.now()
    const room: Room = { ops: PUSH_OPS, units: PUSH_UNITS }
    const asked = await this.#requestsOf(due, async (sync) =>
      sync.isPushDue && room.ops > 0 && leftOf(sync.pace, now) === 0 ? sync.pushRequest(room) : undefined,
    )
    let answers: Awaited<ReturnType<Transport['push']>>
    try {
      answers = await this.#ask(transport.push.bind(transport), asked)
    } catch (error) {
      const [first] = asked
      if (isPlimsollError(error, 'ERR_TIMEOUT')) for (const { sync, request } of asked) sync.slow(request)
      if (!first || !isRejection(error)) throw error
      if (this.#parted(asked)) return true
      return (await this.#alone(first.sync, () => this.#unpushable(first, error))) ?? false
    }
    let hasMoved = false
    for (const [index, one] of asked.entries()) {
      const { sync, request } = one
      const answer = answers[index] ?? NO_ANSWER
      if (!('error' in answer)) {
        if (await this.#alone(sync, () => this.#took(sync, sync.pushed(request, answer)))) hasMoved = true
        continue
      }
      const error = errorOf(answer)
      await this.#unpushable(one, error).catch(() => onFailure(sync, error))
    }
    return hasMoved
  }

  /** @throws the error, where it says nothing of a push, or the home takes not even an empty one */
  async #unpushable({ sync, request }: Asked<PushRequest>, error: PlimsollError): Promise<true> {
    const rejected = REJECTIONS[error.code]
    if (!rejected) throw error
    if (request.ops.length === 1) {
      const { transport } = this.#parts
      const empty = [{ sync, request: { ...request, ops: [] } }]
      const [answer = NO_ANSWER] = await this.#ask(transport.push.bind(transport), empty)
      if ('error' in answer) throw error
    }
    sync.unpushable(request, rejected)
    return true
  }

  async #requestsOf<Request>(
    due: readonly ScopeSync[],
    requestOf: (sync: ScopeSync) => Promise<Request | undefined>,
  ): Promise<readonly Asked<Request>[]> {
    const asked: Asked<Request>[] = []
    for (const sync of due) {
      const request = await this.#alone(sync, () => requestOf(sync))
      if (request) asked.push({ sync, request })
    }
    return asked
  }

  async #took(sync: ScopeSync, step: Promise<Step>): Promise<boolean> {
    const taken = await step
    await this.#parts.onStep(sync, taken)
    return taken.hasMoved
  }

  /** @throws as {@link #call} */
  async #ask<Request, Answer>(
    call: Call<Request, Answer>,
    asked: readonly Asked<Request>[],
  ): Promise<Answers<Answer>> {
    if (asked.length === 0) return []
    const { host, onTime } = this.#parts
    const sentAt = host.now()
    const requests = asked.map(({ sync, request }) => ({ ...request, ...named(sync.scope) }))
    const answers = await this.#call((signal) => call(requests, signal))
    if (answers.time !== undefined) onTime(answers.time, sentAt)
    return answers
  }

  /** @throws ERR_OFFLINE in place of what is no error of ours, and what it is stopped for */
  async #call<Answer>(call: (signal: AbortSignalLike) => Promise<Answer>): Promise<Answer> {
    const stopped = this.#parts.stopped()
    if (stopped) throw stopped
    const controller = this.#parts.host.controller()
    this.#requests.add(controller)
    const { signal } = controller
    try {
      return await Promise.race([aborted(signal), call(signal)])
    } catch (cause) {
      throw plimsollError(cause, 'ERR_OFFLINE', 'sync: no answer')
    } finally {
      this.#requests.delete(controller)
    }
  }
}

/** A scope as its user names it. */
export function named({ sessionId }: Scope): SyncScope {
  return sessionId === undefined ? {} : { sessionId }
}
