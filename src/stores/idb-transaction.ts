import type { TableName } from './idb-schema.ts'

/** An implementation of IndexedDB. */
export interface Engine {
  readonly indexedDB: IDBFactory
  readonly IDBKeyRange: typeof globalThis.IDBKeyRange
}

/**
 * The requests of one transaction, in the engine's own words: a commit makes some ten, and each
 * costs Dexie a promise chain.
 */
export class Requests {
  readonly #transaction: IDBTransaction
  readonly #engine: Engine
  readonly #once = new Map<string, Promise<unknown>>()

  constructor(transaction: IDBTransaction, engine: Engine) {
    this.#transaction = transaction
    this.#engine = engine
  }

  table(name: TableName): IDBObjectStore {
    return this.#transaction.objectStore(name)
  }

  /** All keys that begin with these parts. */
  within(parts: readonly IDBValidKey[]): IDBKeyRange {
    return this.#engine.IDBKeyRange.bound(parts, [...parts, []])
  }

  /** Keys from one to another, the last excluded; the first, unless it is. */
  between(lower: IDBValidKey, upper: IDBValidKey, excluding: boolean): IDBKeyRange | undefined {
    const { indexedDB, IDBKeyRange } = this.#engine
    if (indexedDB.cmp(lower, upper) >= 0) return undefined
    return IDBKeyRange.bound(lower, upper, excluding, true)
  }

  /** One row, asked for once: for a transaction that does not write it in between. */
  once<Row>(table: TableName, key: IDBValidKey): Promise<Row | undefined> {
    const name = JSON.stringify([table, key])
    const asked = this.#once.get(name) ?? all([this.table(table).get(key)]).then(([row]) => row)
    this.#once.set(name, asked)
    return asked as Promise<Row | undefined>
  }

  /** The rows of these keys, all asked for at once. */
  get<Row>(source: IDBObjectStore | IDBIndex, keys: readonly IDBValidKey[]): Promise<(Row | undefined)[]> {
    return all(keys.map((key) => source.get(key)))
  }
}

/** The first rows of a range, or its last ones, newest first. */
export async function rowsOf<Row>(
  source: IDBObjectStore | IDBIndex,
  range: IDBKeyRange,
  backwards: boolean,
  count: number,
): Promise<Row[]> {
  if (!backwards) return (await all<Row[]>([source.getAll(range, count)])).flat()
  const { getAllRecords } = source as Partial<RecordSource<Row>>
  if (getAllRecords) {
    const records = getAllRecords.call(source, { query: range, count, direction: 'prev' })
    return (await all([records])).flat().map(({ value }) => value)
  }
  return rowsByCursor(source.openCursor(range, 'prev'), count)
}

/** IndexedDB 3.0, where an engine has it. */
interface RecordSource<Row> {
  getAllRecords(options: {
    readonly query: IDBKeyRange
    readonly count: number
    readonly direction: 'prev'
  }): Asked<readonly { readonly value: Row }[]>
}

function rowsByCursor<Row>(request: IDBRequest<IDBCursorWithValue | null>, count: number): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    const rows: Row[] = []
    request.onsuccess = () => {
      const cursor = request.result
      if (cursor) rows.push(cursor.value)
      if (cursor && rows.length < count) cursor.continue()
      else resolve(rows)
    }
    request.onerror = () => reject(request.error)
  })
}

/** As much of an `IDBRequest` as is used here. */
type Asked<Value> = Pick<IDBRequest, 'error' | 'onsuccess' | 'onerror'> & { readonly result: Value }

/** What requests give that were made at once: engines answer them in their order. */
export function all<Value>(requests: readonly Asked<Value>[]): Promise<Value[]> {
  return new Promise((resolve, reject) => {
    const last = requests.at(-1)
    if (!last) resolve([])
    else last.onsuccess = () => resolve(requests.map(({ result }) => result))
    for (const request of requests) request.onerror = () => reject(request.error)
  })
}

/**
 * Runs `work` in a transaction, and resolves when that is complete: a request that succeeded may
 * still be undone. What `work` throws undoes all of it. Contract: `work` awaits nothing but its
 * requests, else the engine commits in the middle of it.
 */
export function runInTransaction<Result>(
  transaction: IDBTransaction,
  engine: Engine,
  work: (requests: Requests) => Promise<Result>,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    let done: { readonly result: Result } | undefined
    let failure: unknown
    transaction.oncomplete = () => {
      if (done) resolve(done.result)
      else reject(new DOMException('it was committed before its work was done', 'TransactionInactiveError'))
    }
    transaction.onabort = () =>
      reject(failure ?? transaction.error ?? new DOMException('aborted', 'AbortError'))
    work(new Requests(transaction, engine)).then(
      (result) => {
        done = { result }
      },
      (error: unknown) => {
        failure = error
        try {
          transaction.abort()
        } catch {
          // It has ended; why, was said above or is said here.
          reject(error)
        }
      },
    )
  })
}

let inside = false

/** Whether this runs inside {@link synchronously}. */
export function isInsideTransaction(): boolean {
  return inside
}

/** Runs what is not ours in the middle of a transaction, where `guardTransactions` can tell it. */
export function synchronously<Result>(run: () => Result): Result {
  inside = true
  try {
    return run()
  } finally {
    inside = false
  }
}
