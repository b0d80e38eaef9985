/**
 * `npm run test:fuzz [-- <bodies> [<seed>]]`: sends anything at all to the whole edge in a bare
 * workerd, over loopback. Then: no answer is a failure of the edge's or takes more than a second of
 * a quiet machine, and what is refused has changed nothing of what is stored. It stops by itself.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Attempt, EdgeBodies, FAILED, isAfterWriting } from '../everywhere/edge-bodies.ts'
import type { Target } from '../everywhere/edge-samples.ts'
import { BareWorkerd, edgeWorker } from '../kill/bare-workerd.ts'
import { ObjectRows } from './object-rows.ts'

const BODIES = Number(process.argv[2] ?? 20_000)
const SEED = Number(process.argv[3] ?? Math.trunc(Math.random() * 2 ** 31))
const LANES = 8
/** Bodies to one session, so that it stays small. */
const A_SESSION = 250
/** Bodies between two looks at what is stored. */
const A_LOOK = 5
/** The session of calls that name none. */
const UNNAMED = 'default'
/** Bodies to one workerd, so that its folder stays small. */
const A_WORKERD = 20_000
const SLOW_MS = 1_000
/**
 * In which a quiet machine says that it is well, while the other lanes send. What is slow is slow
 * in proportion to that.
 */
const WELL_MS = 20
/** What is not answered by then ends the run, and is printed with what was under way beside it. */
const HANG_MS = 60_000
/** A machine that does other things stands still at times; what is slow is slow each time. */
const SLOW_TIMES = 5
const MOST_PROBLEMS = 20

const problems: string[] = []
/** Not answered yet. */
const underWay = new Set<Attempt>()
let hangs = false
const statuses = new Map<number, number>()
let sent = 0
let slowest = { ms: 0, attempt: '' }

interface Answer {
  readonly status: number
  readonly text: string
}

/** A caller of its own, who is a guest, on one session after the other. */
class Lane {
  readonly #url: string
  readonly #bodies: EdgeBodies
  readonly #rows: ObjectRows
  #token = ''

  constructor(url: string, folder: string, seed: number) {
    this.#url = url
    this.#bodies = new EdgeBodies(seed)
    this.#rows = new ObjectRows(join(folder, 'objects'))
  }

  async run(bodies: number): Promise<void> {
    for (let left = bodies; left > 0 && goesOn(); left -= A_SESSION) {
      const target = await this.#begin()
      for (let done = 0; done < Math.min(left, A_SESSION) && goesOn(); done += A_LOOK)
        await this.#look(Array.from({ length: A_LOOK }, () => this.#bodies.next(target)))
      this.#rows.close()
    }
  }

