/**
 * The stores at the edge: one bare workerd with the edge as it is, a raw worker and Cloudflare's own sessions, each in objects of
 * its own on one disk, asked in turns by one client in another process.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { rmSync } from 'node:fs'
import { BareWorkerd } from '../../test/kill/bare-workerd.ts'
import { median, round } from '../stats.ts'
import { cpuTime } from './cpu-time.ts'
import { type Counts, EXCHANGE_BYTES, type Fill } from './edge-orders.ts'
import { BUDGET, COMPACTING, COUNTED, type EdgeSubject, edgeSubjects, OURS, RAW } from './edge-workers.ts'
import type { Load, LoadOrder } from './load-client.ts'
import { exchangeAt } from './messages.ts'
import { temporaryFolder } from './temporary.ts'
import { commitsBetween, walCommits } from './wal.ts'

export interface EdgePlan {
  /** Messages in the log, in ascending order. */
  readonly sizes: readonly number[]
  readonly connections: readonly number[]
  readonly rounds: number
  readonly roundMs: number
  /** API calls that are counted. */
  readonly counted: number
}

/** One subject at a size and a number of connections: medians over the rounds. */
export interface EdgeRow {
  readonly subject: string
  readonly messages: number
  /** The log's longest, since calls append. */
  readonly grownTo: number
  readonly connections: number
  readonly calls: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Mean size of an answer. */
  readonly answerKiB: number
  /** CPU time of workerd for one call, which depends less than the others on what else the machine does. */
  readonly cpuMicroseconds?: number
}

export interface EdgeFill {
  readonly subject: string
  readonly messages: number
  readonly seconds: number
}

/** What one API call does inside the object, over some calls in a row. */
export interface EdgeCounts {
  readonly messages: number
  readonly apiCalls: number
  readonly objectCalls: number
  /** To SQLite's write-ahead log. */
  readonly commits: number
  readonly mostCommits: number
  /** API calls with a transaction of more than one statement inside their one commit: the mark of an epoch that began. */
  readonly beganEpochs: number
  /** Medians and most of a call, by SQLite's own count; writes include those of indexes. */
  readonly rowsRead: readonly [number, number]
  readonly rowsWritten: readonly [number, number]
  /** Mean of the messages that the context shows. */
  readonly shows: number
}

export interface EdgeReport {
  readonly durability: string
  readonly budgetTokens: number
  readonly subjects: readonly { readonly name: string; readonly call: string }[]
  readonly rows: readonly EdgeRow[]
  readonly fills: readonly EdgeFill[]
  readonly counts: readonly EdgeCounts[]
}

const DURABILITY = 'an answer waits for the commit to the SQLite file (output gate)'
/** Above this a session is filled once and goes on through all rounds; below, each round has one of its own. */
const FILLED_ONCE = 12_000
/** Theirs takes what it takes: 100 000 messages show it. */
const MOST_FOR_AGENTS = 100_000
/** A call takes a tenth of a second, so that more connections would only wait. */
const ONE_CONNECTION = 1
/** Exchanges that one request fills in. */
const FILL_BATCH = 10_000
const WARM_UP_CALLS = 8
/** At first, so that no subject is the one that finds everything cold. */
const FIRST_WARM_UP_MS = 400

