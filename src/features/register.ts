import { checkReadable, valueIn } from '../kernel/log/bodies.ts'
import { areAccepted, changedByOthers, once, TRIES } from '../kernel/log/once.ts'
import { checkOpId } from '../kernel/log/op-id.ts'
import { sealOp } from '../kernel/log/seal.ts'
import { defined } from '../ports/defined.ts'
import { PlimsollError } from '../ports/errors.ts'
import type { Host } from '../ports/host.ts'
import type { Json } from '../ports/message.ts'
import type { IndexEntry, Name, Op } from '../ports/op.ts'
import type { RegisterRow, ScopeStore } from '../ports/store.ts'
import { hashText } from '../text/hash.ts'
import { canonical, checkOptions } from '../text/json.ts'
import { notFound } from './failures.ts'

/** How one write of a register may be bound. */
export interface WriteOptions {
  /**
   * Writes only over this version; `null`: only where there is none. Default: over whatever is
   * there.
   */
  readonly ifVersion?: string | null
  /** Names the op; repeating it is a no-op, also with `ifVersion`. Default: fresh. */
  readonly opId?: string
}

/** @throws ERR_INVALID_ARGUMENT */
export function checkWrite(operation: string, options: WriteOptions): void {
  checkOptions(operation, 'options', options, ['ifVersion', 'opId'])
}

/** A register as it is now. */
export interface Register<Value> {
  /** Undefined where there is none, or it was taken off. */
  readonly value: Value | undefined
  /** `null` where there is no value. */
  readonly version: string | null
  /** What a put names as its base: the version, that of having been taken off included. */
  readonly base: string | null
  readonly row: RegisterRow | undefined
}

/** What one change does to a register, and beside it. */
export interface RegisterChange<Value> extends WriteOptions {
  /** For error messages. */
  readonly operation: string
  readonly key: string
  readonly sources?: readonly Name[]
  /** Whether it waits, for 5 seconds in all, where others write again and again. */
  readonly isPatient?: boolean
  /** Where the register stands from now on; not asked once it is taken off. Default: nowhere. */
  readonly index?: (value: Value) => readonly IndexEntry[]
  /**
   * What else is written in the same commit, by the value and the id of its put. Default: nothing.
   */
  readonly beside?: (value: Value | null, opId: string) => Promise<readonly Op[]>
  /**
   * Contract: gives the new value by the one that is there and its version; `null` takes it off. It
   * is called again where others wrote in between.
   *
   * @param opId what will be the new version
   */
  readonly change: (
    value: Value | undefined,
    version: string | null,
    opId: string,
  ) => Value | null | Promise<Value | null>
}

const CHANGE = ['operation', 'key', 'ifVersion', 'opId', 'sources', 'isPatient', 'index', 'beside', 'change']

/** How long a patient change waits in all, and between two tries at most, in milliseconds. */
export const PATIENCE_MS = 5_000
const LONGEST_MS = 256

export async function readRegister<Value>(store: ScopeStore, key: string): Promise<Register<Value>> {
  const row = checkReadable(await store.register(key))
  const value = row && ((valueIn(row) as Value | null | undefined) ?? undefined)
  const base = row?.version ?? null
  return { value, version: value === undefined ? null : base, base, row }
}

/**
 * Compare-and-set: reads a register, changes it, and writes it over what was read, or reads again.
 * Where neither value nor index changes, nothing is written.
 *
 * @returns the version that is there now; `null`: nothing is
 * @throws ERR_DECRYPT: what is there cannot be read, and is not written over; ERR_CONFLICT
 * (`version`): another version than `ifVersion` is there, or others wrote {@link TRIES} times in a
 * row, or again and again while it was patient; ERR_NOT_FOUND: it was deleted for ever. Nothing is
 * written
 */
export async function changeRegister<Value>(
  store: ScopeStore,
  host: Host,
  asked: RegisterChange<Value>,
): Promise<string | null> {
  checkOptions('changeRegister', 'options', asked, CHANGE)
  const { operation, key, ifVersion, sources, isPatient, index, beside, change, ...given } = asked
  const opId = given.opId === undefined ? host.newId() : checkOpId(operation, 'opId', given.opId)
  let waited = 0
  for (let attempt = 0; isPatient ? waited < PATIENCE_MS : attempt < TRIES; attempt++) {
    if (attempt > 0 && isPatient) waited += await pause(host, attempt)
    const { value: before, version, base, row } = await readRegister<Value>(store, key)
    const isExpected = ifVersion === undefined || ifVersion === version
    // A named op may have been written before: then its first result counts, so the store is asked
    // once.
    if (!isExpected && (given.opId === undefined || attempt > 0)) throw conflict(operation, key, version)
    const after = await change(before, version, opId)
    const places = after === null ? [] : (index?.(after) ?? [])
    if (isExpected && isSame(row, after, places)) return version
    const put: Op = defined({
      kind: 'put' as const,
      opId,
      key,
      base: isExpected ? base : ifVersion,
      value: after as Json,
      sources,
      index: places,
    })
    const ops = [put, ...((await beside?.(after, opId)) ?? [])]
    const results = await store.commit(
      ops.map((op) => sealOp(op)),
      once,
    )
    if (areAccepted(results)) return after === null ? null : opId
    if (results.some(({ status }) => status === 'rejected')) throw deleted(operation, key)
  }
  const { version } = await readRegister(store, key)
  throw changedByOthers(operation, key, { id: key, version })
}

/** Takes a register off. Idempotent. @throws as {@link changeRegister} */
export async function removeRegister(
  store: ScopeStore,
  host: Host,
  key: string,
  { ifVersion, opId }: WriteOptions,
  beside?: RegisterChange<never>['beside'],
): Promise<void> {
  const asked = { ifVersion, opId, beside, operation: 'delete', key, change: () => null }
  await changeRegister<never>(store, host, defined(asked))
}

/** Another version is there than the one that was asked for. */
export function conflict(operation: string, key: string, version: string | null): PlimsollError {
  const there = version === null ? 'is not there' : `is at version ${version}`
  return new PlimsollError('ERR_CONFLICT', `${operation}: ${key} ${there}`, { id: key, version })
}

export function deleted(operation: string, key: string): PlimsollError {
  return notFound(operation, `${key} was deleted`, key)
}

/** Full jitter, so that those which met come back apart. @returns the milliseconds of the wait */
export async function pause(host: Host, attempt: number): Promise<number> {
  const share = Number.parseInt(hashText(host.newId()).slice(0, 8), 16) / 2 ** 32
  const ms = share * Math.min(LONGEST_MS, 2 ** attempt)
  const { signal } = host.timeout(ms)
  await new Promise<void>((resolve) => signal.addEventListener('abort', resolve))
  return ms
}

function isSame(row: RegisterRow | undefined, after: unknown, places: readonly IndexEntry[]): boolean {
  if ((row?.body ?? null) === null) return after === null
  return (
    row?.body === JSON.stringify(after) &&
    canonical((row?.index ?? []) as unknown as Json) === canonical(places as unknown as Json)
  )
}
