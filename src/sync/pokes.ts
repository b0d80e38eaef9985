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
    const scopes = followed.flatMap(({ scope }) => named(scope))
    const poked = JSON.stringify(scopes)
    if (poked === this.#poked) return
    this.#poked = poked
    this.#unpoke?.()
    this.#unpoke = scopes.length === 0 ? undefined : this.#transport.pokes?.(scopes, this.#listener)
  }
}
