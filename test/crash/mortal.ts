import type { OpResult, SealedOp } from '../../src/ports/op.ts'
import type {
  Attachment,
  Decide,
  DerivedRow,
  EntriesQuery,
  IndexQuery,
  ScopeStore,
  Store,
} from '../../src/ports/store.ts'

/** Where an agent waits for the world, and so may find that it never goes on. */
export type Boundary =
  /** Before a store reads, and before what it read arrives. */
  | 'read'
  /** A commit that never reached the store, and one of which nobody heard. */
  | 'commit'
  | 'committed'
  /** Before, within and after a reply; the same of a summary. */
  | 'model'
  | 'summary'
  /** Before and after a tool has run, or a call that waited has been settled. */
  | 'tool'

/**
 * When to kill: at a boundary of that kind, once so much was written and so many of that kind were
 * passed since.
 */
export interface Kill {
  readonly at: Boundary
  readonly written: number
  readonly passed: number
}

/** One life of an agent after another over one store, each of which ends at the next kill. */
export class Fate {
  /** Ids of all that was written. */
  readonly written = new Set<string>()
  /** The boundaries that were passed, as kills that would have come there. */
  readonly passed: Kill[] = []
  kills = 0
  readonly #left: Kill[]
  /** Boundaries that were passed since something was written last, by kind. */
  #since = new Map<Boundary, number>()

  constructor(kills: readonly Kill[]) {
    this.#left = [...kills]
  }

  wrote(ids: readonly string[]): void {
    const before = this.written.size
    for (const id of ids) this.written.add(id)
    if (this.written.size > before) this.#since = new Map()
  }

  /** Whether a life ends here. */
  strikes(at: Boundary): boolean {
    const passed = this.#since.get(at) ?? 0
    const written = this.written.size
    this.#since.set(at, passed + 1)
    this.passed.push({ at, written, passed })
    const due = this.#left.findIndex(
      (kill) =>
        kill.at === at && (written > kill.written || (written === kill.written && passed >= kill.passed)),
    )
    if (due < 0) return false
    this.#left.splice(due, 1)
    this.kills++
    return true
  }
}

/** One process that holds an agent. After its end nothing in it goes on. */
export class Life {
  /** Resolves when it is killed. */
  readonly killed: Promise<void>
  #die: () => void = () => {}
  #isDead = false
  readonly #fate: Fate

  constructor(fate: Fate) {
    this.#fate = fate
    this.killed = new Promise((resolve) => {
      this.#die = resolve
    })
  }

  get isDead(): boolean {
    return this.#isDead
  }

  /** Contract: awaited at a boundary; never resolves in a life that is over. */
  async pass(at: Boundary): Promise<void> {
    if (!this.#isDead && !this.#fate.strikes(at)) return
    this.#isDead = true
    this.#die()
    await NEVER
  }

  /** Does what the world does between two boundaries. */
  async between<Value>(before: Boundary, work: () => Promise<Value>, after = before): Promise<Value> {
    await this.pass(before)
    const value = await work()
    await this.pass(after)
    return value
  }

  /** The store as this life sees it. */
  store(store: Store): Store {
    return {
      ...store,
      open: (scope) => new MortalScope(store.open(scope), this, this.#fate),
    }
  }
}

export const NEVER: Promise<never> = new Promise(() => {})

class MortalScope implements ScopeStore {
  readonly #scope: ScopeStore
  readonly #life: Life
  readonly #fate: Fate

  constructor(scope: ScopeStore, life: Life, fate: Fate) {
    this.#scope = scope
    this.#life = life
    this.#fate = fate
  }

  commit(ops: readonly SealedOp[], decide: Decide): Promise<readonly OpResult[]> {
    const write = async (): Promise<readonly OpResult[]> => {
      const results = await this.#scope.commit(ops, decide)
      this.#fate.wrote(
        ops.flatMap(({ envelope }, index) => (results[index]?.status === 'accepted' ? envelope.ids : [])),
      )
      return results
    }
    return this.#life.between('commit', write, 'committed')
  }

  entries(query?: EntriesQuery) {
    return this.#life.between('read', () => this.#scope.entries(query))
  }

  head() {
    return this.#life.between('read', () => this.#scope.head())
  }

  register(key: string) {
    return this.#life.between('read', () => this.#scope.register(key))
  }

  registers(prefix: string, after?: string) {
    return this.#life.between('read', () => this.#scope.registers(prefix, after))
  }

  indexed(group: string, query?: IndexQuery) {
    return this.#life.between('read', () => this.#scope.indexed(group, query))
  }

  sums(groups: readonly string[]) {
    return this.#life.between('read', () => this.#scope.sums(groups))
  }

  changesSince(seq: number) {
    return this.#life.between('read', () => this.#scope.changesSince(seq))
  }

  attach(attachment: Attachment, at: number) {
    return this.#life.between('commit', () => this.#scope.attach(attachment, at), 'committed')
  }

  attached(ids: readonly string[]) {
    return this.#life.between('read', () => this.#scope.attached(ids))
  }

  attachment(id: string) {
    return this.#life.between('read', () => this.#scope.attachment(id))
  }

  derive(row: DerivedRow, seq: number) {
    return this.#life.between('commit', () => this.#scope.derive(row, seq), 'committed')
  }

  derived(prefix: string, after?: string) {
    return this.#life.between('read', () => this.#scope.derived(prefix, after))
  }

  close() {
    return this.#scope.close()
  }
}
