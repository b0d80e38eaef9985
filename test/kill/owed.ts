/**
 * `node test/kill/owed.ts`: kills workerd while an object owes work, and takes its alarm away too,
 * as a run that did not end may. The next call of the object sets the alarm again, and the work is
 * done: a session that was being deleted is gone, with its place on the list; the summary that a
 * window near the line needs is written; facts are noted for starts of other sessions.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { BareWorkerd, edgeWorker, SESSIONS } from './bare-workerd.ts'
import { filesIn } from './disk.ts'

/**
 * At once, beside one by hand. An erase that comes after eight others with its record of it waits
 * for a minute.
 */
const SESSIONS_DELETED = 6
const ROUNDS = 16
/** In each facts are written one after the other, and workerd is killed in between. */
const NOTE_ROUNDS = 4
/** Until a kill came in time. */
const MOST_NOTE_ROUNDS = 40
const FACTS_AT_ONCE = 8
/** Longer than that. */
const LIMIT_MS = 90_000
/** As `src/edge/objects/work-table.ts` has it. */
const WORK = `CREATE TABLE IF NOT EXISTS plimsoll_edge_work (kind TEXT NOT NULL, key TEXT NOT NULL, due INTEGER, again INTEGER,
  attempts INTEGER NOT NULL DEFAULT 0, payload TEXT, failed INTEGER, error TEXT, PRIMARY KEY (kind, key)) WITHOUT ROWID`

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-owed-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const edge = new BareWorkerd(folder, [edgeWorker(folder, { BUDGET: '2000' })])
process.prependListener('exit', () => void edge.kill())
const problems: string[] = []
const started = Date.now()

const unfinished = await deletions()
await compaction()
const unnoted = await notes()
for (const problem of problems.slice(0, 20)) console.error(problem)
console.log(
  problems.length === 0
    ? `All work that was owed is done, ${unfinished} deletions, a summary and notes in ${unnoted} rounds, in ${((Date.now() - started) / 1_000).toFixed(1)} s.`
    : `${problems.length} problems`,
)
process.exitCode = problems.length === 0 ? 0 : 1

/** @returns how many deletions were cut off in their middle */
async function deletions(): Promise<number> {
  let unfinished = 0
  for (let round = 0; round < ROUNDS; round++) {
    const sessions = Array.from({ length: SESSIONS_DELETED }, (_, index) => `r${round}-${index}`)
    await edge.start()
    for (const session of sessions) await fill(session, 3)
    // One that is sure to be cut off: as an erase leaves it that only just began.
    const byHand = `r${round}-by-hand`
    await fill(byHand, 3)
    const deleting = sessions.map((session) =>
      call('DELETE', `/v1/sessions/${session}`).catch(() => undefined),
    )
    await Promise.race(deleting)
    await pause(Math.random() * 40)
    await edge.kill()
    const acknowledged = (await Promise.all(deleting)).map((answer) => answer?.status === 200)
    eraseByHand(byHand)
    const states = takeAlarms()
    unfinished += [...states.values()].filter((state) => state === 'erasing').length
    await edge.start()
    for (const [index, session] of [...sessions, byHand].entries()) {
      const { status } = await call('GET', `/v1/sessions/${session}/messages`)
      const isLive = states.get(session) === 'live'
      if (isLive && acknowledged[index]) problems.push(`${session}: its deletion is acknowledged and lost`)
      if (status !== (isLive ? 200 : 404))
        problems.push(`${session}: was ${states.get(session)}, answers ${status}`)
    }
    await until(`round ${round}: all deletions end`, async () => {
      const { body } = await call('GET', '/v1/sessions')
      const { sessions: listed } = JSON.parse(body) as { sessions: { session_id: string }[] }
      const left = new Set(listed.map(({ session_id: id }) => id))
      return [...sessions, byHand].every((session) => left.has(session) === (states.get(session) === 'live'))
    })
    await edge.kill()
    for (const [session, state] of takeAlarms())
      if (state !== 'live') problems.push(`${session}: is ${state} still`)
  }
  return unfinished
}

async function compaction(): Promise<void> {
  await edge.start()
  const session = 'near-the-line'
  await call('POST', '/v1/sessions', { session_id: session })
  await append(session, 0)
  // The epoch that the summary is for.
  await call('POST', `/v1/sessions/${session}/context`, {})
  for (let index = 1, isNear = false; !isNear && index < 100; index++) {
    await append(session, index)
    const { body } = await call('POST', `/v1/sessions/${session}/context`, { preview: true })
    const { used, cap } = (JSON.parse(body) as { receipt: { used: number; cap: number } }).receipt
    isNear = used > cap * 0.85
  }
  await edge.kill()
  const file = fileOf(session)
  if (summariesIn(file) > 0) problems.push('a summary is there before it is owed')
  withDatabase(file, (database) => {
    database.exec(WORK)
    database.exec(`INSERT INTO plimsoll_edge_work (kind, key, due) VALUES ('compact', '', ${Date.now()})`)
  })
  takeAlarms()
  await edge.start()
  await call('GET', `/v1/sessions/${session}/messages`)
  await until('nothing is owed', async () => owedIn(file) === 0)
  await edge.kill()
  if (summariesIn(file) !== 1) problems.push(`${summariesIn(file)} summaries are there after it was owed`)
}

