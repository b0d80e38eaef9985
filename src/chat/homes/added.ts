/** What was added to a message and not sent: loaded when something is, or was before a reload. */
import { PlimsollError } from '../../ports/errors.ts'
import type { ChatPlatform } from '../settings.ts'
import type { Drafts } from './drafts.ts'
import { idbRows, memoryRows, type RowStore } from './idb-rows.ts'

/** Bytes of all that is kept, of all conversations and users. */
const MOST_BYTES = 32 * 1024 * 1024

/** What goes with a message: files, and texts too long for the field. */
export interface Added {
  readonly files: readonly File[]
  readonly pasted: readonly string[]
}

/** By conversation, in the order of the calls: kept in the browser for after a reload. */
export interface AddedDrafts {
  read(name: string): Promise<Added>
  /**
   * Durable when it resolves; nothing in it: forgets what there was.
   *
   * @throws ERR_LIMIT (more than 32 MiB in all), ERR_STORAGE_FULL, ERR_STORAGE: nothing of that
   * conversation is kept
   */
  write(name: string, added: Added): Promise<void>
  /** Forgets all, everybody's. */
  clear(): Promise<void>
}

interface Row extends Added {
  readonly id: string
}

const NOTHING_ADDED: Added = { files: [], pasted: [] }

/** @param places of what is kept, by conversation: ids of rows */
export function addedDrafts(
  { indexedDB, newId }: Pick<ChatPlatform, 'indexedDB' | 'newId'>,
  name: string,
  places: Drafts,
): AddedDrafts {
  const rows: RowStore<Row> = indexedDB ? idbRows(indexedDB, `${name}/added`) : memoryRows()
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = <Done>(work: () => Promise<Done>): Promise<Done> => {
    const done = last.then(work)
    last = done.catch(() => {})
    return done
  }
  const remove = async (isGone: (row: Row) => boolean): Promise<void> => {
    for (const row of await rows.list()) if (isGone(row)) await rows.remove(row.id)
  }
  const keep = async (conversation: string, added: Added): Promise<void> => {
    const id = places.read(conversation) || newId()
    try {
      places.write(conversation, id)
      // What was not named for long has no place any more.
      const named = new Set(places.all().map(([, place]) => place))
      await remove((row) => !named.has(row.id))
      const others = (await rows.list()).filter((row) => row.id !== id)
      const size = [...others, added].reduce((sum, one) => sum + bytesOf(one), 0)
      if (size > MOST_BYTES)
        throw new PlimsollError('ERR_LIMIT', `chat: ${size} bytes of files are too many to keep`, {
          limit: MOST_BYTES,
        })
      await rows.put({ id, ...added })
    } catch (error) {
      // An older state of it would look like all of it.
      places.write(conversation, '')
      await rows.remove(id).catch(() => {})
      throw error
    }
  }
  return {
    read: (conversation) =>
      inTurn(async () => {
        const id = places.read(conversation)
        const { files, pasted } = (await rows.list()).find((row) => row.id === id) ?? NOTHING_ADDED
        return { files, pasted }
      }),
    write: (conversation, added) =>
      inTurn(async () => {
        if (added.files.length + added.pasted.length > 0) return keep(conversation, added)
        const id = places.read(conversation)
        places.write(conversation, '')
        if (id !== '') await rows.remove(id)
      }),
    clear: () =>
      inTurn(async () => {
        places.clear()
        await remove(() => true)
      }),
  }
}

function bytesOf({ files, pasted }: Added): number {
  const sizes = [...files.map(({ size }) => size), ...pasted.map(({ length }) => 2 * length)]
  return sizes.reduce((sum, size) => sum + size, 0)
}
