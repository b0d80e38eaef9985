import { valueIn } from '../kernel/log/bodies.ts'
import { decide } from '../kernel/log/decide.ts'
import { PlimsollError } from '../ports/errors.ts'
import type { Host } from '../ports/host.ts'
import type { Json } from '../ports/message.ts'
import type { Envelope, Scope, SealedOp } from '../ports/op.ts'
import type { RegisterRow, ScopeStore } from '../ports/store.ts'
import type { Replica } from './replica.ts'
import type { Refusal, Waiting } from './state.ts'

/** An op of this device's that its home refused. It was taken back, and is kept here alone. */
export interface Refused {
  readonly scope: Scope
  /** Its number in the scope's outbox. */
  readonly order: number
  /** What everyone may read of it. */
  readonly op: Envelope
  /** As they were written: JSON, or what an encrypted store made of it. `null`: forgotten since. */
  readonly bodies: readonly (string | null)[]
  readonly refusal: Refusal
  /**
   * Of a put in conflict: the value here, and the one that holds; absent: none, or not readable.
   */
  readonly mine?: Json
  readonly theirs?: Json
}

/** What is to hold: the value that was refused, the one that is there, or another one. */
export type Resolution = 'mine' | 'theirs' | { readonly value: Json }

type Listener = (refused: Refused) => void

export interface RefusalsParts {
  readonly open: (scope: Scope) => ScopeStore
  /** Runs something on the replica of a scope. */
  readonly withReplica: <Result>(scope: Scope, work: (replica: Replica) => Promise<Result>) => Promise<Result>
  readonly host: Pick<Host, 'newId'>
}

/** How often a put is tried again, where the register changed meanwhile. */
const TRIES = 8

/** What homes refused, and what becomes of it. */
export class Refusals {
  readonly #parts: RefusalsParts
  readonly #listeners = { conflict: new Set<Listener>(), rejected: new Set<Listener>() }

  constructor(parts: RefusalsParts) {
    this.#parts = parts
  }

  on(event: 'conflict' | 'rejected', listener: Listener): () => void {
    const own: Listener = (refused) => listener(refused)
    this.#listeners[event].add(own)
    return () => this.#listeners[event].delete(own)
  }

  /** Tells listeners. */
  async tell(scope: Scope, replica: Replica, waiting: readonly Waiting[]): Promise<void> {
    for (const one of waiting) {
      const listeners = this.#listeners[one.refusal && 'conflict' in one.refusal ? 'conflict' : 'rejected']
      if (listeners.size === 0) continue
      const refused = await refusedOf(scope, replica, one)
      for (const listener of [...listeners]) listener(refused)
    }
  }

  of(scope: Scope): Promise<readonly Refused[]> {
    return this.#parts.withReplica(scope, async (replica) => {
      const { outbox } = await replica.view()
      const found = outbox.filter(({ refusal }) => refusal)
      return Promise.all(found.map((one) => refusedOf(scope, replica, one)))
    })
  }

  async resolve({ scope, order }: Refused, resolution: Resolution): Promise<void> {
    const { withReplica, open } = this.#parts
    const found = await withReplica(scope, async (replica) => {
      const { outbox } = await replica.view()
      return outbox.find((one) => one.order === order && one.refusal)
    })
    if (!found) throw new PlimsollError('ERR_NOT_FOUND', `resolve: nothing is refused as ${order}`)
    if (resolution !== 'theirs') {
      const store = open(scope)
      try {
        await this.#put(store, found, resolution)
      } finally {
        await store.close()
      }
    }
    // What it says is elsewhere by now.
    await this.discard({ scope, order })
  }

  discard({ scope, order }: Pick<Refused, 'scope' | 'order'>): Promise<void> {
    return this.#parts.withReplica(scope, (replica) => replica.discard([order]))
  }

  /** Writes the value on the version that is there. */
  async #put(store: ScopeStore, { envelope, bodies }: Waiting, resolution: Exclude<Resolution, 'theirs'>) {
    const { key, sources, index } = envelope
    const body = resolution === 'mine' ? bodies?.[0] : JSON.stringify(resolution.value)
    if (key === undefined || body == null)
      throw new PlimsollError('ERR_INVALID_ARGUMENT', 'resolve: only a put with a value can be put again')
    let version: string | null = null
    for (let attempt = 0; attempt < TRIES; attempt++) {
      version = (await store.register(key))?.version ?? null
      const opId = this.#parts.host.newId()
      const listed = { ...(sources && { sources }), ...(index && { index }) }
      const op: SealedOp = {
        envelope: { opId, kind: 'put', ids: [key], key, base: version, ...listed },
        bodies: [body],
      }
      const [result] = await store.commit([op], decide)
      if (result?.status === 'accepted') return
      if (result?.status === 'rejected')
        throw new PlimsollError('ERR_CONFLICT', `resolve: ${key} was deleted`, { version })
    }
    throw new PlimsollError('ERR_CONFLICT', `resolve: ${key} changed again and again`, { version })
  }
}

async function refusedOf(
  scope: Scope,
  { store }: Replica,
  { order, envelope, bodies = [], refusal }: Waiting,
): Promise<Refused> {
  const { key } = envelope
  const isConflict = refusal !== undefined && 'conflict' in refusal
  const row = isConflict && key !== undefined ? await store.register(key) : undefined
  const mine = key === undefined ? undefined : readable({ key, body: bodies[0] ?? null })
  const theirs = row && readable(row)
  return {
    scope,
    order,
    op: envelope,
    bodies,
    refusal: refusal as Refusal,
    ...(mine !== undefined && { mine }),
    ...(theirs !== undefined && { theirs }),
  }
}

/** What is sealed is no JSON. */
function readable(row: Pick<RegisterRow, 'key' | 'body'>): Json | undefined {
  try {
    return valueIn(row)
  } catch {
    return undefined
  }
}
