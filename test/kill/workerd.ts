/**
 * `npm run test:kill [-- <kills>]`: kills workerd under 64 writers, again and again, on one disk, and sends again whatever was not
 * acknowledged. Then: nothing acknowledged is lost or has moved, seqs have no gaps, and each op has one row.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { BareWorkerd, edgeWorker } from './bare-workerd.ts'

const KILLS = Number(process.argv[2] ?? 10)
const WRITERS = 64
const SESSIONS = 4
const PORT = 18_787

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-kill-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const worker = edgeWorker(folder, PORT)
const edge = new BareWorkerd(folder, [worker])
const url = `http://127.0.0.1:${PORT}`
const objects = edge.objects(worker.uniqueKey)
const problems: string[] = []
/** Seq of each acknowledged message, from when it was first seen after its acknowledgement. */
const places = new Map<string, number>()
const acknowledged = new Set<string>()
let resent = 0
let repeated = 0
let unknown = 0

/** One writer: sends its messages one after the other, each until it is acknowledged. */
class Writer {
  readonly #name: string
  readonly #session: string
  #sent = 0
  #waiting: string | undefined

  constructor(index: number) {
    this.#name = `w${index}`
    this.#session = `s${index % SESSIONS}`
  }

  /** Writes until `stopped` says so, or the connection breaks. */
  async run(stopped: () => boolean): Promise<void> {
    while (!stopped()) {
      const again = this.#waiting !== undefined
      const id = this.#waiting ?? `${this.#name}/${this.#sent++}`
      this.#waiting = id
      if (again) resent++
      const body = JSON.stringify({ id, role: 'user', content: `message ${id}`, createdAt: 0 })
      try {
        const response = await fetch(`${url}/v1/sessions/${this.#session}/messages`, {
          method: 'POST',
          headers: { 'Idempotency-Key': id },
          body,
        })
        const answer = (await response.json()) as { repeated?: boolean; mismatch?: boolean }
        if (response.status !== 200) {
          problems.push(`${id}: status ${response.status} ${JSON.stringify(answer)}`)
          return
        }
        if (answer.mismatch) problems.push(`${id}: has other content`)
        if (answer.repeated && !again) problems.push(`${id}: repeated although it was sent once`)
        if (answer.repeated) repeated++
        acknowledged.add(id)
        this.#waiting = undefined
      } catch {
        unknown++
        return
      }
    }
  }
}

interface Row {
  readonly scope: number
  readonly seq: number
  readonly id: string
}

/** All messages in the objects' files. */
function rows(): Row[] {
  const files = readdirSync(objects).filter((name) => name.endsWith('.sqlite'))
  return files.flatMap((name, index) => {
    const database = new DatabaseSync(join(objects, name))
    try {
      const [check] = database.prepare('PRAGMA quick_check').all()
      if (check?.quick_check !== 'ok') problems.push(`${name}: quick_check says ${JSON.stringify(check)}`)
      const tables = database.prepare(`SELECT 1 FROM sqlite_master WHERE name = 'plimsoll_log'`).all()
      if (tables.length === 0) return []
      const found = database.prepare('SELECT scope, seq, id, kind FROM plimsoll_log ORDER BY n').all()
      const seqs = new Map<number, number>()
      for (const { scope, seq } of found as unknown as Row[]) {
        const last = seqs.get(scope) ?? 0
        if (seq !== last + 1) problems.push(`${name}: seq ${seq} follows ${last}`)
        seqs.set(scope, seq)
      }
      return (found as unknown as (Row & { kind: string })[])
        .filter(({ kind }) => kind === 'message')
        .map(({ scope, seq, id }) => ({ scope: scope + index * 1_000, seq, id }))
    } finally {
      database.close()
    }
  })
}

function check(): void {
  const found = new Map<string, number>()
  for (const { seq, id } of rows()) {
    if (found.has(id)) problems.push(`${id}: two rows`)
    found.set(id, seq)
  }
  for (const id of acknowledged) {
    const seq = found.get(id)
    const before = places.get(id)
    if (seq === undefined) problems.push(`${id}: acknowledged and lost`)
    else if (before !== undefined && before !== seq) problems.push(`${id}: moved from ${before} to ${seq}`)
    else places.set(id, seq)
  }
}

const writers = Array.from({ length: WRITERS }, (_, index) => new Writer(index))
const started = Date.now()
for (let kill = 0; kill < KILLS; kill++) {
  await edge.start()
  let over = false
  const running = writers.map((writer) => writer.run(() => over))
  await pause(30 + Math.floor(Math.random() * 250))
  await edge.kill()
  over = true
  await Promise.all(running)
  check()
}
// Once more without a kill: whatever is not acknowledged yet is sent again.
await edge.start()
let over = false
const last = writers.map((writer) => writer.run(() => over))
await pause(1_500)
over = true
await Promise.all(last)
await edge.kill()
check()

const written = rows().length
console.log(
  `${KILLS} kills under ${WRITERS} writers in ${((Date.now() - started) / 1_000).toFixed(1)} s: ${acknowledged.size} messages ` +
    `acknowledged, ${written} rows; ${unknown} calls without an answer, ${resent} sent again, ${repeated} of these had been written`,
)
for (const problem of problems.slice(0, 20)) console.error(problem)
if (written !== acknowledged.size) problems.push(`${written} rows, ${acknowledged.size} acknowledged`)
console.log(
  problems.length === 0
    ? 'Nothing lost, nothing moved, no gap, no duplicate.'
    : `${problems.length} problems`,
)
process.exitCode = problems.length === 0 ? 0 : 1
