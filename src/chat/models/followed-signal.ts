import type { AbortSignalLike } from '../../ports/host.ts'

/** A signal of the platform's that follows another one. */
export interface FollowedSignal {
  readonly signal: AbortSignal
  /** Follows no more, and aborts: where the reader has left, nobody needs the rest. */
  end(): void
}

export function followed(signal: AbortSignalLike | undefined): FollowedSignal {
  const controller = new AbortController()
  const abort = (): void => controller.abort(signal?.reason)
  signal?.addEventListener('abort', abort)
  if (signal?.aborted) abort()
  return {
    signal: controller.signal,
    end() {
      signal?.removeEventListener('abort', abort)
      controller.abort()
    },
  }
}
