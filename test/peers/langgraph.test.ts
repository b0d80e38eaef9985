import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deltaChannelHistoryTests, validate } from '@langchain/langgraph-checkpoint-validation'
import { PlimsollSaver } from '../../src/bridges/langgraph/index.ts'
import { mapStore } from '../../src/stores/map.ts'
import { type SqliteStore, sqliteStore } from '../../src/stores/sqlite.ts'

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-peers-'))
const opened = new Map<PlimsollSaver, SqliteStore>()
let files = 0

const overMap = {
  checkpointerName: 'PlimsollSaver over mapStore',
  createCheckpointer: () => new PlimsollSaver({ store: mapStore(), userId: 'ada' }),
}

const overSqlite = {
  checkpointerName: 'PlimsollSaver over sqliteStore',
  createCheckpointer: () => {
    const store = sqliteStore({ path: join(folder, `${files++}.db`) })
    const saver = new PlimsollSaver({ store, userId: 'ada' })
    opened.set(saver, store)
    return saver
  },
  destroyCheckpointer: async (saver: PlimsollSaver) => {
    await opened.get(saver)?.close()
    opened.delete(saver)
  },
  afterAll: () => rmSync(folder, { recursive: true, force: true }),
}

for (const initializer of [overMap, overSqlite]) {
  deltaChannelHistoryTests(initializer)
  validate(initializer)
}
