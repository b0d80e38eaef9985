import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMemory, facts } from '../../src/index.ts'
import { type SqliteStore, sqliteStore } from '../../src/stores/sqlite.ts'

const ADA = { userId: 'ada' }
let folder: string
let db: string
let store: SqliteStore

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plimsoll-'))
  db = join(folder, 'memory.sqlite')
  store = sqliteStore({ path: db })
  const memory = createMemory({ store, budget: 16_000, use: [facts()] })
  const monday = memory.session({ ...ADA, sessionId: 'monday' }, { project: 'turin' })
  await monday.append({ role: 'user', content: 'A window seat, please.' })
  await monday.facts.remember({ kind: 'finding', text: 'Gate 7 is closed.', trust: 'assistant' })
})

afterAll(async () => {
  await store.close()
  await rm(folder, { recursive: true })
})

async function plimsoll(...argv: readonly string[]) {
  const main = join(import.meta.dirname, '../../dist/src/cli/main.js')
  const ended = await promisify(execFile)(process.execPath, [main, ...argv]).catch((error) => error)
  return { status: ended.code ?? 0, out: ended.stdout, err: ended.stderr }
}

describe('the built command, beside a process that writes', () => {
  test('prints a start, a history, an export and an explanation', async () => {
    const stored = ['--db', db, '--user', 'ada'] as const
    const started = await plimsoll('start', ...stored, '--project', 'turin')
    expect(started).toMatchObject({ status: 0, err: '' })
    expect(JSON.parse(started.out).context_recall).toMatchObject([{ title: 'Gate 7 is closed.' }])
    for (const name of ['history', 'export', 'explain'])
      expect(await plimsoll(name, ...stored, '--session', 'monday')).toMatchObject({
        status: 0,
        out: expect.stringContaining('A window seat, please.'),
        err: '',
      })
  })

  test('ends with status 1 where there is no such session, and with 2 where it is asked wrongly', async () => {
    const stored = ['--db', db, '--user', 'ada'] as const
    expect((await plimsoll('history', ...stored, '--session', 'sunday')).status).toBe(1)
    expect((await plimsoll('history', ...stored)).status).toBe(2)
    expect((await plimsoll('start', ...stored, '--all')).status).toBe(2)
  })
})
