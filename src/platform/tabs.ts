import type { AbortSignalLike } from '../ports/host.ts'

/** As much of a page's or a worker's global scope as is used here. */
interface Global {
  readonly navigator?: {
    readonly onLine?: boolean
    readonly locks?: {
      request(
        name: string,
        options: { readonly signal: AbortSignalLike },
        work: () => Promise<void>,
      ): Promise<void>
    }
  }
  readonly document?: Listening & { readonly visibilityState?: string }
  readonly addEventListener?: Listening['addEventListener']
  readonly removeEventListener?: Listening['removeEventListener']
  readonly BroadcastChannel?: new (name: string) => Channel & { unref?(): void }
}

interface Listening {
  addEventListener(type: string, listener: () => void): void
  removeEventListener(type: string, listener: () => void): void
}

/** As much of a `BroadcastChannel` as is used here. */
export interface Channel {
  onmessage: ((event: { readonly data: unknown }) => void) | null
  postMessage(message: unknown): void
  close(): void
}

/** Whether there may be a network, and when it is worth a try. */
export interface Network {
  /** Contract: false only where there surely is none. */
  isOnline(): boolean
  /**
   * Contract: calls the listener when a network is back, or the page shows again; returns what
   * ends it.
   */
  listen(listener: () => void): () => void
}

/**
 * Contract: runs `work` once nobody else of that name runs theirs, and ends with it; ends at once
 * where the signal aborts before.
 */
export type Lock = (name: string, work: () => Promise<void>, signal: AbortSignalLike) => Promise<void>

/** That of the browser; where there is none, it is always there. */
export const webNetwork: Network = {
  isOnline: () => (globalThis as Global).navigator?.onLine !== false,
  listen: (listener) => {
    const { document, addEventListener, removeEventListener } = globalThis as Global
    const shown = (): void => {
      if (document?.visibilityState === 'visible') listener()
    }
    addEventListener?.('online', listener)
    document?.addEventListener('visibilitychange', shown)
    return () => {
      removeEventListener?.('online', listener)
      document?.removeEventListener('visibilitychange', shown)
    }
  },
}

/** Web Locks; nothing where there are none. */
export function webLock(): Lock | undefined {
  const locks = (globalThis as Global).navigator?.locks
  return locks && ((name, work, signal) => locks.request(name, { signal }, work))
}

/** A channel to other tabs; nothing where there are none, and where the user forbids it. */
export function webChannel(name: string): Channel | undefined {
  const { BroadcastChannel } = globalThis as Global
  if (!BroadcastChannel) return undefined
  try {
    const channel = new BroadcastChannel(name)
    // In Node an open channel would keep the process alive.
    channel.unref?.()
    return channel
  } catch {
    // Firefox throws where cookies are blocked.
    return undefined
  }
}
