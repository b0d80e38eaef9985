import { valueIn } from '../kernel/log/bodies.ts'
import { allOrNone, areAccepted, TRIES } from '../kernel/log/once.ts'
import { sealOp } from '../kernel/log/seal.ts'
import type { AuditQuery, AuditRecord } from '../ports/audit.ts'
import { defined } from '../ports/defined.ts'
import { PlimsollError } from '../ports/errors.ts'
import type { Host } from '../ports/host.ts'
import type { Json } from '../ports/message.ts'
import type { IndexEntry, Op } from '../ports/op.ts'
import type { Decide, ScopeStore } from '../ports/store.ts'
import { canonical, checkCount, invalid, isPlainObject } from '../text/json.ts'
import { beside } from './rules.ts'

/** What is recorded; id and time are made. */
export type AuditInput = Omit<AuditRecord, 'id' | 'at'>

/** Records that a user's scope keeps: the oldest leave. */
export const MOST_RECORDS = 512
/** Lists the records, the newest first, and counts them. */
export const AUDIT_GROUP = 'audit'
/** What the keys of records begin with. */
export const AUDIT = 'audit/'
/** Digits of a record's stamp in its id and its place. */
const DIGITS = 15
const LAST = 10 ** DIGITS - 1

/**
 * What recording it writes to the user's scope, for a commit together with what is recorded. Each
 * record has a register of its own, so that those of two devices never meet. Where there are as
 * many as are kept, it takes that of the oldest, and a conflict of the commit means: prepare again.
 * A replica only adds: another one may take the oldest at the same time.
 *
 * @param store the user's scope
 * @param isErased whether the same commit erases the scope first
 */
export async function auditOp(
  store: ScopeStore,
  host: Host,
  input: AuditInput,
  isErased = false,
): Promise<Op> {
  const { action, target, counts, by } = input
  const opId = host.newId()
  const at = host.now()
  const count = (await store.sums([AUDIT_GROUP])).get(AUDIT_GROUP)?.count ?? 0
  const isFull = count >= MOST_RECORDS && !isErased && !store.isReplica
  const records = await store.indexed(AUDIT_GROUP, { first: isFull ? MOST_RECORDS : 1 })
  const oldest = isFull ? records.at(-1) : undefined
  const key = oldest?.key ?? AUDIT + opId
  // Clocks differ: what was there before is older in any case.
  const newest = LAST - Number(records[0]?.index?.[0]?.order ?? LAST)
  const stamp = Math.min(LAST, Math.max(at, newest + 1))
  const record: AuditRecord = defined({
    id: idOf(stamp, key),
    at,
    action,
    target,
    counts: counts && Object.keys(counts).length > 0 ? counts : undefined,
    by,
  })
  return {
    kind: 'put',
    opId,
    key,
    base: oldest?.version ?? null,
    value: record as unknown as Json,
    index: [placeOf(stamp)],
  }
}

/**
 * Records it in the user's scope, in one commit with `beside`: all of it or nothing. Each call
 * makes a record of its own.
 *
 * @param beside ops that no conflict can refuse
 * @throws ERR_CONFLICT: others recorded something eight times in a row
 */
export function writeAudit(
  store: ScopeStore,
  host: Host,
  input: AuditInput,
  beside: readonly Op[] = [],
): Promise<void> {
  return commitAudit(store, host, input, beside, allOrNone)
}

async function commitAudit(
  store: ScopeStore,
  host: Host,
  input: AuditInput,
  others: readonly Op[],
  decide: Decide,
): Promise<void> {
  const isErased = others.some(({ kind }) => kind === 'erase')
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const ops = [...others, await auditOp(store, host, input, isErased)]
    const results = await store.commit(
      ops.map((op) => sealOp(op)),
      decide,
    )
    if (areAccepted(results)) return
  }
  throw new PlimsollError('ERR_CONFLICT', `audit: others recorded something ${TRIES} times in a row`)
}

/**
 * Records it beside the log of the user's scope, which stays as it is: so an export is the same the
 * next time, and a log that was imported still goes on as the one that it was taken from. Where
 * nothing was ever written to that scope, nothing is.
 *
 * @param store the user's scope
 * @throws ERR_CONFLICT, as {@link writeAudit}
 */
export function noteAudit(store: ScopeStore, host: Host, input: AuditInput): Promise<void> {
  return commitAudit(store, host, input, [], beside)
}

/** A page of records, the newest first. @throws ERR_INVALID_ARGUMENT */
export async function auditIn(
  store: ScopeStore,
  { after, first = MOST_RECORDS }: AuditQuery,
): Promise<readonly AuditRecord[]> {
  if (checkCount('audit', 'first', first) < 1 || first > MOST_RECORDS)
    throw invalid('audit', 'first', `must be 1 to ${MOST_RECORDS}`)
  const [, stamp, tail] = ID.exec(after ?? '') ?? []
  if (after !== undefined && tail === undefined) throw invalid('audit', 'after', 'must be the id of a record')
  const rows = await store.indexed(AUDIT_GROUP, {
    first,
    ...(tail !== undefined && { after: { order: orderOf(Number(stamp)), key: AUDIT + tail } }),
  })
  return rows.flatMap((row) => (valueIn(row) as AuditRecord | undefined) ?? [])
}

/**
 * Checks a record as {@link auditOp} writes it.
 *
 * @throws ERR_INVALID_ARGUMENT: it does not write this, or not there
 */
export function checkRecord(operation: string, key: string, value: Json, index: readonly IndexEntry[]): void {
  const fields = isPlainObject(value) ? (value as { readonly [field: string]: Json }) : {}
  const { id, at, action, target, counts, by, ...others } = fields
  const stamp = Number(ID.exec(String(id))?.[1])
  checkCount(operation, 'at', at)
  const isRecord =
    Object.keys(others).length === 0 &&
    typeof action === 'string' &&
    [target, by].every((one) => one === undefined || typeof one === 'string') &&
    (counts === undefined || (isPlainObject(counts) && Object.values(counts).every(Number.isSafeInteger)))
  const isThere = isRecordKey(key) && id === idOf(stamp, key)
  if (!isRecord || !isThere || canonical(index as never) !== canonical([placeOf(stamp)] as never))
    throw invalid(operation, key, 'is no record of the audit')
}

/** Whether a record can stand there. */
export function isRecordKey(key: string): boolean {
  return key.length > AUDIT.length
}

/** Of a record its stamp, and what its key is of it. */
const ID = /^(\d{15})-(.+)$/s

function idOf(stamp: number, key: string): string {
  return `${digits(stamp)}-${key.slice(AUDIT.length)}`
}

function placeOf(stamp: number): IndexEntry {
  return { group: AUDIT_GROUP, order: orderOf(stamp), weight: 0 }
}

function orderOf(stamp: number): string {
  return digits(LAST - stamp)
}

function digits(count: number): string {
  return String(count).padStart(DIGITS, '0')
}
