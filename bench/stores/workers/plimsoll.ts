/**
 * The memory alone at the edge: one Durable Object a session, and as little HTTP in front of it as
 * there can be, without accounts. With a way to fill a session and, in objects of their own, to
 * count what a call does.
 */
import { DurableObject } from 'cloudflare:workers'
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { createMemory } from '../../../src/create-memory.ts'
import { durableObjectStore } from '../../../src/durable-object.ts'
import { type MessageInput, type Session, stringifyContext } from '../../../src/index.ts'
import { encryptedStore } from '../../../src/stores/encrypted/encrypted-store.ts'
import { secretKeys } from '../../../src/stores/encrypted/secret-keys.ts'
import { type Counts, EXCHANGE_BYTES, type Fill } from '../edge-orders.ts'
import { exchangeAt } from '../messages.ts'
import { Counter } from './counter.ts'
import { answerFill, nameIn } from './fill.ts'

interface Env {
  readonly SESSIONS: DurableObjectNamespace<CountedSession>
  /** Tokens. */
  readonly BUDGET: string
  /** Encrypts, if it is there. */
  readonly MEMORY_KEY?: string
}

const USER = 'local'
const BATCH = 500
const MAX_BODY_BYTES = 1024 * 1024

export class BenchSession extends DurableObject<Env> {
  #session: Session | undefined

  /** Text, since objects cross to the worker more slowly. */
  async context(sessionId: string, messages: readonly MessageInput[]): Promise<string> {
    const session = this.#open(sessionId)
    await session.append(messages)
    return stringifyContext(await session.context())
  }

  async fill(sessionId: string, { from, to }: Fill): Promise<void> {
    // Another one, so that what is measured begins as after a restart.
    const session = this.#made(sessionId)
    for (let at = from; at < to; at += BATCH) {
      const batch = Array.from({ length: Math.min(BATCH, to - at) }, (_, index) =>
        exchangeAt(at + index, EXCHANGE_BYTES),
      )
      await session.append(batch.flat())
    }
  }

  #open(sessionId: string): Session {
    this.#session ??= this.#made(sessionId)
    return this.#session
  }

  #made(sessionId: string): Session {
    const { BUDGET, MEMORY_KEY } = this.env
    const plain = durableObjectStore(this.ctx.storage)
    const store = MEMORY_KEY === undefined ? plain : encryptedStore(plain, secretKeys(MEMORY_KEY))
    return createMemory({ store, budget: Number(BUDGET) }).session({ userId: USER, sessionId })
  }
}

/** Too slow to be timed. */
export class CountedSession extends BenchSession {
  readonly #counter: Counter

  constructor(ctx: DurableObjectState, env: Env) {
    const counter = new Counter()
    super(counter.counted(ctx), env)
    this.#counter = counter
  }

  override context(sessionId: string, messages: readonly MessageInput[]): Promise<string> {
    this.#counter.call()
    return super.context(sessionId, messages)
  }

  counts(): Counts {
    return this.#counter.take()
  }
}

const app = new Hono<{ Bindings: Env }>()

app.use('/v1/*', bodyLimit({ maxSize: MAX_BODY_BYTES }))
app.post('/v1/sessions/:session/context', async ({ req, env, body }) => {
  const session = req.param('session')
  const { messages } = await req.json<{ messages: MessageInput[] }>()
  const context = await env.SESSIONS.getByName(session).context(session, messages)
  return body(context, 200, { 'Content-Type': 'application/json' })
})
app.put('/:session', ({ req, env }) =>
  answerFill(req.raw, (name, order) => env.SESSIONS.getByName(name).fill(name, order)),
)
app.get('/:session', async ({ req, env, json }) =>
  json(await env.SESSIONS.getByName(nameIn(req.url)).counts()),
)

export default app
