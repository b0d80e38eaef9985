import { MAX_ENTRY_BYTES } from '../../kernel/log/message.ts'
import { PlimsollError } from '../../ports/errors.ts'
import { utf8Length } from '../../ports/utf8-length.ts'
import { partsOf } from '../../stores/parts.ts'
import type { SqlStorageLike } from '../../stores/sql-schema.ts'
import { checkCount, checkId, checkText, invalid } from '../../text/json.ts'
import { EdgeTables } from './edge-tables.ts'
import { NO_SEAL, type ObjectSeal, openText, sealText } from './object-seal.ts'

/** Most bytes of one part: what the body of a request may have. */
export const MAX_PART_BYTES = 2 ** 20
/** Most parts of one text. */
export const MAX_PARTS = 16
/**
 * Escapes, names and white space of the JSON around an entry, beside the most that an entry may
 * have.
 */
const OVERHEAD_BYTES = 64 * 2 ** 10
const MAX_TEXT_BYTES = MAX_ENTRY_BYTES + OVERHEAD_BYTES
/**
 * Texts that may be waiting at once in one object, so that nobody fills it with what no message
 * names.
 */
const MAX_WAITING = 16
const DAY = 24 * 60 * 60 * 1000

/**
 * A part is in pieces, each of which fits a row; the first of them says when it came and how many
 * bytes the whole part has.
 */
