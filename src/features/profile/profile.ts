import { type Renewable, shownName } from '../../forgetting/shown.ts'
import type { KernelUser } from '../../kernel/feature.ts'
import { valueIn } from '../../kernel/log/bodies.ts'
import { checkSize } from '../../kernel/log/check-message.ts'
import type { IndexEntry, Name } from '../../ports/op.ts'
import type { ProfileDocument } from '../../ports/profile.ts'
import type { RegisterRow, ScopeStore } from '../../ports/store.ts'
import { utf8Length } from '../../ports/utf8-length.ts'
import { checkFunction } from '../../text/check-value.ts'
import { checkId, checkOptions, checkText, invalid } from '../../text/json.ts'
import { limitReached } from '../failures.ts'
import { removeShown } from '../forget-shown.ts'
import { changeRegister, checkWrite, readRegister, type WriteOptions } from '../register.ts'

/** What the keys of documents begin with. */
export const PROFILE = 'profile/'
/** Documents that a model writes, by the tool of `plimsoll/anthropic`: no context shows them. */
export const MODEL_FILES = 'memories/'
/** Group of all documents, by name. */
export const DOCUMENTS = 'profile'
/** Most documents of one user. */
export const MOST_DOCUMENTS = 64
/** Longest name, in UTF-8 bytes. */
const LONGEST_NAME = 128
/** Largest text, in UTF-8 bytes. */
const MAX_TEXT_BYTES = 32 * 1024
/** Control characters, and what else ends a line. */
const CONTROL = /[\p{Cc}\u2028\u2029]/u

interface StoredDocument extends Renewable {
  readonly text: string
}

/**
 * The documents of one user. Only the app writes them: no tool of a model can, so their text is as
 * trusted as the user's own. Those below `memories/` are files of a model's memory tool
 * (`plimsoll/anthropic`), which no context shows.
 *
 * Names are 1 to 128 bytes, one line. A text is at most 32 KiB and comes back byte for byte.
 */
export interface Profile {
  /**
   * All documents, by name in code unit order: at most 64, or a few more where several were added
   * at the same moment.
   */
  list(): Promise<readonly ProfileDocument[]>
  /** @throws ERR_INVALID_ARGUMENT */
  get(name: string): Promise<ProfileDocument | undefined>
  /**
   * Writes a document.
   *
   * @returns its version
   * @throws ERR_INVALID_ARGUMENT, ERR_ENTRY_TOO_LARGE, ERR_CONFLICT (`version`), ERR_LIMIT (a 65th
   * document); nothing is written
   */
  set(name: string, text: string, options?: WriteOptions): Promise<string>
  /**
   * Changes a document, again if others changed it meanwhile, so that no change is lost.
   *
   * @param change Contract: gives the new text by the one that is there, which is empty where there
   * is no document; may be called again
   * @returns its version
   * @throws as {@link set}, and what `change` throws
   */
  update(
    name: string,
    change: (text: string) => string | Promise<string>,
    options?: Pick<WriteOptions, 'opId'>,
  ): Promise<string>
  /**
   * Removes a document, and what showed it in the frozen heads of all sessions, whatever it said
   * then. Idempotent. @throws ERR_INVALID_ARGUMENT, ERR_CONFLICT (`version`)
   */
  delete(name: string, options?: WriteOptions): Promise<void>
}

export function profileOf(user: KernelUser): Profile {
  const { store, memory } = user
  const { host } = memory
  async function write(
    operation: string,
    key: string,
    options: WriteOptions,
    change: (before: string) => string | Promise<string>,
  ): Promise<string> {
    const version = await changeRegister<StoredDocument>(store, host, {
      ...options,
      operation,
      key,
      index: () => placesOf(key.slice(PROFILE.length)),
      change: async (before, _, opId) => {
        const { text = '', since = opId } = before ?? {}
        const sum = before ? undefined : (await store.sums([DOCUMENTS])).get(DOCUMENTS)
        if (sum && sum.count >= MOST_DOCUMENTS) throw limitReached(operation, 'documents', MOST_DOCUMENTS)
        return { text: checkDocument(operation, 'text', await change(text)), since }
      },
    })
    return version as string
  }

  return {
    list: async () => (await documentsOf(store)).map(({ document }) => document),
    get: async (name) => {
      const { row } = await readRegister(store, profileKey('get', name))
      return row && shownIn(row)?.document
    },
    set: async (name, text, options = {}) => {
      checkWrite('set', options)
      return write('set', profileKey('set', name), options, () => text)
    },
    update: async (name, change, options = {}) => {
      checkOptions('update', 'options', options, ['opId'])
      checkFunction('update', 'change', change)
      return write('update', profileKey('update', name), options, change)
    },
    delete: async (name, options = {}) => {
      checkWrite('delete', options)
      await removeShown(user, profileKey('delete', name), options)
    },
  }
}

/** Where a document stands. */
export function placesOf(order: string): readonly IndexEntry[] {
  return [{ group: DOCUMENTS, order, weight: 0 }]
}

/** The key of a document. @throws ERR_INVALID_ARGUMENT */
export function profileKey(operation: string, name: string): string {
  if (utf8Length(checkId(operation, 'name', name)) > LONGEST_NAME)
    throw invalid(operation, 'name', `must be at most ${LONGEST_NAME} bytes`)
  if (CONTROL.test(name)) throw invalid(operation, 'name', 'must be one line without control characters')
  return PROFILE + name
}

/** The text of a document. @throws ERR_INVALID_ARGUMENT, ERR_ENTRY_TOO_LARGE */
export function checkDocument(operation: string, argument: string, text: unknown): string {
  return checkSize(operation, argument, checkText(operation, argument, text), MAX_TEXT_BYTES)
}

/** A document, and the name under which heads show it. */
export interface ShownDocument {
  readonly document: ProfileDocument
  readonly source: Name
}

/** All documents, by name in code unit order. */
export async function documentsOf(store: ScopeStore): Promise<readonly ShownDocument[]> {
  return (await store.indexed(DOCUMENTS)).flatMap((row) => shownIn(row) ?? [])
}

function shownIn(row: RegisterRow): ShownDocument | undefined {
  const { key, version } = row
  const stored = valueIn(row) as unknown as StoredDocument | null | undefined
  if (!stored) return undefined
  const document = { name: key.slice(PROFILE.length), text: stored.text, version }
  return { document, source: shownName(key, stored) }
}
