import type { HomeClock } from './lease.ts'
import type { IndexEntry, MarkKind, Name, OpResult, Scope, SealedOp } from './op.ts'

/**
 * Where memory lives. Stores hold no logic: they read the rows that ops name, call `decide`, and
 * write what it returns.
 *
 * Every store must give:
 * 1. **Atomic, serialisable commits** to one scope: all of a decision or nothing, and no other
 *   commit in between.
 * 2. **Durability**: when `commit` resolves, its rows survive the end of the process, tab or worker
 *   (the map store, which lives in memory, says so).
 * 3. **Isolation**: scopes never share rows, by any spelling of their ids.
 * 4. An error never means "not written": callers send the same op again.
 */
export interface Store {
  /** Opens a scope. Cheap and synchronous: no I/O until the first call on what it returns. */
  open(scope: Scope): ScopeStore
  /**
   * When the oldest attachment was put that no message of its scope has named yet; none: all were
   * named. Over all scopes.
   */
  oldestUnused(): Promise<number | undefined>
  /**
   * Removes attachments that no message has named and that were put at `until` or before: the
   * oldest first, at most {@link UNUSED_AT_ONCE} of them. @returns how many
   */
  removeUnused(until: number): Promise<number>
  /**
   * Scopes to which anything was ever written, of all users, those that were erased included (of
   * these the row of the erase is left): a page of at most {@link PAGE_ROWS}; only an empty page is
   * the last one. Each store has an order of its own, in which no scope changes its place: to go
   * on `after` a scope, which need not be there, misses none that was there all along.
   */
  scopes(after?: Scope): Promise<readonly Scope[]>
}

export interface ScopeStore {
  /**
   * In one transaction: reads what {@link Rows} asks for, calls `decide`, writes the decision.
   * Results are in the order of `ops`; a conflict or a rejection is a value and does not stop the
   * other ops.
   *
   * All bodies and derived columns of what is written travel in `ops`, and `decide` takes them from
   * the ops that it is given: a store that wraps another one may seal them before the transaction,
   * and opens them again in what reads return. So it passes other bodies on than it was given; what
   * a transaction reads has bodies as they are stored.
   */
  commit(ops: readonly SealedOp[], decide: Decide): Promise<readonly OpResult[]>
  /** Rows of the log in its order, oldest first, whatever the query. Unknown ids give no rows. */
  entries(query?: EntriesQuery): Promise<Page>
  /** The scope's head, with the current mark of each slot. An empty scope has `seq: 0`. */
  head(): Promise<Head>
  register(key: string): Promise<RegisterRow | undefined>
  /**
   * Live registers whose key starts with `prefix`, by key in code unit order; at most
   * {@link PAGE_ROWS} after `after`.
   *
   * @param before a store may leave out keys from this one on: the caller has no use for them
   */
  registers(prefix: string, after?: string, before?: string): Promise<readonly RegisterRow[]>
  /**
   * Registers that are listed in a group, by order, then key; at most and by default
   * {@link PAGE_ROWS}.
   */
  indexed(group: string, query?: IndexQuery): Promise<readonly RegisterRow[]>
  /** What the registers of each group come to; a group without any is left out. */
  sums(groups: readonly string[]): Promise<ReadonlyMap<string, Sum>>
  /**
   * Log rows after `seq`, oldest first, as much as a {@link Page} holds (an op's rows are never
   * parted), and the head.
   */
  changesSince(seq: number): Promise<Changes>
  /**
   * Keeps an attachment. Durable when it resolves. `kept`: one of that id is there already, and
   * stays as it is. `deleted`: the id was deleted, and nothing is written. It is *unused* until an
   * op with that id in its `attachments` is accepted.
   *
   * @param at when, Unix milliseconds; only for {@link Store.oldestUnused}
   */
  attach(attachment: Attachment, at: number): Promise<'stored' | 'kept' | 'deleted'>
  attachment(id: string): Promise<Attachment | undefined>
  /** Which of these attachments are there. Loads no bytes. */
  attached(ids: readonly string[]): Promise<readonly string[]>
  /**
   * Keeps what was derived from the log up to `seq`, in place of what was kept under that key.
   * Durable when it resolves. False, and nothing is written, if an entry was emptied after `seq`:
   * then it may hold what was forgotten.
   */
  derive(row: DerivedRow, seq: number): Promise<boolean>
  /**
   * What {@link derive} kept under keys that begin with `prefix`, by key in code unit order, after
   * `after`: at most {@link PAGE_UNITS} bytes unless the first alone has more. All of it is gone as
   * soon as an entry of the scope is emptied: it can be rebuilt from the log.
   */
  derived(prefix: string, after?: string): Promise<readonly DerivedRow[]>
  close(): Promise<void>
  /**
   * Optional: runs `work` over one state of the scope, where several reads in a row cost less than
   * each by itself. Contract: `work` awaits nothing but its reads, and may be run again.
   */
  snapshot?<Result>(work: (reads: Reads) => Promise<Result>): Promise<Result>
  /**
   * Optional: calls the listener after commits of others to this scope. A hint: calls may be lost,
   * late or repeated.
   */
  watch?(listener: () => void): () => void
  /** Optional, of a replica: what is known of the time of its home. */
  readonly clock?: HomeClock
  /**
   * Set where the scope follows a home: what waits may change its place, and what is to be known
   * elsewhere must be an op.
   */
  readonly isReplica?: true
  /**
   * Optional, for a store that can be the replica of a home: the rows of the outbox after a number,
   * in order, at most {@link PAGE_ROWS} of them, and {@link PAGE_UNITS} of values unless the first
   * alone has more; only an empty page is the last one. A store that has it also writes what
   * {@link Decision.replica} says.
   */
  outbox?(after: number): Promise<readonly OutboxRow[]>
}

