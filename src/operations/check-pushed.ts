import { AUDIT, AUDIT_GROUP, checkRecord, isRecordKey, MOST_RECORDS } from '../features/audit.ts'
import { type HeadTexts, headKey, headValue, sectionsIn } from '../kernel/context/head.ts'
import { isKey, SECRET } from '../kernel/context/secret.ts'
import type { KernelMemory } from '../kernel/feature.ts'
import { checkLabel, checkSize } from '../kernel/log/check-message.ts'
import { EPOCH_ID, HEAD_KEY, lowerTrust, MAX_ENTRY_BYTES, SUMMARY_ID } from '../kernel/log/message.ts'
import { attachmentsIn } from '../kernel/log/seal.ts'
import { checkScope } from '../kernel/memory.ts'
import { isPlimsollError } from '../ports/errors.ts'
import type { Memory } from '../ports/memory.ts'
import type { Json, Message, Trust } from '../ports/message.ts'
import type { IndexEntry, Scope } from '../ports/op.ts'
import type { PushRejection, SyncOp } from '../ports/sync.ts'
import { checkJson } from '../text/check-json.ts'
import { hashJson } from '../text/hash.ts'
import { canonical, checkOptions, invalid } from '../text/json.ts'
import { memoryOf } from './kernel-of.ts'
import { lowered, markOf, messageOf } from './transfer/check-line.ts'
import type { MarkLine, MessageLine } from './transfer/format.ts'
import { isInternal, kindsOf } from './transfer/register-kinds.ts'

export interface CheckPushedOptions {
  /**
   * The most that a label of trust may say, and so what is taken of the system role: below `system`
   * none. Default `user`.
   */
  readonly most?: Trust
}

/**
 * Says of each op that a replica pushes why its home does not take it: for a home that sees plain
 * texts, since anybody who holds the user's token can push. What would be written by the
 * memory itself is taken, and nothing else: messages as `append` checks them, marks and registers
 * as `importInto` does, but nothing is changed on the way.
 *
 * @param memory a memory over the home's store, with the features that its replicas use
 * @param scope where it is pushed to
 * @param ops all of the push
 * @example
 * ```ts
 * import { checkPushed } from 'plimsoll'
 * import { syncServer } from 'plimsoll/sync'
 *
 * const answer = syncServer({ store, authenticate, check: (scope, ops) => checkPushed(memory, scope, ops) })
 * ```
 */
export async function checkPushed(
  memory: Memory,
  scope: Scope,
  ops: readonly SyncOp[],
  options: CheckPushedOptions = {},
): Promise<(op: SyncOp) => PushRejection | undefined> {
  checkOptions('checkPushed', 'options', options, ['most'])
  const kernel = memoryOf('checkPushed', memory)
  const { most = 'user' } = options
  const checks = new PushedOps(
    kernel,
    checkScope('checkPushed', scope),
    checkLabel('checkPushed', 'most', most),
  )
  await checks.read(ops)
  return (op) => {
    try {
      checks.check(op)
      return undefined
    } catch (error) {
      if (isPlimsollError(error, 'ERR_INVALID_ARGUMENT')) return 'forbidden'
      if (isPlimsollError(error, 'ERR_ENTRY_TOO_LARGE')) return 'too-large'
      throw error
    }
  }
}

const OPERATION = 'push'
/** What an encrypting store keeps its keys under: no text of anybody's. */
const STORE_KEY = /^(register:)?(encryption|sealed)\//
/** Kinds of marks of which more is known than that they are JSON. */
const MARKS: ReadonlySet<string> = new Set(['epoch', 'summary', 'rewind'])

class PushedOps {
  readonly #memory: KernelMemory
  readonly #scope: Scope
  readonly #most: Trust
  readonly #kindOf: ReturnType<typeof kindsOf>
  /** What the hashes of a head may be keyed by: what is there, or comes with it. */
  #secrets: readonly string[] = []
  /** Keys of records of the audit that stay, whatever is pushed. */
  #recorded: ReadonlySet<string> = new Set()

  constructor(memory: KernelMemory, scope: Scope, most: Trust) {
    this.#memory = memory
    this.#scope = scope
    this.#most = most
    this.#kindOf = kindsOf(memory.use)
  }

  /** Reads what is there of what ops name. */
  async read(ops: readonly SyncOp[]): Promise<void> {
    const keys = ops.flatMap(({ envelope: { key } }) => key ?? [])
    const store = this.#memory.store.open(this.#scope)
    const records = keys.filter((key) => key.startsWith(AUDIT))
    if (records.length > 0) {
      const first = Math.max(1, MOST_RECORDS - records.length)
      this.#recorded = new Set((await store.indexed(AUDIT_GROUP, { first })).map(({ key }) => key))
    }
    if (!keys.some((key) => key.startsWith(HEAD_KEY))) return
    const stored = await store.register(SECRET)
    const pushed = ops.flatMap(({ beside = [] }) => beside.filter(({ key }) => key === SECRET))
    const bodies = [stored, ...pushed].flatMap((row) => row?.body ?? [])
    this.#secrets = bodies.map(parsed).filter(isKey)
  }

