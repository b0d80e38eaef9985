/**
 * `npm run posttest:kill`: what a session says when its file on disk is damaged, or the disk is
 * full. A damaged one fails with status 500 or above, or serves each message as it was written; a
 * full disk loses nothing that was acknowledged; and other sessions are served as before.
 *
 * SQLite has checksums for its write-ahead log only. It notices a page that is no page of its own,
 * but not a byte that changes inside a text, so that is not tried here.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { BareWorkerd, edgeWorker, SESSIONS, USERS } from './bare-workerd.ts'
import { filesIn } from './disk.ts'

const MESSAGES = 60
const PAGE_BYTES = 4_096
const problems: string[] = []
const started = Date.now()
/** The one that is asked. */
let edge: BareWorkerd

interface Answer {
  readonly status: number
  readonly text: string
}

async function post(path: string, body: unknown, opId?: string): Promise<Answer> {
  const response = await fetch(`${edge.url}/v1/sessions${path}`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      ...(opId !== undefined && { 'Idempotency-Key': opId }),
    },
    body: JSON.stringify(body),
  })
  return { status: response.status, text: await response.text() }
}

/** Makes sessions, or stops: without them there is nothing to look at. */
async function create(...sessions: readonly string[]): Promise<void> {
  for (const session of sessions) {
    const { status, text } = await post('', { session_id: session })
    if (status !== 201) throw new Error(`the session ${session} was not made: ${status} ${text}`)
  }
}

function append(session: string, message: object, opId?: string): Promise<Answer> {
  return post(`/${session}/messages`, { messages: [message] }, opId)
}

/** What message `index` of a session says; no two say the same. */
function textOf(session: string, index: number): string {
  const words = Array.from({ length: 25 }, (_, word) => ((index * 7_919 + word * 104_729) % 1e6).toString(36))
  return `${session}, message ${index}: ${words.join(' ')}`
}

const message = (session: string, index: number, content = textOf(session, index)) => ({
  id: `${session}/${index}`,
  role: index % 2 === 0 ? 'user' : 'assistant',
  content,
  created_at: 0,
})

/**
 * Messages that a session serves, or undefined where it fails as it should. Whatever is wrong is
 * noted under `name`.
 *
 * @param mayBeUnmade whether what is left on disk may be older than the session
 */
async function served(session: string, name: string, mayBeUnmade = false): Promise<number | undefined> {
  const { status, text } = await post(`/${session}/context`, {})
  if (mayBeUnmade && status === 404) return 0
  if (status !== 200) {
    if (status < 500) problems.push(`${name}: session ${session} answers ${status} ${text}`)
    return undefined
  }
  const { blocks } = JSON.parse(text) as { blocks: { from: string[]; parts: { text: string }[] }[] }
  const shown = blocks.filter(({ from }) => from.length > 0)
  for (const [index, { from, parts }] of shown.entries())
    if (from[0] !== `${session}/${index}` || parts[0]?.text !== textOf(session, index))
      problems.push(`${name}: session ${session} serves ${JSON.stringify({ from, parts })} at ${index}`)
  return shown.length
}

