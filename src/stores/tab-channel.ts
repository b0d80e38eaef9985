/** As much of a `BroadcastChannel` as is used here. */
export interface ChannelLike {
  onmessage: ((event: { readonly data: unknown }) => void) | null
  postMessage(message: unknown): void
  close(): void
}

/**
 * Tells this tab's listeners, and other tabs, that a scope was written to. A hint: calls may be
 * lost, late or repeated.
 */
export class TabChannel {
  readonly #open: () => ChannelLike | undefined
  readonly #listeners = new Map<string, Set<() => void>>()
  #channel: ChannelLike | undefined

  /**
   * @param open gives a fresh channel; nothing, where there are none: then only this tab's
   * listeners are called.
   */
  constructor(open: () => ChannelLike | undefined) {
    this.#open = open
  }

  listen(scope: string, listener: () => void): () => void {
    const all = this.#listeners.get(scope) ?? new Set()
    this.#listeners.set(scope, all.add(listener))
    this.#connect()
    return () => {
      all.delete(listener)
      if (all.size === 0 && this.#listeners.get(scope) === all) this.#listeners.delete(scope)
    }
  }

  /** @param own listeners of the writer, which need not be called. */
  tell(scope: string, own: ReadonlySet<() => void>): void {
    this.#tellHere(scope, own)
    try {
      this.#connect()?.postMessage(scope)
    } catch {
      // A hint that is lost is read at the next call.
    }
  }

  /** After a time in which hints may have been missed. */
  tellAll(): void {
    for (const scope of [...this.#listeners.keys()]) this.#tellHere(scope)
    if (this.#listeners.size > 0) this.#connect()
  }

  /**
   * An open channel keeps a page out of the browser's back-forward cache. It opens again when it is
   * needed.
   */
  close(): void {
    this.#channel?.close()
    this.#channel = undefined
  }

  #tellHere(scope: string, except?: ReadonlySet<() => void>): void {
    for (const listener of [...(this.#listeners.get(scope) ?? [])]) if (!except?.has(listener)) listener()
  }

  #connect(): ChannelLike | undefined {
    if (this.#channel) return this.#channel
    this.#channel = this.#open()
    if (this.#channel)
      this.#channel.onmessage = ({ data }) => {
        if (typeof data === 'string') this.#tellHere(data)
      }
    return this.#channel
  }
}