const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS plimsoll_edge_part (entry TEXT NOT NULL, part INTEGER NOT NULL, piece INTEGER NOT NULL,
    at INTEGER, bytes INTEGER, content TEXT NOT NULL, PRIMARY KEY (entry, part, piece))`,
  // All that is asked of parts but their content, so that no question reads through that.
  'CREATE INDEX IF NOT EXISTS plimsoll_edge_part_first ON plimsoll_edge_part (entry, part, at, bytes) WHERE piece = 0',
]
const PARTS = 'FROM plimsoll_edge_part WHERE piece = 0'

/**
 * Parts of texts that are too long for one request, kept in the SQLite of one Durable Object until
 * a message names them: the JSON text of a message, cut anywhere between two characters. All of it
 * is synchronous. What no message named within a day is purged.
 */
export class TextParts {
  readonly #tables: EdgeTables
  readonly #now: () => number
  readonly #seal: () => ObjectSeal

  /**
   * @param now Unix milliseconds
   * @param seal asked whenever a part is written or read. Default: nothing is encrypted
   */
  constructor(storage: SqlStorageLike, now: () => number, seal: () => ObjectSeal = () => NO_SEAL) {
    this.#tables = new EdgeTables(storage, SCHEMA)
    this.#now = now
    this.#seal = seal
  }

  /**
   * Keeps part `part`, from 0, of the text of an entry. Repeating it is a no-op. All or nothing.
   *
   * @returns when it is due to be purged, Unix milliseconds
   * @throws ERR_INVALID_ARGUMENT (an empty part, half a character at its border, a number above 15)
   * @throws ERR_ENTRY_TOO_LARGE: a part above 1 MiB, or a text above 8 MiB and 64 KiB
   * @throws ERR_CONFLICT: another text is kept as that part
   * @throws ERR_LIMIT: 16 texts are waiting already
   * @throws ERR_DECRYPT: there is no key to seal it
   */
  put(entry: string, part: number, text: string): number {
    checkId('parts', 'entry', entry)
    if (checkCount('parts', 'part', part) >= MAX_PARTS)
      throw invalid('parts', 'part', `must be below ${MAX_PARTS}`)
    if (checkText('parts', 'text', text) === '') throw invalid('parts', 'text', 'must not be empty')
    const bytes = utf8Length(text)
    if (bytes > MAX_PART_BYTES) throw tooLarge(`part ${part} of ${entry}`, bytes, MAX_PART_BYTES)
    const now = this.#now()
    if (this.#bytesOf(entry, part) !== undefined) {
      if (this.#read(entry, part) !== text)
        throw new PlimsollError('ERR_CONFLICT', `parts: part ${part} of ${entry} has another text already`)
      this.#tables.run(
        'UPDATE plimsoll_edge_part SET at = ? WHERE entry = ? AND part = ? AND piece = 0',
        now,
        entry,
        part,
      )
      return now + DAY
    }
    const [known] = this.#tables.run(
      `SELECT COUNT(DISTINCT entry) AS waiting, SUM(CASE WHEN entry = ?1 THEN bytes ELSE 0 END) AS bytes,
        MAX(entry = ?1) AS has ${PARTS}`,
      entry,
    )
    const total = bytes + Number(known?.bytes ?? 0)
    if (total > MAX_TEXT_BYTES) throw tooLarge(entry, total, MAX_TEXT_BYTES)
    if (!known?.has && Number(known?.waiting ?? 0) >= MAX_WAITING)
      throw new PlimsollError(
        'ERR_LIMIT',
        `parts: ${MAX_WAITING} texts already wait for a message that names them`,
        {
          limit: MAX_WAITING,
        },
      )
    const kept = sealText(this.#seal(), text, placeOf(entry, part))
    this.#tables.transaction(() => {
      partsOf(kept).forEach((content, piece) => {
        const [at, size] = piece === 0 ? [now, bytes] : [null, null]
        this.#tables.insert(
          'INSERT INTO plimsoll_edge_part VALUES (?, ?, ?, ?, ?, ?)',
          entry,
          part,
          piece,
          at,
          size,
          content,
        )
      })
    })
    return now + DAY
  }

  /**
   * The text of an entry of so many parts. It stays until it is released, so that a repeated call
   * finds it.
   *
   * @throws ERR_INVALID_ARGUMENT: a part is missing, which `argument` names, for example
   * `parts[2]`; put it, and what else is missing, and call again. So it is after a release too
   */
  take(entry: string, parts: number): string {
    checkId('parts', 'entry', entry)
    if (checkCount('parts', 'parts', parts) < 1 || parts > MAX_PARTS)
      throw invalid('parts', 'parts', `must be 1 to ${MAX_PARTS}`)
    const there = new Set(
      this.#tables.run(`SELECT part ${PARTS} AND entry = ?`, entry).map(({ part }) => part as number),
    )
    for (let part = 0; part < parts; part++)
      if (!there.has(part)) throw invalid('parts', `parts[${part}]`, `of ${entry} is not there`)
    return Array.from({ length: parts }, (_, part) => this.#read(entry, part)).join('')
  }

  /**
   * Removes the parts of an entry: call it once the message that names them is written. Idempotent.
   */
  release(entry: string): void {
    this.#tables.run('DELETE FROM plimsoll_edge_part WHERE entry = ?', entry)
  }

  /** Removes all of them. */
  clear(): void {
    this.#tables.run('DELETE FROM plimsoll_edge_part')
  }

  /**
   * Removes the texts to which nothing was added for a day.
   *
   * @returns when the next one is due, Unix milliseconds; undefined: none is waiting
   */
  purge(): number | undefined {
    const until = this.#now() - DAY
    this.#tables.run(
      `DELETE FROM plimsoll_edge_part WHERE entry IN
        (SELECT entry ${PARTS} GROUP BY entry HAVING MAX(at) <= ?)`,
      until,
    )
    const [next] = this.#tables.run(
      `SELECT MIN(newest) AS newest FROM (SELECT MAX(at) AS newest ${PARTS} GROUP BY entry)`,
    )
    return typeof next?.newest === 'number' ? next.newest + DAY : undefined
  }

  #bytesOf(entry: string, part: number): number | undefined {
    const [row] = this.#tables.run(`SELECT bytes ${PARTS} AND entry = ? AND part = ?`, entry, part)
    return row?.bytes as number | undefined
  }

  #read(entry: string, part: number): string {
    const kept = this.#tables
      .run('SELECT content FROM plimsoll_edge_part WHERE entry = ? AND part = ? ORDER BY piece', entry, part)
      .map(({ content }) => content as string)
      .join('')
    return openText(this.#seal(), kept, placeOf(entry, part))
  }
}

/** What a part is sealed for. */
function placeOf(entry: string, part: number): string {
  return `part ${part} of ${entry}`
}

function tooLarge(subject: string, size: number, limit: number): PlimsollError {
  return new PlimsollError('ERR_ENTRY_TOO_LARGE', `parts: ${subject} has ${size} bytes, more than ${limit}`, {
    size,
    limit,
  })
}
