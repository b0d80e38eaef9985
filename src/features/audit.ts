import { valueIn } from '../kernel/log/bodies.ts'
import { allOrNone, beside, TRIES } from '../kernel/log/once.ts'
import { sealOp } from '../kernel/log/seal.ts'
import { canonical, checkCount, invalid, isPlainObject } from '../kernel/text/json.ts'
import type { AuditQuery, AuditRecord } from '../ports/audit.ts'
import { PlimsollError } from '../ports/errors.ts'
import type { Host } from '../ports/host.ts'
import type { Json } from '../ports/message.ts'
import type { IndexEntry, Op } from '../ports/op.ts'
import type { Decide, ScopeStore } from '../ports/store.ts'

/** What is recorded; id and time are made. */
export type AuditInput = Omit<AuditRecord, 'id' | 'at'>

/** Records that a user's scope keeps: the oldest leave. */
export const MOST_RECORDS = 512
/** Lists the records, the newest first. */
export const AUDIT_GROUP = 'audit'
/** What the keys of records begin with. */
export const AUDIT = 'audit/'
/** Digits of a record's number in its id and its place. */
const DIGITS = 15
const LAST = 10 ** DIGITS - 1

/**
 * What recording it writes to the user's scope, for a commit together with what is recorded. A
 * conflict of that commit means: prepare again. Records are numbered; each takes the register of
 * the one 512 before it, which so leaves.
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
  const number = (await newestRecord(store)) + 1
  const key = keyOf(number)
  const base = isErased ? null : ((await store.register(key))?.version ?? null)
  const { action, target, counts, by } = input
  const record: AuditRecord = {
    id: idOf(number),
    at: host.now(),
    action,
    ...(target !== undefined && { target }),
    ...(counts && Object.keys(counts).length > 0 && { counts }),
    ...(by !== undefined && { by }),
  }
  return {
    kind: 'put',
    opId: host.newId(),
    key,
    base,
    value: record as unknown as Json,
    index: [placeOf(number)],
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
    if (results.every(({ status }) => status === 'accepted')) return
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
  if (after !== undefined && !/^\d{15}$/.test(after))
    throw invalid('audit', 'after', 'must be the id of a record')
  const number = Number(after)
  const rows = await store.indexed(AUDIT_GROUP, {
    first,
    ...(after !== undefined && {
      after: { order: orderOf(number), key: keyOf(number) },
    }),
  })
  return rows.flatMap((row) => (valueIn(row) as AuditRecord | undefined) ?? [])
}

/** Number of the newest record; 0: there is none. */
export async function newestRecord(store: Pick<ScopeStore, 'indexed'>): Promise<number> {
  const [newest] = await store.indexed(AUDIT_GROUP, { first: 1 })
  const order = newest?.index?.find(({ group }) => group === AUDIT_GROUP)?.order
  return order === undefined ? 0 : LAST - Number(order)
}

/**
 * The number of a record as {@link auditOp} writes it.
 *
 * @throws ERR_INVALID_ARGUMENT: it does not write this, or not there
 */
export function checkRecord(
  operation: string,
  key: string,
  value: Json,
  index: readonly IndexEntry[],
): number {
  const fields = isPlainObject(value) ? (value as { readonly [field: string]: Json }) : {}
  const { id, at, action, target, counts, by, ...others } = fields
  const number = checkCount(operation, 'id', Number(id))
  checkCount(operation, 'at', at)
  const isRecord =
    Object.keys(others).length === 0 &&
    [id, action].every((one) => typeof one === 'string') &&
    [target, by].every((one) => one === undefined || typeof one === 'string') &&
    (counts === undefined || (isPlainObject(counts) && Object.values(counts).every(Number.isSafeInteger)))
  const isThere = id === idOf(number) && key === keyOf(number)
  if (isRecord && isThere && canonical(index as never) === canonical([placeOf(number)] as never))
    return number
  throw invalid(operation, key, 'is no record of the audit')
}

/** Whether a record can stand there. */
export function isRecordKey(key: string): boolean {
  const place = Number(key.slice(AUDIT.length))
  return place < MOST_RECORDS && key === keyOf(place)
}

function keyOf(number: number): string {
  return `${AUDIT}${number % MOST_RECORDS}`
}

function idOf(number: number): string {
  return String(number).padStart(DIGITS, '0')
}

function placeOf(number: number): IndexEntry {
  return { group: AUDIT_GROUP, order: orderOf(number) }
}

function orderOf(number: number): string {
  return String(LAST - number).padStart(DIGITS, '0')
}
