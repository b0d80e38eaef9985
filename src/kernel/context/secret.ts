import type { Host } from '../../ports/host.ts'
import type { OpResult, SealedOp } from '../../ports/op.ts'
import type { Decide, Decision, RegisterRow, ScopeStore } from '../../ports/store.ts'
import { hashText } from '../../text/hash.ts'
import { invalid } from '../../text/json.ts'
import { valueIn } from '../log/bodies.ts'
import { decide, nothingWritten } from '../log/decide.ts'
import { sealOp } from '../log/seal.ts'

/** Key of the register that holds it, in the session's scope. */
export const SECRET = 'secret'

/**
 * What the hashes of a session are keyed by, so that nobody can try what they were made from. It is
 * stored beside the first epoch, travels with the session, and each delete puts another one in its
 * place: from then on nothing that was hashed before can be tried.
 */
export class Secret {
  readonly #host: Pick<Host, 'newSecret'>
  #key: string | undefined
  #row: RegisterRow | undefined

  constructor(host: Pick<Host, 'newSecret'>) {
    this.#host = host
  }

  get key(): string {
    this.#key ??= newKey(this.#host)
    return this.#key
  }

  /** Seq of the op beside which it was stored: hashes from before it are of another one. */
  get since(): number {
    return this.#isStored ? (this.#row?.seq ?? 0) : Infinity
  }

  get #isStored(): boolean {
    return typeof this.#row?.body === 'string'
  }

  /** @param isReloaded whether there may be another one than the one that was read */
  async refresh(reads: Pick<ScopeStore, 'register'>, isReloaded: boolean): Promise<void> {
    if (this.#isStored && !isReloaded) return
    const row = await reads.register(SECRET)
    const key = row && (valueIn(row) as string | undefined)
    // Of a session that was erased, the next one has another.
    if (key || this.#isStored) this.#key = key
    this.#row = row
  }

  hash(text: string): string {
    return hashText(text, this.key)
  }

  /**
   * Commits ops, of which the last is named `opId`, and beside it the secret, where it is not
   * stored yet. Where another writer has stored one, nothing is written.
   */
  async commit(store: ScopeStore, ops: readonly SealedOp[], opId: string): Promise<readonly OpResult[]> {
    if (this.#isStored) return store.commit(ops, decide)
    const { version } = this.#row ?? {}
    const results = await store.commit([...ops, putSecret(opId, this.key)], (given, rows) =>
      rows.registers.get(SECRET)?.version === version ? withSecret(given, rows) : nothingWritten([]),
    )
    const last = results.at(-1)
    if (last?.status === 'accepted')
      this.#row = { key: SECRET, version: opId, seq: last.seq, body: JSON.stringify(this.key) }
    return results
  }
}

/** Whether a value can be a key. */
export function isKey(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
}

/** @throws ERR_INVALID_ARGUMENT */
export function newKey(host: Pick<Host, 'newSecret'>): string {
  const key = host.newSecret()
  if (isKey(key)) return key
  throw invalid('createMemory', 'newSecret', 'must return 64 hexadecimal digits')
}

/** What stores a secret beside the op of that name. */
export function putSecret(opId: string, value: string): SealedOp {
  return sealOp({ kind: 'put', opId, key: SECRET, base: null, value })
}

/** As `decide`, but the last op, which puts the secret, is none of its own: it has no row. */
export const withSecret: Decide = (ops, rows) => besideLast(ops, decide(ops.slice(0, -1), rows))

/** A decision, and the secret that the last op puts; nothing, where its namesake wrote nothing. */
export function besideLast(ops: readonly SealedOp[], decision: Decision): Decision {
  const { envelope, bodies } = ops.at(-1) as SealedOp
  const { opId } = envelope
  const written = decision.log.find((row) => row.opId === opId)
  if (!written) return nothingWritten([])
  const row = { key: SECRET, version: opId, seq: written.seq, body: bodies[0] ?? null }
  return { ...decision, registers: [...decision.registers, row] }
}
