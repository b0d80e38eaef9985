import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import { base64, base64url, fromBase64 } from '../../ports/base64.ts'
import { isPlimsollError, PlimsollError } from '../../ports/errors.ts'
import { utf8Length } from '../../ports/utf8-length.ts'
import { randomBytes } from '../../stores/encrypted/cipher.ts'
import type { SqlStorageLike } from '../../stores/sql-schema.ts'
import { EdgeTables } from './edge-tables.ts'
import { type ObjectSeal, openText, sealText } from './object-seal.ts'

/** A request under an `Idempotency-Key`, as it crosses to the object that does what it asks. */
export interface KeyedRequest {
  readonly key: string
  /** Hash of its method, route and body: what the key stands for. Never stored as it is. */
  readonly request: string
}

/** As much of an answer as is kept. */
export interface KeptAnswer {
  readonly json: string
  readonly etag?: string
  readonly status?: 200 | 201
}

export interface AnswersParts {
  readonly storage: SqlStorageLike
  readonly now: () => number
  /** Contract: gives a new wrapped key for {@link AnswersParts.open}; undefined: it needs none. */
  readonly newKey: () => string | undefined
  /** Contract: what seals answers, by the key that was made. @throws ERR_DECRYPT */
  readonly open: (key: string | undefined) => ObjectSeal
  /** Contract: whether there is what the answers belong to; else none is kept. */
  readonly isThere: () => boolean
  /** Contract: has {@link Answers.purge} called at that time. */
  readonly schedule: (due: number) => Promise<void>
}

/** A key that stands for a request from now on. */
export interface Claim {
  /** Name of the op. */
  readonly opId: string
  /** Takes it back, where the request was refused and nothing was written. */
  readonly refused: (error: unknown) => void
}

export interface OnceOptions {
  /** Whether it stays when others are forgotten meanwhile: it holds nothing that was said. */
  readonly isLasting?: boolean
  /** Whether it may be kept: not where it shows what is forgotten elsewhere. Default true. */
  readonly isKept?: boolean
  /** Contract: whether something is written though it was refused. Default: nothing is. */
  readonly isWritten?: () => boolean
}

const HOUR_MS = 3_600_000
/** How long an answer is kept. */
export const KEEP_ANSWER_MS = 24 * HOUR_MS
/** Longer ones are not kept: what is sent again then is done again, under the same op. */
const MOST_BYTES = 64 * 1024
const SECRET_BYTES = 32
/** After these it is not known whether something was written. */
const FAILURE =
  /^ERR_(?:DECRYPT|INTERNAL|INTERRUPTED|LAW_BROKEN|MODEL|STORAGE|STORAGE_LOST|TIMEOUT|UPGRADE_REQUIRED)$/

