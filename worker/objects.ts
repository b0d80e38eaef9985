import {
  encryptionOf,
  inJurisdiction,
  SessionObject as Session,
  type SessionSettings,
  UserObject as User,
  type UserSettings,
} from '../src/edge/cloudflare.ts'
import { modelOf } from '../src/edge/models/index.ts'
import {
  checkpoint,
  compaction,
  extractFacts,
  type FactsOptions,
  type Feature,
  facts,
  type Model,
  profile,
  type RetentionOptions,
  recall,
  retention,
  skills,
} from '../src/index.ts'
import { englishStemmer } from '../src/stemmer.ts'
import type { Env } from './env.ts'

const DEFAULT_BUDGET = 16_000
/** Of a user, and of a session, so that a session's copy of the user's stays small. */
const MOST_FACTS = 500

export class SessionObject extends Session<Env> {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, inJurisdiction(env, env.JURISDICTION))
  }

  protected settings(): SessionSettings {
    const { env } = this
    // Made at the first reply, since most calls need none.
    let made: Model | undefined
    const model = (): Model => {
      made ??= modelOf(env, { isDevelopment: env.AUTH === 'development' })
      return made
    }
    return {
      memory: { ...memoryOf(env), use: [...featuresOf(env, { extract: extractFacts }), compaction()] },
      ...encryptedBy(env),
      model,
      budgets: {
        ...limit('appendsPerMinute', env.APPENDS_PER_MINUTE),
        ...limit('bytesPerDay', env.BYTES_PER_DAY),
        ...limit('modelTokensPerHour', env.MODEL_TOKENS_PER_HOUR),
      },
    }
  }
}

export class UserObject extends User<Env> {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, inJurisdiction(env, env.JURISDICTION))
  }

  protected settings(): UserSettings {
    const { env } = this
    return {
      memory: { ...memoryOf(env), use: featuresOf(env) },
      ...encryptedBy(env),
      budgets: {
        ...limit('sessionsPerHour', env.SESSIONS_PER_HOUR),
        ...limit('bytesPerDay', env.BYTES_PER_DAY),
      },
    }
  }
}

function memoryOf({ BUDGET, MAX_OUTPUT_TOKENS, SYSTEM }: Env): SessionSettings['memory'] {
  return {
    budget: {
      contextWindow: Number(BUDGET ?? DEFAULT_BUDGET),
      maxOutputTokens: Number(MAX_OUTPUT_TOKENS ?? 0),
    },
    ...(SYSTEM !== undefined && { system: SYSTEM }),
  }
}

function featuresOf(env: Env, options: FactsOptions = {}): readonly Feature[] {
  const times: RetentionOptions = {
    ...days('log', env.RETENTION_DAYS_LOG),
    ...days('facts', env.RETENTION_DAYS_FACTS),
    ...days('checkpoint', env.RETENTION_DAYS_CHECKPOINT),
  }
  return [
    profile(),
    skills(),
    facts({ caps: { facts: MOST_FACTS }, ...options }),
    checkpoint(),
    ...(env.RECALL === 'off' ? [] : [recall({ stemmer: englishStemmer })]),
    ...(Object.keys(times).length > 0 ? [retention(times)] : []),
  ]
}

function encryptedBy(env: Env): Pick<SessionSettings, 'encryption'> {
  const encryption = encryptionOf(env)
  return encryption ? { encryption } : {}
}

/** For how long a part is kept, where that is set, and not empty. */
function days<Name extends string>(name: Name, value: string | undefined): RetentionOptions {
  return value ? { [name]: { days: Number(value) } } : {}
}

/** A budget that is set, and not empty. */
function limit<Name extends string>(name: Name, value: string | undefined): { [Key in Name]?: number } {
  return (value ? { [name]: Number(value) } : {}) as { [Key in Name]?: number }
}
