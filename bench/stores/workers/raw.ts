/**
 * The least that a call at the edge can be: two rows into SQLite, the last 40 out of it, without
 * ids, roles or budget.
 */
import { DurableObject } from 'cloudflare:workers'
import { EXCHANGE_BYTES, type Fill, LAST } from '../edge-orders.ts'
import { exchangeAt, type PlainMessage } from '../messages.ts'
import { answer } from './fill.ts'

interface Env {
  readonly LOGS: DurableObjectNamespace<RawLog>
}

export class RawLog extends DurableObject<Env> {
  readonly #sql = this.ctx.storage.sql

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.#sql.exec(
      'CREATE TABLE IF NOT EXISTS message (seq INTEGER PRIMARY KEY, role TEXT NOT NULL, content TEXT NOT NULL)',
    )
  }

  /** Text, since objects cross to the worker more slowly. */
  call(messages: readonly PlainMessage[]): string {
    this.#append(messages)
    const rows = this.#sql.exec('SELECT seq, role, content FROM message ORDER BY seq DESC LIMIT ?', LAST)
    return JSON.stringify(rows.toArray().reverse())
  }

  fill({ from, to }: Fill): void {
    this.ctx.storage.transactionSync(() => {
      for (let at = from; at < to; at++) this.#append(exchangeAt(at, EXCHANGE_BYTES))
    })
  }

  #append(messages: readonly PlainMessage[]): void {
    for (const { role, content } of messages)
      this.#sql.exec('INSERT INTO message (role, content) VALUES (?, ?)', role, content)
  }
}

export default {
  fetch: (request: Request, env: Env): Promise<Response> =>
    answer(request, (name) => env.LOGS.getByName(name)),
}
