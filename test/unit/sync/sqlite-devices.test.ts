import { afterAll, it } from 'vitest'
import { runs } from '../../everywhere/runs.ts'
import { checkOver } from '../../sync/over.ts'
import { SqliteFiles } from '../support/sqlite-files.ts'

const files = new SqliteFiles()

afterAll(() => files.remove())

it('devices and a home over SQLite hold the same, and what those over maps hold', async () => {
  await checkOver(files.open(), runs(120))
})
