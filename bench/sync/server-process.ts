import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Held, Tally } from './orders.ts'

export type ServerOrder =
  /** What was counted since it was asked last. */
  | { readonly what: 'tally' }
  /** What a subject keeps under a name. */
  | { readonly what: 'held'; readonly path: string; readonly name: string }

/** The hold on the server's process. */
export class ServerProcess {
  readonly url: string
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, port: number) {
    this.#child = child
    this.url = `http://127.0.0.1:${port}`
  }

  /** @param script file with the page's script */
  static async start(folder: string, script: string): Promise<ServerProcess> {
    const child = fork(new URL('server.ts', import.meta.url), [folder, script], {
      // What a peer prints must not end up in the report.
      stdio: ['ignore', 2, 2, 'ipc'],
    })
    const failed = once(child, 'exit').then(() => {
      throw new Error('the server of the bench ended before it listened')
    })
    const [{ port }] = await Promise.race([once(child, 'message'), failed])
    failed.catch(() => {})
    return new ServerProcess(child, port)
  }

  tally(): Promise<Tally> {
    return this.#ask({ what: 'tally' })
  }

  held(path: string, name: string): Promise<Held> {
    return this.#ask({ what: 'held', path, name })
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.#child.disconnect()
    await ended
  }

  async #ask<Answer>(order: ServerOrder): Promise<Answer> {
    this.#child.send(order)
    const [{ answer, error }] = await once(this.#child, 'message')
    if (error !== undefined) throw new Error(`the server of the bench failed: ${error}`)
    return answer
  }
}
