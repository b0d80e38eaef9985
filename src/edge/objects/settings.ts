import type { AgentTool } from '../../agent/options.ts'
import type { MemoryOptions } from '../../create-memory.ts'
import type { Feature } from '../../kernel/feature.ts'
import type { Model } from '../../ports/model.ts'
import type { EdgeSession } from '../features.ts'
import type { Budgets } from '../rows/token-buckets.ts'
import type { EncryptionSettings } from './encryption.ts'

/**
 * Budgets of one object, exact: token buckets that fill up evenly. What is left out has no limit.
 */
export interface SessionBudgets {
  /** Calls that append. */
  readonly appendsPerMinute?: number
  /** Bytes of bodies that are written. */
  readonly bytesPerDay?: number
  /** Tokens of input and output that the edge's own model may take. */
  readonly modelTokensPerHour?: number
}

/**
 * As for `createMemory`; the store, clock and ids are the object's own. A call of a feature that is
 * not in `use` is ERR_NOT_CONFIGURED.
 */
export interface ObjectMemoryOptions extends Omit<MemoryOptions, 'store' | 'clock' | 'newId' | 'newSecret'> {
  /**
   * For example `[...standard(), recall()]`; of a session and of its user's object the same.
   * Default: nothing.
   */
  readonly use?: readonly Feature[]
}

/** What a session's object is made with. */
export interface SessionSettings {
  readonly memory: ObjectMemoryOptions
  /** Answers in chats. Default: none, and chats are ERR_NOT_CONFIGURED. */
  readonly model?: Model | (() => Model | Promise<Model>)
  /** Tools of the edge's own agent. Default: those of the memory. */
  readonly tools?: (session: EdgeSession) => readonly AgentTool[]
  /** Most model calls of one reply. Default 20. */
  readonly maxSteps?: number
  readonly budgets?: SessionBudgets
  /**
   * Encrypts what the object stores; a user's object needs the same. Default: everything is in the
   * clear.
   */
  readonly encryption?: EncryptionSettings
  /**
   * Milliseconds after which the copy of the user's facts, profile and skills is read again.
   * Default 60 000.
   */
  readonly replicaMaxAge?: number
}

/** What a user's object is made with. */
export interface UserSettings {
  /** What is said of contexts is not needed. */
  readonly memory: ObjectMemoryOptions
  readonly budgets?: {
    /** Sessions that are created. */
    readonly sessionsPerHour?: number
    /** Bytes of bodies that are written. */
    readonly bytesPerDay?: number
  }
  /**
   * Encrypts what the object stores; the sessions' objects need the same. Default: everything is in
   * the clear.
   */
  readonly encryption?: EncryptionSettings
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Budgets of a session, as token buckets. */
export function sessionBudgets({
  appendsPerMinute,
  bytesPerDay,
  modelTokensPerHour,
}: SessionBudgets = {}): Budgets {
  return {
    appends: per(appendsPerMinute, MINUTE),
    bytes: per(bytesPerDay, DAY),
    modelTokens: per(modelTokensPerHour, HOUR),
  }
}

/** Budgets of a user, as token buckets. */
export function userBudgets({ sessionsPerHour, bytesPerDay }: UserSettings['budgets'] = {}): Budgets {
  return { sessions: per(sessionsPerHour, HOUR), bytes: per(bytesPerDay, DAY) }
}

function per(capacity: number | undefined, perMs: number): Budgets[string] {
  return capacity === undefined ? undefined : { capacity, perMs }
}