/** Damages copies of one session's file, beside an undamaged session. */
async function damage(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-corruption-'))
  const worker = edgeWorker(folder)
  edge = new BareWorkerd(folder, [worker])
  const objects = edge.objects(worker.uniqueKey)
  process.on('exit', () => {
    void edge.kill()
    rmSync(folder, { recursive: true, force: true })
  })
  await edge.start()
  await create('damaged', 'other')
  for (let index = 0; index < MESSAGES; index++)
    for (const session of ['damaged', 'other']) {
      const { status } = await append(session, message(session, index))
      if (status !== 200) throw new Error(`the fixture was not written: ${status}`)
      // The first context marks an epoch, which a later one goes on from.
      if (index === 0) await post(`/${session}/context`, {})
    }
  await edge.kill()

  const [logged, merged] = [join(folder, 'logged'), join(folder, 'merged')]
  cpSync(objects, logged, { recursive: true })
  let file = ''
  for (const path of filesIn(objects)) {
    const database = new DatabaseSync(path)
    const found = database.prepare(`SELECT 1 FROM plimsoll_log WHERE id = 'damaged/0'`).all()
    if (found.length > 0) file = basename(path)
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    database.close()
  }
  cpSync(objects, merged, { recursive: true })

  const outcomes = { failed: 0, whole: 0, shortened: 0 }
  const attempt = async (
    name: string,
    from: string,
    change: (bytes: Buffer) => Buffer,
    suffix = '',
  ): Promise<void> => {
    rmSync(objects, { recursive: true })
    cpSync(from, objects, { recursive: true })
    const path = join(objects, file + suffix)
    writeFileSync(path, change(readFileSync(path)))
    await edge.start()
    const count = await served('damaged', name, from === logged)
    if (count === 0) await create('damaged')
    if (count === undefined) outcomes.failed++
    else if (count === MESSAGES) outcomes.whole++
    else if (from === logged) outcomes.shortened++
    else problems.push(`${name}: ${count} of ${MESSAGES} messages, and no error`)
    const written = await append('damaged', message('damaged', MESSAGES))
    if (written.status !== 200 && written.status < 500)
      problems.push(`${name}: the damaged session takes no message: ${written.status} ${written.text}`)
    if ((await served('other', name)) !== MESSAGES) problems.push(`${name}: the other session fails`)
    const other = await append('other', message('other', MESSAGES))
    if (other.status !== 200) problems.push(`${name}: the other session takes no message: ${other.status}`)
    await edge.kill()
  }

  const overwritten = (from: number, to: number, byte: (at: number) => number) => (bytes: Buffer) => {
    for (let at = from; at < Math.min(to, bytes.length); at++) bytes[at] = byte(at)
    return bytes
  }
  const noise = (at: number): number => (at * 7_919) % 251
  const zero = (): number => 0
  await attempt('undamaged', merged, (bytes) => bytes)
  if (outcomes.whole !== 1) problems.push('the undamaged session is not served')
  await attempt('noise in the header', merged, overwritten(0, 100, noise))
  await attempt('half of the file', merged, (bytes) => bytes.subarray(0, bytes.length >> 1))
  const pages = readFileSync(join(merged, file)).length / PAGE_BYTES
  for (let page = 0; page < pages; page++) {
    const range = [page * PAGE_BYTES, (page + 1) * PAGE_BYTES] as const
    await attempt(`zeros in page ${page}`, merged, overwritten(...range, zero))
    await attempt(`noise in page ${page}`, merged, overwritten(...range, noise))
  }
  // What follows a damaged frame of the log was never written, as far as SQLite knows: an earlier
  // state, but a whole one.
  for (const [name, part] of [
    ['first frame', 0],
    ['middle', 0.5],
    ['last frames', 0.97],
  ] as const)
    await attempt(
      `noise in the ${name} of the write-ahead log`,
      logged,
      (bytes) => {
        const from = Math.floor(bytes.length * part)
        return overwritten(from, from + 200, noise)(bytes)
      },
      '-wal',
    )
  if (outcomes.failed === 0) problems.push('no damage was noticed')
  await damageUser(merged)
  console.log(
    `Damaged on disk: ${outcomes.failed} failed with an error, ${outcomes.whole} were served whole, ` +
      `${outcomes.shortened} as they were earlier.`,
  )
}

/** Damages what the user's sessions share: contexts go on without it, and say so. */
async function damageUser(whole: string): Promise<void> {
  const objects = edge.objects(SESSIONS.uniqueKey)
  rmSync(objects, { recursive: true })
  cpSync(whole, objects, { recursive: true })
  for (const path of filesIn(edge.objects(USERS.uniqueKey))) {
    for (const log of ['-wal', '-shm']) rmSync(path + log, { force: true })
    writeFileSync(path, 'noise'.repeat(20_000))
  }
  await edge.start()
  const name = "noise in the user's file"
  for (const session of ['damaged', 'other'])
    if ((await served(session, name)) !== MESSAGES) problems.push(`${name}: session ${session} fails`)
  const { text } = await post('/other/context', {})
  if (!text.includes('"user-replica"')) problems.push(`${name}: no receipt says so`)
  const { status } = await append('other', message('other', MESSAGES))
  if (status !== 200) problems.push(`${name}: no message is taken: ${status}`)
  await edge.kill()
}

