import { createMemory } from '../create-memory.ts'
import { type CheckpointShape, checkpoint } from '../features/checkpoint/feature.ts'
import { type FactsShape, facts } from '../features/facts/feature.ts'
import { type ProfileShape, profile } from '../features/profile/feature.ts'
import type { RecallShape } from '../features/recall/feature.ts'
import { recall } from '../features/recall/recall.ts'
import { type SkillsShape, skills } from '../features/skills/feature.ts'
import { listSessions } from '../operations/sessions.ts'
import type { Counter } from '../ports/counter.ts'
import { isPlimsollError } from '../ports/errors.ts'
import type { Memory, UserScope } from '../ports/memory.ts'
import type { Json } from '../ports/message.ts'
import type { WindowOptions } from '../ports/session.ts'
import type { Store } from '../ports/store.ts'
import { FIXED_SECRET } from '../replay/plimsoll.ts'
import { visible } from '../replay/words.ts'
import { UsageError } from './arguments.ts'
import { readable } from './files.ts'
import type { Io } from './io.ts'

/** Whose memory to read, and where it is. */
export interface DatabaseOptions {
  /** A file of `sqliteStore`. */
  readonly db: string
  readonly user: string
  readonly tenant?: string
}

export type StoredMemory = Memory<{
  facts: FactsShape
  profile: ProfileShape
  skills: SkillsShape
  recall: RecallShape
  checkpoint: CheckpointShape<Json, Json | undefined>
}>

export interface Reading {
  readonly counter: Counter
  readonly budget?: number
  readonly window?: WindowOptions
  /** Unix milliseconds. */
  readonly now?: number
}

/**
 * Reads a memory of a database, which may be written to by another process meanwhile; nothing is
 * written to it. Resolves to the exit status: 1 where the database says no.
 */
export async function readDatabase(
  { db, user, tenant }: DatabaseOptions,
  { counter, budget = 16_000, window, now }: Reading,
  io: Io,
  read: (memory: StoredMemory, user: UserScope) => Promise<number>,
): Promise<number> {
  await readable([db], io)
  // A runtime without SQLite has the other commands.
  const { sqliteStore } = await import('../stores/sqlite.ts')
  try {
    const store = sqliteStore({ path: db, readonly: true })
    try {
      const scope: UserScope = { ...(tenant !== undefined && { tenant }), userId: user }
      if (await isEncrypted(store, scope)) {
        const whose = `what is stored of user ${visible(user)} is encrypted`
        io.err(`plimsoll: ${db}: ${whose}, and the command has no key\n`)
        return 1
      }
      const use = [profile(), skills(), facts(), recall(), checkpoint()] as const
      const memory = createMemory({
        store,
        counter,
        budget,
        ...(window && { window }),
        use,
        ...(now !== undefined && { clock: () => now }),
        newSecret: () => FIXED_SECRET,
      })
      return await read(memory, scope)
    } finally {
      await store.close()
    }
  } catch (error) {
    if (!isPlimsollError(error)) throw error
    if (error.code === 'ERR_INVALID_ARGUMENT') throw new UsageError(error.message)
    io.err(`plimsoll: ${error.message}\n`)
    return 1
  }
}

/** The register of `encryptedStore`, which a plain store shows; its own file loads ciphers. */
const KEYS = 'encryption/keys'

async function isEncrypted(store: Store, user: UserScope): Promise<boolean> {
  const scope = store.open(user)
  try {
    return (await scope.register(KEYS)) !== undefined
  } finally {
    await scope.close()
  }
}

/** Sessions that are named where none of the name asked for is there. */
const NAMED = 5

/** Says that a session is not there, and which are. Resolves to the exit status. */
export async function noSession(
  memory: StoredMemory,
  user: UserScope,
  session: string,
  io: Io,
): Promise<number> {
  const all = await listSessions(memory, user)
  const names = all.slice(0, NAMED).map(({ sessionId }) => visible(sessionId))
  if (all.length > NAMED) names.push('…')
  const found = names.join(', ') || 'none'
  io.err(`plimsoll: no session ${visible(session)} of user ${visible(user.userId)}, who has ${found}\n`)
  return 1
}
