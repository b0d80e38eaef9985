import { withStorageErrors } from '../../stores/sql-errors.ts'
import type { SqlRow, SqlStorageLike, SqlValue } from '../../stores/sql-schema.ts'
import { hashText } from '../../text/hash.ts'
import { NO_SEAL, type ObjectSeal } from '../rows/object-seal.ts'

/** What became of a run. */
export type RunStatus =
  | 'running'
  /** It said all it had to say. */
  | 'done'
  /** Somebody stopped it. */
  | 'stopped'
  | 'failed'
  /** Its object was restarted meanwhile. */
  | 'interrupted'

export interface RunRow {
  /** Numbers the runs of an object, from 1. */
  readonly place: number
  readonly id: string
  readonly key: string
  readonly fingerprint: string
  readonly status: RunStatus
  /** Id of the UI message that it wrote; absent until the run has ended. */
  readonly messageId?: string
  /** Where its own chunks begin, after those of the message that it went on with. */
  readonly begin: number
  /** Unix milliseconds. */
  readonly endedAt?: number
}

/** Bytes of a stream that follow each other, of which the first is number `at`. */
export interface Stretch {
  readonly at: number
  readonly bytes: Uint8Array
}

/** What ends a run's row. */
export interface RunEnd {
  readonly status: Exclude<RunStatus, 'running'>
  readonly messageId: string
  readonly begin: number
  readonly endedAt: number
}

/**
 * `n` of a chunk: the run's place in the high bits, the place of its first byte in the low ones, so
 * that the table needs no other key. The end of a stream, for most the whole of it, is in the row
 * of its run: `bytes`, of which the first is number `rest`.
 */