/** Fills the disk under two sessions, makes room, and looks for what was acknowledged. */
async function fill(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-full-'))
  const disk = join(folder, 'objects')
  mkdirSync(disk)
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=6m', 'tmpfs', disk]).status === 0
  process.on('exit', () => {
    if (mounted) spawnSync('umount', ['-l', disk])
    rmSync(folder, { recursive: true, force: true })
  })
  if (!mounted) {
    console.log('Full disk: skipped, a small tmpfs can be mounted by root only.')
    return
  }
  const worker = edgeWorker(folder)
  edge = new BareWorkerd(folder, [worker])
  const objects = edge.objects(worker.uniqueKey)
  process.prependListener('exit', () => void edge.kill())
  const ballast = join(disk, 'ballast')
  writeFileSync(ballast, Buffer.alloc(2 ** 21))
  await edge.start()
  await create('read', 'one', 'two')
  for (let index = 0; index < MESSAGES; index++) await append('read', message('read', index))
  await post('/read/context', {})
  const acknowledged = new Set<string>()
  const refused = new Map<number, number>()
  let next = 0
  /** Sends message `index` to both sessions; true where both acknowledged it. */
  const send = async (index: number): Promise<boolean> => {
    const answers = await Promise.all(
      ['one', 'two'].map(async (session) => {
        const { id, ...rest } = message(session, index, textOf(session, index).repeat(20))
        const { status } = await append(session, { id, ...rest }, id)
        if (status === 200) acknowledged.add(id)
        else refused.set(status, (refused.get(status) ?? 0) + 1)
        if (status !== 200 && status < 500) problems.push(`full disk: ${id} is refused with ${status}`)
        return status === 200
      }),
    )
    return answers.every((answer) => answer)
  }
  while (next < 3_000 && (await send(next))) next++
  if (refused.size === 0) problems.push('full disk: all was taken')
  const before = acknowledged.size
  for (let again = 0; again < 5; again++) await send(next)
  if ((await served('read', 'full disk')) !== MESSAGES)
    problems.push('full disk: a context that saves nothing is not served')

  rmSync(ballast)
  let tries = 0
  while (tries < 50 && !(await send(next))) tries++
  if (tries === 50) problems.push('full disk: nothing is taken after room was made')
  for (let more = 1; more <= 20; more++)
    if (!(await send(next + more))) problems.push(`full disk: message ${next + more} is refused`)
  await edge.kill()

  const stored = new Map<string, string>()
  for (const path of filesIn(objects)) {
    const database = new DatabaseSync(path)
    const rows = database.prepare(`SELECT id, body FROM plimsoll_log WHERE kind = 'message'`).all()
    for (const { id, body } of rows as unknown as { id: string; body: string }[]) {
      if (stored.has(id)) problems.push(`full disk: ${id} has two rows`)
      stored.set(id, body)
    }
    database.close()
  }
  for (const id of acknowledged) {
    const [session = '', index] = id.split('/')
    const body = stored.get(id)
    if (body === undefined) problems.push(`full disk: ${id} is acknowledged and lost`)
    else if (!body.includes(JSON.stringify(textOf(session, Number(index)).repeat(20))))
      problems.push(`full disk: ${id} is not what was written`)
  }
  console.log(
    `Full disk: ${before} messages acknowledged before it was full, ${[...refused].map(([status, times]) => `${times} times status ${status}`).join(', ')}, ` +
      `${acknowledged.size} acknowledged in the end, all of them there.`,
  )
}

await damage()
await fill()
for (const problem of problems.slice(0, 20)) console.error(problem)
console.log(
  problems.length === 0
    ? `Nothing wrong served, nothing acknowledged lost, in ${((Date.now() - started) / 1_000).toFixed(1)} s.`
    : `${problems.length} problems`,
)
process.exitCode = problems.length === 0 ? 0 : 1
