import type { EdgeBindings } from '../src/edge/cloudflare.ts'

/** What `wrangler.toml` binds and sets; docs/deploy.md says what each is for. */
export interface Env extends EdgeBindings {
  /** The line, in tokens. Default 16 000. */
  readonly BUDGET?: string
  /** Instructions of every session. Default: none. */
  readonly SYSTEM?: string
}
