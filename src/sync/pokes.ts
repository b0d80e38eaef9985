import type { Poke, Transport } from '../ports/sync.ts'
import { named } from './exchange.ts'
import type { ScopeSync } from './scope-sync.ts'

/** Hears of changes at home, of the scopes that are followed. */
export class Pokes {
  readonly #transport: Transport
  readonly #listener: (poke: Poke | undefined) => void
  #unpoke: (() => void) | undefined
  /** Scopes of which changes are told. */
  #poked = ''

  constructor(transport: Transport, listener: (poke: Poke | undefined) => void) {
    this.#transport = transport
    this.#listener = listener
  }

  listen(followed: readonly ScopeSync[]): void {
    const scopes = followed.flatMap((one) => (isErased(one) ? [] : named(one.scope)))
    const poked = JSON.stringify(scopes)
    if (poked === this.#poked) return
    this.#poked = poked
    this.#unpoke?.()
    this.#unpoke = scopes.length === 0 ? undefined : this.#transport.pokes?.(scopes, this.#listener)
  }
}

/** Whether a session was erased and nothing is in it: its home has no socket for it. */
function isErased({ scope, replica: { seen } }: ScopeSync): boolean {
  const { generation, seq } = seen?.state ?? {}
  return scope.sessionId !== undefined && generation !== undefined && seq === 0 && seen?.waiting.length === 0
}
