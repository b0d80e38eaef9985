/**
 * CPU time of calls of this checkout's edge beside that of another one, and of an encrypted edge
 * beside a plain one. Each is in a workerd of its own and calls alternate in short rounds, so that
 * what else the machine does meets all of them alike.
 */
import { mkdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { BareWorkerd, SESSIONS, USERS } from '../../test/kill/bare-workerd.ts'
import type { BenchOptions, BenchReport } from '../bench.ts'
import { machine, machineLine } from '../machine.ts'
import { median, quantile, round } from '../stats.ts'
import { cpuTime } from '../stores/cpu-time.ts'
import { BUDGET, bundleWorkers } from '../stores/edge-workers.ts'
import { temporaryFolder } from '../stores/temporary.ts'
import { type Goal, goalTable, table } from '../table.ts'
import { FakeModel } from './fake-model.ts'
import { AFTER_MS, KINDS, makeCall } from './kinds.ts'
import { fillByApi } from './subjects.ts'

interface Plan {
  /** Processes of each edge, one after the other: one may be slower than the next by some 3 %. */
  readonly starts: number
  /** Rounds that are not counted: code that runs often is compiled again. */
  readonly warmUp: number
  /** Of each process. */
  readonly rounds: number
  readonly callsARound: number
}

const FULL: Plan = { starts: 4, warmUp: 14, rounds: 42, callsARound: 16 }
const QUICK: Plan = { starts: 1, warmUp: 14, rounds: 21, callsARound: 16 }
/** Messages in a session at first. */
const MESSAGES = 400
/** Rounds that a session serves: of facts it takes 120 an hour. */
const ROUNDS_A_SESSION = 7
const MOST_OF_OTHER = 1.03
const MOST_OF_PLAIN = 1.5
const PACKAGES = ['workerd']
const KEY = 'a-secret-of-the-bench-of-32-bytes-or-more'

/** Lower quartile, median, upper quartile. */
type Quartiles = readonly [number, number, number]

interface AgainstRow {
  readonly call: string
  /** Microseconds of CPU time for one call. */
  readonly other: Quartiles
  readonly own: Quartiles
  readonly encrypted: Quartiles
  /** Of the pairs of a round each. */
  readonly ofOther: Quartiles
  readonly encryptedOfPlain: Quartiles
}

export async function measureAgainst(
  against: string,
  { quick, progress }: Pick<BenchOptions, 'quick' | 'progress'>,
): Promise<BenchReport> {
  const plan = quick ? QUICK : FULL
  const folder = temporaryFolder()
  const model = new FakeModel()
  await model.start()
  const own = fileURLToPath(new URL('../..', import.meta.url))
  const edges = [
    new Edge(folder, 'other', resolve(against), model.url),
    new Edge(folder, 'own', own, model.url),
    new Edge(folder, 'encrypted', own, model.url, { MEMORY_KEY: KEY }),
  ] as const
  process.prependOnceListener('exit', () => {
    for (const edge of edges) void edge.end()
  })
  try {
    for (const edge of edges) await edge.bundle()
    const laps = plan.warmUp + plan.rounds
    for (let lap = 0; lap < plan.starts * laps; lap++) {
      progress(`edge: round ${lap + 1} of ${plan.starts * laps}`)
      if (lap % laps === 0) for (const edge of edges) await edge.restart()
      for (const [index, kind] of KINDS.entries()) {
        const session = `s${index}-${Math.floor(lap / ROUNDS_A_SESSION)}`
        if (lap % ROUNDS_A_SESSION === 0)
          for (const edge of edges) await fillByApi(edge.url, {}, session, MESSAGES)
        // Each begins at another place, so that none always comes after the same one.
        for (const place of edges.keys()) {
          const edge = edges[(place + lap) % edges.length] as Edge
          const cpu = await edge.cpuOf(async () => {
            for (let made = 0; made < plan.callsARound; made++)
              await makeCall(edge.url, kind, session, lap * plan.callsARound + made)
          })
          if (lap % laps >= plan.warmUp) edge.note(kind.call, (cpu * 1_000) / plan.callsARound)
        }
      }
    }
  } finally {
    for (const edge of edges) await edge.end()
    model.close()
    rmSync(folder, { recursive: true, force: true })
  }
  const [other, plain, encrypted] = edges
  const rows = KINDS.map(({ call }): AgainstRow => {
    const [before, now, sealed] = [other.noted(call), plain.noted(call), encrypted.noted(call)]
    return {
      call,
      other: quartiles(before),
      own: quartiles(now),
      encrypted: quartiles(sealed),
      ofOther: quartiles(quotients(now, before)),
      encryptedOfPlain: quartiles(quotients(sealed, now)),
    }
  })
  const report = {
    bench: 'edge',
    machine: machine(PACKAGES),
    rounds: plan.starts * plan.rounds,
    starts: plan.starts,
    callsARound: plan.callsARound,
    rows,
    goals: rows.flatMap(goalsOf),
  }
  return { json: report, text: text(report) }
}

/** A checkout's edge, in a process of its own. */
class Edge {
  readonly #folder: string
  readonly #checkout: string
  readonly #workerd: BareWorkerd
  readonly #noted = new Map<string, number[]>()

  constructor(
    folder: string,
    name: string,
    checkout: string,
    modelUrl: string,
    variables: Readonly<Record<string, string>> = {},
  ) {
    this.#folder = join(folder, name)
    this.#checkout = checkout
    mkdirSync(this.#folder)
    const shared = { AUTH: 'development', BUDGET: `${BUDGET}`, MODEL_BASE_URL: modelUrl, MODEL_ID: 'bench' }
    this.#workerd = new BareWorkerd(this.#folder, [
      {
        name: 'main',
        module: 'index.js',
        ...SESSIONS,
        others: [USERS],
        variables: { ...shared, ...variables },
      },
    ])
  }

  get url(): string {
    return this.#workerd.url
  }

  async bundle(): Promise<void> {
    await bundleWorkers(this.#folder, [pathToFileURL(join(this.#checkout, 'worker/index.ts'))])
  }

  async restart(): Promise<void> {
    await this.#workerd.kill()
    await this.#workerd.start()
  }

  end(): Promise<void> {
    return this.#workerd.kill()
  }

  /** Milliseconds of CPU time, with what goes on after the last answer. */
  async cpuOf(run: () => Promise<void>): Promise<number> {
    const before = cpuTime(this.#workerd.pid)
    await run()
    await pause(AFTER_MS)
    const after = cpuTime(this.#workerd.pid)
    if (before === undefined || after === undefined)
      throw new Error('This system does not tell the CPU time of a process.')
    return after - before
  }

  note(call: string, microseconds: number): void {
    this.#noted.set(call, [...this.noted(call), microseconds])
  }

  noted(call: string): readonly number[] {
    return this.#noted.get(call) ?? []
  }
}

const quartiles = (samples: readonly number[]): Quartiles => [
  round(quantile(samples, 0.25)),
  round(median(samples)),
  round(quantile(samples, 0.75)),
]

const quotients = (own: readonly number[], other: readonly number[]): number[] =>
  own.map((value, index) => value / (other[index] ?? Number.NaN))

function goalsOf({ call, ofOther, encryptedOfPlain }: AgainstRow): Goal[] {
  const goal = (name: string, measured: number, most: number): Goal => ({
    goal: `${call}, ${name}: at most ${most}`,
    measured: `${measured}`,
    holds: measured <= most,
  })
  return [
    goal('of the other checkout', ofOther[1], MOST_OF_OTHER),
    goal('encrypted, of plain', encryptedOfPlain[1], MOST_OF_PLAIN),
  ]
}

function text(report: {
  readonly machine: ReturnType<typeof machine>
  readonly rounds: number
  readonly starts: number
  readonly callsARound: number
  readonly rows: readonly AgainstRow[]
  readonly goals: readonly Goal[]
}): string {
  const shown = ([low, middle, high]: Quartiles): string => `${middle} (${low} to ${high})`
  const head = ['', 'other, us', 'own, us', 'encrypted, us', 'of other', 'encrypted of plain']
  const lines = report.rows.map(({ call, other, own, encrypted, ofOther, encryptedOfPlain }) => [
    call,
    ...[other, own, encrypted, ofOther, encryptedOfPlain].map(shown),
  ])
  const { rounds, starts, callsARound } = report
  return [
    machineLine(report.machine),
    `CPU time of workerd a call: medians and quartiles of ${rounds} rounds of ${callsARound} calls, ${starts} processes\n${table([head, ...lines])}`,
    `Goals\n${goalTable(report.goals)}`,
  ].join('\n')
}
