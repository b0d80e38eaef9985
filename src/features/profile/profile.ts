import { valueIn } from '../../kernel/log/bodies.ts'
import { checkSize } from '../../kernel/log/check-message.ts'
import { checkText, invalid } from '../../kernel/text/json.ts'
import { utf8Length } from '../../kernel/text/utf8-length.ts'
import type { Host } from '../../ports/host.ts'
import type { ProfileDocument } from '../../ports/profile.ts'
import type { RegisterRow, ScopeStore } from '../../ports/store.ts'
import { limitReached } from '../limit.ts'
import { changeRegister, readRegister, type WriteOptions } from '../register.ts'

/** What the keys of documents begin with. */
export const PROFILE = 'profile/'
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

interface StoredDocument {
  readonly text: string
}

/**
 * The documents of one user. Only the app writes them: no tool of a model can, so their text is as trusted as the user's own.
 *
 * Names are 1 to 128 bytes, one line. A text is at most 32 KiB and comes back byte for byte.
 */
export class Profile {
  readonly #store: ScopeStore
  readonly #host: Host

  constructor(store: ScopeStore, host: Host) {
    this.#store = store
    this.#host = host
  }

  /** All documents, by name in code unit order: at most 64, or a few more where several were added at the same moment. */
  async list(): Promise<readonly ProfileDocument[]> {
    const rows = await this.#store.indexed(DOCUMENTS)
    return rows.flatMap((row) => documentIn(row) ?? [])
  }

  /** @throws ERR_INVALID_ARGUMENT */
  async get(name: string): Promise<ProfileDocument | undefined> {
    const { row } = await readRegister(this.#store, profileKey('get', name))
    return row && documentIn(row)
  }

  /**
   * Writes a document.
   *
   * @returns its version
   * @throws ERR_INVALID_ARGUMENT, ERR_ENTRY_TOO_LARGE, ERR_CONFLICT (`version`), ERR_LIMIT (a 65th document); nothing is written
   */
  async set(name: string, text: string, options: WriteOptions = {}): Promise<string> {
    const key = profileKey('set', name)
    const value = checkDocument('set', text)
    return this.#change('set', key, options, () => value)
  }

  /**
   * Changes a document, again if others changed it meanwhile, so that no change is lost.
   *
   * @param change Contract: gives the new text by the one that is there, which is empty where there is no document; may be called again
   * @returns its version
   * @throws as {@link set}, and what `change` throws
   */
  async update(
    name: string,
    change: (text: string) => string | Promise<string>,
    options: Pick<WriteOptions, 'opId'> = {},
  ): Promise<string> {
    const key = profileKey('update', name)
    return this.#change('update', key, options, async (before) =>
      checkDocument('update', await change(before?.text ?? '')),
    )
  }

  /** Removes a document. Idempotent. @throws ERR_INVALID_ARGUMENT, ERR_CONFLICT (`version`) */
  async delete(name: string, options: WriteOptions = {}): Promise<void> {
    const key = profileKey('delete', name)
    await changeRegister<StoredDocument>(this.#store, this.#host, {
      ...options,
      operation: 'delete',
      key,
      change: () => null,
    })
  }

  async #change(
    operation: string,
    key: string,
    options: WriteOptions,
    change: (before: StoredDocument | undefined) => StoredDocument | Promise<StoredDocument>,
  ): Promise<string> {
    const order = key.slice(PROFILE.length)
    const version = await changeRegister<StoredDocument>(this.#store, this.#host, {
      ...options,
      operation,
      key,
      index: () => [{ group: DOCUMENTS, order, weight: 0 }],
      change: async (before) => {
        if (before === undefined) await this.#checkRoom(operation)
        return change(before)
      },
    })
    return version as string
  }

  async #checkRoom(operation: string): Promise<void> {
    const { count = 0 } = (await this.#store.sums([DOCUMENTS])).get(DOCUMENTS) ?? {}
    if (count >= MOST_DOCUMENTS) throw limitReached(operation, 'documents', MOST_DOCUMENTS)
  }
}

/** The key of a document. @throws ERR_INVALID_ARGUMENT */
export function profileKey(operation: string, name: string): string {
  checkText(operation, 'name', name)
  if (name === '') throw invalid(operation, 'name', 'must not be empty')
  if (utf8Length(name) > LONGEST_NAME)
    throw invalid(operation, 'name', `must be at most ${LONGEST_NAME} bytes`)
  if (CONTROL.test(name)) throw invalid(operation, 'name', 'must be one line without control characters')
  return PROFILE + name
}

/** What is stored of a document. @throws ERR_INVALID_ARGUMENT, ERR_ENTRY_TOO_LARGE */
export function checkDocument(operation: string, text: unknown): StoredDocument {
  const checked = checkText(operation, 'text', text)
  checkSize(operation, 'text', checked, MAX_TEXT_BYTES)
  return { text: checked }
}

function documentIn(row: RegisterRow): ProfileDocument | undefined {
  const stored = valueIn(row) as unknown as StoredDocument | null | undefined
  return stored ? { name: row.key.slice(PROFILE.length), text: stored.text, version: row.version } : undefined
}
