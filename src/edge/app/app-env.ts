import type { ContextAccount } from '../objects/answer.ts'
import type { Principal } from '../principal.ts'
import type { AppSettings, OperatorLine } from './settings.ts'

/** What Hono carries along with a request. */
export interface AppEnv {
  // Whatever the app that this one is mounted in binds.
  Bindings: object
  Variables: {
    /** Names the request in answers and in the log. */
    requestId: string
    settings: AppSettings
    /** Who calls; only under `/v1` and `/mcp`. */
    principal: Principal
    /** Of an answer that is a context, for the log. */
    account: ContextAccount | undefined
    /** Set by the routes for operators, for the log. */
    operator: OperatorLine | undefined
  }
}
