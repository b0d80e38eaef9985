/** What was added to a message and not sent: loaded when something is, or was before a reload. */
import { PlimsollError } from '../../ports/errors.ts'
import type { ChatPlatform } from '../settings.ts'
import type { Drafts, OwnDrafts } from './drafts.ts'
import { idbRows } from './idb-rows.ts'

/** Bytes of all that is kept, of all conversations and users. */
const MOST_BYTES = 32 * 1024 * 1024

/** What goes with a message: files, and texts too long for the field. */
export interface Added {
  readonly files: readonly File[]
  readonly pasted: readonly string[]
}

/** By conversation, in the order of the calls: kept in the browser for after a reload. */
export interface AddedDrafts {
  read(name: string): Promise<ReadAdded>
  /**
   * Durable when it resolves; nothing in it: forgets what there was.
   *
   * @throws ERR_LIMIT (more than 32 MiB in all), ERR_STORAGE_FULL, ERR_STORAGE (no database, or all
   * was forgotten meanwhile): it is there until the page is left
   */
  write(name: string, added: Added): Promise<void>
}

/** `isUnkept`: it is gone with the page. */
export interface ReadAdded extends Added {
  readonly isUnkept: boolean
}

interface Row extends Added {
  readonly id: string
}

const NOTHING_ADDED: Added = { files: [], pasted: [] }

/**
 * @param places of what is kept, by conversation: ids of rows
 * @returns what gives that of who has these places
 */
export function addedDrafts(
  { indexedDB, newId }: Pick<ChatPlatform, 'indexedDB' | 'newId'>,
  name: string,
  places: Drafts,
): (own: OwnDrafts) => AddedDrafts {
  const rows = indexedDB && idbRows<Row>(indexedDB, `${name}/added`)
  /** What could not be kept, by its place. */
  const unkept = new Map<string, Added>()
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = <Done>(work: () => Promise<Done>): Promise<Done> => {
    const done = last.then(work)
    last = done.catch(() => {})
    return done
  }
  /** The rows that have a place; others are removed. */
  const placed = async (): Promise<readonly Row[]> => {
    const named = new Set(places.all().map(([, place]) => place))
    const all = (await rows?.list()) ?? []
    for (const { id } of all) if (!named.has(id)) await rows?.remove(id)
    for (const id of unkept.keys()) if (!named.has(id)) unkept.delete(id)
    return all.filter(({ id }) => named.has(id))
  }
  const keep = async (conversation: string, added: Added, own: OwnDrafts): Promise<void> => {
    const id = own.read(conversation) || newId()
    // Noted first: a row without a place may be removed.
    own.write(conversation, id)
    try {
      const others = (await placed()).filter((row) => row.id !== id)
      const size = [...others, added].reduce((sum, one) => sum + bytesOf(one), 0)
      if (size > MOST_BYTES)
        throw new PlimsollError('ERR_LIMIT', `chat: ${size} bytes of files are too many to keep`, {
          limit: MOST_BYTES,
        })
      await rows?.put({ id, ...added })
      unkept.delete(id)
      // There was no room for it, or another tab has forgotten all.
      if (!rows || own.read(conversation) !== id)
        throw new PlimsollError('ERR_STORAGE', 'chat: what was added cannot be kept')
    } catch (error) {
      // An older state of it would look like all of it.
      unkept.set(id, added)
      await rows?.remove(id).catch(() => {})
      throw error
    }
  }
  return (own) => ({
    read: (conversation) =>
      inTurn(async () => {
        const id = own.read(conversation)
        const kept = await placed()
        const held = unkept.get(id)
        const { files, pasted } = held ?? kept.find((row) => row.id === id) ?? NOTHING_ADDED
        return { files, pasted, isUnkept: held !== undefined }
      }),
    write: (conversation, { files, pasted }) =>
      inTurn(async () => {
        if (files.length + pasted.length > 0) return keep(conversation, { files, pasted }, own)
        const id = own.read(conversation)
        own.write(conversation, '')
        unkept.delete(id)
        if (id !== '') await rows?.remove(id)
      }),
  })
}

function bytesOf({ files, pasted }: Added): number {
  const sizes = [...files.map(({ size }) => size), ...pasted.map(({ length }) => 2 * length)]
  return sizes.reduce((sum, size) => sum + size, 0)
}
