import { answerPull } from '../../../src/edge/replica/answer-pull.ts'
import type { CallHost } from '../../../src/edge/replica/call-object.ts'
import type { PullAnswer, PullRequest } from '../../../src/edge/replica/pull.ts'
import { answerScopeCall, type ScopeCall } from '../../../src/edge/replica/remote-scope.ts'
import type { UserHome } from '../../../src/edge/replica/user-replica.ts'
import type { Scope } from '../../../src/ports/op.ts'
import type { ScopeStore, Store } from '../../../src/ports/store.ts'

/** What happens to one call: it never arrives, or its answer is lost. */
export interface Fault {
  readonly when: 'before' | 'after'
  readonly error: unknown
}

/** An error as Cloudflare's runtime throws it. */
export function platformError(
  message: string,
  flags: { readonly retryable?: true; readonly overloaded?: true; readonly remote?: true },
): Error {
  return Object.assign(new Error(message), flags)
}

export const lost = () => platformError('Network connection lost.', { retryable: true })

/**
 * One object behind a namespace: calls cross as structured clones do, and a stub of which a call
 * failed is dead.
 */
export class Namespace {
  /** Stubs that were given out. */
  stubs = 0
  readonly calls: (ScopeCall['method'] | 'pull')[] = []
  /** What happens to the calls that come next. */
  faults: (Fault | undefined)[] = []
  /**
   * How long the calls that come next take: turns of the queue, before and after they are answered.
   */
  turns: number[] = []
  /** Units of each answer to a pull. */
  readonly sizes: number[] = []
  readonly #open: (scope: Scope) => ScopeStore

  constructor(store: Pick<Store, 'open'>) {
    this.#open = (scope) => store.open(scope)
  }

  get(): UserHome {
    this.stubs++
    let isDead = false
    const call = async <Result>(
      name: ScopeCall['method'] | 'pull',
      run: () => Promise<Result>,
    ): Promise<Result> => {
      if (isDead) throw new Error('the stub is dead')
      this.calls.push(name)
      const fault = this.faults.shift()
      isDead = fault !== undefined
      if (fault?.when === 'before') throw fault.error
      // Answers come in any order.
      for (let turn = this.turns.shift() ?? 1; turn > 0; turn--) await undefined
      const result = structuredClone(await run())
      for (let turn = this.turns.shift() ?? 1; turn > 0; turn--) await undefined
      if (fault) throw fault.error
      return result
    }
    return {
      scope: (scope, given) =>
        call(given.method, () => answerScopeCall(this.#open(scope), structuredClone(given))),
      pull: (scope: Scope, request: PullRequest): Promise<PullAnswer> =>
        call('pull', async () => {
          const answer = await answerPull(this.#open(scope), structuredClone(request))
          this.sizes.push(JSON.stringify(answer.rows).length)
          return answer
        }),
    }
  }
}

/**
 * A host whose timers end at once, and are noted. Those that are to end never do where `isPatient`.
 */
export function waitingHost(random = () => 0.5) {
  const waits: number[] = []
  const clock = { now: 1_000_000 }
  const host: CallHost & { now(): number } = {
    now: () => clock.now,
    random,
    timeout: (ms) => {
      const signal = new AbortController().signal
      let isClear = false
      return {
        signal: {
          aborted: signal.aborted,
          reason: undefined,
          addEventListener: (_, listener) => {
            // Only waits between attempts are this short.
            if (ms >= 1_000) return
            waits.push(ms)
            queueMicrotask(() => {
              if (!isClear) listener()
            })
          },
          removeEventListener: () => {},
        },
        clear: () => {
          isClear = true
        },
      }
    },
  }
  return { host, waits, clock }
}