/** A keyed call costs one row, since the table of answers has no further index. */
const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS plimsoll_edge_answer (key TEXT PRIMARY KEY, at INTEGER NOT NULL, hash TEXT NOT NULL,
    answer TEXT) WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS plimsoll_edge_answer_key (id INTEGER PRIMARY KEY CHECK (id = 1), secret TEXT NOT NULL,
    key TEXT)`,
]

interface Running {
  readonly request: string
  readonly answer: Promise<KeptAnswer>
}

/** What a request is called in the table, the op that it asks for, and what seals its answer. */
interface Named {
  readonly key: string
  readonly hash: string
  readonly opId: string
  readonly seal: ObjectSeal
}

/**
 * What an object answered to requests under an `Idempotency-Key`: the same request again gets the
 * first answer, another one under the same key ERR_CONFLICT. Keys and requests are stored as hashes
 * under a random secret of the object.
 *
 * The op that a request asks for is named by that secret, the key and the request. So what is done
 * again after its row is gone, or was never written, is the same op, and another request is another
 * op: under no circumstances is it taken for what was written before.
 */
export class Answers {
  readonly #parts: AnswersParts
  readonly #tables: EdgeTables
  readonly #running = new Map<string, Running>()
  /** How often answers were forgotten. */
  #forgotten = 0

  constructor(parts: AnswersParts) {
    this.#parts = parts
    this.#tables = new EdgeTables(parts.storage, SCHEMA)
  }

  /**
   * Runs a request, unless it was answered before, or runs already.
   *
   * @param run Contract: is given the name of the op, which is made when it is asked for
   * @throws ERR_CONFLICT: the key stands for another request; what `run` throws
   */
  once<Answer extends KeptAnswer>(
    keyed: KeyedRequest | undefined,
    run: (opId: () => string | undefined) => Promise<Answer>,
    options: OnceOptions = {},
  ): Promise<Answer> {
    if (!keyed) return run(() => undefined)
    const { key, request } = keyed
    const running = this.#running.get(key)
    if (running && running.request !== request) throw reused()
    if (running) return running.answer as Promise<Answer>
    const kept = answerIn(this.#row(keyed))
    if (kept) return Promise.resolve(kept as Answer)
    const answer = this.#run(keyed, run, options).finally(() => this.#running.delete(key))
    this.#running.set(key, { request, answer })
    return answer
  }

  /**
   * Notes what a key stands for, before a request is begun whose answer is a stream and is kept
   * elsewhere.
   *
   * @throws ERR_CONFLICT: the key stands for another request
   */
  async claim(keyed: KeyedRequest): Promise<Claim> {
    const running = this.#running.get(keyed.key)
    if (running && running.request !== keyed.request) throw reused()
    const isNew = !this.#row(keyed)
    const named = this.#name(keyed)
    if (isNew) await this.#note(named, undefined)
    return {
      opId: named.opId,
      refused: (error) => {
        if (isNew && !isFailure(error))
          this.#tables.run('DELETE FROM plimsoll_edge_answer WHERE key = ?', named.key)
      },
    }
  }

  /** Refuses what a key does not stand for, and writes nothing. @throws ERR_CONFLICT */
  check(keyed: KeyedRequest | undefined): void {
    if (keyed) this.#row(keyed)
  }

  /** Forgets all answers, those included that are still to come: they hold what was said. */
  forget(): void {
    this.#forgotten++
    this.#tables.run('DELETE FROM plimsoll_edge_answer')
  }

  /** The same, and forgets what requests were called. For an object that is emptied. */
  clear(): void {
    this.forget()
    this.#tables.run('DELETE FROM plimsoll_edge_answer_key')
  }

  /**
   * Puts another wrapping of the key that seals answers in the place of the one that is there.
   *
   * @param wrap Contract: gives it; undefined: it stays
   */
  rewrap(wrap: (key: string) => string | undefined): void {
    const key = this.#secret()?.key
    const wrapped = key === undefined ? undefined : wrap(key)
    if (wrapped !== undefined)
      this.#tables.run('UPDATE plimsoll_edge_answer_key SET key = ? WHERE id = 1', wrapped)
  }

  /** Removes what is too old. @returns when to be called again; undefined: nothing is kept */
  purge(): number | undefined {
    const now = this.#parts.now()
    this.#tables.run('DELETE FROM plimsoll_edge_answer WHERE at <= ?', now - KEEP_ANSWER_MS)
    const [row] = this.#tables.run('SELECT MIN(at) AS first FROM plimsoll_edge_answer')
    const first = row?.first as number | null | undefined
    return typeof first === 'number' ? Math.max(first + KEEP_ANSWER_MS, now + HOUR_MS) : undefined
  }

  async #run<Answer extends KeptAnswer>(
    keyed: KeyedRequest,
    run: (opId: () => string) => Promise<Answer>,
    { isLasting = false, isKept = true, isWritten = () => false }: OnceOptions,
  ): Promise<Answer> {
    const forgotten = this.#forgotten
    let named: Named | undefined
    const name = (): Named => {
      named ??= this.#name(keyed)
      return named
    }
    const note = async (answer: KeptAnswer | undefined): Promise<void> => {
      if (this.#parts.isThere()) await this.#note(name(), answer)
    }
    try {
      const answer = await run(() => name().opId)
      await note(isKept && (isLasting || forgotten === this.#forgotten) ? answer : undefined)
      return answer
    } catch (error) {
      if (isFailure(error) || isWritten()) await note(undefined)
      throw error
    }
  }

  /** What is known of a request. @throws ERR_CONFLICT: its key stands for another one */
  #row(keyed: KeyedRequest): Row | undefined {
    const secret = this.#secret()
    if (!secret) return undefined
    const named = nameOf(keyed, secret, this.#parts.open)
    const since = this.#parts.now() - KEEP_ANSWER_MS
    const [row] = this.#tables.run(
      'SELECT hash, answer FROM plimsoll_edge_answer WHERE key = ? AND at > ?',
      named.key,
      since,
    )
    if (row && row.hash !== named.hash) throw reused()
    return row && { named, answer: row.answer as string | null }
  }

  /** What cannot be noted is done again when it is sent again, as the same op. */
  async #note({ key, hash, seal }: Named, answer: KeptAnswer | undefined): Promise<void> {
    const { now, schedule } = this.#parts
    try {
      const text = answer && JSON.stringify(answer)
      const isKept = text !== undefined && utf8Length(text) <= MOST_BYTES
      this.#tables.insert(
        'INSERT OR REPLACE INTO plimsoll_edge_answer VALUES (?, ?, ?, ?)',
        key,
        now(),
        hash,
        isKept ? sealText(seal, text, placeOf(key)) : null,
      )
      await schedule(now() + KEEP_ANSWER_MS)
    } catch {}
  }

  #name(keyed: KeyedRequest): Named {
    return nameOf(keyed, this.#secret() ?? this.#newSecret(), this.#parts.open)
  }

  #secret(): Secret | undefined {
    const [row] = this.#tables.run('SELECT secret, key FROM plimsoll_edge_answer_key WHERE id = 1')
    return row && { secret: row.secret as string, key: (row.key as string | null) ?? undefined }
  }

  #newSecret(): Secret {
    const key = this.#parts.newKey()
    const secret = sealText(this.#parts.open(key), base64(randomBytes(SECRET_BYTES)), SECRET)
    this.#tables.insert('INSERT INTO plimsoll_edge_answer_key VALUES (1, ?, ?)', secret, key ?? null)
    return { secret, key }
  }
}

/** What the hashes of an object are made with, sealed, and the wrapped key that opens it. */
interface Secret {
  readonly secret: string
  readonly key: string | undefined
}

interface Row {
  readonly named: Named
  readonly answer: string | null
}

/** What the secret is sealed for. */
const SECRET = 'answers'

function placeOf(key: string): string {
  return `answer ${key}`
}

/** @throws ERR_DECRYPT */
function nameOf({ key, request }: KeyedRequest, kept: Secret, open: AnswersParts['open']): Named {
  const seal = open(kept.key)
  const secret = fromBase64(openText(seal, kept.secret, SECRET)) ?? new Uint8Array()
  const hash = (...parts: readonly string[]): string =>
    base64url(hmac(sha256, secret, utf8ToBytes(JSON.stringify(parts))))
  return {
    key: hash('key', key),
    hash: hash('request', key, request),
    opId: hash('op', key, request),
    seal,
  }
}

/** @throws ERR_DECRYPT */
function answerIn(row: Row | undefined): KeptAnswer | undefined {
  if (typeof row?.answer !== 'string') return undefined
  const { key, seal } = row.named
  return JSON.parse(openText(seal, row.answer, placeOf(key))) as KeptAnswer
}

function isFailure(error: unknown): boolean {
  return !isPlimsollError(error) || FAILURE.test(error.code)
}

function reused(): PlimsollError {
  return new PlimsollError('ERR_CONFLICT', 'the request: its Idempotency-Key was used for another one')
}
