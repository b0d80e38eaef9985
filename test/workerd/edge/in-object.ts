import { env, runInDurableObject } from 'cloudflare:test'
import type { SqlStorageLike } from '../../../src/stores/sql-schema.ts'

/** A new object of its own. */
export function newObject(): DurableObjectStub {
  return env.SESSIONS.get(env.SESSIONS.newUniqueId())
}

/** Runs something with the storage of an object; without one, of a new one. */
export function inObject<Result>(
  run: (storage: DurableObjectStorage, state: DurableObjectState) => Result | Promise<Result>,
  stub = newObject(),
): Promise<Result> {
  return runInDurableObject(stub, (_, state) => run(state.storage, state))
}

export interface Counts {
  readonly statements: number
  readonly read: number
  readonly written: number
}

type Cursor = SqlStorageCursor<Record<string, SqlStorageValue>>

/** The storage of an object, each of whose statements `hear` is given. */
export function heard(storage: DurableObjectStorage, hear: (cursor: Cursor) => void): SqlStorageLike {
  return {
    transactionSync: (closure) => storage.transactionSync(closure),
    sql: {
      exec: (query, ...bindings) => {
        const cursor = storage.sql.exec(query, ...bindings)
        hear(cursor)
        return cursor
      },
    },
  }
}

/** The storage of an object, and what was asked of it since the last time. */
export function counted(storage: DurableObjectStorage): {
  readonly storage: SqlStorageLike
  readonly since: () => Counts
} {
  let cursors: Cursor[] = []
  return {
    storage: heard(storage, (cursor) => void cursors.push(cursor)),
    since: () => {
      const counts = {
        statements: cursors.length,
        read: cursors.reduce((sum, { rowsRead }) => sum + rowsRead, 0),
        written: cursors.reduce((sum, { rowsWritten }) => sum + rowsWritten, 0),
      }
      cursors = []
      return counts
    },
  }
}

/** A clock that stands until it is moved. Far ahead, so that no alarm goes off by itself. */
export class TestClock {
  at = Date.UTC(2100, 0)
  readonly now = (): number => this.at

  move(ms: number): void {
    this.at += ms
  }
}
