import { joinedBytes } from '../../ports/joined-bytes.ts'
import { partsOfBytes } from '../../stores/parts.ts'
import type { SqlStorageLike } from '../../stores/sql-schema.ts'
import { EdgeTables } from './edge-tables.ts'

/** How far the words of a session are kept. */
export interface WordsState {
  /** How they were made. */
  readonly kind: string
  /** Messages whose words are kept: numbers are below it. */
  readonly size: number
  /** Seq of the newest rewind of the session's log that is known here. */
  readonly rewoundAt: number
  /** When they were read last, Unix milliseconds; 0: further blocks follow. */
  readonly at: number
}

/** Words of some messages of a session, as a block of its index. */
export interface WordsBlock extends Omit<WordsState, 'size'> {
  readonly sessionId: string
  /**
   * Numbers of the messages: from the first up to and without the second. The same: there are no
   * further ones.
   */
  readonly from: number
  readonly to: number
  /** Up to which seq its log was read. */
  readonly seq: number
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** Something was forgotten in a session, up to that seq of its log. */
export interface ForgottenWords {
  readonly sessionId: string
  readonly seq: number
}

/** All words that are kept of a session. */
export interface SessionBlocks {
  readonly kind: string
  /** In the order of its log. */
  readonly blocks: readonly Uint8Array<ArrayBuffer>[]
  /** What was said later may be missing, Unix milliseconds. */
  readonly asOf: number
}

/** `forgot` is the seq up to which the session's log must have been read for what is taken. */
const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS plimsoll_edge_words (session TEXT PRIMARY KEY, kind TEXT NOT NULL, size INTEGER NOT NULL,
    rewound INTEGER NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, forgot INTEGER NOT NULL) WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS plimsoll_edge_words_part (session TEXT NOT NULL, block INTEGER NOT NULL,
    part INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (session, block, part)) WITHOUT ROWID`,
]

/**
 * The words of a user's sessions, in the database of the user's object: what they say is found
 * there without calling their objects. Blocks come in the order of each log; the last one is
 * written over as it grows.
 */
export class WordsTable {
  readonly #tables: EdgeTables

  constructor(storage: SqlStorageLike) {
    this.#tables = new EdgeTables(storage, SCHEMA)
  }

  /** Undefined: nothing is kept of that session. */
  state(session: string): WordsState | undefined {
    const row = this.#row(session)
    return row && { kind: row.kind, size: row.size, rewoundAt: row.rewound, at: row.at }
  }

  /**
   * Keeps a block, in place of all from its first message on. @returns false, and nothing is
   * written, where it may hold what was forgotten since, or does not go on where the others end
   */
  put({ sessionId, kind, rewoundAt, from, to, seq, at, bytes }: WordsBlock): boolean {
    const row = this.#row(sessionId)
    if (row && seq < row.forgot) return false
    const goesOn = row && row.kind === kind && row.rewound === rewoundAt && row.size >= from
    if (from > 0 && !goesOn) return false
    if (from === to) {
      this.#tables.run('UPDATE plimsoll_edge_words SET at = ? WHERE session = ?', at, sessionId)
      return true
    }
    // The first insert makes the tables, which what follows needs.
    this.#tables.insert(
      'INSERT OR REPLACE INTO plimsoll_edge_words VALUES (?, ?, ?, ?, ?, ?, ?)',
      sessionId,
      kind,
      to,
      rewoundAt,
      // Of the first block, which was read before all others: what is forgotten may be in it.
      from > 0 && row ? row.seq : seq,
      at,
      row?.forgot ?? 0,
    )
    this.#removeFrom(sessionId, from)
    partsOfBytes(bytes).forEach((part, place) => {
      this.#tables.insert(
        'INSERT INTO plimsoll_edge_words_part VALUES (?, ?, ?, ?)',
        sessionId,
        from,
        place,
        part,
      )
    })
    return true
  }

  /** Removes what may hold words that were forgotten, and takes no such block any more. */
  drop({ sessionId, seq }: ForgottenWords): void {
    const row = this.#row(sessionId)
    // What is kept was read after that.
    if (row && Math.max(row.seq, row.forgot) >= seq) return
    this.#tables.insert(
      `INSERT INTO plimsoll_edge_words VALUES (?1, '', 0, 0, 0, 0, ?2)
        ON CONFLICT (session) DO UPDATE SET kind = '', size = 0, rewound = 0, seq = 0, at = 0, forgot = ?2`,
      sessionId,
      seq,
    )
    this.#removeFrom(sessionId, 0)
  }

  /** Of a session that is gone. */
  remove(session: string): void {
    this.#tables.run('DELETE FROM plimsoll_edge_words WHERE session = ?', session)
    this.#removeFrom(session, 0)
  }

  clear(): void {
    for (const table of ['plimsoll_edge_words', 'plimsoll_edge_words_part'])
      this.#tables.run(`DELETE FROM ${table}`)
  }

  /** Undefined: nothing is kept of that session, or not yet all. */
  of(session: string): SessionBlocks | undefined {
    const row = this.#row(session)
    if (!row || row.at === 0) return undefined
    const blocks = new Map<number, Uint8Array<ArrayBuffer>[]>()
    for (const { block, bytes } of this.#tables.run(
      'SELECT block, bytes FROM plimsoll_edge_words_part WHERE session = ? ORDER BY block, part',
      session,
    ))
      blocks.set(block as number, [
        ...(blocks.get(block as number) ?? []),
        new Uint8Array(bytes as ArrayBuffer),
      ])
    return { kind: row.kind, blocks: [...blocks.values()].map(joinedBytes), asOf: row.at }
  }

  #row(session: string) {
    const [row] = this.#tables.run('SELECT * FROM plimsoll_edge_words WHERE session = ?', session)
    return row as unknown as
      | {
          readonly kind: string
          readonly size: number
          readonly rewound: number
          readonly seq: number
          readonly at: number
          readonly forgot: number
        }
      | undefined
  }

  #removeFrom(session: string, block: number): void {
    this.#tables.run('DELETE FROM plimsoll_edge_words_part WHERE session = ? AND block >= ?', session, block)
  }
}
