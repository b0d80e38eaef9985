import { type Host, MOST_MS, type Timeout } from '../ports/host.ts'

/** One timer, for the earliest time that it was set to. */
export class Alarm {
  readonly #host: Pick<Host, 'now' | 'timeout'>
  readonly #ring: () => void
  #next: { readonly timeout: Timeout; readonly at: number } | undefined

  constructor(host: Pick<Host, 'now' | 'timeout'>, ring: () => void) {
    this.#host = host
    this.#ring = ring
  }

  /** @param ms from now on */
  set(ms: number): void {
    const now = this.#host.now()
    // One that is overdue may have stood still while the device slept.
    const isLate = this.#next !== undefined && this.#next.at < now
    const at = isLate ? now : now + ms
    if (this.#next && !isLate && this.#next.at <= at) return
    this.clear()
    const timeout = this.#host.timeout(Math.min(at - now, MOST_MS))
    this.#next = { timeout, at }
    timeout.signal.addEventListener('abort', () => {
      this.#next = undefined
      this.#ring()
    })
  }

  clear(): void {
    this.#next?.timeout.clear()
    this.#next = undefined
  }
}
