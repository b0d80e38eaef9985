import { eraseUser } from '../../operations/forget/erase.ts'
import type { LocalStore } from './open-local.ts'

/**
 * Removes the sessions that an owner has in this browser alone. Their database is deleted once
 * nobody is known any more: a database that another tab holds open is only once that one is closed.
 */
export async function eraseBrowser(owner: string, { memory, store }: LocalStore): Promise<void> {
  await eraseUser(await memory(), { userId: owner }).catch((error) => {
    // Nothing is left of what is gone.
    if (store.status().state !== 'lost') throw error
  })
  await store.close()
}
