import { decide } from '../../src/kernel/log/decide.ts'
import type { OpResult, SealedOp } from '../../src/ports/op.ts'
import type { Decide, ScopeStore } from '../../src/ports/store.ts'
import type { PullAnswer, PullRequest, PushAnswer, PushRequest, SyncOp } from '../../src/ports/sync.ts'
import { answerPull } from '../../src/sync/answer-pull.ts'
import { answerPush, homeScope } from '../../src/sync/home.ts'
import { type HomeState, homeStateIn } from '../../src/sync/home-state.ts'
import { NO_GENERATION } from '../../src/sync/state.ts'

/** The home of all devices, over a store. */
export class Home {
  readonly scope: ScopeStore
  readonly #newTok: () => string

  constructor(scope: ScopeStore, newTok: () => string) {
    this.scope = scope
    this.#newTok = newTok
  }

  /** What is written at home itself, as an agent does that runs there. */
  write(ops: readonly SealedOp[], rule: Decide = decide): Promise<readonly OpResult[]> {
    return homeScope(this.scope, { newTok: this.#newTok }).commit(ops, rule)
  }

  /** Of its log, and where replicas begin to count. */
  async state(): Promise<HomeState> {
    const [row] = (await this.scope.outbox?.(0)) ?? []
    return homeStateIn(row?.value) ?? { generation: NO_GENERATION, since: 0, erased: [] }
  }

  push(request: PushRequest): Promise<PushAnswer> {
    return answerPush(this.scope, request, { newTok: this.#newTok, refuse })
  }

  pull(request: PullRequest): Promise<PullAnswer> {
    return answerPull(this.scope, request, { newTok: this.#newTok })
  }
}

/** What this home never takes of others. */
function refuse({ envelope: { opId, kind } }: SyncOp): 'too-large' | undefined {
  return (kind === 'put' || kind === 'append') && /7$|7\./.test(opId) ? 'too-large' : undefined
}
