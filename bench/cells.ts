import { type ChildProcess, fork } from 'node:child_process'
import type { Fill, Order, Report, Samples } from './cell.ts'

/** A cell is stopped when its calls have taken this long. */
export const CELL_LIMIT_MS = 20_000
export const CUT_OFF = `cut off at ${CELL_LIMIT_MS / 1_000} s`

/** Making the history is no part of a cell's time, and has a limit of its own. */
const FILL_LIMIT_MS = 600_000

const HEAP_MIB = 10_240
const TIMEOUT = 'out of time'

/** The parent's hold on one running cell. */
export class Cell {
  readonly name: string
  readonly size: number
  readonly fill: Fill
  readonly stepNames: readonly string[]
  readonly coldName: string | undefined
  readonly samples: Samples = { steps: [], appends: [], cold: [], messages: [], tokens: [] }
  /** The first calls; they count only where no others came. */
  #warmUp: Samples | undefined
  #child: ChildProcess
  #usedMs = 0
  /** Why it stopped before its time. */
  stopped: string | undefined

  private constructor(name: string, size: number, child: ChildProcess, ready: Report & { kind: 'ready' }) {
    this.name = name
    this.size = size
    this.#child = child
    this.fill = ready.fill
    this.stepNames = ready.steps
    this.coldName = ready.cold
  }

  /** Starts the process and fills its history; rejects with the reason when that fails. */
  static async start(name: string, size: number): Promise<Cell> {
    const child = fork(new URL('cell.ts', import.meta.url), [name, String(size)], {
      execArgv: ['--expose-gc', `--max-old-space-size=${HEAP_MIB}`],
      serialization: 'advanced',
      // What a peer prints must not end up in the report.
      stdio: ['ignore', 2, 2, 'ipc'],
    })
    const report = await answer(child, FILL_LIMIT_MS)
    if (typeof report !== 'string' && report.kind === 'ready') return new Cell(name, size, child, report)
    child.kill('SIGKILL')
    throw new Error(`no history of ${size} messages: ${typeof report === 'string' ? report : report.kind}`)
  }

  async warmUp(ms: number): Promise<void> {
    this.#warmUp = await this.#order({ run: ms })
  }

  async run(ms: number): Promise<void> {
    this.#keep(await this.#order({ run: ms }))
  }

  async runCold(ms: number): Promise<void> {
    if (this.coldName) this.#keep(await this.#order({ cold: ms }))
  }

  /** Ends the process. */
  end(): void {
    if (this.samples.appends.length === 0) this.#keep(this.#warmUp)
    this.#child.kill('SIGKILL')
  }

  async #order(order: Order): Promise<Samples | undefined> {
    if (this.stopped) return undefined
    const begin = performance.now()
    const waiting = answer(this.#child, Math.max(0, CELL_LIMIT_MS - this.#usedMs))
    this.#child.send(order)
    const report = await waiting
    this.#usedMs += performance.now() - begin
    if (typeof report !== 'string') return report.kind === 'samples' ? report : undefined
    this.stopped = report === TIMEOUT ? CUT_OFF : report
    this.#child.kill('SIGKILL')
    return undefined
  }

  #keep(more: Samples | undefined): void {
    if (!more) return
    const { samples } = this
    for (const key of ['appends', 'cold', 'messages', 'tokens'] as const) samples[key].push(...more[key])
    for (const [index, times] of more.steps.entries()) {
      samples.steps[index] ??= []
      samples.steps[index].push(...times)
    }
  }
}

/** The child's next report, or why there is none. */
function answer(child: ChildProcess, ms: number): Promise<Report | string> {
  return new Promise((resolve) => {
    const done = (result: Report | string) => {
      clearTimeout(timer)
      child.off('message', onMessage).off('exit', onExit)
      resolve(result)
    }
    const onMessage = (message: unknown) => done(message as Report)
    const onExit = (code: number | null, signal: string | null) => done(`process ended (${signal ?? code})`)
    const timer = setTimeout(done, ms, TIMEOUT)
    child.on('message', onMessage).on('exit', onExit)
  })
}
