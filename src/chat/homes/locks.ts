import type { ChatLocks } from '../settings.ts'

/**
 * Locks within this page: for browsers without `navigator.locks`. Tabs do not know of each other's.
 */
export function pageLocks(): ChatLocks {
  const held = new Map<string, Promise<unknown>>()
  return {
    async request(name, { ifAvailable = false, signal }, run) {
      signal?.throwIfAborted()
      if (ifAvailable && held.has(name)) return run(null)
      while (held.has(name)) {
        await Promise.race([held.get(name), aborted(signal)])
        signal?.throwIfAborted()
      }
      const done = run({})
      const settled = done.then(ignore, ignore)
      held.set(name, settled)
      try {
        return await done
      } finally {
        held.delete(name)
      }
    },
  }
}

function aborted(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }))
}

function ignore(): void {}
