import { PlimsollError } from '../ports/errors.ts'
import type { SyncStatus } from './status.ts'
import { type SyncOptions, sync } from './sync.ts'

/**
 * Sends what waits, fetches what is new beside it, and ends: for a service worker, when the browser
 * tells it of Background Sync. Pages that are open may work at the same time.
 *
 * @throws why not all could be sent: the browser tries again later then
 * @example In a browser:
 * ```ts
 * import { syncOnce } from 'plimsoll/sync'
 *
 * self.addEventListener('sync', (event) => {
 *   if (isSync(event)) event.waitUntil(syncOnce({ store: base, transport, user }))
 * })
 * ```
 */
export async function syncOnce(options: Omit<SyncOptions, 'lock'>): Promise<SyncStatus> {
  const store = sync({ ...options, lock: false })
  try {
    return await new Promise<SyncStatus>((resolve, reject) => {
      store.subscribe(({ state, cause }) => {
        if (state === 'syncing' || state === 'current' || state === 'conflict') return
        reject(cause ?? new PlimsollError('ERR_OFFLINE', `syncOnce: ${state}`))
      })
      store.settled().then(resolve, reject)
    })
  } finally {
    await store.close()
  }
}
