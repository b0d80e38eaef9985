import { inTransaction, openDatabase } from './database.ts'
import type { PlainMessage } from './orders.ts'
import type { Served } from './served.ts'

const TABLES = `CREATE TABLE messages (
  log TEXT, seq INTEGER, id TEXT, body TEXT, PRIMARY KEY (log, seq), UNIQUE (log, id)
) WITHOUT ROWID`

/** Keeps what it is sent, all of it in one transaction, and checks nothing. */
export function serveLimit(folder: string): Served {
  const database = openDatabase(folder, 'limit', TABLES)
  const insert = database.prepare('INSERT INTO messages VALUES (?, ?, ?, ?)')
  const select = database.prepare('SELECT body FROM messages WHERE log = ? ORDER BY seq')
  const bodies = (log: string): string[] => select.all(log).map(({ body }) => `${body}`)
  return {
    answer: async (path, request) => {
      const log = path.slice(1)
      if (request.method === 'GET') return new Response(`[${bodies(log).join()}]`)
      const messages = (await request.json()) as PlainMessage[]
      inTransaction(database, () => {
        for (const [seq, message] of messages.entries())
          insert.run(log, seq, message.id, JSON.stringify(message))
      })
      return Response.json({ head: messages.length })
    },
    messages: async (log) => bodies(log).map((body) => JSON.parse(body)),
    close: async () => database.close(),
  }
}