  async #begin(): Promise<Target> {
    const guest = await this.#post('/v1/guests', {})
    this.#token = guest.token as string
    const session = `fuzz-${crypto.randomUUID()}`
    await this.#post('/v1/sessions', { session_id: session })
    const finding = { kind: 'finding', text: 'The 9:40 to Turin is full.' }
    const { fact } = await this.#post(`/v1/sessions/${session}/facts`, finding)
    this.#rows.open({ userId: guest.user_id as string, sessionId: session }, [UNNAMED])
    return { session, fact: (fact as { id: string }).id }
  }

  async #post(path: string, body: unknown): Promise<Record<string, unknown>> {
    const headers = { 'Content-Type': 'application/json' }
    const attempt = { route: path, method: 'POST', path, headers, body: JSON.stringify(body) }
    const { status, text } = await this.#answer(attempt)
    if (status >= 400) throw new Error(`${path}: ${status} ${text}`)
    return JSON.parse(text)
  }

  /**
   * Where something was accepted, what was refused is sent again by itself: then nothing at all may
   * change.
   */
  async #look(attempts: readonly Attempt[]): Promise<void> {
    let rest = attempts
    for (let times = 0; rest.length > 0 && times < 8 && goesOn(); times++) {
      const before = await this.#rows.read()
      const refused: Attempt[] = []
      for (const attempt of rest) if (await this.#send(attempt)) refused.push(attempt)
      if (refused.length === rest.length) {
        const changed = await this.#rows.changedSince(before)
        if (changed.length > 0) problem(`${changed.join()} changed by one of`, ...rest)
        return
      }
      rest = refused
    }
  }

  /** @returns whether it was refused, and so must have changed nothing */
  async #send(attempt: Attempt): Promise<boolean> {
    const { status, text, ms } = await this.#timed(attempt)
    sent++
    if (await this.#isSlow(attempt, ms)) problem(`took ${Math.round(ms)} ms`, attempt)
    if (status >= 500 || FAILED.test(text)) problem(`${status} ${text.slice(0, 300)}`, attempt)
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    return status >= 400 && !isAfterWriting(text)
  }

  async #timed(attempt: Attempt): Promise<Answer & { readonly ms: number }> {
    const begun = performance.now()
    const answer = await this.#answer(attempt)
    return { ...answer, ms: performance.now() - begun }
  }

  /** Whether it is slow by itself, and not the machine: it is sent again. */
  async #isSlow(attempt: Attempt, ms: number): Promise<boolean> {
    let least = ms
    for (let times = 1; least > SLOW_MS && times < SLOW_TIMES; times++)
      least = Math.min(least, (await this.#timed(attempt)).ms)
    if (least > slowest.ms) slowest = { ms: least, attempt: shown(attempt) }
    return least > SLOW_MS && least > SLOW_MS * (await this.#load())
  }

  /** How many times as long as on a quiet machine a call takes now. */
  async #load(): Promise<number> {
    const begun = performance.now()
    await fetch(`${this.#url}/health`, { signal: AbortSignal.timeout(HANG_MS) })
    return (performance.now() - begun) / WELL_MS
  }

  async #answer(attempt: Attempt): Promise<Answer> {
    const { method, path, headers, body } = attempt
    underWay.add(attempt)
    try {
      const response = await fetch(this.#url + path, {
        method,
        headers: { ...headers, ...(this.#token && { Authorization: `Bearer ${this.#token}` }) },
        body,
        signal: AbortSignal.timeout(HANG_MS),
      })
      return { status: response.status, text: await response.text() }
    } catch (error) {
      if (!hangs) problem(`no answer: ${error}; under way:`, ...underWay)
      hangs = true
      throw error
    } finally {
      underWay.delete(attempt)
    }
  }
}

function goesOn(): boolean {
  return !hangs && problems.length < MOST_PROBLEMS
}

function problem(what: string, ...attempts: readonly Attempt[]): void {
  if (problems.length < MOST_PROBLEMS) problems.push([what, ...attempts.map(shown)].join('\n  '))
}

function shown({ method, path, headers, body }: Attempt): string {
  return `${method} ${path} ${JSON.stringify(headers)} ${String(body).slice(0, 300)}`
}

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-fuzz-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const variables = { GUEST_SECRET: 'a secret of this test, of 32 bytes or more' }
const worker = edgeWorker(folder, variables)
console.log(`seed ${SEED}`)
const begun = performance.now()
for (let done = 0; done < BODIES && goesOn(); done += A_WORKERD) {
  const bodies = Math.min(A_WORKERD, BODIES - done)
  const edge = new BareWorkerd(folder, [worker])
  await edge.start()
  try {
    const lanes = Array.from({ length: LANES }, (_, index) => new Lane(edge.url, folder, SEED + done + index))
    await Promise.all(lanes.map((lane) => lane.run(Math.ceil(bodies / LANES))))
  } catch (error) {
    if (!hangs) throw error
  } finally {
    await edge.kill()
  }
  rmSync(join(folder, 'objects'), { recursive: true, force: true })
  mkdirSync(join(folder, 'objects'))
  const rate = Math.round((sent / (performance.now() - begun)) * 1000)
  console.log(`${done + bodies} bodies, ${sent} requests, ${rate} a second`)
}
const counts = [...statuses]
  .sort(([one], [other]) => one - other)
  .map(([status, count]) => `${status}: ${count}`)
console.log(`statuses ${counts.join(', ')}`)
console.log(`slowest: ${Math.round(slowest.ms)} ms, ${slowest.attempt}`)
for (const one of problems) console.error(`\n${one}`)
process.exitCode = problems.length > 0 ? 1 : 0
