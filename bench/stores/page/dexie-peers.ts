/**
 * Bare Dexie and bare IndexedDB, doing what an app without this library would do, or what the
 * library does.
 */
import { Dexie, type Table } from 'dexie'
import { exchangeAt, type PlainMessage } from '../messages.ts'
import { type Durability, EXCHANGE_BYTES, LAST, START } from '../page-orders.ts'

/** As in the library's own tables. */
const LOG = '[scope+seq+place],[scope+entry],[scope+op],[mark+seq]'
const SCOPE = 1
const HEAD = 'head'

/** With the fields and sizes of the library's rows. */
interface LogRow {
  readonly scope: number
  readonly seq: number
  readonly place: number
  readonly kind: 'message'
  readonly ordinal: number
  readonly round: string
  readonly entry: string
  readonly op?: string
  readonly also?: string
  readonly body: string
  readonly derived: string
}

interface HeadRow {
  readonly name: string
  readonly seq: number
  readonly ordinal: number
}

export interface PlainRow extends PlainMessage {
  readonly id: string
  readonly session: string
  readonly seq: number
  readonly createdAt: number
}

function logRows(messages: readonly PlainMessage[], seq: number, ordinal: number, op: string): LogRow[] {
  const ids = messages.map(() => crypto.randomUUID())
  const [round = ''] = ids
  return messages.map(({ role, content }, place) => ({
    scope: SCOPE,
    seq,
    place,
    kind: 'message',
    ordinal: ordinal + place,
    round,
    entry: ids[place] as string,
    ...(place === 0 ? { op } : { also: op }),
    body: JSON.stringify({ role, content, createdAt: Date.now() }),
    derived: JSON.stringify({ 'classes/1': content.length }),
  }))
}

/** A log as the library keeps it, in a Dexie database of its own. */
export class DexieLog {
  readonly #db: Dexie
  readonly #log: Table<LogRow>
  readonly #head: Table<HeadRow>
  readonly #meta: Table<{ readonly key: string; readonly writer: number }>
  #seq = 0

  private constructor(name: string, durability: Durability) {
    this.#db = new Dexie(name, { chromeTransactionDurability: durability })
    this.#db.version(1).stores({ meta: 'key', head: 'name', log: LOG })
    this.#log = this.#db.table('log')
    this.#head = this.#db.table('head')
    this.#meta = this.#db.table('meta')
  }

  static async open(name: string, durability: Durability, messages = START): Promise<DexieLog> {
    const log = new DexieLog(name, durability)
    await log.#meta.put({ key: 'database', writer: 1 })
    await log.#head.put({ name: HEAD, seq: 0, ordinal: 0 })
    if (messages > 0) await log.fill(0, messages / 2)
    await log.#head.put({ name: HEAD, seq: log.#seq, ordinal: 2 * log.#seq })
    return log
  }

  /**
   * In one transaction: reads the head and whether any id is taken, then writes two rows and the
   * head.
   */
  async appendGuarded(messages: readonly PlainMessage[]): Promise<void> {
    const op = crypto.randomUUID()
    await this.#db.transaction('rw', this.#meta, this.#head, this.#log, async () => {
      const rows = logRows(messages, 0, 0, op)
      const by = (index: string, id: string) => this.#log.where(index).equals([SCOPE, id]).first()
      const [meta, head, ...taken] = await Promise.all([
        this.#meta.get('database'),
        this.#head.get(HEAD),
        ...rows.map(({ entry }) => by('[scope+entry]', entry)),
        by('[scope+op]', op),
      ])
      if (!meta || meta.writer > 1 || !head || taken.some(Boolean)) throw new Error('must not be written')
      const { seq, ordinal } = head
      await Promise.all([
        this.#log.bulkAdd(rows.map((row, place) => ({ ...row, seq: seq + 1, ordinal: ordinal + place + 1 }))),
        this.#head.put({ ...head, seq: seq + 1, ordinal: ordinal + rows.length }),
      ])
    })
  }

  /** Two rows and nothing else. */
  async append(messages: readonly PlainMessage[]): Promise<void> {
    this.#seq++
    await this.#log.bulkAdd(logRows(messages, this.#seq, 2 * this.#seq, crypto.randomUUID()))
  }

  /** Exchanges `from` (inclusive) to `to` (exclusive), at once. */
  async fill(from: number, to: number): Promise<void> {
    const rows = Array.from({ length: to - from }, (_, index) => {
      this.#seq++
      return logRows(exchangeAt(from + index, EXCHANGE_BYTES), this.#seq, 2 * this.#seq, crypto.randomUUID())
    })
    await this.#log.bulkAdd(rows.flat())
  }

  async delete(): Promise<void> {
    await this.#db.delete()
  }
}

