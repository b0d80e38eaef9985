/**
 * `node sqlite-writer.ts <file>`: appends to a store until it is killed, and prints each id once its
 * commit has resolved.
 */
import { writeSync } from 'node:fs'
import { decide } from '../../../src/kernel/log/decide.ts'
import { sqliteStore } from '../../../src/stores/sqlite.ts'
import { append, SCOPE } from '../../contract/samples.ts'

const [path = ''] = process.argv.slice(2)
const scope = sqliteStore({ path }).open(SCOPE)
for (let index = 0; ; index++) {
  await scope.commit([append(`op-${index}`, [`m${index}`])], decide)
  writeSync(1, `m${index}\n`)
}
