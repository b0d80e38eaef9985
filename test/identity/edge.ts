import type { MessageInput } from '../../src/index.ts'
import { fromWire, type Problem, toWire } from '../../src/ports/wire.ts'
import { EdgeProcess } from '../e2e/support/edge-process.ts'
import { tokenOf } from '../e2e/support/token.ts'
import type { Replay } from './steps.ts'

/** What a request may have, less room for what is around the messages. */
const MOST_BYTES = 2 ** 20 - 2 ** 16
const MOST_MESSAGES = 100

/**
 * The worker in `wrangler dev`, over HTTP. Its budget and system text are those with which it was
 * started.
 */
export class EdgeSide {
  readonly #process: EdgeProcess

  private constructor(process: EdgeProcess) {
    this.#process = process
  }

  /** @param origin of a page that is to reach it */
  static async start({
    budget,
    system,
    origin,
  }: {
    readonly budget: number
    readonly system: string | undefined
    readonly origin?: string
  }): Promise<EdgeSide> {
    const variables = {
      BUDGET: `${budget}`,
      ...(system !== undefined && { SYSTEM: system }),
      ...(origin !== undefined && { ORIGINS: origin }),
    }
    return new EdgeSide(await EdgeProcess.start(variables))
  }

  get url(): string {
    return this.#process.url
  }

  /** A session of somebody's: writes to it, and gives its contexts. */
  async session(sessionId: string) {
    const token = await tokenOf(sessionId, 'identity')
    await this.#post(token, '/v1/sessions', { sessionId })
    const path = `/v1/sessions/${encodeURIComponent(sessionId)}`
    return {
      token,
      append: async (messages: readonly MessageInput[]) => {
        for (const message of messages) await this.#post(token, `${path}/messages`, { messages: [message] })
      },
      context: (options: object) => this.#post(token, `${path}/context`, options),
    }
  }

  /**
   * One request a call, with all that was written since the one before; contexts in the library's
   * own names, as the browser has them.
   *
   * @param onSecret given what the session's hashes are keyed by, once there is something
   */
  async contextsOf(
    { sessionId, steps }: Replay,
    onSecret: (secret: string | undefined) => void,
  ): Promise<readonly string[]> {
    const token = await tokenOf(sessionId, 'identity')
    await this.#post(token, '/v1/sessions', { sessionId })
    const path = `/v1/sessions/${encodeURIComponent(sessionId)}`
    const answers: string[] = []
    let secret: string | undefined
    for (const { messages, options } of steps) {
      const isOne = messages.length <= MOST_MESSAGES && sizeOf(messages) <= MOST_BYTES
      if (!isOne)
        for (const message of messages) await this.#post(token, `${path}/messages`, { messages: [message] })
      const body = isOne && messages.length > 0 ? { messages, ...options } : options
      answers.push(await this.#post(token, `${path}/context`, body))
      secret ??= await this.#secretOf(token)
      if (secret !== undefined) onSecret(secret)
    }
    onSecret(secret)
    return answers
  }

  /** It travels with an export, as it would to another device. */
  async #secretOf(token: string): Promise<string | undefined> {
    const response = await fetch(`${this.#process.url}/v1/me/export`, {
      headers: { Authorization: `Bearer ${token}` },
    })
    return /"key":"secret".*"value":"([0-9a-f]{64})"/.exec(await response.text())?.[1]
  }

  stop(): Promise<void> {
    return this.#process.stop()
  }

  /** The answer as JSON in the library's own names; of a refusal, its code and message. */
  async #post(token: string, path: string, body: object): Promise<string> {
    const response = await fetch(this.#process.url + path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
      body: JSON.stringify(toWire(body)),
    })
    const answered = fromWire(await response.json())
    if (response.ok) return JSON.stringify(answered)
    const { code, detail } = answered as Problem
    return JSON.stringify({ code, message: detail })
  }
}

function sizeOf(messages: readonly MessageInput[]): number {
  return Buffer.byteLength(JSON.stringify(toWire(messages)))
}
