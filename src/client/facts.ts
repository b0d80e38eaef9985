import type { Certificate } from '../ports/certificate.ts'
import type { Fact, FactInput, FactQuery, Rating, Remembered } from '../ports/fact.ts'
import type { CallOptions, WriteOptions } from './options.ts'
import { segmentOf } from './paths.ts'
import type { Transport } from './transport.ts'

/** One change of a fact. */
export type FactChange =
  | { readonly pinned: boolean }
  /** Raises it to trust `user` on the caller's word, so never because a model says so. */
  | { readonly promote: true }
  /** Of a blocker: it is out of the way. */
  | { readonly resolve: true }
  | { readonly review: Rating }
  /** Puts another fact in its place. */
  | { readonly supersede: FactInput }

/** What is remembered: of one session, or of the user. */
export interface FactsClient {
  /** The live ones in the order in which they show; at most 512. */
  list(query?: FactQuery & CallOptions): Promise<readonly Fact[]>
  /**
   * Keeps a fact. @throws ERR_INVALID_ARGUMENT, ERR_ENTRY_TOO_LARGE, ERR_LIMIT; nothing is written
   */
  remember(fact: FactInput, options?: WriteOptions): Promise<Remembered>
}

export interface SessionFactsClient extends FactsClient {
  /**
   * One change: `{ pinned }`, `{ promote: true }`, `{ resolve: true }`, `{ review: 'good' }` or
   * `{ supersede: fact }`.
   *
   * @returns the fact as it stands now; of `supersede` the new one
   * @throws ERR_NOT_FOUND, ERR_INVALID_ARGUMENT; nothing is written
   */
  update(id: string, change: FactChange, options?: WriteOptions): Promise<Fact>
  /**
   * Empties a fact and what was derived from it, for ever. Idempotent: `already` says that nothing
   * was left to remove.
   *
   * @returns what was removed: ids and counts, no text
   * @throws ERR_NOT_FOUND: there never was one
   */
  forget(id: string, options?: WriteOptions): Promise<Certificate>
}

export function factsClient({ get, json }: Transport, path: string): SessionFactsClient {
  return {
    list: async (query) => (await get<{ readonly facts: readonly Fact[] }>(path, query)).facts,
    remember: (body, options) => json('POST', path, { ...options, body }),
    async update(id, body, options) {
      const at = `${path}/${segmentOf(id)}`
      return (await json<{ readonly fact: Fact }>('PATCH', at, { ...options, body })).fact
    },
    forget: async (id, options) => json('DELETE', `${path}/${segmentOf(id)}`, options),
  }
}
