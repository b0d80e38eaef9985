import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Started, start } from '../started.ts'
import type { Replay } from './steps.ts'

/** The worker in `wrangler dev`, over HTTP. Its budget and system text are those with which it was started. */
export class EdgeSide {
  readonly #worker: Started
  readonly #folder: string

  private constructor(worker: Started, folder: string) {
    this.#worker = worker
    this.#folder = folder
  }

  static async start({ budget, system }: { budget: number; system: string | undefined }): Promise<EdgeSide> {
    const folder = mkdtempSync(join(tmpdir(), 'plimsoll-edge-'))
    const args = ['dev', '--ip', '127.0.0.1', '--port', '0', '--inspector-port', '0', '--persist-to', folder]
    const vars = [`BUDGET:${budget}`, ...(system === undefined ? [] : [`SYSTEM:${system}`])]
    const worker = await start(
      process.execPath,
      [
        'node_modules/wrangler/bin/wrangler.js',
        ...args,
        '--show-interactive-dev-session=false',
        ...vars.flatMap((value) => ['--var', value]),
      ],
      /Ready on (\S+)/,
      { WRANGLER_SEND_METRICS: 'false' },
    )
    return new EdgeSide(worker, folder)
  }

  /** One request a call, with all that was written since the one before. */
  async contextsOf({ sessionId, steps }: Replay): Promise<readonly string[]> {
    const url = `${this.#worker.found}/v1/sessions/${encodeURIComponent(sessionId)}/context`
    const answers: string[] = []
    for (const { messages, options } of steps) {
      const response = await fetch(url, { method: 'POST', body: JSON.stringify({ messages, ...options }) })
      answers.push(await response.text())
    }
    return answers
  }

  async stop(): Promise<void> {
    await this.#worker.stop()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
