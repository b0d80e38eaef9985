import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nodeIo } from '../../../src/cli/io.ts'
import {
  clearLog,
  createMemory,
  exportFrom,
  facts,
  type mapStore,
  profile,
  recall,
  skills,
} from '../../../src/index.ts'
import { encryptedStore, secretKeys } from '../../../src/stores/encrypted/index.ts'
import { type SqliteStore, sqliteStore } from '../../../src/stores/sqlite.ts'
import { plimsoll as command } from '../support/command.ts'

const ADA = { userId: 'ada' }
let folder: string
let db: string
let store: SqliteStore
const memoryOver = (over: SqliteStore | ReturnType<typeof mapStore>) =>
  createMemory({ store: over, budget: 16_000, use: [facts(), profile(), skills(), recall()] as const })

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plimsoll-'))
  db = join(folder, 'memory.sqlite')
  store = sqliteStore({ path: db })
  const monday = memoryOver(store).session({ ...ADA, sessionId: 'monday' }, { project: 'turin' })
  await monday.append([
    { id: 'm1', role: 'user', content: 'A window seat, please.', createdAt: 1_795_000_000_000 },
    { id: 'm2', role: 'assistant', content: 'Done:\nseat 4A.\u001b[31m', createdAt: 1_795_000_001_000 },
  ])
  await monday.facts.remember({ kind: 'constraint', id: 'nuts', text: 'No nuts.' })
  await monday.facts.remember({ kind: 'finding', id: 'gate', text: 'Gate 7 is closed.', trust: 'assistant' })
})

afterAll(async () => {
  await store.close()
  await rm(folder, { recursive: true })
})

/** The command over that database, which is open for writing meanwhile. */
const plimsoll = (...argv: readonly string[]) =>
  command([...argv], {}, undefined, { size: nodeIo.size, create: nodeIo.create })
const stored = (name: string, ...more: readonly string[]) =>
  plimsoll(name, '--db', db, '--user', 'ada', ...more)

describe('plimsoll start --db', () => {
  test('prints what a new session of the project starts with, beside the writer, and writes nothing', async () => {
    const before = await rows()
    const { status, out, err } = await stored('start', '--project', 'turin')
    expect({ status, err }).toEqual({ status: 0, err: '' })
    const started = JSON.parse(out)
    expect(out).toBe(`${JSON.stringify(started)}\n`)
    expect(started).toMatchObject({
      memory_count: 2,
      pinned: [{ id: 'nuts', content: 'No nuts.' }],
      context_recall: [{ id: 'gate', session: 'monday', trust: 'assistant' }],
      budget: { cap: 3_000 },
    })
    expect((await stored('start', '--project', 'turin')).out).toBe(out)
    expect(await rows()).toBe(before)
  })

  test('keeps to a budget, a session, a query and an etag', async () => {
    const own = JSON.parse((await stored('start', '--sessions', 'own', '--project', 'turin')).out)
    expect(own.context_recall).toEqual([])
    const monday = await stored('start', '--session', 'monday', '--query', 'window', '--budget', '400')
    const { context_recall, budget } = JSON.parse(monday.out)
    expect(context_recall[0]).toMatchObject({ id: 'm1', title: 'A window seat, please.' })
    expect(budget.cap).toBe(400)
    expect(
      await stored('start', '--if-none-match', own.etag, '--sessions', 'own', '--project', 'turin'),
    ).toEqual(expect.objectContaining({ status: 0, out: '' }))
    const listed = JSON.parse((await stored('start', '--session', 'monday')).out)
    expect(listed.context_recall).toMatchObject([{ id: 'gate' }]) // Of the project that it is in.
    const small = await stored('start', '--budget', '10')
    expect(small.status).toBe(1)
    expect(small.err).toMatch(/^plimsoll: start: working_memory_budget_tokens is 10/)
    const { out } = await plimsoll('start', '--db', db, '--user', 'bo')
    expect(JSON.parse(out).memory_count).toBe(0)
  })
})

describe('plimsoll history --db', () => {
  test('prints the messages of a session, the oldest first, and nothing that a terminal obeys', async () => {
    const { status, out } = await stored('history', '--session', 'monday')
    expect(status).toBe(0)
    expect(out).toContain('2026-11-18T11:06:40.000Z user\n  A window seat, please.\n\n')
    expect(out.indexOf('window')).toBeLessThan(out.indexOf('  seat 4A.'))
    expect(out).not.toContain('\u001b')
  })

  test('prints them as lines of JSON, the last so many', async () => {
    const { out } = await stored('history', '--session', 'monday', '--json', '--messages', '1')
    expect(
      out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).id),
    ).toEqual(['m2'])
  })
})

describe('plimsoll export --db', () => {
  test('writes what exportFrom does, to a file or to standard output', async () => {
    let text = ''
    for await (const line of exportFrom(memoryOver(store), ADA)) text += line
    expect((await stored('export')).out).toBe(text)
    const to = join(folder, 'export.jsonl')
    expect(await stored('export', '--to', to)).toMatchObject({ status: 0, out: '' })
    expect(await readFile(to, 'utf8')).toBe(text)
    const { out } = await stored('export', '--session', 'monday', '--format', 'markdown')
    expect(out).toContain('A window seat, please.')
  })
})

