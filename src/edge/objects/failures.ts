import { type ErrorCode, isPlimsollError } from '../../ports/errors.ts'
import type { Model } from '../../ports/model.ts'
import type { Part } from '../rows/part-health.ts'
import { traceOf } from '../trace.ts'
import { LostCall } from '../turn/hooked-model.ts'
import type { WorkFailure } from '../work/work.ts'
import type { EdgeBindings } from './bindings.ts'
import { DEPLOYMENT } from './deployment-name.ts'

/** Something that failed in an object, as the log has it: ids and codes, never content. */
export interface ObjectLine {
  readonly object: 'session' | 'user'
  /** Of the Durable Object, which names nobody. */
  readonly id: string
  /** A call of the model, the object's alarm, or a piece of its durable work. */
  readonly part: Part
  readonly code: ErrorCode
  /** Of durable work. */
  readonly kind?: string
  readonly attempts?: number
  /** Whether it was given up. */
  readonly isQuarantined?: boolean
  /** The name and the stack of the error, never its message. */
  readonly error?: string
}

export interface FailuresParts extends Pick<ObjectLine, 'object' | 'id'> {
  /** Contract: as the settings have it, and must not throw. */
  readonly log: () => ((line: ObjectLine) => void) | undefined
  /** Contract: tells the deployment; absent: there is nobody to tell. */
  readonly report: ((part: Part, code?: ErrorCode) => Promise<void>) | undefined
  /** Contract: keeps the object awake until it is settled. */
  readonly waitUntil: (work: Promise<unknown>) => void
  /** Unix milliseconds. */
  readonly now: () => number
}

/** Between two reports of one part by one object. */
const QUIET_MS = 60_000

/**
 * What fails in one object behind its answers: a line in the log each, and a word to the
 * deployment.
 */
export class Failures {
  readonly #parts: FailuresParts
  /** When each failing part was reported. */
  readonly #reported = new Map<Part, number>()
  /** Failures of work since the object woke. */
  #ofWork = 0

  constructor(parts: FailuresParts) {
    this.#parts = parts
  }

  failed(
    part: Part,
    error: unknown,
    work: Pick<ObjectLine, 'kind' | 'attempts' | 'isQuarantined'> = {},
  ): void {
    const { object, id, log, now } = this.#parts
    const code = isPlimsollError(error) ? error.code : part === 'model' ? 'ERR_MODEL' : 'ERR_INTERNAL'
    const line = { object, id, part, code, ...work }
    const write = log() ?? logLine
    write({ ...line, ...(error instanceof Error && { error: traceOf(error) }) })
    const at = this.#reported.get(part)
    if (at !== undefined && now() - at < QUIET_MS) return
    this.#reported.set(part, now())
    this.#report(part, code)
  }

  /** Where it was said that a part fails, it is said that it works again. */
  passed(part: Part): void {
    if (this.#reported.delete(part)) this.#report(part)
  }

  /** Runs the object's alarm. @throws as it does, for the platform to try it again */
  async alarm(run: () => Promise<void>): Promise<void> {
    const before = this.#ofWork
    try {
      await run()
    } catch (error) {
      this.failed('alarm', error)
      throw error
    }
    this.passed('alarm')
    if (this.#ofWork === before) this.passed('queue')
  }

  /** What a queue is to tell of. Its keys may name somebody. */
  readonly ofWork = ({ kind, attempts, isQuarantined, error }: WorkFailure): void => {
    this.#ofWork++
    this.failed('queue', error, { kind, attempts, isQuarantined })
  }

  /**
   * A model whose failures are told. What its caller ended is none, nor a request too large, nor
   * what was lost on its way.
   */
  watched({ id, complete }: Model): Model {
    const tell = this
    return {
      id,
      async *complete(request) {
        try {
          for await (const event of complete(request)) {
            // Nobody reads on after it.
            if (event.type === 'finish') tell.passed('model')
            yield event
          }
        } catch (error) {
          const isOwn = !request.signal?.aborted && !(error instanceof LostCall)
          if (isOwn && !isPlimsollError(error, 'ERR_CONTEXT_TOO_LARGE')) tell.failed('model', error)
          throw error
        }
      },
    }
  }

  #report(part: Part, code?: ErrorCode): void {
    const { report, waitUntil } = this.#parts
    // A word that is lost is said again a minute later.
    if (report) waitUntil(report(part, code).catch(() => {}))
  }
}

/** Tells the deployment, where there is one. */
export function reportTo({ DEPLOYMENT: deployments }: EdgeBindings): FailuresParts['report'] {
  if (!deployments) return undefined
  return async (part, code) => deployments.getByName(DEPLOYMENT).report(part, code)
}

function logLine(line: ObjectLine): void {
  console.error(JSON.stringify(line))
}
