import type { EdgeBindings } from '../src/edge/cloudflare.ts'
import type { AuthSettings, RateLimiter } from '../src/edge/hono.ts'

/** What `wrangler.toml` binds and sets; docs/deploy.md says what each is for. */
export interface Env extends EdgeBindings, AuthSettings {
  /** Origins whose pages may call, parted by spaces or commas. Default: only the edge's own. */
  readonly ORIGINS?: string
  /** A rate-limit binding, as a coarse shield. Default: none. */
  readonly SHIELD?: RateLimiter
  /** The line, in tokens. Default 16 000. */
  readonly BUDGET?: string
  /** Instructions of every session. Default: none. */
  readonly SYSTEM?: string
}
