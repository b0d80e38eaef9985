import type { EdgeFeatures } from '../../../src/edge/features.ts'
import { createMemory, type Session, standard } from '../../../src/index.ts'
import { sealOp } from '../../../src/kernel/log/seal.ts'
import { webHost } from '../../../src/platform/web.ts'
import type { Name, Op, Scope, SealedOp } from '../../../src/ports/op.ts'
import type {
  PullAnswer,
  PulledOp,
  PullRequest,
  PushAnswer,
  PushRequest,
  SyncFailure,
  SyncOp,
  SyncScope,
} from '../../../src/ports/sync.ts'
import { mapStore } from '../../../src/stores/map.ts'
import { answerPull } from '../../../src/sync/answer-pull.ts'
import { homeStore } from '../../../src/sync/home.ts'
import { decodePullAnswers, decodePushAnswers, encodePull, encodePush } from '../../../src/sync/wire.ts'
import type { User } from './caller.ts'
import type { World } from './world.ts'

type Page = Exclude<PullAnswer, { readonly reset: unknown }>

/** What a device of a user sends and gets, without any state of its own. */
export class Device {
  readonly #world: World

  constructor(world: World) {
    this.#world = world
  }

  get user(): User {
    return this.#world.user
  }

  send(path: string, body: string): Promise<Response> {
    return this.#world.caller.fetch('POST', path, {
      headers: { 'Content-Type': 'application/json' },
      body,
    })
  }

  async pushAll(
    requests: readonly (PushRequest & SyncScope)[],
  ): Promise<readonly (PushAnswer | SyncFailure)[]> {
    const response = await this.send('/v1/sync/push', encodePush(requests))
    const text = await response.text()
    if (response.status !== 200) throw new Error(`a push is answered with ${response.status}: ${text}`)
    return [...decodePushAnswers(text)]
  }

  async pullAll(
    requests: readonly (PullRequest & SyncScope)[],
  ): Promise<readonly (PullAnswer | SyncFailure)[]> {
    const response = await this.send('/v1/sync/pull', encodePull(requests))
    const text = await response.text()
    if (response.status !== 200) throw new Error(`a pull is answered with ${response.status}: ${text}`)
    return [...decodePullAnswers(text)]
  }

  /** To one scope; `undefined` is the user's own. */
  async push(
    sessionId: string | undefined,
    generation: string,
    ...ops: readonly (SealedOp | SyncOp)[]
  ): Promise<PushAnswer | SyncFailure> {
    const plain = ops.map(({ envelope, bodies }) => ({ envelope, bodies }))
    const scope = sessionId === undefined ? {} : { sessionId }
    const [answer] = await this.pushAll([{ ...scope, generation, ops: plain }])
    return answer as PushAnswer | SyncFailure
  }

  async pull(
    sessionId: string | undefined,
    request: PullRequest = { cursor: 0, anchor: '' },
  ): Promise<PullAnswer | SyncFailure> {
    const scope = sessionId === undefined ? {} : { sessionId }
    const [answer] = await this.pullAll([{ ...scope, ...request }])
    return answer as PullAnswer | SyncFailure
  }

  /** All of a scope's log. */
  async log(sessionId: string | undefined): Promise<Page> {
    let all: Page | undefined
    for (;;) {
      const page = await this.pull(sessionId, all && placeIn(all))
      if ('error' in page || 'reset' in page)
        throw new Error(`a pull is answered with ${JSON.stringify(page)}`)
      all = { ...page, from: 0, ops: [...(all?.ops ?? []), ...page.ops] }
      if (page.cursor === page.head) return all
    }
  }
}

export function placeIn({ generation, cursor, anchor }: Page): PullRequest {
  return { generation, cursor, anchor }
}

export function idOf(op: PulledOp): string {
  return 'envelope' in op ? op.envelope.opId : op.opId
}

/** One message of the user's, in a round of its own. */
export function message(id: string, content: string): SealedOp {
  const said = { id, role: 'user', content, createdAt: 0, trust: 'user' } as const
  return sealOp({ kind: 'append', opId: `entry:${id}`, round: id, messages: [said] })
}

export function put(
  opId: string,
  key: string,
  value: Extract<Op, { kind: 'put' }>['value'],
  more: Pick<Extract<Op, { kind: 'put' }>, 'sources' | 'index'> & { readonly base?: string } = {},
): SealedOp {
  const { base = null, ...rest } = more
  return sealOp({ kind: 'put', opId, key, base, value, ...rest })
}

/** What a device's own memory writes, as it would push it: the session's ops, and the user's. */
export async function written(
  world: World,
  work: (session: Session<Pick<EdgeFeatures, 'facts'>>) => Promise<unknown>,
): Promise<{ readonly session: readonly SyncOp[]; readonly user: readonly SyncOp[] }> {
  const store = homeStore(mapStore(), { newTok: webHost.newId })
  const memory = createMemory({ store, use: standard() })
  await work(memory.session(world.scope()))
  const opsIn = async (scope: Scope): Promise<readonly SyncOp[]> => {
    const pulled = await answerPull(store.open(scope), { cursor: 0, anchor: '' }, { newTok: webHost.newId })
    return 'reset' in pulled ? [] : pulled.ops.filter((op) => 'envelope' in op)
  }
  return { session: await opsIn(world.scope()), user: await opsIn(world.user) }
}

export function remove(opId: string, target: Name): SealedOp {
  return sealOp({ kind: 'delete', opId, target })
}

export function erase(opId: string): SealedOp {
  return sealOp({ kind: 'erase', opId })
}
