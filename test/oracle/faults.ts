/**
 * Stands between a memory and its store: calls that fail, others that come first, and rows that
 * cannot be read.
 */
import type { OpName, WorldCommand } from './commands.ts'
import type { LogRowLike, OpLike, PageLike, RegisterLike, ScopeStoreLike, StoreLike } from './store.ts'

type Fail = Extract<WorldCommand, { readonly kind: 'fail' }>

type Reads = Pick<
  ScopeStoreLike,
  | 'entries'
  | 'head'
  | 'register'
  | 'registers'
  | 'indexed'
  | 'sums'
  | 'changesSince'
  | 'attachment'
  | 'derived'
>

interface Race {
  readonly at: OpName
  readonly scope: 'session' | 'user' | undefined
  readonly run: () => Promise<void>
}

/** What goes wrong in one run. Faults and races hold until {@link Faults.clear}. */
export class Faults {
  #fail: Fail | undefined
  #left = 0
  #race: Race | undefined
  #veiled: ReadonlySet<string> = new Set()

  arm(fail: Fail): void {
    this.#fail = fail
    this.#left = fail.times ?? Number.POSITIVE_INFINITY
  }

  race(race: Race): void {
    this.#race = race
  }

  veil(ids: readonly string[]): void {
    this.#veiled = new Set(ids)
  }

  /** Whether a race still waits for its op. */
  get waits(): boolean {
    return this.#race !== undefined
  }

  clear(): void {
    this.#fail = undefined
    this.#race = undefined
  }

  wrap(store: StoreLike): StoreLike {
    return {
      open: (scope) => this.#scope(store.open(scope), scope.sessionId === undefined ? 'user' : 'session'),
      oldestUnused: () => store.oldestUnused(),
      removeUnused: (until) => store.removeUnused(until),
      scopes: (after) => store.scopes(after),
    }
  }

  #scope(inner: ScopeStoreLike, scope: 'user' | 'session'): ScopeStoreLike {
    const reads = this.#reads(inner, scope)
    const { snapshot, watch } = inner
    return {
      ...reads,
      commit: (ops, decide) => this.#commit(inner, scope, ops, decide),
      attach: (attachment, at) => inner.attach(attachment, at),
      attached: async (ids) => (await inner.attached?.(ids)) ?? [],
      derive: (row, seq) => inner.derive(row, seq),
      close: () => inner.close(),
      ...(snapshot && {
        snapshot: (work) =>
          snapshot.call(inner, (found) => work(this.#reads(found as Reads, scope))) as never,
      }),
      ...(watch && { watch: (listener) => watch.call(inner, listener) }),
    }
  }

  #reads(inner: Reads, scope: 'user' | 'session'): Reads {
    const read = async <Value>(call: () => Promise<Value>): Promise<Value> => {
      if (this.#fails('reads', scope)) throw failure()
      return call()
    }
    const page = <Page extends PageLike>(found: Page): Page => ({
      ...found,
      rows: found.rows.map((row) => this.#veil(row, row.id)),
    })
    const registers = (rows: readonly RegisterLike[]): readonly RegisterLike[] =>
      rows.map((row) => this.#veil(row, row.key))
    return {
      entries: (query) => read(async () => page(await inner.entries(query))),
      head: () => read(() => inner.head()),
      register: (key) =>
        read(async () => {
          const row = await inner.register(key)
          return row && this.#veil(row, key)
        }),
      registers: (prefix, after) => read(async () => registers(await inner.registers(prefix, after))),
      indexed: (group, query) => read(async () => registers(await inner.indexed(group, query))),
      sums: (groups) => read(() => inner.sums(groups)),
      changesSince: (seq) => read(async () => page(await inner.changesSince(seq))),
      attachment: (id) => read(() => inner.attachment(id)),
      derived: (prefix, after) => read(() => inner.derived(prefix, after)),
    }
  }

  async #commit(
    inner: ScopeStoreLike,
    scope: 'user' | 'session',
    ops: readonly OpLike[],
    decide: unknown,
  ): Promise<readonly unknown[]> {
    const race = this.#race
    if (race && scope === (race.scope ?? scope) && ops.some((op) => nameOf(op) === race.at)) {
      this.#race = undefined
      await race.run()
    }
    const how = this.#fails('commits', scope, ops)
    if (how === 'before') throw failure()
    const results = await inner.commit(ops, decide)
    if (how === 'after') throw failure()
    return results
  }

  #fails(
    calls: Fail['calls'],
    scope: 'user' | 'session',
    ops?: readonly OpLike[],
  ): 'before' | 'after' | undefined {
    const fail = this.#fail
    if (!fail || fail.calls !== calls || this.#left <= 0) return undefined
    if (fail.scope !== undefined && fail.scope !== scope) return undefined
    if (fail.op !== undefined && !ops?.some((op) => nameOf(op) === fail.op)) return undefined
    this.#left--
    return fail.how ?? 'before'
  }

  #veil<Row extends { readonly body: string | null }>(row: Row, id: string): Row {
    if (row.body === null || !this.#veiled.has(id)) return row
    const { derived: _, ...rest } = row as Row & Partial<LogRowLike> & { readonly derived?: string }
    return { ...(rest as unknown as Row), body: null, unreadable: true }
  }
}

function nameOf({ envelope }: OpLike): string {
  return envelope.kind === 'mark' ? (envelope.mark ?? '') : envelope.kind
}

/** An error as stores throw them, of no build's own class. */
function failure(): Error {
  return Object.assign(new Error('the store failed, as the history says'), {
    name: 'PlimsollError',
    code: 'ERR_STORAGE',
  })
}
