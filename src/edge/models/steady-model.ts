import { PlimsollError } from '../../ports/errors.ts'
import type { AbortSignalLike, Host } from '../../ports/host.ts'
import type { Model, ModelEvent, ModelRequest } from '../../ports/model.ts'
import { failureOf, type ModelFailure, modelError } from './model-failure.ts'

const FIRST_MS = 120_000
const IDLE_MS = 60_000
const RETRIES = 2
/** The wait before a further try is drawn from up to half a second, then a second. */
const BASE_MS = 500
/** A server that asks for more is not waited for: the caller gets the error. */
const MOST_WAIT_MS = 10_000

export interface SteadyOptions {
  readonly host: Pick<Host, 'now' | 'timeout' | 'controller'>
  /** Contract: a number from 0 up to 1. Default `Math.random`. */
  readonly random?: () => number
  /** Further tries while nothing of a reply has come. Default 2. */
  readonly retries?: number
  readonly timeouts?: ModelTimeouts
}

export const STEADY_OPTIONS = ['host', 'random', 'retries', 'timeouts'] as const

/** In milliseconds. */
export interface ModelTimeouts {
  /** Until the first piece of a reply, for each try. Default 120 000: reasoning takes its time. */
  readonly first?: number
  /** From one piece to the next. Default 60 000. */
  readonly idle?: number
}

/**
 * A model that is tried again while nothing of its reply has come, that is not waited for without
 * end, and whose failures have a code and hold neither key nor content. Tried again is what a
 * server refused with 408, 429 or 5xx, or what did not reach it: after a random wait (full jitter),
 * but not before the server's `Retry-After`.
 *
 * Rejects with what `signal` was aborted with, ERR_TIMEOUT (`limit`), ERR_RATE_LIMIT
 * (`retryAfter`), ERR_NOT_CONFIGURED (the key was refused) or ERR_MODEL.
 */
export function steadyModel(model: Model, options: SteadyOptions): Model {
  return { id: model.id, complete: (request) => complete(model, request, options) }
}

async function* complete(
  model: Model,
  request: ModelRequest,
  options: SteadyOptions,
): AsyncGenerator<ModelEvent> {
  const { host, random = Math.random, retries = RETRIES } = options
  for (let attempt = 0; ; attempt++) {
    let hasBegun = false
    try {
      for await (const event of within(model, request, options)) {
        hasBegun = true
        yield event
      }
      return
    } catch (error) {
      if (request.signal?.aborted) throw request.signal.reason
      const failure = failureOf(error, host.now())
      const wait = hasBegun || attempt >= retries ? undefined : waitFor(failure, attempt, random)
      if (wait === undefined) throw modelError(model.id, error, failure)
      await pause(host, wait, request.signal)
    }
  }
}

/** One try, with a limit to each wait. A slow reader is not timed. */
async function* within(
  model: Model,
  { signal, ...request }: ModelRequest,
  { host, timeouts: { first = FIRST_MS, idle = IDLE_MS } = {} }: SteadyOptions,
): AsyncGenerator<ModelEvent> {
  const controller = host.controller()
  const onAbort = (): void => controller.abort(signal?.reason)
  signal?.addEventListener('abort', onAbort)
  if (signal?.aborted) onAbort()
  const events = model.complete({ ...request, signal: controller.signal })[Symbol.asyncIterator]()
  try {
    for (let ms = first; ; ms = idle) {
      const timeout = host.timeout(ms)
      timeout.signal.addEventListener('abort', () => controller.abort(timedOut(model.id, ms)))
      const next = await events.next().finally(() => timeout.clear())
      if (next.done) return
      yield next.value
    }
  } finally {
    signal?.removeEventListener('abort', onAbort)
    controller.abort(undefined)
    await events.return?.()
  }
}

/** Milliseconds before the next try; undefined where there is to be none. */
function waitFor(
  { isPassing, retryAfter = 0 }: ModelFailure,
  attempt: number,
  random: () => number,
): number | undefined {
  if (!isPassing || retryAfter * 1000 > MOST_WAIT_MS) return undefined
  return Math.max(retryAfter * 1000, Math.floor(random() * BASE_MS * 2 ** attempt))
}

function pause(host: Pick<Host, 'timeout'>, ms: number, signal: AbortSignalLike | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timeout = host.timeout(ms)
    const onAbort = (): void => {
      timeout.clear()
      reject(signal?.reason)
    }
    timeout.signal.addEventListener('abort', () => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    })
    signal?.addEventListener('abort', onAbort)
  })
}

function timedOut(id: string, limit: number): PlimsollError {
  return new PlimsollError('ERR_TIMEOUT', `model ${id}: nothing came within ${limit} ms`, { limit })
}