describe('plimsoll explain --db', () => {
  test('says where the tokens of the next request of a session come from', async () => {
    const { status, out } = await stored('explain', '--session', 'monday', '--project', 'turin')
    expect(status).toBe(0)
    expect(out).toMatch(/^monday for openai: [\d,]+ of [\d,]+ tokens, counted by pairs\/1\n/)
    expect(out).toContain('A window seat, please.')
    expect(out).toContain('finding [assistant]')
    expect((await stored('explain', '--session', 'monday')).out).toBe(out) // Its own project.
    const json = await stored('explain', '--session', 'monday', '--json', '--budget', '4000')
    expect(JSON.parse(json.out).spans.length).toBeGreaterThan(1)
  })
})

describe('a database', () => {
  test('that has no such session says so', async () => {
    for (const name of ['history', 'explain', 'export'])
      expect(await stored(name, '--session', 'sunday')).toEqual(
        expect.objectContaining({
          status: 1,
          out: '',
          err: 'plimsoll: no session sunday of user ada, who has monday\n',
        }),
      )
    const { err } = await plimsoll('history', '--db', db, '--user', 'bo', '--session', 'monday')
    expect(err).toBe('plimsoll: no session monday of user bo, who has none\n')
  })

  test('has a session too whose conversation was cleared', async () => {
    const path = join(folder, 'cleared.sqlite')
    const other = sqliteStore({ path })
    const session = memoryOver(other).session({ ...ADA, sessionId: 'monday' })
    await session.append({ role: 'user', content: 'Hi.' })
    await clearLog(session)
    await other.close()
    const asked = ['--db', path, '--user', 'ada', '--session', 'monday'] as const
    expect(await plimsoll('history', ...asked)).toEqual(
      expect.objectContaining({ status: 0, out: '', err: '' }),
    )
    expect((await plimsoll('explain', ...asked)).status).toBe(0)
  })

  test.each([
    [['start', '--db', 'x.sqlite'], 'start: name the user with --user'],
    [['history', '--db', 'x.sqlite', '--user', 'ada'], 'history: name the session with --session'],
    [['history', '--user', 'ada', '--session', 'a'], 'history: name the db with --db'],
    [['export', '--user', 'ada'], 'export: name the db with --db'],
    [['explain', '--db', 'x.sqlite', '--user', 'ada', '--call', '0'], "Unknown option '--call'"],
    [['start', '--db', 'x.sqlite', '--user', 'ada', 'file'], '--db goes without a file, not with "file"'],
    [['start', 'memory.jsonl', '--user', 'ada'], "Unknown option '--user'"],
    [['start', '--db', 'missing.sqlite', '--user', 'ada'], 'cannot read missing.sqlite'],
    [
      ['export', '--db', 'x.sqlite', '--user', 'ada', '--format', 'xml'],
      '--format is one of jsonl, markdown',
    ],
    [['history', '--db', 'x.sqlite', '--user', 'ada', '--session', 'a', '--all'], "Unknown option '--all'"],
  ])('or a command that is not understood, is refused: %j', async (argv, message) => {
    const { status, out, err } = await plimsoll(...argv)
    expect({ status, out }).toEqual({ status: 2, out: '' })
    expect(err).toContain(message)
  })

  test('that is encrypted is refused, since the command has no key', async () => {
    const path = join(folder, 'encrypted.sqlite')
    const inner = sqliteStore({ path })
    const keys = secretKeys('a secret of at least thirty-two bytes')
    await memoryOver(encryptedStore(inner, keys))
      .session({ ...ADA, sessionId: 'monday' })
      .append({ role: 'user', content: 'Hi.' })
    await inner.close()
    const asked = ['--db', path, '--user', 'ada'] as const
    for (const argv of [
      ['start', ...asked],
      ['history', ...asked, '--session', 'monday'],
      ['explain', ...asked, '--session', 'monday'],
      ['export', ...asked],
    ])
      expect(await plimsoll(...argv)).toEqual(
        expect.objectContaining({
          status: 1,
          out: '',
          err: `plimsoll: ${path}: what is stored of user ada is encrypted, and the command has no key\n`,
        }),
      )
  })

  test('of another program is refused, and left as it is', async () => {
    const { status, err } = await plimsoll('start', '--db', import.meta.filename, '--user', 'ada')
    expect(status).toBe(1)
    expect(err).toBe(`plimsoll: sqliteStore: ${import.meta.filename}: file is not a database\n`)
  })
})

/** The rows of the database, and its files. */
async function rows(): Promise<string> {
  const all = await Promise.all(
    ['fact/', 'kept/', 'settings', 'secret', 'audit/', 'session/'].map((prefix) =>
      store.open(ADA).registers(prefix),
    ),
  )
  return JSON.stringify([all, (await stat(db)).mtimeMs])
}
