import { eraseUser } from '../../operations/forget/erase.ts'
import type { ChatPlatform } from '../settings.ts'
import { deleteDatabase } from './delete-database.ts'
import type { LocalStore } from './open-local.ts'

export interface EraseParts {
  readonly platform: ChatPlatform
  readonly name: string
  readonly owner: string
  readonly local: LocalStore | undefined
}

/** Removes the sessions that an owner has in this browser alone. */
export async function eraseBrowser({ platform, name, owner, local }: EraseParts): Promise<void> {
  // Emptied first: a database that another tab holds open is deleted only once that one is closed.
  if (local) {
    const { memory, store } = local
    await eraseUser(await memory(), { userId: owner }).catch((error) => {
      // Nothing is left of what is gone.
      if (store.status().state !== 'lost') throw error
    })
    await store.close()
  }
  // It is empty, and may stay.
  await deleteDatabase(platform, `${name}/${owner}`).catch(() => {})
}
