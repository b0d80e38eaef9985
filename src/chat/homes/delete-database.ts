import { PlimsollError } from '../../ports/errors.ts'
import type { ChatPlatform } from '../settings.ts'

/** Deletes a database and what is known of it, not awaiting other tabs. @throws ERR_STORAGE */
export async function deleteDatabase(
  { indexedDB, storage }: Pick<ChatPlatform, 'indexedDB' | 'storage'>,
  name: string,
): Promise<void> {
  storage.removeItem(`plimsoll/${name}`)
  if (!indexedDB) return
  await new Promise<void>((resolve, reject) => {
    const request = indexedDB.deleteDatabase(name)
    request.onsuccess = () => resolve()
    request.onerror = () => reject(request.error)
    request.onblocked = () => resolve()
  }).catch((cause: unknown) => {
    throw new PlimsollError('ERR_STORAGE', `chat: the database ${name} cannot be deleted`, { cause })
  })
}

/** Forgets what was added to messages and not sent, everybody's. @throws ERR_STORAGE */
export function deleteAdded({
  platform,
  name,
}: {
  readonly platform: ChatPlatform
  readonly name: string
}): Promise<void> {
  return deleteDatabase(platform, `${name}/added`)
}
