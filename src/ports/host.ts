/** What the platform supplies, so that the core holds neither clock nor timers nor randomness. */
export interface Host {
  /** Contract: Unix milliseconds. Never used for order. */
  now(): number
  /** Contract: a fresh id, unique for ever, for example a UUIDv7; at most 256 bytes. */
  newId(): string
  /** Contract: 64 hexadecimal digits that nobody can guess: 256 random bits. */
  newSecret(): string
  /**
   * Contract: a signal that aborts after `ms` milliseconds, at most {@link MOST_MS}, unless it is
   * cleared before.
   */
  timeout(ms: number): Timeout
  /**
   * Contract: a signal that aborts on demand; one that the platform's own functions take,
   * for example `fetch`.
   */
  controller(): Controller
}

/** As much of the Web's `AbortController` as is used here. */
export interface Controller {
  readonly signal: AbortSignalLike
  /** The signal's first reason holds; aborting again does nothing. */
  abort(reason: unknown): void
}

/** Longest wait of JavaScript's timers: one that is longer fires at once. */
export const MOST_MS = 2 ** 31 - 1

export interface Timeout {
  readonly signal: AbortSignalLike
  /** Ends the wait; the signal never aborts then. */
  clear(): void
}

/** As much of the Web's `AbortSignal` as is used here. */
export interface AbortSignalLike {
  readonly aborted: boolean
  readonly reason: unknown
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}
