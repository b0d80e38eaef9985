import { inTransaction, openDatabase } from './database.ts'
import type { PlainMessage } from './orders.ts'
import type { Served } from './served.ts'

const TABLES = `CREATE TABLE documents (
  seq INTEGER PRIMARY KEY, log TEXT, id TEXT, body TEXT, UNIQUE (log, id)
);
CREATE INDEX by_log ON documents (log, seq)`

/** A row as RxDB's replication sends it. */
interface Pushed {
  readonly newDocumentState: PlainMessage
  readonly assumedMasterState?: PlainMessage
}

export interface Checkpoint {
  readonly seq: number
}

export interface Fetched {
  readonly documents: (PlainMessage & { readonly _deleted: boolean })[]
  readonly checkpoint: Checkpoint
}

/**
 * What RxDB's replication asks of a server: a push compares each document with what the client took
 * for the server's, and answers with those that differ; a pull goes on after a checkpoint.
 */
export function serveRxdb(folder: string): Served {
  const database = openDatabase(folder, 'rxdb', TABLES)
  const one = database.prepare('SELECT seq, body FROM documents WHERE log = ? AND id = ?')
  const insert = database.prepare('INSERT INTO documents (log, id, body) VALUES (?, ?, ?)')
  const remove = database.prepare('DELETE FROM documents WHERE seq = ?')
  const after = database.prepare(
    'SELECT seq, body FROM documents WHERE log = ? AND seq > ? ORDER BY seq LIMIT ?',
  )
  const all = database.prepare('SELECT body FROM documents WHERE log = ? ORDER BY id')

  const push = (log: string, rows: readonly Pushed[]): unknown[] =>
    inTransaction(database, () =>
      rows.flatMap(({ newDocumentState, assumedMasterState }) => {
        const row = one.get(log, newDocumentState.id)
        if (row && row.body !== JSON.stringify(assumedMasterState)) return [JSON.parse(`${row.body}`)]
        if (row) remove.run(row.seq as number)
        insert.run(log, newDocumentState.id, JSON.stringify(newDocumentState))
        return []
      }),
    )

  const pull = (log: string, from: number, limit: number): string => {
    const rows = after.all(log, from, limit)
    const documents = rows.map(({ body }) => body).join()
    return `{"documents":[${documents}],"checkpoint":{"seq":${rows.at(-1)?.seq ?? from}}}`
  }

  return {
    answer: async (path, request) => {
      const { pathname, searchParams } = new URL(path, request.url)
      const log = pathname.slice(1)
      if (request.method === 'POST') return Response.json(push(log, (await request.json()) as Pushed[]))
      return new Response(pull(log, Number(searchParams.get('after')), Number(searchParams.get('limit'))))
    },
    messages: async (log) => all.all(log).map(({ body }) => JSON.parse(`${body}`)),
    close: async () => database.close(),
  }
}
