import type { Store } from '../ports/store.ts'
import type { SqlStorageLike } from './sql-schema.ts'
import { SqlStore } from './sql-store.ts'

/**
 * A store in the SQLite database of a Durable Object, beside whatever else is in it: all tables
 * begin with `plimsoll_`, and neither alarm nor sockets are touched. Nothing is read or made before
 * the first call.
 *
 * A commit is one synchronous block in one transaction: nothing of the object runs between its
 * reads and its writes. The output gate holds back whatever the object sends until the commit is on
 * disk, so an answer means that it is durable.
 *
 * @throws ERR_STORAGE, ERR_STORAGE_FULL where SQLite failed, with its error as `cause`
 * @throws ERR_UPGRADE_REQUIRED from every call where a newer version of this library made the
 * tables, or 0.1.0
 */
export function durableObjectStore(storage: SqlStorageLike): Store {
  return new SqlStore(storage, {
    name: 'durableObjectStore',
    advice: {
      newer: 'deploy that one',
      older: 'export them with 0.1.0, or take another object',
    },
  })
}