export async function measureEdge(plan: EdgePlan, progress: (line: string) => void): Promise<EdgeReport> {
  const folder = temporaryFolder()
  const subjects = await edgeSubjects(folder)
  const workerd = new BareWorkerd(
    folder,
    subjects.map(({ worker }) => worker),
  )
  // Before the folder goes, which it would write to.
  process.prependOnceListener('exit', () => void workerd.kill())
  const client = new Client()
  try {
    await workerd.start()
    const cells = cellsOf(subjects, plan)
    const fills = await fillAll(cells, plan, progress)
    await takeTurns(cells, client, workerd, plan, progress)
    const counted = subjects.find(({ name }) => name === COUNTED) as EdgeSubject
    progress('edge: counting')
    const counts: EdgeCounts[] = []
    for (const messages of plan.sizes.filter((size) => size <= MOST_FOR_AGENTS))
      counts.push(await count(counted, workerd.objects(counted.worker.uniqueKey), messages, plan.counted))
    return {
      durability: DURABILITY,
      budgetTokens: BUDGET,
      subjects: subjects.map(({ name, call }) => ({ name, call })),
      rows: cells.flatMap((cell) => cell.rows()),
      fills,
      counts,
    }
  } finally {
    client.end()
    await workerd.kill()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** One subject at one size. */
class Cell {
  readonly subject: EdgeSubject
  readonly size: number
  readonly #loads = new Map<number, (Load & { readonly cpu?: number })[]>()
  readonly #sent = new Map<string, number>()

  constructor(subject: EdgeSubject, size: number) {
    this.subject = subject
    this.size = size
  }

  session(lap: number): string {
    return this.size > FILLED_ONCE ? `log-${this.size}` : `log-${this.size}-${lap}`
  }

  async run(
    client: Client,
    workerd: BareWorkerd,
    lap: number,
    connections: number,
    ms: number,
  ): Promise<void> {
    const session = this.session(lap)
    const before = cpuTime(workerd.pid)
    const load = await client.run({
      port: this.subject.worker.port,
      session,
      connections,
      ms,
      warmUp: Math.ceil(WARM_UP_CALLS / connections),
    })
    const after = cpuTime(workerd.pid)
    const cpu =
      before === undefined || after === undefined ? {} : { cpu: ((after - before) * 1_000) / load.sent }
    this.#loads.set(connections, [...(this.#loads.get(connections) ?? []), { ...load, ...cpu }])
    this.#sent.set(session, (this.#sent.get(session) ?? 0) + load.sent)
  }

  rows(): EdgeRow[] {
    const grownTo = this.size + 2 * Math.max(...this.#sent.values())
    return Array.from(this.#loads, ([connections, loads]) => {
      const middle = (key: keyof Load) => round(median(loads.map((load) => load[key])), 4)
      return {
        subject: this.subject.name,
        messages: this.size,
        grownTo,
        connections,
        calls: loads.reduce((sum, { calls }) => sum + calls, 0),
        perSecond: middle('perSecond'),
        p50Ms: middle('p50'),
        p99Ms: middle('p99'),
        answerKiB: round(middle('bytes') / 1024),
        ...(loads.every(({ cpu }) => cpu !== undefined) && {
          cpuMicroseconds: round(median(loads.flatMap(({ cpu }) => cpu ?? []))),
        }),
      }
    })
  }
}

function cellsOf(subjects: readonly EdgeSubject[], { sizes }: EdgePlan): Cell[] {
  const most = (name: string): number =>
    name === COUNTED ? 0 : name === OURS || name === RAW ? Number.POSITIVE_INFINITY : MOST_FOR_AGENTS
  return sizes.flatMap((size) =>
    subjects.filter(({ name }) => size <= most(name)).map((subject) => new Cell(subject, size)),
  )
}

async function fillAll(
  cells: readonly Cell[],
  { rounds }: EdgePlan,
  progress: (line: string) => void,
): Promise<EdgeFill[]> {
  const fills: EdgeFill[] = []
  for (const cell of cells) {
    const { subject, size } = cell
    const sessions = new Set(Array.from({ length: rounds }, (_, lap) => cell.session(lap)))
    const start = performance.now()
    for (const session of sessions) await fill(subject, session, size)
    const seconds = round((performance.now() - start) / 1_000 / sessions.size)
    fills.push({ subject: subject.name, messages: size, seconds })
    progress(`edge: ${size} messages in ${subject.name}, ${seconds} s`)
  }
  return fills
}

async function fill({ worker: { port } }: EdgeSubject, session: string, messages: number): Promise<void> {
  const exchanges = messages / 2
  for (let from = 0; from < exchanges; from += FILL_BATCH) {
    const order: Fill = { from, to: Math.min(exchanges, from + FILL_BATCH) }
    const answer = await fetch(`http://127.0.0.1:${port}/${session}`, {
      method: 'PUT',
      body: JSON.stringify(order),
    })
    if (!answer.ok) throw new Error(`could not fill ${session}: ${await answer.text()}`)
  }
}

/** Round after round, all cells in turns, so that a slow minute of the machine hits them all. */
async function takeTurns(
  cells: readonly Cell[],
  client: Client,
  workerd: BareWorkerd,
  { connections, rounds, roundMs, sizes }: EdgePlan,
  progress: (line: string) => void,
): Promise<void> {
  for (const { subject, size } of cells) {
    if (size !== sizes[0]) continue
    const session = 'warm-up'
    await client.run({ port: subject.worker.port, session, connections: 1, ms: FIRST_WARM_UP_MS, warmUp: 1 })
  }
  for (let lap = 0; lap < rounds; lap++) {
    progress(`edge: round ${lap + 1} of ${rounds}`)
    for (const open of connections) {
      // Each begins at another place, so that nobody always comes after the same one.
      const turns = cells.map((_, index) => cells[(index + lap) % cells.length] as Cell)
      for (const cell of turns) {
        if (cell.subject.name === COMPACTING && open > ONE_CONNECTION) continue
        await cell.run(client, workerd, lap, open, roundMs)
      }
    }
  }
}

async function count(
  subject: EdgeSubject,
  objects: string,
  messages: number,
  calls: number,
): Promise<EdgeCounts> {
  const session = `counted-${messages}`
  const at = `http://127.0.0.1:${subject.worker.port}`
  await fill(subject, session, messages)
  let number = messages
  const post = async (): Promise<number> => {
    const body = JSON.stringify({ messages: exchangeAt(number++, EXCHANGE_BYTES) })
    const answer = await fetch(`${at}/v1/sessions/${session}/context`, { method: 'POST', body })
    const { blocks } = (await answer.json()) as { blocks: unknown[] }
    return blocks.length
  }
  const take = async (): Promise<Counts> => (await fetch(`${at}/${session}`)).json() as Promise<Counts>
  await post()
  await take()
  const counts: Counts[] = []
  const shown: number[] = []
  const commits: number[] = []
  for (let made = 0; made < calls; made++) {
    const before = walCommits(objects)
    shown.push(await post())
    commits.push(commitsBetween(before, walCommits(objects)))
    counts.push(await take())
  }
  const middleAndMost = (key: keyof Counts): [number, number] => {
    const values = counts.map((one) => one[key])
    return [median(values), Math.max(...values)]
  }
  return {
    messages,
    apiCalls: calls,
    objectCalls: counts.reduce((sum, one) => sum + one.calls, 0),
    commits: commits.reduce((sum, made) => sum + made, 0),
    mostCommits: Math.max(...commits),
    beganEpochs: counts.filter(({ transactions }) => transactions > 0).length,
    rowsRead: middleAndMost('rowsRead'),
    rowsWritten: middleAndMost('rowsWritten'),
    shows: round(shown.reduce((sum, blocks) => sum + blocks, 0) / calls),
  }
}

/** The hold on the client's process. */
class Client {
  readonly #child: ChildProcess

  constructor() {
    this.#child = fork(new URL('load-client.ts', import.meta.url), [], { stdio: ['ignore', 2, 2, 'ipc'] })
  }

  run(order: LoadOrder): Promise<Load> {
    return new Promise((resolve, reject) => {
      this.#child.once('message', (answer: Load | { readonly error: string }) => {
        if ('error' in answer) reject(new Error(`${order.session} on port ${order.port}: ${answer.error}`))
        else resolve(answer)
      })
      this.#child.send(order)
    })
  }

  end(): void {
    this.#child.disconnect()
  }
}
