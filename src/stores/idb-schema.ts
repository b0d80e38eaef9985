import type { Name, OpResult } from '../ports/op.ts'
import {
  type DerivedRow,
  type IndexRow,
  isEntry,
  type LogRow,
  type MarkRow,
  type OutboxRow,
  type RegisterRow,
  type Sum,
} from '../ports/store.ts'

/**
 * Version of the database's tables and indexes: of storage format 2. A later one must keep all
 * that are here: tabs with this code go on reading after the upgrade, and Dexie puts back what they
 * miss. Format 1, of 0.1.0, is refused.
 */
export const DATABASE_VERSION = 2
/**
 * Version of what is written into the tables. Where a newer one must not be mixed with this, it
 * raises {@link MetaRow.writer}.
 */
export const WRITER_VERSION = 2
/**
 * Version of the table of what is derived. Where that of a database is another one, all of it is
 * removed when it is opened, and made from the log again.
 */
export const DERIVED_VERSION = 2

/**
 * Primary key, then indexes. The log's key is its order, so that a range of it is one read. Of its
 * indexes, the first finds entries by id, and with them the ops that are one with an entry; the
 * second the other ops by id (only the first row of an op has `op`), the third the few marks (only
 * they have `mark`).
 */
export const TABLES = {
  meta: 'key',
  head: 'name',
  log: '[scope+seq+place],&[scope+entry],&[scope+op],[mark+seq]',
  register: '[scope+key]',
  index: '[scope+group+order+key]',
  sum: '[scope+group]',
  deleted: '[scope+name]',
  refused: '[scope+op]',
  source: '[scope+source+name]',
  attachment: '[scope+id]',
  unused: '[scope+id],at',
  derived: '[scope+key]',
  outbox: '[scope+order]',
}

export type TableName = keyof typeof TABLES

/** The database about itself: one row. */
export interface MetaRow {
  readonly key: typeof META
  /** Made when the database was; another one means another database. */
  readonly id: string
  /** Least {@link WRITER_VERSION} that may write. */
  readonly writer: number
  /** Scopes so far; numbered from 1. */
  readonly scopes: number
  /** {@link DERIVED_VERSION} of the build that opened it last. */
  readonly derived: number
}
export const META = 'database'

/**
 * Room that is given back when there is no more: engines let a transaction that only deletes pass,
 * but a delete of ours also writes that it happened.
 */
export interface ReserveRow {
  readonly key: typeof RESERVE
  /** Noise, since engines compress. */
  readonly bytes: Uint8Array
}
export const RESERVE = 'reserve'
/** Chromium lets the last write that fits take up to its own size more than there is. */
export const RESERVE_BYTES = 2 ** 18

/** A scope, and what all its reads and writes begin with. */
export interface HeadRow {
  /** Its ids, as JSON. */
  readonly name: string
  readonly scope: number
  readonly seq: number
  readonly ordinal: number
  readonly first?: string
  readonly marks: readonly MarkRow[]
  /** UTF-16 units of the largest row of the log: says how many can be read at once. */
  readonly largest: number
  /**
   * Whether any name was deleted; whether any op was refused. Nobody looks for what was never
   * there.
   */
  readonly deletes: boolean
  readonly refusals: boolean
  /**
   * Seq of the last commit that emptied anything; 0: none did. What was derived before it is gone.
   */
  readonly emptiedAt: number
  /** Whether any register stood in an index. */
  readonly indexed: boolean
  readonly rebased?: number
  /** What `ReplicaChange.state` was last. */
  readonly replica?: string
}

/**
 * A row of the log. Ids that an index needs are in the field of that index only; an op without an
 * id is one with its entry.
 */
export interface StoredRow
  extends Pick<
    LogRow,
    | 'seq'
    | 'place'
    | 'kind'
    | 'ordinal'
    | 'round'
    | 'lane'
    | 'base'
    | 'applied'
    | 'chain'
    | 'sources'
    | 'contexts'
    | 'tok'
  > {
  readonly scope: number
  /** Id of an entry. */
  readonly entry?: string
  /** Id of what is not an entry. */
  readonly record?: string
  /** Id of the op, in its first row. */
  readonly op?: string
  /** Id of the op, in the others. */
  readonly also?: string
  /** The scope again, for marks. */
  readonly mark?: number
  readonly body: string | null
  readonly derived?: string
  /** Reserved: seals the chain of rows up to this one. */
  readonly seal?: string
}

export interface StoredWaiting extends OutboxRow {
  readonly scope: number
}

export interface StoredRegister extends RegisterRow {
  readonly scope: number
}

/** Where a register is listed. */
export interface StoredPlace extends IndexRow {
  readonly scope: number
}

/** What the registers of a group come to: a group that has some. */
export interface StoredSum extends Sum {
  readonly scope: number
  readonly group: string
}

export interface StoredDerived extends DerivedRow {
  readonly scope: number
}

export interface DeletedRow {
  readonly scope: number
  readonly name: Name
}

export interface RefusedRow {
  readonly scope: number
  readonly op: string
  readonly result: OpResult
}

/** An attachment. Engines keep a Blob beside the database, and load it only when it is read. */
export interface AttachmentRow {
  readonly scope: number
  readonly id: string
  readonly mediaType: string
  readonly blob: Blob
}

/** An attachment that no message has named, and when it was put. */
export interface UnusedRow {
  readonly scope: number
  readonly id: string
  readonly at: number
}

/** That `name`, an entry or a register, derives from `source`. */
export interface SourceRow {
  readonly scope: number
  readonly source: Name
  readonly name: Name
}

export function storedRow(scope: number, row: LogRow): StoredRow {
  const { id, opId, ...rest } = row
  return {
    scope,
    ...rest,
    ...(isEntry(row) ? { entry: id } : { record: id }),
    ...(row.place > 0 ? { also: opId } : opId !== `entry:${id}` && { op: opId }),
    ...(isMark(row) && { mark: scope }),
  }
}

/** Field by field: what a rest leaves of so many takes much longer to make, and to read. */
export function logRow(row: StoredRow): LogRow {
  const { round, lane, base, applied, chain, sources, contexts, derived, tok } = row
  return {
    seq: row.seq,
    place: row.place,
    kind: row.kind,
    id: row.entry ?? row.record ?? '',
    opId: row.op ?? row.also ?? `entry:${row.entry}`,
    ordinal: row.ordinal,
    ...(round !== undefined && { round }),
    ...(lane !== undefined && { lane }),
    ...(base !== undefined && { base }),
    ...(applied !== undefined && { applied }),
    ...(chain !== undefined && { chain }),
    ...(sources !== undefined && { sources }),
    ...(contexts !== undefined && { contexts }),
    body: row.body,
    ...(derived !== undefined && { derived }),
    ...(tok !== undefined && { tok }),
  }
}

export function registerRow({ scope: _, ...row }: StoredRegister): RegisterRow {
  return row
}

function isMark(row: LogRow): boolean {
  return row.kind !== 'message' && isEntry(row)
}
