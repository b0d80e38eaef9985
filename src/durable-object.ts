import type { Compose, Flat } from './compose.ts'
import { type CreateMemoryOptions, createMemory } from './create-memory.ts'
import type { Feature } from './kernel/feature.ts'
import type { Memory } from './ports/memory.ts'
import { durableObjectStore } from './stores/durable-object.ts'
import type { SqlStorageLike } from './stores/sql-schema.ts'
import { invalid, isPlainObject } from './text/json.ts'

export { durableObjectStore } from './stores/durable-object.ts'
export type { SqlLike, SqlRow, SqlStorageLike, SqlValue } from './stores/sql-schema.ts'

/** As much of a Durable Object's `ctx` as is used here. */
export interface ObjectContextLike {
  readonly storage: SqlStorageLike
}

/**
 * A memory inside any Durable Object with SQLite, yours or one of a framework: `createMemory` over
 * {@link durableObjectStore}. Make it once, in the constructor or at its first use; nothing is read
 * or written until it is called.
 *
 * An object runs one event at a time, so that it serialises the writes of whatever scopes it holds:
 * one session an object is the usual choice.
 *
 * @throws ERR_INVALID_ARGUMENT
 * @example In a Worker:
 * ```ts
 * import { DurableObject } from 'cloudflare:workers'
 * import { durableObjectMemory } from 'plimsoll/durable-object'
 *
 * export class SessionObject extends DurableObject {
 *   #memory = durableObjectMemory(this.ctx, { system: 'You are a travel agent.', budget: 16_000 })
 *
 *   context(sessionId: string) {
 *     return this.#memory.session({ userId: 'ada', sessionId }).context()
 *   }
 * }
 * ```
 */
export function durableObjectMemory<const Use extends readonly Feature[] = readonly []>(
  { storage }: ObjectContextLike,
  options: Omit<CreateMemoryOptions<Use>, 'store'> = {} as CreateMemoryOptions<Use>,
): Memory<Flat<Compose<Use>>> {
  if (!isPlainObject(options)) throw invalid('durableObjectMemory', 'options', 'must be an object')
  return createMemory<Use>({ ...options, store: durableObjectStore(storage) } as CreateMemoryOptions<Use>)
}
