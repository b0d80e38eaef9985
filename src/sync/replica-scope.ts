import { nothingWritten } from '../kernel/log/decide.ts'
import type { HomeClock } from '../ports/lease.ts'
import type { Decision, Head, Reads, ScopeStore } from '../ports/store.ts'
import type { Replica, ReplicaStore } from './replica.ts'
import { withoutWanted } from './view.ts'
import { writeLocally } from './write.ts'

export interface ReplicaScopeParts {
  /** A handle of the app's own. */
  readonly scope: ReplicaStore
  readonly replica: Replica
  readonly clock?: HomeClock
  /** Called once something is written that waits for the home. */
  readonly onWritten: () => void
  readonly onClosed: () => void
}

/**
 * A scope as an app has it: what is written waits for the scope's home, in the same transaction.
 * What is read is what is here.
 */
export function replicaScope({ scope, replica, clock, onWritten, onClosed }: ReplicaScopeParts): ScopeStore {
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
  return {
    isReplica: true,
    commit: async (ops, decide) => {
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
    ...readsOf(scope, () => replica.refreshed()),
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
        return (scope.snapshot as NonNullable<typeof scope.snapshot>)((reads) => work(readsOf(reads)))
      },
    }),
    ...(scope.watch && { watch: (listener) => scope.watch?.(listener) ?? (() => {}) }),
  }
}
