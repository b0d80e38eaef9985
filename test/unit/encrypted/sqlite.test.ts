import { afterAll, afterEach } from 'vitest'
import { encryptedStore } from '../../../src/stores/encrypted/index.ts'
import { describeStore } from '../../contract/index.ts'
import { KEPT, KEYS } from '../../everywhere/encrypted.ts'
import { SqliteFiles } from '../support/sqlite-files.ts'

const files = new SqliteFiles()
afterEach(() => files.closeAll())
afterAll(() => files.remove())

describeStore('encrypted sqlite', () => encryptedStore(files.open(), KEYS), { kept: KEPT })
