import { checkScope } from '../kernel/memory.ts'
import { PlimsollError } from '../ports/errors.ts'
import type { Host } from '../ports/host.ts'
import type { Scope } from '../ports/op.ts'
import { invalid } from '../ports/options.ts'
import { scopeName } from '../ports/scope-name.ts'
import type { ScopeStore, Store } from '../ports/store.ts'
import { cascade } from './cascade.ts'
import { readScopes } from './read.ts'
import { Replica, type ReplicaStore } from './replica.ts'
import { ScopeSync } from './scope-sync.ts'
import type { SyncOptions } from './sync.ts'

/** The scopes that somebody has open or follows, or that wait for their home. */
export class Followed {
  readonly #store: Store
  readonly #user: SyncOptions['user']
  readonly #keep: SyncOptions['keep']
  readonly #scopes = new Map<string, ScopeSync>()
  /** Called where a scope is followed from now on, and where somebody lets go of one. */
  readonly #onUse: (sync: ScopeSync) => void
  readonly #onUnuse: () => void

  constructor(
    { store, user, keep }: Pick<SyncOptions, 'store' | 'user' | 'keep'>,
    onUse: (sync: ScopeSync) => void,
    onUnuse: () => void,
  ) {
    this.#store = store
    this.#user = user
    this.#keep = keep
    this.#onUse = onUse
    this.#onUnuse = onUnuse
  }

  get all(): readonly ScopeSync[] {
    return [...this.#scopes.values()]
  }

  get due(): readonly ScopeSync[] {
    return this.all.filter(({ isDue }) => isDue)
  }

  isOurs({ tenant, userId }: Scope): boolean {
    return !this.#user || (this.#user.userId === userId && this.#user.tenant === tenant)
  }

  /**
   * @throws ERR_INVALID_ARGUMENT: it is none, or another user's, whom the transport would not tell
   * apart
   */
  use(given: Scope): ScopeSync {
    const scope = checkScope('sync', given)
    if (!this.isOurs(scope)) throw invalid('sync', 'scope', 'is not of the user that is synced')
    const name = scopeName(scope)
    const known = this.#scopes.get(name)
    if (known) {
      known.uses++
      return known
    }
    const replica = new Replica(replicaStore(this.#store.open(scope)), scope.sessionId)
    const sync = new ScopeSync(scope, replica, this.#keep)
    this.#scopes.set(name, sync)
    this.#onUse(sync)
    return sync
  }

  unuse(sync: ScopeSync): void {
    sync.uses--
    this.#onUnuse()
  }

  /** Runs something on the replica of a scope. */
  async with<Result>(
    scope: Scope,
    work: (replica: Replica, sync: ScopeSync) => Promise<Result>,
  ): Promise<Result> {
    const sync = this.use(scope)
    try {
      return await work(sync.replica, sync)
    } finally {
      this.unuse(sync)
    }
  }

  /**
   * Takes along what derives in a user's other scopes from what is gone in one.
   *
   * @param open opens a scope as the app writes to it
   * @param isDueNow whether a scope may be worked on now
   * @returns whether anything may be due
   */
  async cascade(
    open: (scope: Scope) => ScopeStore,
    host: Pick<Host, 'now' | 'newId' | 'newSecret'>,
    isDueNow: (sync: ScopeSync) => boolean,
  ): Promise<boolean> {
    let isDone = false
    for (const { scope, replica } of this.all) {
      const { gone } = replica.seen?.state ?? {}
      if (!gone) continue
      const { sessionId: _, ...user } = scope
      const shared = this.use(user)
      try {
        // What is noted there may still be to come.
        if (shared.isDue) isDone ||= isDueNow(shared)
        else {
          const isOfUser = (one: Scope) => scopeName({ ...user, ...one }) === scopeName(one)
          const scopes = async () => (await readScopes(this.#store)).filter(isOfUser)
          await cascade({ open, scopes, host }, scope, gone)
          await shared.replica.scrubRefused(gone)
          await replica.cascaded(gone)
          isDone = true
        }
      } finally {
        this.unuse(shared)
      }
    }
    return isDone
  }

  /** Finds what was written and not sent before. */
  async findWaiting(): Promise<void> {
    for (const scope of await this.ours()) {
      if (this.#scopes.has(scopeName(scope))) continue
      const store = replicaStore(this.#store.open(scope))
      const isWaiting = (await store.outbox(0)).length > 0
      await store.close()
      if (isWaiting) this.unuse(this.use(scope))
    }
  }

  /** All scopes that are stored, of the user. */
  async ours(): Promise<readonly Scope[]> {
    return (await readScopes(this.#store)).filter((scope) => this.isOurs(scope))
  }

  /** Lets go of what nobody has open, and nothing waits of or is kept aside; or of all. */
  async sweep(isAll = false): Promise<void> {
    for (const [name, sync] of this.#scopes) {
      const isKept = sync.uses > 0 || sync.isDue || sync.replica.seen?.outbox.length
      if (!isAll && isKept) continue
      this.#scopes.delete(name)
      await sync.replica.close()
    }
  }
}

export function replicaStore(store: ScopeStore): ReplicaStore {
  if (store.outbox) return store as ReplicaStore
  throw new PlimsollError('ERR_NOT_CONFIGURED', 'sync: the store cannot be the replica of a home')
}
