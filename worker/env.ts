import type { SessionObject } from './session-object.ts'

/** What `wrangler.toml` binds. */
export interface Env {
  readonly SESSIONS: DurableObjectNamespace<SessionObject>
  /** The line, in tokens. Default 16 000. */
  readonly BUDGET?: string
  /** Instructions of every session. Default: none. */
  readonly SYSTEM?: string
}
