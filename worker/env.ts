import type { EdgeBindings, EncryptionVariables } from '../src/edge/cloudflare.ts'
import type { AuthSettings, LogEnv, RateLimiter } from '../src/edge/hono.ts'
import type { ModelEnv } from '../src/edge/models/index.ts'

/**
 * What `wrangler.toml` binds, and what is set by variables and secrets; docs/deploy.md says what
 * each is for.
 */
export interface Env extends EdgeBindings, AuthSettings, EncryptionVariables, LogEnv, ModelEnv {
  /** A rate-limit binding, as a coarse shield. Default: none. */
  readonly SHIELD?: RateLimiter
  /**
   * Where all objects run and store: `eu`, `us`, `fedramp`, `fedramp-high`. Default: near who made
   * them. Not on one's own machine.
   */
  readonly JURISDICTION?: string
  /** The line, in tokens. Default 16 000. */
  readonly BUDGET?: string
  /** Tokens of the line that are kept free for the reply. Default 0. */
  readonly MAX_OUTPUT_TOKENS?: string
  /** Instructions of every session. Default: none. */
  readonly SYSTEM?: string
  /** `off`: nothing is found again by its words, and appends cost less. Default: on. */
  readonly RECALL?: string
  /**
   * `on`: the edge's own agent takes a lease of what it answers, and answers what devices push.
   * Default: off.
   */
  readonly LEASE?: string
  /** `on`: what devices encrypted is kept and ordered, and nothing is read. Default: off. */
  readonly CIPHERTEXT?: string
  /** Calls that append, a session. Default: no limit; so with the others. */
  readonly APPENDS_PER_MINUTE?: string
  /** Bytes of bodies that write, a session; and as many again a user. */
  readonly BYTES_PER_DAY?: string
  /** Tokens that the edge's own model takes, a session. */
  readonly MODEL_TOKENS_PER_HOUR?: string
  /**
   * Days for which rounds, facts that are not pinned, and checkpoints are kept. Default: until they
   * are removed.
   */
  readonly RETENTION_DAYS_LOG?: string
  readonly RETENTION_DAYS_FACTS?: string
  readonly RETENTION_DAYS_CHECKPOINT?: string
  /** Sessions that a user makes. */
  readonly SESSIONS_PER_HOUR?: string
  /**
   * Tokens that the edge's own model takes, for one guest, one user, and all together; `off`: no
   * limit. Default: 100 000, 1 000 000 and 10 000 000 where there are a model and guests, else no
   * limit.
   */
  readonly GUEST_MODEL_TOKENS_PER_DAY?: string
  readonly USER_MODEL_TOKENS_PER_DAY?: string
  readonly DEPLOYMENT_MODEL_TOKENS_PER_DAY?: string
  /** The same for all users of one tenant. Default: no limit. */
  readonly TENANT_MODEL_TOKENS_PER_DAY?: string
  /** Sessions that all users of one tenant make. Default: no limit. */
  readonly TENANT_SESSIONS_PER_HOUR?: string
  /**
   * Dollars a million tokens, `input=2.5 cached=0.25 write=3.125 output=10`, for the `cost` of
   * runs. Default: none is told.
   */
  readonly MODEL_PRICES?: string
}
