/**
 * `npm run test:kill [-- <kills>]`: kills workerd under 64 writers, again and again, on one disk,
 * and sends again whatever was not acknowledged: messages, contexts, facts of the user, checkpoints
 * and chats, over HTTP. Then: nothing acknowledged is lost or has moved, seqs have no gaps, each op
 * has one row and gives its first result again, and chats that were cut off are said to be.
 */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Context, lintRequest, toOpenAI } from '../../src/index.ts'
import { fromWire } from '../../src/ports/wire.ts'
import { fakeOpenAI } from '../unit/support/fake-openai.ts'
import { BareWorkerd, edgeWorker, SESSIONS, USERS } from './bare-workerd.ts'
import { readObjects } from './disk.ts'
import { type Acknowledged, type Kind, Ledger, send, Writer } from './writers.ts'

const KILLS = Number(process.argv[2] ?? 10)
/** 64 writers: how many of each kind, and over how many sessions. */
const KINDS: readonly { readonly kind: Kind; readonly writers: number; readonly sessions: number }[] = [
  { kind: 'append', writers: 40, sessions: 4 },
  { kind: 'fact', writers: 8, sessions: 8 },
  { kind: 'checkpoint', writers: 8, sessions: 4 },
  { kind: 'chat', writers: 8, sessions: 8 },
]
/** Acknowledged calls that are sent again after each kill. */
const AGAIN = 40

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-kill-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
// Slow enough to be cut off in the middle of a reply; every third one calls a tool that writes to
// the user's object.
const model = await fakeOpenAI({
  reply: async ({ messages }, count) => {
    await pause(Math.random() * 80)
    const text = `Reply ${count}.`
    if (messages.at(-1)?.role !== 'user' || count % 3 !== 0) return { text }
    const input = { kind: 'finding', text: `Finding ${count} ${Math.random()}` }
    return { text, calls: [{ id: `call_${count}`, name: 'memory_finding', input }] }
  },
})
const worker = edgeWorker(folder, { MODEL_BASE_URL: model.url, MODEL_ID: 'fake' })
const edge = new BareWorkerd(folder, [worker])
process.prependListener('exit', () => void edge.kill())
const ledger = new Ledger()
const { problems } = ledger
/** Seq of each acknowledged message, from when it was first seen after its acknowledgement. */
const places = new Map<string, number>()
let interrupted = 0

const writers = KINDS.flatMap(({ kind, writers, sessions }) =>
  Array.from(
    { length: writers },
    (_, index) => new Writer(`${kind}-${index}`, `s${index % sessions}`, kind, ledger),
  ),
)
const sessions = Array.from({ length: 8 }, (_, index) => `s${index}`)

const started = Date.now()
await edge.start()
for (const session of sessions) await post('/v1/sessions', { session_id: session })
for (let kill = 0; kill < KILLS; kill++) {
  await write(async (writing) => {
    // A slow machine answers nobody within that time of its start.
    await Promise.race([once(ledger, 'acknowledged'), writing])
    await pause(30 + Math.floor(Math.random() * 250))
    await edge.kill()
  })
  checkDisk()
  await edge.start()
  await sendAgain()
  await checkRuns()
}
// Once more without a kill: whatever is not acknowledged yet is sent again.
await write(() => pause(3_000))
await checkSessions()
await edge.kill()
checkDisk()
await model.close()

const count = (kind: Kind): number => ledger.acknowledged.filter((one) => one.kind === kind).length
console.log(
  `${KILLS} kills under ${writers.length} writers in ${((Date.now() - started) / 1_000).toFixed(1)} s: acknowledged ` +
    `${KINDS.map(({ kind }) => `${count(kind)} ${kind}s`).join(', ')}, ${count('context')} contexts; ${ledger.unknown} calls without ` +
    `an answer, ${ledger.resent} sent again, ${ledger.repeated} appends of these had been written; ${ledger.runs.size} chats, ` +
    `${interrupted} reported as interrupted, ${ledger.refusedRuns} refused while another went on`,
)
for (const problem of [...problems, ...model.refusals].slice(0, 20)) console.error(problem)
console.log(
  problems.length + model.refusals.length === 0
    ? 'Nothing lost, nothing moved, no gap, no duplicate.'
    : `${problems.length + model.refusals.length} problems`,
)
process.exitCode = problems.length + model.refusals.length === 0 ? 0 : 1

