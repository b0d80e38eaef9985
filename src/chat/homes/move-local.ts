import { eraseUser } from '../../operations/forget/erase.ts'
import { listSessions } from '../../operations/sessions.ts'
import { exportFrom } from '../../operations/transfer/export.ts'
import { importInto } from '../../operations/transfer/import.ts'
import type { ChatPlatform } from '../settings.ts'
import { deleteDatabase } from './delete-database.ts'
import type { Identity, Move } from './identity.ts'
import { importCount } from './import-count.ts'
import type { LocalMemory } from './local-memory.ts'
import type { LocalStore } from './open-local.ts'

export interface OwnerParts {
  /** Contract: opens the database of an owner. */
  readonly open: (owner: string) => Promise<LocalStore>
  readonly identity: Identity
  readonly platform: ChatPlatform
  /** With it the names of databases begin. */
  readonly name: string
}

/**
 * Moves what one owner has in this browser to another, and deletes the database where it was.
 * Idempotent, as {@link moveLocal} is.
 */
export async function moveOwner(move: Move, { open, identity, platform, name }: OwnerParts): Promise<void> {
  const [from, to] = [await open(move.from), await open(move.to)]
  try {
    await moveLocal(
      { memory: await from.memory(), userId: move.from },
      { memory: await to.memory(), userId: move.to },
      { isCopied: move.isCopied === true, onCopied: () => identity.noteCopied(move) },
    )
  } finally {
    await Promise.all([from.store.close(), to.store.close()])
  }
  // It is empty, and may stay.
  await deleteDatabase(platform, `${name}/${move.from}`).catch(() => {})
  identity.endMove(move)
}

/** One end of a move. */
export interface Place {
  readonly memory: LocalMemory
  readonly userId: string
}

/** How far a move has come, in what outlives the page. */
export interface Progress {
  /** Whether all of it was copied. */
  readonly isCopied: boolean
  /** Contract: notes that it is, durably. */
  onCopied(): void
}

/**
 * Moves all that is kept of one user to another: copies it, notes that, then erases where it was.
 * Idempotent: after a crash anywhere, the same call finishes it, and nothing is there twice. Until
 * the copy is whole nothing is erased, and what is erased in part is not copied.
 *
 * @throws ERR_CONFLICT: a session is at both places, and is not the same; nothing was erased. As
 * `importInto` and `eraseUser`
 *
 * Limit: what another tab writes there between the copy and the end of the erasure is lost.
 */
export async function moveLocal(from: Place, to: Place, progress: Progress): Promise<void> {
  if (!progress.isCopied) {
    if (!(await isEmpty(from)))
      importCount(
        await importInto(to.memory, { userId: to.userId }, exportFrom(from.memory, { userId: from.userId })),
      )
    progress.onCopied()
  }
  await eraseUser(from.memory, { userId: from.userId })
}

async function isEmpty({ memory, userId }: Place): Promise<boolean> {
  const user = memory.user({ userId })
  const [sessions, facts, documents, skills] = await Promise.all([
    listSessions(memory, { userId }),
    user.facts.list({ first: 1, all: true }),
    user.profile.list(),
    user.skills.list({ first: 1 }),
  ])
  return sessions.length + facts.length + documents.length + skills.length === 0
}
