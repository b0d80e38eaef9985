/** The edge as it is, with a way to fill a session and, in an object of its own, to count what a call does. */
import { durableObjectMemory } from '../../../src/durable-object.ts'
import type { Env } from '../../../worker/env.ts'
import app from '../../../worker/index.ts'
import { type ContextRequest, SessionObject } from '../../../worker/session-object.ts'
import { type Counts, EXCHANGE_BYTES, type Fill } from '../edge-orders.ts'
import { exchangeAt } from '../messages.ts'
import { answerFill, nameIn } from './fill.ts'

/** As in the edge. */
const USER = 'local'
const BATCH = 500

export class BenchSession extends SessionObject {
  async fill(sessionId: string, { from, to }: Fill): Promise<void> {
    const memory = durableObjectMemory(this.ctx, { budget: Number(this.env.BUDGET) })
    const session = memory.session({ userId: USER, sessionId })
    for (let at = from; at < to; at += BATCH) {
      const batch = Array.from({ length: Math.min(BATCH, to - at) }, (_, index) =>
        exchangeAt(at + index, EXCHANGE_BYTES),
      )
      await session.append(batch.flat())
    }
  }
}

/** Too slow to be timed. */
export class CountedSession extends BenchSession {
  readonly #counter: Counter
  #calls = 0

  constructor(ctx: DurableObjectState, env: Env) {
    const counter = new Counter(ctx.storage)
    Object.defineProperty(ctx, 'storage', { value: counter.storage })
    super(ctx, env)
    this.#counter = counter
  }

  override context(sessionId: string, request: ContextRequest): Promise<string> {
    this.#calls++
    return super.context(sessionId, request)
  }

  counts(): Counts {
    const counts = { calls: this.#calls, ...this.#counter.take() }
    this.#calls = 0
    return counts
  }
}

/** A storage that notes what is done through it. */
class Counter {
  readonly storage: DurableObjectStorage
  #cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = []
  #transactions = 0

  constructor(real: DurableObjectStorage) {
    const sql = {
      exec: (query: string, ...bindings: unknown[]) => {
        const cursor = real.sql.exec(query, ...bindings)
        this.#cursors.push(cursor)
        return cursor
      },
    }
    const transactionSync = <Result>(closure: () => Result): Result => {
      this.#transactions++
      return real.transactionSync(closure)
    }
    this.storage = { sql, transactionSync } as unknown as DurableObjectStorage
  }

  /** A cursor knows its counts only once it was read, so they are summed at the end. */
  take(): Omit<Counts, 'calls'> {
    const [cursors, transactions] = [this.#cursors, this.#transactions]
    this.#cursors = []
    this.#transactions = 0
    return {
      transactions,
      statements: cursors.length,
      rowsRead: cursors.reduce((sum, { rowsRead }) => sum + rowsRead, 0),
      rowsWritten: cursors.reduce((sum, { rowsWritten }) => sum + rowsWritten, 0),
    }
  }
}

export default {
  fetch(request: Request, env: Env, ctx: ExecutionContext): Response | Promise<Response> {
    if (request.method === 'PUT')
      return answerFill(request, (name, order) => benchObject(env, name).fill(name, order))
    if (request.method === 'GET') return answerCounts(request, env)
    return app.fetch(request, env, ctx)
  },
}

async function answerCounts(request: Request, env: Env): Promise<Response> {
  return Response.json(await benchObject(env, nameIn(request.url)).counts())
}

/** An object of the binding, which in the bench has another class than in the edge. */
function benchObject(env: Env, name: string): DurableObjectStub<CountedSession> {
  return (env.SESSIONS as unknown as DurableObjectNamespace<CountedSession>).getByName(name)
}
