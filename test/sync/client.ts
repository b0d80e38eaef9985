/** A tab of a device: what the engine does of it, one message at a time. */
import { isPlimsollError } from '../../src/ports/errors.ts'
import type { OpResult, SealedOp } from '../../src/ports/op.ts'
import type { Decide, Reads, ScopeStore } from '../../src/ports/store.ts'
import type { PushAnswer, PushRequest } from '../../src/ports/sync.ts'
import { PUSH_UNITS, type PullAnswer, type PullRequest } from '../../src/ports/sync.ts'
import { giveAttachment, takeAttachment } from '../../src/sync/home-attachments.ts'
import { type Ask, type KeepLocal, type KeepLocalOptions, keepLocal } from '../../src/sync/keep-local.ts'
import { Replica, type ReplicaStore } from '../../src/sync/replica.ts'
import { replicaScope } from '../../src/sync/replica-scope.ts'
import { ScopeSync } from '../../src/sync/scope-sync.ts'
import type { ReplicaState, Waiting } from '../../src/sync/state.ts'
import type { Home } from './home.ts'

export const DAY_MS = 86_400_000
/** When all happens, as the app's times count. */
export const NOW = 100 * DAY_MS
/** What devices keep of a session that do not keep all: by their number. */
export const KEEP: Readonly<Record<number, KeepLocalOptions>> = {
  1: { bytes: 200 },
  2: { days: 30, bytes: 2_000 },
}

/** What asks a home. */
type Asking = (ask: Ask) => Promise<unknown>

export class Tab {
  readonly device: number
  /** What the app writes to. */
  readonly scope: ScopeStore
  readonly replica: Replica
  readonly #sync: ScopeSync

  /**
   * @param store a handle of its own
   * @param asking does what asks the home for what is not here; without it, all is here
   */
  constructor(device: number, store: ScopeStore, asking?: (tab: Tab, work: Asking) => Promise<unknown>) {
    this.device = device
    this.replica = new Replica(store as ReplicaStore)
    const keep = asking && keepLocal(KEEP[device] as KeepLocalOptions)
    this.#sync = new ScopeSync({ userId: 'ada', sessionId: 'trip' }, this.replica, keep)
    const older = async (start: number) => {
      await asking?.(this, (ask) => this.#start(keep as KeepLocal, start, ask))
    }
    this.scope = replicaScope({
      scope: store as ReplicaStore,
      replica: this.replica,
      ...(keep && { part: keep.part(this.#sync, older) }),
      onWritten: () => {},
      onClosed: () => {},
    })
  }

  write(ops: readonly SealedOp[], decide: Decide): Promise<readonly OpResult[]> {
    return this.scope.commit(ops, decide)
  }

  async outbox(): Promise<readonly Waiting[]> {
    return (await this.replica.view()).outbox
  }

  async state(): Promise<ReplicaState> {
    return (await this.replica.view()).state
  }

  push(limit: number): Promise<PushRequest | undefined> {
    return this.#sync.pushRequest({ ops: limit, units: PUSH_UNITS })
  }

  async pushed(request: PushRequest, answer: PushAnswer): Promise<void> {
    await this.#sync.pushed(request, answer)
  }

  /** Sends what the home asked for, but for what is lost on the way. */
  async supply(home: Home): Promise<void> {
    const { store } = this.replica
    for (const id of this.#sync.lacks) {
      const found = await store.attachment(id)
      const request = { generation: this.#sync.generation, id }
      const outcome = found && (await takeAttachment(home.scope, request, found, 1))
      this.#sync.supplied(id, outcome !== undefined && outcome !== 'deleted')
    }
  }

  /** Fetches one attachment, if any is wanted. */
  async fetch(home: Home): Promise<void> {
    await this.replica.view()
    const { wanted } = this.#sync
    if (!wanted) return
    const request = { generation: this.#sync.generation, id: wanted.wants }
    try {
      await this.replica.fetched(wanted, await giveAttachment(home.scope, request), 1)
    } catch (error) {
      if (!isPlimsollError(error, 'ERR_CONFLICT')) throw error
    }
  }

  /** Begins the log elsewhere, where that is due. @returns whether it was */
  async start(asking: (work: Asking) => Promise<unknown>): Promise<boolean> {
    const { keep } = this.#sync
    const start = await keep?.startOf(this.#sync, NOW)
    if (!keep || start === undefined) return false
    await asking((ask) => this.#start(keep, start, ask))
    return true
  }

  async #start(keep: KeepLocal, start: NonNullable<PullRequest['start']>, ask: Ask): Promise<void> {
    await keep.startOver(this.#sync, start, ask)
    this.#sync.isPullDue = true
  }

  /** What is here, which may be a part. */
  get here(): Reads {
    return this.replica.store
  }

  async pull(limit: number): Promise<PullRequest | undefined> {
    this.#sync.isPullDue = true
    const request = await this.#sync.pullRequest()
    return request && { ...request, limit }
  }

  async pulled(request: PullRequest, answer: PullAnswer): Promise<void> {
    await this.#sync.pulled(request, answer)
  }
}
