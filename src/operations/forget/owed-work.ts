import { isOwed, OWED } from '../../kernel/context/owed.ts'
import type { KernelMemory } from '../../kernel/feature.ts'
import type { Scope } from '../../ports/op.ts'
import { scopeName } from '../../ports/scope-name.ts'
import { finishOwed } from './cascade.ts'

/** Scopes that one run looks at. */
const SCOPES_AT_ONCE = 64

/** After how long what could not be finished is tried again, in milliseconds: a day. */
const AGAIN_MS = 24 * 60 * 60 * 1000

/** What was begun to be forgotten in a store, and was not ended. */
export interface OwedWork {
  /** Says that a call ended early. */
  leave(): void
  /** Unix milliseconds; undefined: nothing is known to wait. */
  nextAt(): number | undefined
  /**
   * Finishes it, of the users of a part of all scopes: each run goes on behind the one before it.
   * Once all were looked at, nothing is looked at until something is left. What fails keeps nothing
   * else waiting. Calls at the same time share one run.
   */
  run(): Promise<void>
}

/** A look through all scopes. */
interface Pass {
  /** Those of the page that are still to come. */
  readonly scopes: readonly Scope[]
  readonly last: Scope | undefined
}

/** The one of a memory. */
export function owedWork(kernel: KernelMemory): OwedWork {
  return kernel.shared('forget', () => workOf(kernel))
}

function workOf({ store, host, user: userOf }: KernelMemory): OwedWork {
  let pass: Pass | undefined
  /** When the next pass begins; undefined: nothing is known to wait. */
  let due: number | undefined = Number.NEGATIVE_INFINITY
  let running: Promise<void> | undefined

  async function after({ scopes, last }: Pass): Promise<Pass | undefined> {
    if (scopes.length > 0) return { scopes, last }
    const page = await store.scopes(last)
    return page.length > 0 ? { scopes: page, last: page.at(-1) } : undefined
  }

  async function finishSome(): Promise<void> {
    if (!pass) {
      if (due === undefined || due > host.now()) return
      due = undefined
      pass = await after({ scopes: [], last: undefined })
    }
    const { scopes = [], last } = pass ?? {}
    const users = new Map<string, Scope>()
    for (const { sessionId: _, ...user } of scopes.slice(0, SCOPES_AT_ONCE)) users.set(scopeName(user), user)
    for (const user of users.values()) {
      const { store: userStore, session: open } = userOf(user)
      try {
        if (!isOwed(await userStore.register(OWED))) continue
        const all = await finishOwed({ userStore, open, host })
        await Promise.all(all.map(({ done }) => done))
      } catch {
        due = host.now() + AGAIN_MS
      }
    }
    pass = pass && (await after({ scopes: scopes.slice(SCOPES_AT_ONCE), last }))
  }

  return {
    leave: () => {
      due = host.now()
    },
    nextAt: () => (pass ? host.now() : due === Number.NEGATIVE_INFINITY ? undefined : due),
    run: () => {
      running ??= finishSome().finally(() => {
        running = undefined
      })
      return running
    },
  }
}
