import { inTransaction, openDatabase } from './database.ts'
import type { PlainMessage } from './orders.ts'
import type { Served } from './served.ts'

const TABLES = `CREATE TABLE documents (
  seq INTEGER PRIMARY KEY, log TEXT, id TEXT, rev TEXT, body TEXT, UNIQUE (log, id)
);
CREATE INDEX by_log ON documents (log, seq);
CREATE TABLE locals (log TEXT, id TEXT, body TEXT, PRIMARY KEY (log, id)) WITHOUT ROWID`

/** A document as PouchDB sends it, with its history. */
export interface PouchDocument extends Omit<PlainMessage, 'id'> {
  readonly _id: string
  readonly _rev?: string
}

/**
 * As much of CouchDB's replication protocol as documents need that nobody edits: each has one
 * revision.
 */
export function servePouchdb(folder: string): Served {
  const database = openDatabase(folder, 'pouchdb', TABLES)
  const newest = database.prepare('SELECT max(seq) AS seq, count(*) AS count FROM documents WHERE log = ?')
  const one = database.prepare('SELECT rev, body FROM documents WHERE log = ? AND id = ?')
  const insert = database.prepare('INSERT OR IGNORE INTO documents (log, id, rev, body) VALUES (?, ?, ?, ?)')
  const after = database.prepare(
    'SELECT seq, id, rev FROM documents WHERE log = ? AND seq > ? ORDER BY seq LIMIT ?',
  )
  const all = database.prepare('SELECT body FROM documents WHERE log = ? ORDER BY id')
  const local = database.prepare('SELECT body FROM locals WHERE log = ? AND id = ?')
  const putLocal = database.prepare('INSERT OR REPLACE INTO locals VALUES (?, ?, ?)')

  const calls: Readonly<Record<string, (log: string, request: Request) => Promise<unknown>>> = {
    async _revs_diff(log, request) {
      const asked = Object.entries((await request.json()) as Record<string, string[]>)
      const lacks = asked.filter(([id, [rev]]) => one.get(log, id)?.rev !== rev)
      return Object.fromEntries(lacks.map(([id, missing]) => [id, { missing }]))
    },
    async _bulk_docs(log, request) {
      const { docs } = (await request.json()) as { readonly docs: readonly PouchDocument[] }
      inTransaction(database, () => {
        for (const { _id, _rev = '', ...rest } of docs)
          insert.run(log, _id, _rev, JSON.stringify({ _id, _rev, ...rest }))
      })
      // With `new_edits: false` only failures are told.
      return []
    },
    async _changes(log, request) {
      const { searchParams } = new URL(request.url)
      const since = Number(searchParams.get('since'))
      const rows = after.all(log, since, Number(searchParams.get('limit')))
      const results = rows.map(({ seq, id, rev }) => ({ seq, id, changes: [{ rev }] }))
      return { results, last_seq: results.at(-1)?.seq ?? since, pending: 0 }
    },
    async _bulk_get(log, request) {
      const { docs } = (await request.json()) as { readonly docs: readonly { readonly id: string }[] }
      const found = docs.map(({ id }) => `{"id":"${id}","docs":[{"ok":${one.get(log, id)?.body}}]}`)
      return new Response(`{"results":[${found.join()}]}`)
    },
  }

  const answerLocal = async (log: string, id: string, request: Request): Promise<Response> => {
    if (request.method === 'GET') {
      const row = local.get(log, id)
      if (row) return new Response(`${row.body}`)
      return Response.json({ error: 'not_found', reason: 'missing' }, { status: 404 })
    }
    const document = (await request.json()) as { readonly _rev?: string }
    const rev = `0-${Number(document._rev?.slice(2) ?? 0) + 1}`
    putLocal.run(log, id, JSON.stringify({ ...document, _rev: rev }))
    return Response.json({ ok: true, id: `_local/${id}`, rev })
  }

  return {
    async answer(path, request) {
      const [, log = '', call, id = ''] = new URL(path, request.url).pathname.split('/')
      if (log === '') return Response.json({ couchdb: 'Welcome', uuid: 'bench' })
      if (call === '_local') return answerLocal(log, id, request)
      const answer = await calls[call ?? '']?.(log, request)
      if (answer instanceof Response) return answer
      if (answer !== undefined) return Response.json(answer)
      const { seq, count } = newest.get(log) ?? {}
      return Response.json({ db_name: log, update_seq: seq ?? 0, doc_count: count })
    },
    messages: async (log) =>
      all.all(log).map(({ body }) => {
        const { _id: id, role, content, createdAt }: PouchDocument = JSON.parse(`${body}`)
        return { id, role, content, createdAt }
      }),
    close: async () => database.close(),
  }
}
