/**
 * A platform without chance: a clock that commands advance, ids that count up, time limits that end
 * when they are told to.
 */

interface Listening {
  readonly aborted: boolean
  readonly reason: unknown
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/** 1 November 2026, UTC. */
export const START = Date.UTC(2026, 10, 1)

/** Milliseconds; limits that models and features are given are longer. */
const LONGEST_PAUSE = 500

declare function queueMicrotask(callback: () => void): void
declare function btoa(text: string): string
declare function atob(text: string): string

export class CountingHost {
  #now = START
  #ids = 0
  /** Waits that nobody has ended, oldest first. */
  readonly #waits = new Set<Abortable>()

  advance(ms: number): void {
    this.#now += ms
  }

  /** Lets all time limits pass that are under way. */
  expire(): void {
    for (const wait of [...this.#waits]) wait.abort(new Error('no answer in time'))
    this.#waits.clear()
  }

  readonly now = (): number => this.#now

  /** Ids sort in the order in which they were made. */
  readonly newId = (): string => `id-${String(++this.#ids).padStart(6, '0')}`

  /** Always the same, so that names which are equal in one build are in the other. */
  readonly newSecret = (): string => '0'.repeat(64)

  /** A pause between two tries ends at once, as no command could end it. */
  readonly timeout = (ms: number): { readonly signal: Listening; readonly clear: () => void } => {
    const wait = new Abortable()
    if (ms <= LONGEST_PAUSE) queueMicrotask(() => wait.abort(new Error('the pause has ended')))
    else this.#waits.add(wait)
    return { signal: wait, clear: () => void this.#waits.delete(wait) }
  }

  readonly controller = (): { readonly signal: Listening; readonly abort: (reason: unknown) => void } => {
    const signal = new Abortable()
    return { signal, abort: (reason) => signal.abort(reason) }
  }

  readonly toBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes))

  readonly fromBase64 = (text: string): Uint8Array<ArrayBuffer> | undefined => {
    try {
      return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
    } catch {
      return undefined
    }
  }
}

class Abortable implements Listening {
  aborted = false
  reason: unknown
  readonly #listeners = new Set<() => void>()

  abort(reason: unknown): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    for (const listener of [...this.#listeners]) listener()
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.add(listener)
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.delete(listener)
  }
}
