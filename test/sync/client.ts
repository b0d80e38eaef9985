/** A tab of a device: what the engine does of it, one message at a time. */
import { isPlimsollError } from '../../src/ports/errors.ts'
import type { OpResult, SealedOp } from '../../src/ports/op.ts'
import type { Decide, Reads, ScopeStore } from '../../src/ports/store.ts'
import type { PushAnswer, PushRequest } from '../../src/ports/sync.ts'
import { PUSH_UNITS, type PullAnswer, type PullRequest } from '../../src/ports/sync.ts'
import { giveAttachment, takeAttachment } from '../../src/sync/home-attachments.ts'
import { type Ask, type KeepLocal, keepLocal } from '../../src/sync/keep-local.ts'
import { Replica, type ReplicaStore } from '../../src/sync/replica.ts'
import { replicaScope } from '../../src/sync/replica-scope.ts'
import { ScopeSync } from '../../src/sync/scope-sync.ts'
import type { ReplicaState, Waiting } from '../../src/sync/state.ts'
import type { Home } from './home.ts'

/** What asks a home. */
type Asking = (ask: Ask) => Promise<unknown>

/** Ops of a session that a device keeps which does not keep all. */
const KEPT = 3

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
    const keep = asking && keepLocal({ ops: KEPT })
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
    const start = await keep?.startOf(this.#sync)
    if (!keep || start === undefined) return false
    await asking((ask) => this.#start(keep, start, ask))
    return true
  }

  async #start(keep: KeepLocal, start: number, ask: Ask): Promise<void> {
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