  /** @throws ERR_INVALID_ARGUMENT, ERR_ENTRY_TOO_LARGE */
  check(op: SyncOp): void {
    for (const { key, body } of op.beside ?? [])
      if (key === SECRET && !isKey(parsed(body))) throw invalid(OPERATION, SECRET, 'is no key')
    for (const body of op.bodies) if (body !== null) checkSize(OPERATION, 'body', body, MAX_ENTRY_BYTES)
    const { kind, key, target } = op.envelope
    if (STORE_KEY.test(key ?? target ?? '')) throw invalid(OPERATION, 'key', 'is the store’s own')
    if (target?.startsWith(`register:${AUDIT}`)) throw invalid(OPERATION, 'delete', 'is of the audit')
    if (kind === 'append') this.#checkAppend(op)
    else if (kind === 'mark') this.#checkMark(op)
    else if (kind === 'put') this.#checkPut(op)
    else if (kind !== 'delete' && kind !== 'erase') for (const body of op.bodies) jsonIn(body)
  }

  #checkAppend({ envelope: { ids, attachments = [] }, bodies }: SyncOp): void {
    const { host } = this.#memory
    const named = ids.map((id, place): readonly string[] | undefined => {
      const body = bodies[place]
      if (body == null) {
        // It was forgotten where it comes from: only its name is left.
        if (id.startsWith(EPOCH_ID) || id.startsWith(SUMMARY_ID))
          throw invalid(OPERATION, 'id', 'is that of a mark')
        return undefined
      }
      // Checked part by part: an app's value in it may have as many levels as any.
      const message = parsed(body) as Json
      const checked = messageOf({ operation: OPERATION, host }, { id, message } as MessageLine) as Message
      const { id: _, ...stored } = checked
      checkSame(message, stored)
      const isHigh = checked.role === 'system' && this.#most !== 'system'
      if (isHigh || lowered(checked, this.#most) !== checked)
        throw invalid(OPERATION, 'trust', `is above ${this.#most}`)
      return attachmentsIn(checked)
    })
    const whole = named.flatMap((some) => some ?? [])
    if (!named.includes(undefined) && JSON.stringify(attachments) !== JSON.stringify(whole))
      throw invalid(OPERATION, 'attachments', 'are not those of its messages')
  }

  #checkMark({ envelope: { mark: kind = '', ids, lane }, bodies }: SyncOp): void {
    const [id = ''] = ids
    const mark = jsonIn(bodies[0])
    const type = MARKS.has(kind) ? kind : 'mark'
    const checked = markOf({ operation: OPERATION, host: this.#memory.host }, {
      type,
      kind,
      id,
      lane,
      mark,
    } as MarkLine)
    if (checked?.type === 'summary' && lowered(checked, this.#most) !== checked)
      throw invalid(OPERATION, 'trust', `is above ${this.#most}`)
  }

  #checkPut({ envelope: { key = '', index = [] }, bodies }: SyncOp): void {
    const value = jsonIn(bodies[0])
    if (key.startsWith(AUDIT)) this.#checkRecord(key, value, index)
    else this.#checkValue(key, value, index)
  }

  #checkValue(key: string, value: Json | undefined, index: readonly IndexEntry[]): void {
    if (index.some(({ weight = 0 }) => weight < 0)) throw invalid(OPERATION, 'index', 'counts backwards')
    const found = this.#kindOf(key)
    if (!found) {
      // Of features that are not in use here nothing is known, so nothing reads it by an index.
      if (isInternal(key) || index.length === 0) return
      throw invalid(OPERATION, 'index', 'belongs to no feature in use')
    }
    const { kind, name } = found
    const owner = this.#scope.sessionId === undefined ? 'user' : 'session'
    if (!kind.owners.includes(owner)) throw invalid(OPERATION, 'put', `${key} is not kept here`)
    if (index.length > 0 && !kind.index) throw invalid(OPERATION, 'index', `${key} stands in none`)
    // It was forgotten, or taken off.
    if (value === undefined || value === null) return
    const checked = kind.check(OPERATION, name, value, owner)
    checkSame(value, kind.lowered ? kind.lowered(checked, this.#most, owner) : checked)
    if (key.startsWith(HEAD_KEY)) this.#checkHead(key, checked as unknown as HeadTexts)
  }

  /** Records are added, or take the place of the oldest ones: none of the others is changed. */
  #checkRecord(key: string, value: Json | undefined, index: readonly IndexEntry[]): void {
    if (this.#scope.sessionId !== undefined) throw invalid(OPERATION, 'put', `${key} is not kept here`)
    // Of one that was written over since where it comes from, only the name is left.
    if (value !== undefined) checkRecord(OPERATION, key, value, index)
    if (!isRecordKey(key) || this.#recorded.has(key))
      throw invalid(OPERATION, key, 'is another record of the audit')
  }

  /** A head shows in contexts whose hash is in its key. */
  #checkHead(key: string, head: HeadTexts): void {
    const { parts = {}, memory, trust = 'system' } = head
    const labels = sectionsIn(parts).map((section) => section.trust)
    if ([...labels, ...(memory === '' ? [] : [trust])].some((one) => lowerTrust(one, this.#most) !== one))
      throw invalid(OPERATION, 'trust', `is above ${this.#most}`)
    const value = headValue(head)
    if (!this.#secrets.some((secret) => headKey(hashJson(value, secret)) === key))
      throw invalid(OPERATION, 'put', `${key} is not what its hash says`)
  }
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    throw invalid(OPERATION, 'body', 'must be JSON')
  }
}

/** @throws ERR_INVALID_ARGUMENT: not JSON as it is stored */
function jsonIn(body: string | null | undefined): Json | undefined {
  return body == null ? undefined : checkJson(OPERATION, 'body', parsed(body))
}

/** What a check would leave out or fill in was not written by this library. */
function checkSame(value: Json, checked: unknown): void {
  const kept = checked === undefined ? undefined : (JSON.parse(JSON.stringify(checked)) as Json)
  if (kept === undefined || canonical(kept) !== canonical(value))
    throw invalid(OPERATION, 'body', 'is not as it is stored')
}
