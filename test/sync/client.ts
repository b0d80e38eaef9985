/** A tab of a device: what the engine does of it, one message at a time. */
import type { OpResult, SealedOp } from '../../src/ports/op.ts'
import type { Decide, ScopeStore } from '../../src/ports/store.ts'
import type { PushAnswer, PushRequest } from '../../src/ports/sync.ts'
import { PUSH_UNITS, type PullAnswer, type PullRequest } from '../../src/ports/sync.ts'
import { Replica, type ReplicaStore } from '../../src/sync/replica.ts'
import { replicaScope } from '../../src/sync/replica-scope.ts'
import { ScopeSync } from '../../src/sync/scope-sync.ts'
import type { ReplicaState, Waiting } from '../../src/sync/state.ts'

export class Tab {
  readonly device: number
  /** What the app writes to. */
  readonly scope: ScopeStore
  readonly replica: Replica
  readonly #sync: ScopeSync

  /** @param store a handle of its own */
  constructor(device: number, store: ScopeStore) {
    this.device = device
    this.replica = new Replica(store as ReplicaStore)
    this.#sync = new ScopeSync({ userId: 'ada', sessionId: 'trip' }, this.replica)
    this.scope = replicaScope({
      scope: store as ReplicaStore,
      replica: this.replica,
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

  async pull(limit: number): Promise<PullRequest | undefined> {
    this.#sync.isPullDue = true
    const request = await this.#sync.pullRequest()
    return request && { ...request, limit }
  }

  async pulled(request: PullRequest, answer: PullAnswer): Promise<void> {
    await this.#sync.pulled(request, answer)
  }
}