/** @returns in how many rounds notes were owed when workerd was killed */
async function notes(): Promise<number> {
  let unnoted = 0
  let kept = 0
  await edge.start()
  await call('POST', '/v1/sessions', { session_id: 'starts' })
  for (let round = 0; round < NOTE_ROUNDS || (unnoted === 0 && round < MOST_NOTE_ROUNDS); round++) {
    const session = `keeps-${round}`
    const remember = () =>
      call('POST', `/v1/sessions/${session}/facts`, {
        kind: 'finding',
        text: `Found ${crypto.randomUUID()}.`,
      })
    await call('POST', '/v1/sessions', { session_id: session })
    await remember()
    const remembering = Array.from({ length: FACTS_AT_ONCE }, () => remember().catch(() => undefined))
    await Promise.race(remembering)
    await pause(Math.random() * 20)
    await edge.kill()
    const acknowledged = (await Promise.all(remembering)).filter((answer) => answer?.status === 200).length
    const found = withDatabase(fileOf(session), (database) => {
      const owed = `SELECT kind FROM plimsoll_edge_work WHERE kind = 'notes'`
      unnoted += database.prepare(owed).all().length
      return database.prepare(`SELECT 1 FROM plimsoll_register WHERE sort LIKE 'fact/%'`).all().length
    })
    if (found <= acknowledged) problems.push(`${acknowledged} facts are acknowledged, and ${found} kept`)
    kept += found
    takeAlarms()
    await edge.start()
    await call('GET', `/v1/sessions/${session}/messages`)
    await until(`round ${round}: facts are noted`, async () => {
      const { body } = await call('GET', '/v1/sessions/starts/start')
      return (JSON.parse(body) as { memory_count: number }).memory_count === kept
    })
  }
  await edge.kill()
  if (unnoted === 0) problems.push('no note was ever owed when workerd was killed')
  return unnoted
}

async function call(method: string, path: string, body?: unknown): Promise<{ status: number; body: string }> {
  const response = await fetch(edge.url + path, {
    method,
    ...(body !== undefined && {
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    }),
  })
  return { status: response.status, body: await response.text() }
}

async function append(session: string, index: number): Promise<void> {
  const content = `Message ${index}. ${'The train to the coast leaves in the morning. '.repeat(4)}`
  const role = index % 2 === 0 ? 'user' : 'assistant'
  await call('POST', `/v1/sessions/${session}/messages`, { messages: [{ role, content }] })
}

async function fill(session: string, messages: number): Promise<void> {
  await call('POST', '/v1/sessions', { session_id: session })
  for (let index = 0; index < messages; index++) await append(session, index)
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + LIMIT_MS; Date.now() < end; await pause(50)) if (await isSo()) return
  problems.push(`${what}: not within ${LIMIT_MS / 1_000} s`)
}

/**
 * Takes all alarms away: workerd has them in each object's file, and in one of its own. @returns
 * states of the sessions that are there
 */
function takeAlarms(): Map<string, string> {
  const states = new Map<string, string>()
  const objects = edge.objects(SESSIONS.uniqueKey)
  withDatabase(join(objects, 'metadata.sqlite'), (database) => database.exec('DELETE FROM _cf_ALARM'))
  for (const file of filesIn(objects))
    withDatabase(file, (database) => {
      if (has(database, '_cf_METADATA')) database.exec('DELETE FROM _cf_METADATA')
      const record = recordIn(database)
      if (record) states.set(record.scope.sessionId, record.state)
      const messages = database
        .prepare(`SELECT COUNT(*) AS count FROM plimsoll_log WHERE kind = 'message'`)
        .get()
      if (!record && messages?.count !== 0)
        problems.push(`${messages?.count} messages of a session that is gone`)
    })
  return states
}

/** Leaves a session as an erase does which had not begun to remove anything. */
function eraseByHand(session: string): void {
  withDatabase(fileOf(session), (database) => {
    const erasing = JSON.stringify({ ...recordIn(database), state: 'erasing' })
    database.prepare('UPDATE plimsoll_edge_session SET record = ?').run(erasing)
    database.exec(WORK)
    database.exec(
      `INSERT OR REPLACE INTO plimsoll_edge_work (kind, key, due) VALUES ('erase', '', ${Date.now()})`,
    )
  })
}

interface Recorded {
  readonly scope: { readonly sessionId: string }
  readonly state: string
}

function recordIn(database: DatabaseSync): Recorded | undefined {
  const [row] = database.prepare('SELECT record FROM plimsoll_edge_session').all()
  return row && (JSON.parse(row.record as string) as Recorded)
}

function fileOf(session: string): string {
  const isIt = (file: string) => withDatabase(file, recordIn)?.scope.sessionId === session
  return filesIn(edge.objects(SESSIONS.uniqueKey)).find(isIt) ?? ''
}

function summariesIn(file: string): number {
  return withDatabase(
    file,
    (database) => database.prepare(`SELECT 1 FROM plimsoll_log WHERE kind = 'summary'`).all().length,
  )
}

/** How much work a running object has yet to do. */
function owedIn(file: string): number {
  const database = new DatabaseSync(file, { readOnly: true, timeout: 5_000 })
  try {
    return database.prepare('SELECT kind FROM plimsoll_edge_work').all().length
  } finally {
    database.close()
  }
}

function has(database: DatabaseSync, table: string): boolean {
  return database.prepare('SELECT 1 FROM sqlite_master WHERE name = ?').all(table).length > 0
}

function withDatabase<Result>(file: string, use: (database: DatabaseSync) => Result): Result {
  const database = new DatabaseSync(file)
  try {
    return use(database)
  } finally {
    database.close()
  }
}
