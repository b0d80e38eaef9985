import { mapStore } from '../src/index.ts'
import type { ScopeStore, Store } from '../src/ports/store.ts'
import { type Exchange, exchanges, take } from './history.ts'
import { openSession } from './subjects/plimsoll.ts'

/** What `context()` read, counted at the store. */
export interface Reads {
  readonly size: number
  /** Warm calls, each after one more exchange. */
  readonly contexts: number
  readonly mostRows: number
  readonly warmRows: number
  /** Calls of the store's reading methods. */
  readonly warmReads: number
  /** The first call of a new session on the same store. */
  readonly coldRows: number
  readonly coldReads: number
}

/**
 * The newest messages, and those that follow, are the same at each size: what differs is how many
 * lie before.
 */
const SAME_MESSAGES = 100
/** Enough for several epochs. */
const CONTEXTS = 100

export async function countReads(sizes: readonly number[]): Promise<Reads[]> {
  const counted: Reads[] = []
  for (const size of sizes) counted.push(await countAt(size))
  return counted
}

async function countAt(size: number): Promise<Reads> {
  const counts = { rows: 0, reads: 0 }
  const store = counting(mapStore(), counts)
  const session = openSession(store)
  const newest = exchanges(11)
  if (size > SAME_MESSAGES) await appendAll(take(exchanges(12), size - SAME_MESSAGES))
  await appendAll(take(newest, SAME_MESSAGES))
  await session.context()

  let mostRows = 0
  const warm = { rows: 0, reads: 0 }
  for (let call = 0; call < CONTEXTS; call++) {
    await session.append(newest.next().value)
    Object.assign(counts, { rows: 0, reads: 0 })
    await session.context()
    mostRows = Math.max(mostRows, counts.rows)
    warm.rows += counts.rows
    warm.reads += counts.reads
  }

  Object.assign(counts, { rows: 0, reads: 0 })
  await openSession(store).context()
  return {
    size,
    contexts: CONTEXTS,
    mostRows,
    warmRows: warm.rows,
    warmReads: warm.reads,
    coldRows: counts.rows,
    coldReads: counts.reads,
  }

  async function appendAll(history: Iterable<Exchange>): Promise<void> {
    for (const exchange of history) await session.append(exchange)
  }
}

/** The same store, with every row that it hands out counted. */
function counting(store: Store, counts: { rows: number; reads: number }): Store {
  const count = <Result>(result: Result, rows: number): Result => {
    counts.rows += rows
    counts.reads++
    return result
  }
  return {
    oldestUnused: () => store.oldestUnused(),
    removeUnused: (until) => store.removeUnused(until),
    scopes: (after) => store.scopes(after),
    open(scope): ScopeStore {
      const inner = store.open(scope)
      return {
        commit: (ops, decide) => inner.commit(ops, decide),
        async entries(query) {
          const page = await inner.entries(query)
          return count(page, page.rows.length)
        },
        head: async () => count(await inner.head(), 1),
        async register(key) {
          const row = await inner.register(key)
          return count(row, row ? 1 : 0)
        },
        async registers(prefix, after) {
          const rows = await inner.registers(prefix, after)
          return count(rows, rows.length)
        },
        async indexed(group, query) {
          const rows = await inner.indexed(group, query)
          return count(rows, rows.length)
        },
        async sums(groups) {
          const sums = await inner.sums(groups)
          return count(sums, sums.size)
        },
        async changesSince(seq) {
          const changes = await inner.changesSince(seq)
          return count(changes, changes.rows.length + 1)
        },
        attach: (attachment, at) => inner.attach(attachment, at),
        attachment: (id) => inner.attachment(id),
        attached: (ids) => inner.attached(ids),
        derive: (row, seq) => inner.derive(row, seq),
        async derived(prefix, after) {
          const rows = await inner.derived(prefix, after)
          return count(rows, rows.length)
        },
        close: () => inner.close(),
        ...(inner.watch && { watch: (listener: () => void) => inner.watch?.(listener) ?? (() => {}) }),
      }
    },
  }
}
