/** Milliseconds of work between two waits: well below the 50 ms from which on a page feels slow. */
const SLICE_MS = 10

/** As much of a page's clock and queue as is used here. */
export interface Turns {
  /** Milliseconds, from any beginning. */
  now(): number
  /** Contract: resolves in a later task, so that input and painting come first. */
  next(): Promise<void>
}

/**
 * Gives others their turn during long work: what it returns is awaited at short intervals, and
 * waits where a slice of time is used up.
 *
 * @param signal ends the work: the next wait rejects with its reason
 */
export function slices(turns: Turns, signal: AbortSignal): () => Promise<void> {
  let since = turns.now()
  return async () => {
    signal.throwIfAborted()
    if (turns.now() - since < SLICE_MS) return
    await turns.next()
    signal.throwIfAborted()
    since = turns.now()
  }
}

/** A page's own, and Node's. */
export const pageTurns: Turns = {
  now: () => performance.now(),
  next: () =>
    new Promise((resolve) => {
      // A timer would wait for 4 ms each time.
      const { port1, port2 } = new MessageChannel()
      port1.onmessage = () => {
        port1.close()
        resolve()
      }
      port2.postMessage(undefined)
    }),
}
