import { nothingWritten } from '../kernel/log/decide.ts'
import type { HomeClock } from '../ports/lease.ts'
import type { SealedOp } from '../ports/op.ts'
import type { Decision, Head, Reads, ScopeStore } from '../ports/store.ts'
import type { Replica, ReplicaStore } from './replica.ts'
import { withoutWanted } from './view.ts'
import { writeLocally } from './write.ts'

export interface ReplicaScopeParts {
  /** A handle of the app's own. */
  readonly scope: ReplicaStore
  readonly replica: Replica
  readonly clock?: HomeClock
  /** Of a scope of which older rows may be at home alone. */
  readonly part?: Part
  /** Called once something is written that waits for the home. */
  readonly onWritten: () => void
  readonly onClosed: () => void
}

/** How a scope is read of which older rows may be at home alone. */
export interface Part {
  /**
   * Runs something over reads that give no part for the whole: where they come to what is not here,
   * that is fetched, and it runs again.
   *
   * @throws ERR_OFFLINE: it cannot be fetched now
   */
  reading<Result>(work: (whole: (reads: Reads) => Reads) => Promise<Result>): Promise<Result>
  /** Fetches what ops name, without which a store would refuse them. @throws as {@link reading} */
  fetched(ops: readonly SealedOp[], reads: Reads): Promise<void>
}

/**
 * A scope as an app has it: what is written waits for the scope's home, in the same transaction.
 * What is read is what is here.
 */
export function replicaScope({
  scope,
  replica,
  clock,
  part,
  onWritten,
  onClosed,
}: ReplicaScopeParts): ScopeStore {
  let isClosed = false
  const confirmedIn = (head: Head): Head => ({
    ...head,
    confirmed: Math.min(head.seq, replica.seen?.state.erasing ? 0 : (replica.seen?.state.seq ?? 0)),
  })
  /** @param refresh called before what tells how far the home has confirmed */
  const readsOf = (from: Reads, refresh?: () => Promise<unknown>): Reads => ({
    entries: (query) => from.entries(query),
    head: async () => {
      if (refresh) await refresh()
      return confirmedIn(await from.head())
    },
    register: (key) => from.register(key),
    registers: (prefix, after) => from.registers(prefix, after),
    indexed: (group, query) => from.indexed(group, query),
    sums: (groups) => from.sums(groups),
    changesSince: async (seq) => {
      if (refresh) await refresh()
      const changes = await from.changesSince(seq)
      return { ...changes, head: confirmedIn(changes.head) }
    },
  })
  const own = readsOf(scope, () => replica.refreshed())
  return {
    isReplica: true,
    commit: async (ops, decide) => {
      await part?.fetched(ops, own)
      for (let known = replica.seen; ; known = await replica.view()) {
        let before: string | undefined
        let written: Decision | undefined
        const results = await scope.commit(ops, (given, rows) => {
          before = rows.replica
          const seen = known && known.text === before ? known : undefined
          // What was written while it was no replica comes first.
          const isOwn = before !== undefined || rows.head.seq === 0
          const decision = isOwn ? writeLocally(given, rows, decide, seen?.outbox) : undefined
          written = decision && seen ? withoutWanted(decision, seen) : decision
          return written ?? nothingWritten([])
        })
        if (!written) continue
        replica.wrote(before, written)
        if (written.replica) onWritten()
        return results
      }
    },
    ...own,
    ...(part && {
      entries: (query) => part.reading((whole) => whole(own).entries(query)),
      changesSince: (seq) => part.reading((whole) => whole(own).changesSince(seq)),
    }),
    attach: (attachment, at) => scope.attach(attachment, at),
    attachment: (id) => scope.attachment(id),
    attached: (ids) => scope.attached(ids),
    ...(clock && { clock }),
    derive: (row, seq) => scope.derive(row, seq),
    derived: (prefix, after) => scope.derived(prefix, after),
    close: async () => {
      await scope.close()
      if (!isClosed) onClosed()
      isClosed = true
    },
    ...(scope.snapshot && {
      snapshot: async (work) => {
        await replica.refreshed()
        const { snapshot } = scope as Required<Pick<typeof scope, 'snapshot'>>
        const run = (whole: (reads: Reads) => Reads) =>
          snapshot.call(scope, (reads) => work(whole(readsOf(reads)))) as ReturnType<typeof work>
        return part ? part.reading(run) : run((reads) => reads)
      },
    }),
    ...(scope.watch && { watch: (listener) => scope.watch?.(listener) ?? (() => {}) }),
  }
}
