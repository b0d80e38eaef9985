import { uuidv7 } from '../../platform/uuid.ts'
import { kept } from '../kept.ts'
import type { ChatLocks, ChatPlatform, ChatStorage, Network } from '../settings.ts'

/** The page's own, and what stands in for what it lacks. */
export function pagePlatform(given: Partial<ChatPlatform> = {}): ChatPlatform {
  return {
    storage: allowed(() => globalThis.localStorage) ?? memoryStorage(),
    onForgotten,
    locks: locksOf(globalThis.navigator?.locks as ChatLocks | undefined),
    network: pageNetwork(),
    indexedDB: allowed(() => globalThis.indexedDB),
    IDBKeyRange: globalThis.IDBKeyRange,
    // Looked up at each call, since others may have put their own in its place.
    fetch: (url, init) => fetch(url, init),
    WebSocket: globalThis.WebSocket,
    newId: uuidv7,
    now: () => Date.now(),
    sleep,
    ...given,
  }
}

function onForgotten(key: string, listener: () => void): () => void {
  const { addEventListener, removeEventListener } = globalThis
  const told = (event: StorageEvent): void => {
    if (event.newValue === null && (event.key ?? key) === key) listener()
  }
  addEventListener?.('storage', told)
  return () => removeEventListener?.('storage', told)
}

/** Undefined where the user forbids it. */
function allowed<Value>(get: () => Value): Value | undefined {
  try {
    return get()
  } catch {
    return undefined
  }
}

/**
 * The browser's locks, or those of this page where there are none, or where the user forbids them
 * together with all that sites store: each request is refused then.
 */
function locksOf(browser: ChatLocks | undefined): ChatLocks {
  const own = kept(async () => (await import('./locks.ts')).pageLocks())
  return {
    async request(name, options, run) {
      let isHeld = false
      try {
        if (browser)
          return await browser.request(name, options, (lock) => {
            isHeld = true
            return run(lock)
          })
      } catch (error) {
        if (isHeld || (error as Error).name !== 'SecurityError') throw error
      }
      return (await own()).request(name, options, run)
    },
  }
}

export function memoryStorage(): ChatStorage {
  const values = new Map<string, string>()
  return {
    getItem: (key) => values.get(key) ?? null,
    setItem: (key, value) => void values.set(key, value),
    removeItem: (key) => void values.delete(key),
  }
}

function pageNetwork(): Network {
  return {
    isOnline: () => globalThis.navigator?.onLine ?? true,
    subscribe(listener) {
      const { addEventListener, removeEventListener } = globalThis
      addEventListener?.('online', listener)
      addEventListener?.('offline', listener)
      return () => {
        removeEventListener?.('online', listener)
        removeEventListener?.('offline', listener)
      }
    },
  }
}

async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
  signal.throwIfAborted()
}