async function write(until: (writing: Promise<unknown>) => Promise<void>): Promise<void> {
  let over = false
  const writing = Promise.all(writers.map((writer) => writer.run(edge.url, () => over)))
  await until(writing)
  over = true
  await writing
}

async function post(path: string, body: unknown): Promise<{ status: number; body: unknown }> {
  const headers = { 'Content-Type': 'application/json' }
  const response = await fetch(edge.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: response.status, body: fromWire(await response.json()) }
}

function checkDisk(): void {
  const own = readObjects(edge.objects(SESSIONS.uniqueKey), (scope) => scope.includes('"s'))
  const shared = readObjects(edge.objects(USERS.uniqueKey), () => true)
  problems.push(...own.problems, ...shared.problems)
  const found = new Map<string, number>()
  for (const { seq, id } of own.messages) {
    if (found.has(id)) problems.push(`${id}: two rows`)
    found.set(id, seq)
  }
  const keys = new Set([...shared.registers.values()].flatMap((set) => [...set]))
  for (const one of ledger.acknowledged) checkOne(one, found, keys)
}

function checkOne(
  { kind, call, answer }: Acknowledged,
  found: ReadonlyMap<string, number>,
  keys: ReadonlySet<string>,
): void {
  const { id } = call
  if (kind === 'fact') {
    if (!keys.has(`fact/${answer.fact?.id}`)) problems.push(`${id}: the fact is acknowledged and lost`)
    return
  }
  if (kind === 'checkpoint') return
  const seq = found.get(id)
  const before = places.get(id)
  if (seq === undefined) problems.push(`${id}: acknowledged and lost`)
  else if (before !== undefined && before !== seq) problems.push(`${id}: moved from ${before} to ${seq}`)
  else places.set(id, seq)
}

/** Some of what was acknowledged: the first result comes again, and nothing is written. */
async function sendAgain(): Promise<void> {
  const all = ledger.acknowledged.filter(({ kind }) => kind !== 'chat' && kind !== 'context')
  for (let sent = 0; sent < AGAIN && all.length > 0; sent++) {
    const { call, answer } = all[Math.floor(Math.random() * all.length)] as Acknowledged
    const response = await send(edge.url, call)
    const again = (await response.json()) as typeof answer
    if (response.status !== 200) problems.push(`${call.id}: sent again, ${response.status}`)
    for (const [was, is] of [
      [answer.messages, again.messages],
      [answer.version, again.version],
      [answer.fact?.id, again.fact?.id],
      [answer.fact?.text, again.fact?.text],
      [false, again.mismatch ?? false],
      [answer.repeated ?? false, again.repeated ?? false],
    ])
      if (JSON.stringify(was) !== JSON.stringify(is))
        problems.push(`${call.id}: was ${JSON.stringify(was)}, is ${JSON.stringify(is)}`)
  }
}

/**
 * Chats that broke off: their stream can be read, and ends, with a reply or with the word that it
 * was interrupted.
 */
async function checkRuns(): Promise<void> {
  for (const [run, { call, isWhole }] of ledger.runs) {
    if (isWhole) continue
    const response = await fetch(`${edge.url}/v1/sessions/${call.session}/chat/${run}`)
    const text = await response.text()
    if (response.status !== 200 || !text.endsWith('data: [DONE]\n\n'))
      problems.push(`${call.id}: run ${run} says ${response.status} ${text.slice(-200)}`)
    if (text.includes('ERR_INTERRUPTED')) interrupted++
    else if (!text.includes('"type":"finish"')) problems.push(`${call.id}: neither ended nor interrupted`)
    ledger.runs.set(run, { call, isWhole: true })
  }
}

/** What a model would be given is valid, and all that is remembered is in it or counted. */
async function checkSessions(): Promise<void> {
  for (const session of sessions) {
    const { status, body } = await post(`/v1/sessions/${session}/context`, {})
    if (status !== 200) problems.push(`${session}: its context is ${status} ${JSON.stringify(body)}`)
    else
      for (const { rule, path } of lintRequest(toOpenAI(body as Context), 'openai'))
        problems.push(`${session}: ${rule} at ${path}`)
  }
}