/** What waits for the scope's home: opaque to stores. */
export interface OutboxRow {
  /** Its number, from 1: the order in which the rows were written. */
  readonly order: number
  readonly value: string
}

/** What reads a scope. */
export type Reads = Pick<
  ScopeStore,
  'entries' | 'head' | 'register' | 'registers' | 'indexed' | 'sums' | 'changesSince'
>

/** Which registers of a group. */
export interface IndexQuery {
  /** After this place, which is that of a register that need not be there any more. */
  readonly after?: { readonly order: string; readonly key: string }
  /** Orders before this one, exclusive. */
  readonly to?: string
  readonly first?: number
}

/** How many registers a group has, and the sum of their weights. */
export interface Sum {
  readonly count: number
  readonly weight: number
}

/**
 * What was made from the log, for example an index of its words: never synced, and no part of its
 * order.
 */
export interface DerivedRow {
  readonly key: string
  readonly bytes: Uint8Array<ArrayBuffer>
}

/**
 * Bytes that messages name by id: a picture, a sound, a file. Written once, never changed; outside
 * of the log's order.
 */
export interface Attachment {
  readonly id: string
  /** For example `image/png`. */
  readonly mediaType: string
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** Most attachments that one call of {@link Store.removeUnused} removes. */
export const UNUSED_AT_ONCE = 32

/** Most rows that one read returns. */
export const PAGE_ROWS = 512
/** Most UTF-16 units of bodies that one read returns, unless its first row alone has more. */
export const PAGE_UNITS = 2 ** 20

/**
 * What one read returns: as many rows as were asked for, at most {@link PAGE_ROWS}, and at most
 * {@link PAGE_UNITS} of bodies.
 */
export interface Page {
  readonly rows: readonly LogRow[]
  /** Whether it ended at a limit (the query's own included), so that further rows may match. */
  readonly more: boolean
}

/**
 * Entries (rows of kind `message` and `mark`) from `from` (inclusive) to `to` (exclusive), both by
 * id. Who reads page by page goes on with `after`: a page from an entry may hold nothing but this
 * entry, where the next one is long.
 */
export interface EntriesQuery {
  readonly from?: string
  /** In place of `from`, exclusive. */
  readonly after?: string
  readonly to?: string
  /** Only the last so many of what matches; at most and by default {@link PAGE_ROWS}. */
  readonly last?: number
  /** Only the first so many of what matches; at most {@link PAGE_ROWS}. Wins over `last`. */
  readonly first?: number
  readonly kinds?: readonly EntryKind[]
}

/** What an entry is: a message, or one of the marks. */
export type EntryKind = 'message' | 'epoch' | 'summary' | 'rewind' | 'lease'

/**
 * One row of the log. Each accepted op writes at least one: an entry a row, else a row that records
 * the op (`put`, `delete`, `erase`). Rows order by (seq, place).
 */
export interface LogRow {
  /** Number of the op in its scope: 1, 2, 3 … gapless. */
  readonly seq: number
  /** Place in the op, from 0. */
  readonly place: number
  readonly kind: 'message' | MarkKind | 'put' | 'delete' | 'erase'
  /** The entry's id; for a put the key, for a delete its target, for an erase the op's id. */
  readonly id: string
  readonly opId: string
  /** Messages in the scope up to and including this row. */
  readonly ordinal: number
  readonly round?: string
  readonly lane?: string
  readonly base?: string | null
  /** Marks: whether it took effect. */
  readonly applied?: boolean
  /** Applied epochs and summaries: its place in the chain of its slot, from 1. */
  readonly chain?: number
  readonly sources?: readonly Name[]
  /**
   * Hashes of contexts that were handed out since the entry before it. Empty: they were cleared,
   * since something is forgotten that they may have held.
   */
  readonly contexts?: readonly string[]
  /** Opaque. `null` when it was forgotten, or the row has none, or it is {@link unreadable}. */
  readonly body: string | null
  readonly derived?: string
  /**
   * At a home. First row of an op: a random value, fresh each time that an op is accepted. Behind a
   * space: what a home knows of a row beside its body, and is emptied with that.
   */
  readonly tok?: string
  /** Only from a store that encrypts: there is a body, which cannot be decrypted. */
  readonly unreadable?: true
}

/** Whether a row holds an entry, rather than the record of a put, delete or erase. */
export function isEntry({ kind }: Pick<LogRow, 'kind'>): boolean {
  return kind !== 'put' && kind !== 'delete' && kind !== 'erase'
}

/** A row whose entry is deleted. */
export function emptiedRow<Row extends Pick<LogRow, 'body' | 'derived' | 'tok'>>({
  derived: _,
  tok,
  ...row
}: Row) {
  return { ...row, ...(tok !== undefined && { tok: tok.split(' ', 1)[0] as string }), body: null }
}

/** Whether a row holds a body, be it one that nobody can read: then it was not forgotten. */
export function hasBody({ body, unreadable }: Pick<LogRow, 'body' | 'unreadable'>): boolean {
  return body !== null || unreadable === true
}

export interface RegisterRow {
  readonly key: string
  /** The `opId` of the op that wrote it. */
  readonly version: string
  readonly seq: number
  readonly sources?: readonly Name[]
  /** Where it stands in the indexes. */
  readonly index?: readonly IndexEntry[]
  /** Opaque. `null` when it was deleted, or it is {@link unreadable}. */
  readonly body: string | null
  /** Only from a store that encrypts: there is a body, which cannot be decrypted. */
  readonly unreadable?: true
}

/** A register's place in a group. */
export interface IndexRow {
  readonly group: string
  readonly order: string
  readonly key: string
}

/**
 * Where the chain of one kind of mark in one lane stands. The slot is `epoch/<lane>` or
 * `summary/<lane>`.
 */
export interface MarkRow {
  readonly slot: string
  readonly id: string
  readonly seq: number
  readonly chain: number
}

export interface Head {
  /** Highest seq, 0 when empty. */
  readonly seq: number
  /** Messages in the log, hidden and forgotten ones included. */
  readonly ordinal: number
  /** Id of the first message, if any. */
  readonly first?: string
  readonly marks: ReadonlyMap<string, MarkRow>
  /**
   * Any register stood in an index since the scope was last erased: else nobody need look for one.
   */
  readonly indexed?: true
  /**
   * How often rows changed their places, since others of the scope's home came before them: what
   * was read of the log before the last time is to be read again. Absent: never.
   */
  readonly rebased?: number
  /** Seq of the newest row that the scope's home has confirmed. Absent: the scope has none. */
  readonly confirmed?: number
}

export interface Changes {
  readonly rows: readonly LogRow[]
  readonly head: Head
  /** Whether rows after these are waiting. */
  readonly more: boolean
}

/** What a commit reads before it decides: everything that the ops name, and nothing else. */
export interface Rows {
  readonly head: Head
  /** For each op that was seen before, by `opId`: its first result. */
  readonly results: ReadonlyMap<string, OpResult>
  /** Entries whose id is among the ops' `ids` (those of puts are keys), `round` or `target`. */
  readonly entries: ReadonlyMap<string, LogRow>
  /** Registers whose key is among the ops' `key` or `target`, or the dependents. */
  readonly registers: ReadonlyMap<string, RegisterRow>
  /** Entries, registers, targets and sources that the ops name and that are deleted. */
  readonly deleted: ReadonlySet<Name>
  /**
   * Where an op deletes: for each entry, register and target that the ops name, the entries and
   * registers whose `sources` name it directly; and in turn for these.
   */
  readonly dependents: ReadonlyMap<Name, readonly Name[]>
  /** Seq of the last commit that emptied anything; 0: none did. */
  readonly emptiedAt: number
  /** What {@link ReplicaChange.state} was last; absent: there was none. An erase leaves it. */
  readonly replica?: string
}

/**
 * What a commit writes, in this order: what `replica` takes back, erase, emptied, unrecorded, log,
 * registers, unlisted, listed, sums, marks, refused, used, the rest of `replica`.
 */
export interface Decision {
  readonly results: readonly OpResult[]
  /** Wipe the scope first, its attachments, indexes, sums and what was derived included. */
  readonly erase: boolean
  /** New rows of the log. */
  readonly log: readonly LogRow[]
  /** Registers to write over. */
  readonly registers: readonly RegisterRow[]
  /** Places in the indexes to take back, then those to write. */
  readonly unlisted: readonly IndexRow[]
  readonly listed: readonly IndexRow[]
  /**
   * What to add to the sum of each group, below 0 included; a group whose count comes to 0 is gone.
   */
  readonly sums: ReadonlyMap<string, Sum>
  /**
   * Names that are deleted from now on, which the store remembers: an entry loses body, derived
   * column and what is behind a space in its `tok`, and an attachment is removed. Where there are
   * any, all that was derived from the log is removed too. Names that nothing has are remembered
   * too, since remove wins.
   */
  readonly emptied: readonly Name[]
  /** Rows that are there after this seq keep no hashes of contexts. Absent: all do. */
  readonly unrecorded?: number
  /** Derived: the current mark of each slot that changed. */
  readonly marks: readonly MarkRow[]
  /**
   * Results of ops that wrote no row (conflicts, rejections), kept so that repeating them gives the
   * same answer.
   */
  readonly refused: readonly { readonly opId: string; readonly result: OpResult }[]
  /** Attachments that messages name from now on. */
  readonly used: readonly string[]
  /** Only where the scope is in touch with a home, or is one. */
  readonly replica?: ReplicaChange
}

/** Whether a decision leaves a scope as it is. */
export function isNothing({ log, registers, refused, replica }: Decision): boolean {
  return log.length + registers.length + refused.length === 0 && !replica
}

/**
 * What becomes of a scope as the replica of a home, or as one. All of it is written with the rest
 * of the decision or not at all; a decision that has it is written, even if it says nothing else.
 */
export interface ReplicaChange {
  /** Opaque, at most a few KiB: {@link Rows.replica} from now on. */
  readonly state: string
  /** Rows of the outbox to write, over those of the same number. */
  readonly outbox?: readonly OutboxRow[]
  /** Numbers of rows of the outbox to remove. */
  readonly sent?: readonly number[]
  /**
   * Takes back all log rows after a seq before anything else is written, so that others can come
   * before them. What they wrote elsewhere is put right by the rest of the decision: `registers`
   * and `marks` have what is there now, and the rebase what is not there any more. Names that were
   * deleted stay so, and what they emptied stays empty: a delete is never taken back for good.
   *
   * {@link Head.rebased} grows by one, all that was derived is removed, and {@link Rows.emptiedAt}
   * is the newest seq after the commit.
   */
  readonly rebase?: Rebase
  /**
   * Attachments that the erase of this decision leaves as they are, where they are there. `all`:
   * but for those that it names in `emptied`.
   */
  readonly kept?: readonly string[] | 'all'
}

export interface Rebase {
  /** The head as it is once the rows are taken back, marks aside. */
  readonly to: Pick<Head, 'seq' | 'ordinal' | 'first'>
  /** Keys of registers that are not there any more. */
  readonly registers: readonly string[]
  /** Slots that have no current mark any more. */
  readonly slots: readonly string[]
}

/**
 * Contract: pure and synchronous; treats bodies as opaque; never throws for an op that is
 * well-formed. A body or a derived column that it has written is one of `ops`: of the op and the id
 * that the row has, or for a register of the op of its version and of its key. It is not what the
 * caller held when it made the ops, since a store in between may have sealed them.
 */
export type Decide = (ops: readonly SealedOp[], rows: Rows) => Decision
