import { afterAll, afterEach, describe } from 'vitest'
import { encryptedStore } from '../../../src/stores/encrypted/index.ts'
import { describeStore } from '../../contract/index.ts'
import { KEPT, KEYS } from '../../everywhere/encrypted.ts'
import { isWhole } from '../../everywhere/runs.ts'
import { SqliteFiles } from '../support/sqlite-files.ts'

const files = new SqliteFiles()
afterEach(() => files.closeAll())
afterAll(() => files.remove())

// A push has the parts: the contract over SQLite, and that over an encrypted map.
describe.runIf(isWhole)('where all cases run', () => {
  describeStore('encrypted sqlite', () => encryptedStore(files.open(), KEYS), { kept: KEPT })
})
