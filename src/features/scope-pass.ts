import type { Host } from '../ports/host.ts'
import type { Scope } from '../ports/op.ts'
import type { Store } from '../ports/store.ts'

/** Scopes that one run looks at. */
const SCOPES_AT_ONCE = 64

/** After how long what could not be finished is tried again, in milliseconds: a day. */
const AGAIN_MS = 24 * 60 * 60 * 1000

/** Work that calls which ended early left in the scopes of a store. */
export interface ScopePass {
  /** Says that a call ended early. */
  leave(): void
  /** Unix milliseconds; undefined: nothing is known to wait. */
  nextAt(): number | undefined
  /**
   * Finishes it in a part of all scopes: each run goes on behind the one before it. Once all were
   * looked at, nothing is looked at until something is left. What fails keeps nothing else waiting.
   * Calls at the same time share one run.
   */
  run(): Promise<void>
}

/** A look through all scopes. */
interface Pass {
  /** Those of the page that are still to come. */
  readonly scopes: readonly Scope[]
  readonly last: Scope | undefined
}

/** @param finish Contract: finishes the work of some scopes; tries all of them whatever fails */
export function scopePass(
  store: Pick<Store, 'scopes'>,
  host: Pick<Host, 'now'>,
  finish: (scopes: readonly Scope[]) => Promise<void>,
): ScopePass {
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
    await finish(scopes.slice(0, SCOPES_AT_ONCE)).catch(() => {
      due = host.now() + AGAIN_MS
    })
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
