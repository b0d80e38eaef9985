import type { AgentTool } from '../../agent/options.ts'
import type { MemoryOptions } from '../../create-memory.ts'
import type { Feature } from '../../kernel/feature.ts'
import type { Host } from '../../ports/host.ts'
import type { Model } from '../../ports/model.ts'
import type { Scope } from '../../ports/op.ts'
import type { EdgeSession } from '../features.ts'
import { isGuest } from '../guest.ts'
import type { Budgets, TokenBuckets } from '../rows/token-buckets.ts'
import type { Ask, TokenLease } from '../rows/token-lease.ts'
import { BriefBudget } from './brief-budget.ts'
import type { EncryptionSettings } from './encryption.ts'
import type { ObjectLine } from './failures.ts'
import type { RunSettings } from './run-line.ts'

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
  /**
   * Tokens of the model that a session takes in advance from its user's budget, and the user's
   * object from the deployment's, so that not each call asks there; `false`: neither is asked.
   * Default: 16 000 of a guest, else `false`.
   */
  readonly sharedModelTokens?: number | false
  /**
   * Calls by which a guest only reads. Counted while the object is awake. Default 240; users have
   * no limit.
   */
  readonly guestReadsPerMinute?: number
  /**
   * Frames that its sockets send beside `ping`; one beyond them is the last of its socket. Counted
   * while the object is awake. Default 60.
   */
  readonly framesPerMinute?: number
}

const FRAMES_PER_MINUTE = 60
/** Where a model and guests meet, anybody can make somebody else pay. */
const GUEST_TOKENS_PER_DAY = 100_000
/** Some replies. */
const SHARED_TOKENS = 16_000
const GUEST_READS_PER_MINUTE = 240

/** What guests read of one object. It costs users nothing. */
export function guestReads(
  { guestReadsPerMinute = GUEST_READS_PER_MINUTE }: Pick<SessionBudgets, 'guestReadsPerMinute'> = {},
  now: () => number,
): BriefBudget {
  return new BriefBudget('guestReads', guestReadsPerMinute, now)
}

