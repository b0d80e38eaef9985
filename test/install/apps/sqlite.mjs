/** The store on disk, where the runtime has SQLite: `node sqlite.mjs [none]`. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { attach, createMemory, facts, forget, readAttachment } from 'plimsoll'
import { sqliteStore } from 'plimsoll/sqlite'

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-install-sqlite-'))
const path = join(folder, 'memory.db')
const codeOf = async (call) => {
  try {
    await call()
  } catch ({ code, message }) {
    assert.doesNotMatch(message, /\n/)
    return code
  }
  return undefined
}
try {
  if (process.argv[2] === 'none')
    assert.equal(await codeOf(() => sqliteStore({ path })), 'ERR_NOT_CONFIGURED')
  else await check()
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function check() {
  const store = sqliteStore({ path })
  const session = createMemory({ store, budget: 100_000, use: [facts()] }).session({
    userId: 'ada',
    sessionId: 'trip',
  })
  for (let round = 0; round < 30; round++) {
    const content = `Question ${round}: \u0000 🚆 ${'When? '.repeat(round % 10 === 0 ? 20_000 : 20)}`
    await session.append([
      { id: `q${round}`, role: 'user', content },
      { id: `a${round}`, role: 'assistant', content: 'At 9:40.' },
    ])
    await session.context()
  }
  const picture = await attach(session, { mediaType: 'image/png', bytes: new Uint8Array(600_000).fill(7) })
  await session.append({ role: 'user', content: [{ type: 'text', text: 'What is this?' }, picture] })
  const { bytes } = await readAttachment(session, picture.ref)
  assert.deepEqual([bytes.length, bytes.at(-1)], [600_000, 7])
  assert.equal(await codeOf(() => sqliteStore({ path })), 'ERR_STORAGE_LOCKED')
  await forget(session, 'q3')

  const reader = sqliteStore({ path, readonly: true })
  const read = createMemory({ store: reader, budget: 100_000, use: [facts()] }).session({
    userId: 'ada',
    sessionId: 'trip',
  })
  assert.deepEqual(await read.history(), await session.history())
  assert.equal(await codeOf(() => read.append({ role: 'user', content: 'No.' })), 'ERR_READ_ONLY')
  await reader.backup(join(folder, 'copy.db'))
  await reader.close()
  await store.vacuum()
  await store.close()
  assert.equal(await codeOf(() => store.scopes()), 'ERR_STORAGE')

  for (const name of ['memory.db', 'copy.db']) {
    const again = sqliteStore({ path: join(folder, name) })
    const scopes = await again.scopes()
    assert.deepEqual(
      scopes.map(({ sessionId }) => sessionId),
      ['trip', undefined],
    )
    await again.close()
  }
}
