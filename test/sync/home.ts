import { decide, nothingWritten } from '../../src/kernel/log/decide.ts'
import type { OpResult, SealedOp } from '../../src/ports/op.ts'
import type { Decide, ScopeStore } from '../../src/ports/store.ts'
import type { PullAnswer, PullRequest, PushAnswer, PushRequest } from '../../src/ports/sync.ts'
import { accepted, type HomeState, homeStateIn } from '../../src/sync/home.ts'
import { registersOf } from './client.ts'
import { type Protocol, SECRET_ROW } from './protocol.ts'

/** The home of all replicas, over a store. */
export class Home {
  readonly scope: ScopeStore
  readonly #protocol: Protocol
  readonly #newTok: () => string

  constructor(scope: ScopeStore, protocol: Protocol, newTok: () => string) {
    this.scope = scope
    this.#protocol = protocol
    this.#newTok = newTok
  }

  /** What is written at home itself, as an agent does that runs there. */
  async write(ops: readonly SealedOp[], rule: Decide = decide): Promise<readonly OpResult[]> {
    return this.scope.commit(ops, (given, rows) => accepted(given, rows, rule(given, rows), this.#newTok))
  }

  async state(): Promise<HomeState> {
    let state: HomeState | undefined
    await this.scope.commit([], (_, rows) => {
      state = homeStateIn(rows.replica)
      if (state) return nothingWritten([])
      state = { generation: this.#newTok(), since: 0, erased: [] }
      return { ...nothingWritten([]), replica: { state: JSON.stringify(state) } }
    })
    return state as HomeState
  }

  async push(request: PushRequest): Promise<PushAnswer> {
    const { decidePush, sealed } = this.#protocol
    const ops = [...request.ops.map(sealed), SECRET_ROW]
    let answer: PushAnswer | undefined
    await this.scope.commit(ops, (given, rows) => {
      const decided = decidePush(request, given.slice(0, -1), rows, this.#newTok)
      answer = decided.answer
      return decided.decision
    })
    return answer as PushAnswer
  }

  async pull(request: PullRequest): Promise<PullAnswer> {
    const state = await this.state()
    const { cursor, limit = 512 } = request
    const at = state.since + cursor
    const { rows: found, head } = await this.scope.changesSince(Math.max(0, at - 1))
    const anchor = found.find(({ seq, place }) => seq === at && place === 0)?.tok
    const rows = found.filter(({ seq }) => seq > at && seq <= at + limit)
    return this.#protocol.pullFrom(request, {
      state,
      head: head.seq,
      ...(anchor !== undefined && { anchor }),
      rows,
      registers: await registersOf(this.scope, rows),
    })
  }
}
