/**
 * The edge as it is, where calls of objects, statements and alarms are counted: too slow to be
 * timed. `GET /counts` asks for them.
 */
import type { Env } from '../../../worker/env.ts'
import app from '../../../worker/index.ts'
import { SessionObject, UserObject } from '../../../worker/objects.ts'
import type { Counts } from '../../stores/edge-orders.ts'
import { Counter, withOwn } from '../../stores/workers/counter.ts'

interface Counted {
  counts(): Counts | Promise<Counts>
}

/**
 * Calls since they were last asked for, and who was called. For all objects: they are in one
 * isolate with the Worker.
 */
let calls = 0
let frames = 0
const called = new Map<string, () => Counted>()
const environments = new WeakMap<Env, Env>()

export class CountedSession extends SessionObject implements Counted {
  readonly #counter: Counter

  constructor(ctx: DurableObjectState, env: Env) {
    const counter = new Counter()
    super(counter.counted(ctx), countedEnv(env))
    this.#counter = counter
  }

  override webSocketMessage(socket: WebSocket, frame: string | ArrayBuffer): void {
    frames++
    super.webSocketMessage(socket, frame)
  }

  counts(): Counts {
    return this.#counter.take()
  }
}

export class CountedUser extends UserObject implements Counted {
  readonly #counter: Counter

  constructor(ctx: DurableObjectState, env: Env) {
    const counter = new Counter()
    super(counter.counted(ctx), countedEnv(env))
    this.#counter = counter
  }

  counts(): Counts {
    return this.#counter.take()
  }
}

/** The same for the same: the app keeps what it made for an environment. */
function countedEnv(env: Env): Env {
  const found = environments.get(env) ?? {
    ...env,
    SESSIONS: countedCalls('session', env.SESSIONS),
    USERS: countedCalls('user', env.USERS),
  }
  environments.set(env, found)
  return found
}

function countedCalls<Object extends Rpc.DurableObjectBranded>(
  kind: string,
  real: DurableObjectNamespace<Object>,
): DurableObjectNamespace<Object> {
  return withOwn(real, {
    getByName: (name: string) => {
      called.set(`${kind} ${name}`, () => real.getByName(name) as unknown as Counted)
      const stub = real.getByName(name)
      return new Proxy(stub, {
        get: (_, method) => {
          const found = Reflect.get(stub, method) as (...given: unknown[]) => unknown
          return (...given: unknown[]) => {
            calls++
            return Reflect.apply(found, stub, given)
          }
        },
      })
    },
  })
}

export default {
  fetch(request: Request, env: Env, ctx: ExecutionContext): Response | Promise<Response> {
    const isAsked = request.method === 'GET' && request.url.endsWith('/counts')
    return isAsked ? answerCounts() : app.fetch(request, countedEnv(env), ctx)
  },
}

async function answerCounts(): Promise<Response> {
  const sum = { calls, frames, transactions: 0, alarms: 0, statements: 0, rowsRead: 0, rowsWritten: 0 }
  const objects = [...called.values()]
  calls = 0
  frames = 0
  called.clear()
  const all = await Promise.all(objects.map((object) => object().counts()))
  for (const one of all) for (const key of Object.keys(sum) as (keyof Counts)[]) sum[key] += one[key] ?? 0
  return Response.json(sum)
}
