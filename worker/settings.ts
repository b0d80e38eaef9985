import {
  type DeploymentSettings,
  encryptionOf,
  type SessionSettings,
  type TenantBudgets,
  type UserBudgets,
  type UserSettings,
} from '../src/edge/cloudflare.ts'
import { runLogOf } from '../src/edge/hono.ts'
import { isBare } from '../src/edge/models/from-env.ts'
import { modelOf, pricesIn } from '../src/edge/models/index.ts'
import {
  checkpoint,
  compaction,
  extraction,
  type Feature,
  facts,
  PlimsollError,
  profile,
  type RetentionOptions,
  recall,
  retention,
  skills,
} from '../src/index.ts'
import { MOST_DAYS } from '../src/operations/retention/retention-options.ts'
import { englishStemmer } from '../src/stemmer.ts'
import type { Env } from './env.ts'
import { isOn } from './is-on.ts'

/** Variables that are texts. */
type Variable = { [Name in keyof Env]-?: Env[Name] extends string | undefined ? Name : never }[keyof Env]

const DEFAULT_BUDGET = 16_000
/** Of a user, and of a session, so that a session's copy of the user's stays small. */
const MOST_FACTS = 500
/**
 * What one recall across sessions looks through, where no words of them are kept with their user:
 * each is a call of another object.
 */
const ENCRYPTED_SESSIONS = 32
/** What a session takes in advance: some replies. */
const SHARED_TOKENS = 16_000
/** Where a model and guests meet, and nothing else is set. */
const TOKENS_PER_DAY = {
  GUEST_MODEL_TOKENS_PER_DAY: 100_000,
  USER_MODEL_TOKENS_PER_DAY: 1_000_000,
  DEPLOYMENT_MODEL_TOKENS_PER_DAY: 10_000_000,
} as const

/**
 * Looks at what is set of the objects, so that each answer says what is wrong with it, and not
 * those of some objects alone.
 *
 * @throws ERR_NOT_CONFIGURED
 */
export function checkObjects(env: Env): void {
  sessionSettings(env)
  userSettings(env)
  deploymentSettings(env)
  // A key alone is that of a model which is named later.
  if (!isBare({ ...env, MODEL_API_KEY: '' })) modelOf(env)
}

/** @throws ERR_NOT_CONFIGURED */
export function sessionSettings(env: Env): SessionSettings {
  return {
    memory: { ...memoryOf(env), use: [...featuresOf(env), extraction(), compaction()] },
    ...encryptedBy(env),
    ...(isOn('LEASE', env.LEASE) && { lease: {} }),
    ...(env.MODEL_PRICES && { prices: pricesIn(env.MODEL_PRICES) }),
    onRun: runLogOf(env),
    model: (parts) => modelOf(env, { ...parts, isDevelopment: env.AUTH === 'development' }),
    budgets: {
      ...limit('appendsPerMinute', env, 'APPENDS_PER_MINUTE'),
      ...limit('bytesPerDay', env, 'BYTES_PER_DAY'),
      ...limit('modelTokensPerHour', env, 'MODEL_TOKENS_PER_HOUR'),
      sharedModelTokens: isShared(env) && SHARED_TOKENS,
    },
  }
}

/** @throws ERR_NOT_CONFIGURED */
export function userSettings(env: Env): UserSettings {
  return {
    memory: { ...memoryOf(env), use: featuresOf(env) },
    ...encryptedBy(env),
    budgets: userBudgets(env, 'USER_MODEL_TOKENS_PER_DAY'),
    guestBudgets: userBudgets(env, 'GUEST_MODEL_TOKENS_PER_DAY'),
    ...tenantsOf(env),
  }
}

/** @throws ERR_NOT_CONFIGURED */
export function deploymentSettings(env: Env): DeploymentSettings {
  return { budgets: tokensPerDay(env, 'DEPLOYMENT_MODEL_TOKENS_PER_DAY') }
}

function userBudgets(env: Env, name: keyof typeof TOKENS_PER_DAY): UserBudgets {
  return {
    ...limit('sessionsPerHour', env, 'SESSIONS_PER_HOUR'),
    ...limit('bytesPerDay', env, 'BYTES_PER_DAY'),
    ...tokensPerDay(env, name),
  }
}

