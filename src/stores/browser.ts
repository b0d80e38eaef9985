import type { ChannelLike } from './tab-channel.ts'

/** As much of `localStorage` as is used here. */
export interface KeyValue {
  getItem(key: string): string | null
  setItem(key: string, value: string): void
}

/** As much of `window` as is used here. */
export interface PageEvents {
  addEventListener(type: 'pagehide' | 'pageshow', listener: () => void): void
  removeEventListener(type: 'pagehide' | 'pageshow', listener: () => void): void
}

/** Most bytes that `getRandomValues` gives in one call. */
const MOST_RANDOM = 2 ** 16

/** The page's `localStorage`; nothing in workers, and where the user forbids it. */
export function localKeyValue(): KeyValue | undefined {
  try {
    return globalThis.localStorage ?? undefined
  } catch {
    return undefined
  }
}

/** The page, where this runs in one. */
export function pageEvents(): PageEvents | undefined {
  return 'onpagehide' in globalThis ? globalThis : undefined
}

/** Whether this is Node, Deno or Bun, where nobody gave an IndexedDB. */
export function isServer(): boolean {
  const { process } = globalThis as { process?: { readonly versions?: { readonly node?: string } } }
  return !globalThis.indexedDB && !!process?.versions?.node
}

/** A channel to other tabs; nothing where there are none, and where the user forbids it. */
export function broadcastChannel(name: string): ChannelLike | undefined {
  if (typeof BroadcastChannel === 'undefined') return undefined
  try {
    const channel = new BroadcastChannel(name)
    // In Node an open channel would keep the process alive.
    ;(channel as { unref?: () => void }).unref?.()
    return channel as ChannelLike
  } catch {
    // Firefox throws where cookies are blocked.
    return undefined
  }
}

/**
 * Runs something after so many milliseconds, and keeps no process alive for it. @returns what calls
 * it off
 */
export function later(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms)
  ;(timer as { unref?: () => void }).unref?.()
  return () => clearTimeout(timer)
}

/** An id that nobody else makes. */
export function freshId(): string {
  // Not randomUUID, which pages without https do not have.
  return Array.from(noise(16), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Random bytes. */
export function noise(count: number): Uint8Array {
  const bytes = new Uint8Array(count)
  for (let at = 0; at < count; at += MOST_RANDOM) crypto.getRandomValues(bytes.subarray(at, at + MOST_RANDOM))
  return bytes
}

/**
 * Asks the browser not to delete this origin's data on its own when room runs short. Browsers may
 * ask the user: call it after a click, and show the answer. `unsupported`: this browser has no such
 * promise to give.
 *
 * @example In a browser:
 * ```ts
 * import { persist } from 'plimsoll/dexie'
 * if ((await persist()) !== 'granted') showHint('This browser may delete the conversation when it needs room.')
 * ```
 */
export async function persist(
  storage: Partial<Pick<StorageManager, 'persist'>> | undefined = globalThis.navigator?.storage,
): Promise<'granted' | 'denied' | 'unsupported'> {
  if (!storage?.persist) return 'unsupported'
  return (await storage.persist()) ? 'granted' : 'denied'
}

/**
 * Bytes that this origin uses and may use, as the browser estimates them; nothing where it does
 * not.
 */
export async function estimate(
  storage: Partial<Pick<StorageManager, 'estimate'>> | undefined = globalThis.navigator?.storage,
): Promise<{ readonly usage: number; readonly quota: number } | undefined> {
  const { usage, quota } = (await storage?.estimate?.()) ?? {}
  return usage === undefined || quota === undefined ? undefined : { usage, quota }
}
