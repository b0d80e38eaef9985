/** Workers that live until a test hangs in one. */
import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import type { Answer, Request } from './worker.ts'

/** What became of a test: an answer, or none. */
export type Outcome = Answer | 'time-out' | 'crash'

/** One worker after the other. */
export class Slot {
  readonly #env: NodeJS.ProcessEnv
  #child: ChildProcess | undefined

  constructor(env: NodeJS.ProcessEnv = {}) {
    this.#env = env
  }

  async ask(request: Request, timeoutMs: number): Promise<Outcome> {
    const child = this.#child ?? this.#start()
    const outcome = await new Promise<Outcome>((resolve) => {
      const timer = setTimeout(() => resolve('time-out'), timeoutMs)
      const end = (result: Outcome) => {
        clearTimeout(timer)
        child.removeAllListeners()
        resolve(result)
      }
      child.once('message', (answer: Answer) => end(answer))
      child.once('exit', () => end('crash'))
      child.send(request, (error) => error && end('crash'))
    })
    if (typeof outcome === 'string') this.close()
    return outcome
  }

  close(): void {
    this.#child?.removeAllListeners()
    this.#child?.on('error', () => {})
    this.#child?.kill('SIGKILL')
    this.#child = undefined
  }

  #start(): ChildProcess {
    this.#child = fork(join(import.meta.dirname, 'worker.ts'), {
      env: { ...process.env, ...this.#env },
      execArgv: ['--max-old-space-size=1500', '--disable-warning=ExperimentalWarning'],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    return this.#child
  }
}

/** Does the work of all items, as many at a time as there are slots. */
export async function inTurns<T>(
  slots: readonly Slot[],
  items: readonly T[],
  work: (slot: Slot, item: T) => Promise<void>,
): Promise<void> {
  const left = [...items]
  await Promise.all(
    slots.map(async (slot) => {
      for (let item = left.shift(); item !== undefined; item = left.shift()) await work(slot, item)
    }),
  )
}