/** Frames of a session's sockets, a minute. */
export function framesPerMinute({ framesPerMinute: given = FRAMES_PER_MINUTE }: SessionBudgets = {}): number {
  return given
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

/** How a session's agent shares its answers with those of devices. */
export interface LeaseSettings {
  /** As for `lease`: milliseconds for which one holds unless it is renewed. Default 1 500. */
  readonly ms?: number
  /**
   * For how many milliseconds a pushed message is left to the agents of devices, until the edge
   * answers it. Default 1 000.
   */
  readonly afterMs?: number
}

/** What a model of an object makes its calls with. */
export interface ModelParts {
  /** As the platform's; as long as the chat's Worker is there, that makes the request. */
  readonly fetch: typeof fetch
  /** Waits of a minute and more end up to half a minute late. */
  readonly host: Host
}

/** What a session's object is made with. */
export interface SessionSettings extends RunSettings {
  readonly memory: ObjectMemoryOptions
  /**
   * Answers in chats; a function is asked for one at each chat. What the model fetches by the
   * `fetch` that it is given, and waits for by its `host`, the object is not billed for. Default:
   * none, and chats are ERR_NOT_CONFIGURED.
   */
  readonly model?: Model | ((parts: ModelParts) => Model | Promise<Model>)
  /** Tools of the edge's own agent. Default: those of the memory. */
  readonly tools?: (session: EdgeSession) => readonly AgentTool[]
  /** Most model calls of one reply. Default 20. */
  readonly maxSteps?: number
  readonly budgets?: SessionBudgets
  /**
   * That the edge's own agent is one of several: it takes a lease of what it answers, and answers
   * what replicas push. Default: neither, and no lease costs a row.
   */
  readonly lease?: LeaseSettings
  /** Told of what fails behind an answer; must not throw. Default: a line on the console. */
  readonly log?: (line: ObjectLine) => void
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

/** Budgets of one user. */
export interface UserBudgets {
  /** Sessions that are created. */
  readonly sessionsPerHour?: number
  /** Bytes of bodies that are written. */
  readonly bytesPerDay?: number
  /**
   * Tokens that the edge's own model takes, in all sessions that have `sharedModelTokens`; `false`:
   * no limit. Default: 100 000 for a guest, since anybody can be one, else no limit.
   */
  readonly modelTokensPerDay?: number | false
  /**
   * Calls by which a guest only reads what sessions share. Counted while the object is awake.
   * Default 240; users have no limit.
   */
  readonly guestReadsPerMinute?: number
}

/** Budgets of all users of one tenant together. What is left out has no limit. */
export interface TenantBudgets {
  /** Sessions that are created. */
  readonly sessionsPerHour?: number
  /** Tokens that the edge's own model takes, in all sessions that have `sharedModelTokens`. */
  readonly modelTokensPerDay?: number
}

/** What the object of a deployment is made with. */
export interface DeploymentSettings {
  readonly budgets?: {
    /** Tokens that the edge's own model takes, for all users together; `false`: no limit. */
    readonly modelTokensPerDay?: number | false
  }
}

/** What a user's object is made with. */
export interface UserSettings {
  /** What is said of contexts is not needed. */
  readonly memory: ObjectMemoryOptions
  readonly budgets?: UserBudgets
  /**
   * Budgets of somebody who has not signed in. Default: as `budgets`, but for the tokens of the
   * model.
   */
  readonly guestBudgets?: UserBudgets
  /**
   * Contract: budgets of the tenant that a user is of; undefined: it has none. Not asked for users
   * without a tenant. They are kept in an object of the tenant's, in the namespace `DEPLOYMENT`.
   * Default: no tenant has any.
   */
  readonly tenantBudgets?: (tenant: string) => TenantBudgets | undefined
  /**
   * After how long a guest's token has ended, as for `guestTokens`: all of the guest is removed
   * then. Default 30 days.
   */
  readonly guestLifetimeMs?: number
  /** Told of what fails behind an answer; must not throw. Default: a line on the console. */
  readonly log?: (line: ObjectLine) => void
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
export function userBudgets({ budgets = {}, guestBudgets = budgets }: UserSettings, scope: Scope): Budgets {
  const isGuests = isGuest(scope)
  const { sessionsPerHour, bytesPerDay, modelTokensPerDay } = isGuests ? guestBudgets : budgets
  const tokens = isGuests ? (guestBudgets.modelTokensPerDay ?? GUEST_TOKENS_PER_DAY) : modelTokensPerDay
  return {
    sessions: per(sessionsPerHour, HOUR),
    bytes: per(bytesPerDay, DAY),
    userModelTokens: per(tokens, DAY),
  }
}

/** What a session takes in advance; undefined: it asks nobody. */
export function sharedTokens({ sharedModelTokens }: SessionBudgets = {}, scope: Scope): number | undefined {
  const shared = sharedModelTokens ?? (isGuest(scope) ? SHARED_TOKENS : false)
  return shared === false ? undefined : shared
}

/** Budgets of a deployment, as token buckets. */
export function deploymentBudgets({ modelTokensPerDay }: DeploymentSettings['budgets'] = {}): Budgets {
  return { deploymentModelTokens: per(modelTokensPerDay, DAY) }
}

/** Budgets of a tenant, as token buckets. */
export function tenantBuckets({ sessionsPerHour, modelTokensPerDay }: TenantBudgets): Budgets {
  return { tenantSessions: per(sessionsPerHour, HOUR), tenantModelTokens: per(modelTokensPerDay, DAY) }
}

/** What one asker gets of what is left at most, beyond the least: others are to find some too. */
const SHARE = 1 / 4

/** Takes for somebody who asks in advance. @throws ERR_RATE_LIMIT, ERR_LIMIT */
export function granted(buckets: TokenBuckets, name: string, { least, wanted, owed = 0 }: Ask): number {
  buckets.settle(name, owed)
  const amount = Math.max(least, Math.min(wanted, Math.floor(buckets.left(name) * SHARE)))
  buckets.take(name, amount)
  return amount
}

/**
 * The same, where what is granted is of a wider budget too.
 *
 * @throws as {@link granted}, and as the lease of the wider budget: then nothing is taken
 */
export async function grantedOf(
  buckets: TokenBuckets,
  name: string,
  ask: Ask,
  wider: TokenLease | undefined,
): Promise<number> {
  const amount = granted(buckets, name, ask)
  try {
    await (ask.owed ? wider?.settle(ask.owed) : wider?.take(amount))
  } catch (error) {
    buckets.settle(name, -amount)
    throw error
  }
  return amount
}

function per(capacity: number | false | undefined, perMs: number): Budgets[string] {
  return capacity === undefined || capacity === false ? undefined : { capacity, perMs }
}
