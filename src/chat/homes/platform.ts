import { uuidv7 } from '../../platform/uuid.ts'
import type { ChatLocks, ChatPlatform, ChatStorage, Network } from '../settings.ts'
import { pageLocks } from './locks.ts'

/** The page's own, and what stands in for what it lacks. */
export function pagePlatform(given: Partial<ChatPlatform> = {}): ChatPlatform {
  return {
    storage: localStorageOf() ?? memoryStorage(),
    locks: locksOf(globalThis.navigator?.locks as ChatLocks | undefined),
    network: pageNetwork(),
    indexedDB: globalThis.indexedDB,
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

/** Undefined where the user forbids it. */
function localStorageOf(): ChatStorage | undefined {
  try {
    return globalThis.localStorage ?? undefined
  } catch {
    return undefined
  }
}

/**
 * The browser's locks, or those of this page where there are none, or where the user forbids them
 * together with all that sites store: each request is refused then.
 */
function locksOf(browser: ChatLocks | undefined): ChatLocks {
  const own = pageLocks()
  if (!browser) return own
  let isRefused = false
  return {
    async request(name, options, run) {
      if (!isRefused) {
        let isHeld = false
        try {
          return await browser.request(name, options, (lock) => {
            isHeld = true
            return run(lock)
          })
        } catch (error) {
          if (isHeld || (error as Error).name !== 'SecurityError') throw error
          isRefused = true
        }
      }
      return own.request(name, options, run)
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
