/**
 * `node sqlite-writer.ts <file> <run>`: writes to a store until it is killed, and prints each write
 * as a line of JSON once it has resolved.
 */
import { writeSync } from 'node:fs'
import { decide } from '../../src/kernel/log/decide.ts'
import { sqliteStore } from '../../src/stores/sqlite.ts'
import { append, erase, put, remove } from '../contract/samples.ts'
import { randomFrom } from '../everywhere/random.ts'
import { bodyOf, SCOPES, type Written } from './sqlite-kills.ts'

const [path = '', run = '0'] = process.argv.slice(2)
const store = sqliteStore({ path })
const scopes = SCOPES.map((scope) => store.open(scope))
const random = randomFrom(Number(run))

for (let index = 0; ; index++) {
  const home = Math.floor(random() * scopes.length)
  const scope = scopes[home] as (typeof scopes)[number]
  const id = `${run}/${index}`
  const tell = (written: Omit<Written, 'home' | 'id'>): void =>
    void writeSync(1, `${JSON.stringify({ home, id, ...written })}\n`)
  const drawn = random()
  if (drawn < 0.7) {
    const ids = Array.from({ length: 1 + Math.floor(random() * 3) }, (_, at) => `${id}/${at}`)
    const op = append(id, ids, { bodies: ids.map(bodyOf) })
    const [result] = await scope.commit([op, put(`put/${id}`, `key/${id}`, null)], decide)
    if (result?.status === 'accepted') tell({ kind: 'append', ids, seq: result.seq })
  } else if (drawn < 0.8) {
    await scope.attach({ id, mediaType: 'x/y', bytes: new TextEncoder().encode(bodyOf(id)) }, 0)
    tell({ kind: 'attach', ids: [] })
  } else if (drawn < 0.95) {
    const { rows } = await scope.entries({ last: 1 })
    const [newest] = rows
    if (!newest) continue
    await scope.commit([remove(id, `entry:${newest.id}`)], decide)
    tell({ kind: 'remove', ids: [newest.id] })
  } else if (drawn < 0.98) {
    await store.vacuum()
  } else {
    await scope.commit([erase(id)], decide)
    tell({ kind: 'erase', ids: [] })
  }
}