const SCHEMA: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS plimsoll_edge_run (place INTEGER PRIMARY KEY, id TEXT NOT NULL, key TEXT NOT NULL, fingerprint TEXT NOT NULL,
    status TEXT NOT NULL, message TEXT, begin INTEGER NOT NULL DEFAULT 0, ended INTEGER, keep INTEGER NOT NULL,
    rest INTEGER, bytes BLOB)`,
  `CREATE TABLE IF NOT EXISTS plimsoll_edge_chunk (n INTEGER PRIMARY KEY, bytes BLOB NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS plimsoll_edge_run_secret (secret TEXT NOT NULL)`,
]
/**
 * Most bytes of one run's stream; with the number of runs that leaves, all numbers are exact in
 * JavaScript.
 */
const RUN_BYTES = 2 ** 32
/** All of a run's row but the bytes in it. */
const COLUMNS = 'place, id, key, fingerprint, status, message, begin, ended'
/** A Durable Object takes rows of 2 MB. */
const ROW_BYTES = 2 ** 18

/** The rows of an object's runs and of what they streamed. All calls are synchronous. */
export class RunTables {
  readonly #storage: SqlStorageLike
  readonly #seal: () => ObjectSeal
  #ready = false
  #secret: string | undefined

  /**
   * @param seal asked whenever a stream is written or read. Default: nothing is encrypted
   * @throws ERR_STORAGE, ERR_STORAGE_FULL from every call where SQLite failed
   */
  constructor(storage: SqlStorageLike, seal: () => ObjectSeal = () => NO_SEAL) {
    this.#storage = withStorageErrors(storage)
    this.#seal = seal
  }

  transaction<Result>(closure: () => Result): Result {
    this.#prepare()
    return this.#storage.transactionSync(closure)
  }

  /** @param run `keep`: milliseconds for which it is kept after its end */
  insert(run: Pick<RunRow, 'id' | 'key' | 'fingerprint'> & { readonly keep: number }): number {
    const [row] = this.#all(
      `INSERT INTO plimsoll_edge_run (place, id, key, fingerprint, status, keep)
        SELECT COALESCE(MAX(place), 0) + 1, ?, ?, ?, 'running', ? FROM plimsoll_edge_run RETURNING place`,
      run.id,
      run.key,
      run.fingerprint,
      run.keep,
    )
    return row?.place as number
  }

  /**
   * Writes how a run ended, and the last of its stream, both or none.
   *
   * @throws ERR_DECRYPT: there is no key to seal it
   */
  end(place: number, { status, messageId, begin, endedAt }: RunEnd, { at, bytes }: Stretch): void {
    this.transaction(() => {
      const whole = Math.max(0, Math.ceil(bytes.length / ROW_BYTES) - 1) * ROW_BYTES
      this.write(place, { at, bytes: bytes.subarray(0, whole) })
      const rest = at + whole
      this.#all(
        'UPDATE plimsoll_edge_run SET status = ?, message = ?, begin = ?, ended = ?, rest = ?, bytes = ? WHERE place = ?',
        status,
        messageId,
        begin,
        endedAt,
        rest,
        this.#sealed(place, rest, bytes.subarray(whole)),
        place,
      )
    })
  }

  /**
   * What names of runs are hidden by, which may be hashes of what was said. None: there are no
   * runs.
   */
  secret(): string | undefined {
    const [row] = this.#secret === undefined ? this.#all('SELECT secret FROM plimsoll_edge_run_secret') : []
    this.#secret ??= row?.secret as string | undefined
    return this.#secret
  }

  keepSecret(secret: string): void {
    this.#all('INSERT INTO plimsoll_edge_run_secret VALUES (?)', secret)
  }

  /** From now on other names stand for the same: nobody can try what was hidden. */
  forgetSecret(): void {
    this.#secret = undefined
    this.#all('DELETE FROM plimsoll_edge_run_secret')
  }

  /** What stands for a name that is only compared. */
  hide(name: string, secret: string): string {
    return this.#seal().hide(hashText(name, secret))
  }

  newest(): RunRow | undefined {
    return this.#one('ORDER BY place DESC LIMIT 1')
  }

  byId(id: string): RunRow | undefined {
    return this.#one('WHERE id = ?', id)
  }

  newestOf(key: string): RunRow | undefined {
    return this.#one('WHERE key = ? ORDER BY place DESC LIMIT 1', key)
  }

  running(): RunRow[] {
    return this.#runs(`WHERE status = 'running'`)
  }

  /** Has runs that go on kept no longer than so many milliseconds after their end. */
  shorten(keep: number): void {
    this.#all(`UPDATE plimsoll_edge_run SET keep = MIN(keep, ?) WHERE status = 'running'`, keep)
  }

  /** Runs that are kept no longer than until a time. */
  dueUntil(time: number): RunRow[] {
    return this.#runs('WHERE ended + keep <= ?', time)
  }

  /** Until when a run is kept that has ended, Unix milliseconds. */
  dueOf(place: number): number | undefined {
    const [row] = this.#all('SELECT ended + keep AS due FROM plimsoll_edge_run WHERE place = ?', place)
    return (row?.due as number | null | undefined) ?? undefined
  }

  /** Until when the first of the ended runs is kept, Unix milliseconds. */
  firstDue(): number | undefined {
    const [row] = this.#all('SELECT MIN(ended + keep) AS first FROM plimsoll_edge_run')
    return (row?.first as number | null) ?? undefined
  }

  remove(place: number): void {
    this.transaction(() => {
      const [from, to] = range(place)
      this.#all('DELETE FROM plimsoll_edge_chunk WHERE n >= ? AND n < ?', from, to)
      this.#all('DELETE FROM plimsoll_edge_run WHERE place = ?', place)
      if (!this.newest()) this.forgetSecret()
    })
  }

  /** Writes bytes of a stream. @throws ERR_DECRYPT: there is no key to seal them */
  write(place: number, { at, bytes }: Stretch): void {
    const [from] = range(place)
    for (let done = 0; done < bytes.length; done += ROW_BYTES) {
      const first = at + done
      const row = this.#sealed(place, first, bytes.subarray(done, done + ROW_BYTES))
      this.#all('INSERT INTO plimsoll_edge_chunk (n, bytes) VALUES (?, ?)', from + first, row)
    }
  }

  #sealed(place: number, at: number, bytes: Uint8Array): ArrayBuffer {
    const [from] = range(place)
    return this.#seal().seal(bytes, placeOf(from + at)).buffer
  }

  /**
   * Bytes of a stream from number `at` on, at most those of one row; undefined where there are
   * none. @throws ERR_DECRYPT
   */
  read(place: number, at: number): Uint8Array | undefined {
    const [from] = range(place)
    const row =
      this.#all(
        'SELECT ? + rest AS n, bytes FROM plimsoll_edge_run WHERE place = ? AND rest <= ?',
        from,
        place,
        at,
      )[0] ??
      this.#all(
        'SELECT n, bytes FROM plimsoll_edge_chunk WHERE n >= ? AND n <= ? ORDER BY n DESC LIMIT 1',
        from,
        from + at,
      )[0]
    if (!row) return undefined
    const n = row.n as number
    const bytes = this.#seal()
      .open(new Uint8Array(row.bytes as ArrayBuffer), placeOf(n))
      .slice(from + at - n)
    return bytes.length > 0 ? bytes : undefined
  }

  /** How many bytes of the stream of a run that goes on are stored. */
  sizeOf(place: number): number {
    const [from, to] = range(place)
    const [row] = this.#all(
      'SELECT n, length(bytes) AS size FROM plimsoll_edge_chunk WHERE n >= ? AND n < ? ORDER BY n DESC LIMIT 1',
      from,
      to,
    )
    return row ? (row.n as number) - from + (row.size as number) - this.#seal().overhead : 0
  }

  #one(where: string, ...bindings: SqlValue[]): RunRow | undefined {
    return this.#runs(where, ...bindings)[0]
  }

  #runs(where: string, ...bindings: SqlValue[]): RunRow[] {
    return this.#all(`SELECT ${COLUMNS} FROM plimsoll_edge_run ${where}`, ...bindings).map(runOf)
  }

  #all(query: string, ...bindings: SqlValue[]): SqlRow[] {
    this.#prepare()
    return this.#storage.sql.exec(query, ...bindings).toArray()
  }

  #prepare(): void {
    if (this.#ready) return
    for (const statement of SCHEMA) this.#storage.sql.exec(statement)
    this.#ready = true
  }
}

function range(place: number): readonly [from: number, to: number] {
  return [place * RUN_BYTES, (place + 1) * RUN_BYTES]
}

/** What a row of a stream is sealed for. */
function placeOf(n: number): string {
  return `chunk ${n}`
}

function runOf({ place, id, key, fingerprint, status, message, begin, ended }: SqlRow): RunRow {
  return {
    place: place as number,
    id: id as string,
    key: key as string,
    fingerprint: fingerprint as string,
    status: status as RunStatus,
    begin: begin as number,
    ...(message !== null && { messageId: message as string }),
    ...(ended !== null && { endedAt: ended as number }),
  }
}
