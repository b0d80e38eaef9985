import type { AbortSignalLike } from './host.ts'

/** Rejects with the signal's reason once it aborts; never resolves. */
export function aborted(signal: AbortSignalLike): Promise<never> {
  return new Promise((_, reject) => {
    const abort = (): void => reject(signal.reason)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort)
  })
}
