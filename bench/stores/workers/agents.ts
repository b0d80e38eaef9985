/**
 * Cloudflare's own `agents/sessions`: a call appends the two messages and reads the last 40, newest
 * first, which is its read that does not grow with the log. With the variable `COMPACT_AFTER`,
 * automatic compaction is armed and never due.
 */
import { DurableObject } from 'cloudflare:workers'
import { Lifecycle } from 'agents/lifecycle'
import { type SessionMessage, Sessions } from 'agents/sessions'
import { EXCHANGE_BYTES, type Fill, LAST } from '../edge-orders.ts'
import { exchangeAt, type PlainMessage } from '../messages.ts'
import { answer } from './fill.ts'

interface Env {
  readonly LOGS: DurableObjectNamespace<AgentsLog>
  readonly COMPACT_AFTER?: string
}

export class AgentsLog extends DurableObject<Env> {
  readonly #sessions = new Sessions()
  readonly #lifecycle = Lifecycle.install(this).use(this.#sessions)
  readonly #session = this.#sessions.session()
  #last: string | null = null

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    if (env.COMPACT_AFTER !== undefined)
      this.#session.onCompaction(async () => null).compactAfter(Number(env.COMPACT_AFTER))
  }

  async call(messages: readonly PlainMessage[]): Promise<string> {
    for (const message of messages) await this.#session.appendMessage(sessionMessage(message))
    const last: SessionMessage[] = []
    for await (const message of this.#session.history({ newestFirst: true })) {
      last.push(message)
      if (last.length === LAST) break
    }
    return JSON.stringify(last.reverse())
  }

  async fill({ from, to }: Fill): Promise<void> {
    await this.#lifecycle.start()
    for (let at = from; at < to; at++)
      for (const message of exchangeAt(at, EXCHANGE_BYTES)) {
        const imported = sessionMessage(message)
        await this.#session.importMessage(imported, { parentId: this.#last, createdAt: Date.now() })
        this.#last = imported.id
      }
  }
}

function sessionMessage({ role, content }: PlainMessage): SessionMessage {
  return { id: crypto.randomUUID(), role, parts: [{ type: 'text', text: content }] }
}

export default {
  fetch: (request: Request, env: Env): Promise<Response> =>
    answer(request, (name) => env.LOGS.getByName(name)),
}