/** Messages as an app without this library would keep them. */
export class DexieMessages {
  readonly #db: Dexie
  readonly #messages: Table<PlainRow>
  #seq: number

  /** @param seq how many messages are in it. */
  constructor(name: string, durability: Durability, seq = 0) {
    this.#db = new Dexie(name, { chromeTransactionDurability: durability })
    this.#db.version(1).stores({ messages: 'id, &[session+seq]' })
    this.#messages = this.#db.table('messages')
    this.#seq = seq
  }

  get seq(): number {
    return this.#seq
  }

  async open(): Promise<this> {
    await this.#db.open()
    return this
  }

  async append(messages: readonly PlainMessage[]): Promise<void> {
    await this.#messages.bulkAdd(
      messages.map((message) => ({
        ...message,
        id: crypto.randomUUID(),
        session: 'bench',
        seq: ++this.#seq,
        createdAt: Date.now(),
      })),
    )
  }

  /** Exchanges `from` (inclusive) to `to` (exclusive), at once. */
  async fill(from: number, to: number): Promise<void> {
    const exchanges = Array.from({ length: to - from }, (_, index) =>
      exchangeAt(from + index, EXCHANGE_BYTES),
    )
    await this.append(exchanges.flat())
  }

  /** Oldest first. */
  async last(): Promise<PlainRow[]> {
    const rows = await this.#messages
      .where('[session+seq]')
      .between(['bench', Dexie.minKey], ['bench', Dexie.maxKey])
      .reverse()
      .limit(LAST)
      .toArray()
    return rows.reverse()
  }

  close(): void {
    this.#db.close()
  }

  async delete(): Promise<void> {
    await this.#db.delete()
  }
}

/** The engine's own calls, without guards: the least that two durable rows cost. */
export class RawLog {
  readonly #db: IDBDatabase
  readonly #durability: Durability
  #seq = 0

  private constructor(db: IDBDatabase, durability: Durability) {
    this.#db = db
    this.#durability = durability
  }

  static async open(name: string, durability: Durability): Promise<RawLog> {
    const request = indexedDB.open(name, 1)
    request.onupgradeneeded = () => {
      const store = request.result.createObjectStore('log', { keyPath: ['scope', 'seq', 'place'] })
      for (const key of [
        ['scope', 'entry'],
        ['scope', 'op'],
        ['mark', 'seq'],
      ])
        store.createIndex(key.join(), key)
    }
    const db = await new Promise<IDBDatabase>((resolve, reject) => {
      request.onsuccess = () => resolve(request.result)
      request.onerror = () => reject(request.error)
    })
    const log = new RawLog(db, durability)
    for (let number = 0; number < START / 2; number++) await log.append(exchangeAt(number, EXCHANGE_BYTES))
    return log
  }

  append(messages: readonly PlainMessage[]): Promise<void> {
    this.#seq++
    const transaction = this.#db.transaction('log', 'readwrite', { durability: this.#durability })
    const store = transaction.objectStore('log')
    for (const row of logRows(messages, this.#seq, 2 * this.#seq, crypto.randomUUID())) store.put(row)
    return new Promise((resolve, reject) => {
      transaction.oncomplete = () => resolve()
      transaction.onabort = () => reject(transaction.error)
    })
  }
}
