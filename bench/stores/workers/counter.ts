import type { Counts } from '../edge-orders.ts'

type Cursor = SqlStorageCursor<Record<string, SqlStorageValue>>

/** Notes what one object does through its storage. */
export class Counter {
  #calls = 0
  #cursors: Cursor[] = []
  #transactions = 0
  #alarms = 0

  /** The object's context, whose storage does the same from now on and is counted. */
  counted(ctx: DurableObjectState): DurableObjectState {
    const real = ctx.storage
    const own = {
      sql: {
        exec: (query: string, ...bindings: unknown[]) => {
          const cursor = real.sql.exec(query, ...bindings)
          this.#cursors.push(cursor)
          return cursor
        },
      },
      transactionSync: <Result>(closure: () => Result): Result => {
        this.#transactions++
        return real.transactionSync(closure)
      },
      setAlarm: (at: number): Promise<void> => {
        this.#alarms++
        return real.setAlarm(at)
      },
    }
    Object.defineProperty(ctx, 'storage', { value: withOwn(real, own) })
    return ctx
  }

  call(): void {
    this.#calls++
  }

  /**
   * What was done since it was last asked. A cursor knows its counts only once it was read, so they
   * are summed at the end.
   */
  take(): Counts {
    const cursors = this.#cursors
    const counts = {
      calls: this.#calls,
      transactions: this.#transactions,
      alarms: this.#alarms,
      statements: cursors.length,
      rowsRead: cursors.reduce((sum, { rowsRead }) => sum + rowsRead, 0),
      rowsWritten: cursors.reduce((sum, { rowsWritten }) => sum + rowsWritten, 0),
    }
    this.#cursors = []
    this.#calls = 0
    this.#transactions = 0
    this.#alarms = 0
    return counts
  }
}

/**
 * Something of the platform with some properties of our own: its methods must be called on itself.
 */
export function withOwn<Real extends object>(real: Real, own: object): Real {
  return new Proxy(real, {
    get(_, key) {
      if (Object.hasOwn(own, key)) return Reflect.get(own, key)
      const value: unknown = Reflect.get(real, key)
      return typeof value === 'function' ? value.bind(real) : value
    },
  })
}
