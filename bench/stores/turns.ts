/** Calls of some workers in one workerd, in turns, by one client in another process. */
import { type ChildProcess, fork } from 'node:child_process'
import type { BareWorkerd } from '../../test/kill/bare-workerd.ts'
import { median, round } from '../stats.ts'
import { cpuTime } from './cpu-time.ts'
import type { Fill } from './edge-orders.ts'
import type { Load, LoadOrder } from './load-client.ts'

/** Something that is called. */
export interface TurnSubject {
  readonly name: string
  readonly port: number
  /** Of each call. Default: none but what HTTP needs. */
  readonly headers?: Readonly<Record<string, string>>
  /** Longest log that it is measured at, in messages. Default: any. */
  readonly mostMessages?: number
  /** Default: any. */
  readonly mostConnections?: number
  /** Contract: a session with so many messages is there when it resolves. */
  readonly fill: (session: string, messages: number) => Promise<void>
}

export interface TurnPlan {
  /** Messages in the log, in ascending order. */
  readonly sizes: readonly number[]
  readonly connections: readonly number[]
  readonly rounds: number
  readonly roundMs: number
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
  /**
   * CPU time of workerd for one call, which depends less than the others on what else the machine
   * does.
   */
  readonly cpuMicroseconds?: number
}

export interface EdgeFill {
  readonly subject: string
  readonly messages: number
  readonly seconds: number
}

/**
 * Above this a session is filled once and goes on through all rounds; below, each round has one of
 * its own.
 */
const FILLED_ONCE = 12_000
/** Exchanges that one request fills in. */
const FILL_BATCH = 10_000
const WARM_UP_CALLS = 8
/**
 * At first, so that no subject is the one that finds everything cold. So many calls, and not so
 * long: on a slow machine compilers would be at work in the rounds.
 */
const FIRST_WARM_UP_CALLS = 400

/**
 * Fills logs and calls their subjects, round after round, all cells in turns, so that a slow minute
 * of the machine hits them all.
 */
export async function takeTurns(
  subjects: readonly TurnSubject[],
  workerd: BareWorkerd,
  plan: TurnPlan,
  progress: (line: string) => void,
): Promise<{ readonly rows: EdgeRow[]; readonly fills: EdgeFill[] }> {
  const { connections, rounds, roundMs, sizes } = plan
  const cells = sizes.flatMap((size) =>
    subjects
      .filter(({ mostMessages = size }) => size <= mostMessages)
      .map((subject) => new Cell(subject, size)),
  )
  const client = new Client()
  try {
    const fills = await fillAll(cells, plan, progress)
    for (const { port, headers, fill } of subjects) {
      const session = 'warm-up'
      await fill(session, 0)
      await client.run({
        port,
        session,
        connections: 1,
        ms: 1,
        warmUp: FIRST_WARM_UP_CALLS,
        ...(headers && { headers }),
      })
    }
    for (let lap = 0; lap < rounds; lap++) {
      progress(`edge: round ${lap + 1} of ${rounds}`)
      for (const open of connections) {
        // Each begins at another place, so that nobody always comes after the same one.
        const turns = cells.map((_, index) => cells[(index + lap) % cells.length] as Cell)
        for (const cell of turns)
          if (open <= (cell.subject.mostConnections ?? open))
            await cell.run(client, workerd, lap, open, roundMs)
      }
    }
    return { rows: cells.flatMap((cell) => cell.rows()), fills }
  } finally {
    client.end()
  }
}

/** Fills a log of a worker of the bench's own, which a `PUT` tells to do it. */
export async function fillByOrder(port: number, session: string, messages: number): Promise<void> {
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

/** One subject at one size. */
class Cell {
  readonly subject: TurnSubject
  readonly size: number
  readonly #loads = new Map<number, (Load & { readonly cpu?: number })[]>()
  readonly #sent = new Map<string, number>()

  constructor(subject: TurnSubject, size: number) {
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
    const { port, headers } = this.subject
    const before = cpuTime(workerd.pid)
    const load = await client.run({
      port,
      session,
      connections,
      ms,
      warmUp: Math.ceil(WARM_UP_CALLS / connections),
      ...(headers && { headers }),
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

async function fillAll(
  cells: readonly Cell[],
  { rounds }: TurnPlan,
  progress: (line: string) => void,
): Promise<EdgeFill[]> {
  const fills: EdgeFill[] = []
  for (const cell of cells) {
    const { subject, size } = cell
    const sessions = new Set(Array.from({ length: rounds }, (_, lap) => cell.session(lap)))
    const start = performance.now()
    for (const session of sessions) await subject.fill(session, size)
    const seconds = round((performance.now() - start) / 1_000 / sessions.size)
    fills.push({ subject: subject.name, messages: size, seconds })
    progress(`edge: ${size} messages in ${subject.name}, ${seconds} s`)
  }
  return fills
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