/** Budgets of each tenant. @throws ERR_NOT_CONFIGURED: nobody has a tenant */
function tenantsOf(env: Env): Pick<UserSettings, 'tenantBudgets'> {
  const budgets: TenantBudgets = {
    ...limit('sessionsPerHour', env, 'TENANT_SESSIONS_PER_HOUR'),
    ...limit('modelTokensPerDay', env, 'TENANT_MODEL_TOKENS_PER_DAY'),
  }
  if (Object.keys(budgets).length === 0) return {}
  if (!env.JWT_TENANT_CLAIM) throw wrong('TENANT_… need JWT_TENANT_CLAIM')
  return { tenantBudgets: () => budgets }
}

/** A budget of the model's tokens: as it is set, or where anybody can spend what costs. */
function tokensPerDay(
  env: Env,
  name: keyof typeof TOKENS_PER_DAY,
): { readonly modelTokensPerDay?: number | false } {
  if (env[name] && env[name] !== 'off') return limit('modelTokensPerDay', env, name)
  const isOpen = Boolean((env.MODEL_BASE_URL || env.WORKERS_AI_MODEL) && env.GUEST_SECRET)
  return { modelTokensPerDay: !env[name] && isOpen && TOKENS_PER_DAY[name] }
}

/** Whether there is any budget that sessions share. */
function isShared(env: Env): boolean {
  const names = Object.keys(TOKENS_PER_DAY) as (keyof typeof TOKENS_PER_DAY)[]
  const isTenants = Boolean(env.TENANT_MODEL_TOKENS_PER_DAY)
  return isTenants || names.some((name) => tokensPerDay(env, name).modelTokensPerDay !== false)
}

function memoryOf(env: Env): SessionSettings['memory'] {
  const contextWindow = whole(env, 'BUDGET', 1) ?? DEFAULT_BUDGET
  const maxOutputTokens = whole(env, 'MAX_OUTPUT_TOKENS', 0) ?? 0
  if (maxOutputTokens >= contextWindow) throw wrong('MAX_OUTPUT_TOKENS must be below BUDGET')
  return { budget: { contextWindow, maxOutputTokens }, ...(env.SYSTEM && { system: env.SYSTEM }) }
}

function recallOf(env: Env): Feature {
  const most = encryptionOf(env) && { sessions: ENCRYPTED_SESSIONS }
  return recall({ stemmer: englishStemmer, ...most })
}

function featuresOf(env: Env): readonly Feature[] {
  const times: RetentionOptions = {
    ...days('log', env, 'RETENTION_DAYS_LOG'),
    ...days('facts', env, 'RETENTION_DAYS_FACTS'),
    ...days('checkpoint', env, 'RETENTION_DAYS_CHECKPOINT'),
  }
  return [
    profile(),
    skills(),
    facts({ caps: { facts: MOST_FACTS } }),
    checkpoint(),
    ...(isOn('RECALL', env.RECALL || 'on') ? [recallOf(env)] : []),
    ...(Object.keys(times).length > 0 ? [retention(times)] : []),
  ]
}

function encryptedBy(env: Env): Pick<SessionSettings, 'encryption'> {
  const encryption = encryptionOf(env)
  return encryption ? { encryption } : {}
}

/** For how long a part is kept, where that is set, and not empty. @throws ERR_NOT_CONFIGURED */
function days<Part extends string>(part: Part, env: Env, name: Variable): RetentionOptions {
  const days = whole(env, name, 1, MOST_DAYS)
  return days === undefined ? {} : { [part]: { days } }
}

/** A budget that is set, and not empty. @throws ERR_NOT_CONFIGURED: it is no number above 0 */
function limit<Name extends string>(name: Name, env: Env, variable: Variable): { [Key in Name]?: number } {
  const value = env[variable]
  if (!value) return {}
  const amount = Number(value)
  if (!(amount > 0 && Number.isFinite(amount))) throw wrong(`${variable} must be a number above 0`)
  return { [name]: amount } as { [Key in Name]?: number }
}

/** A count that is set, and not empty. @throws ERR_NOT_CONFIGURED */
function whole(env: Env, name: Variable, least: number, most = Number.MAX_SAFE_INTEGER): number | undefined {
  const value = env[name]
  if (!value) return undefined
  const count = Number(value)
  if (Number.isInteger(count) && count >= least && count <= most) return count
  throw wrong(`${name} must be a whole number, ${least} to ${most}`)
}

function wrong(reason: string): PlimsollError {
  return new PlimsollError('ERR_NOT_CONFIGURED', `settings: ${reason}`)
}
