import type { Client } from '../../client/client.ts'
import { eraseUser } from '../../operations/forget/erase.ts'
import type { ChatPlatform } from '../settings.ts'
import type { LocalStore } from './open-local.ts'
import type { Outbox } from './outbox.ts'

export interface EraseParts {
  readonly platform: ChatPlatform
  readonly name: string
  readonly owner: string
  readonly local: LocalStore | undefined
  readonly outbox: Outbox | undefined
  /** A guest's. */
  readonly client: Client | undefined
}

/**
 * Removes all that the widget keeps of an owner in this browser, and what a guest has at the edge,
 * where that can be reached.
 */
export async function eraseBrowser({
  platform,
  name,
  owner,
  local,
  outbox,
  client,
}: EraseParts): Promise<void> {
  // Emptied first: a database that another tab holds open is deleted only once that one is closed.
  await outbox?.clear()
  if (local) {
    const memory = await local.memory()
    await eraseUser(memory, { userId: owner })
    await local.store.close()
  }
  await deleteDatabase(platform, `${name}/${owner}`)
  // Without the token, which is gone next, nobody can read it.
  await client?.me.erase().catch(() => {})
}

/** Deletes a database, and what is known of it beside. Does not wait for other tabs. */
export async function deleteDatabase(
  { indexedDB, storage }: Pick<ChatPlatform, 'indexedDB' | 'storage'>,
  name: string,
): Promise<void> {
  storage.removeItem(`plimsoll/${name}`)
  if (!indexedDB) return
  await new Promise<void>((resolve) => {
    const request = indexedDB.deleteDatabase(name)
    request.onsuccess = () => resolve()
    request.onerror = () => resolve()
    request.onblocked = () => resolve()
  })
}
