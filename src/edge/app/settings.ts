import type { GuestTokens } from '../auth/guests.ts'
import type { CheckOperator } from '../auth/operator.ts'
import type { RateLimiter } from '../auth/shield.ts'
import type { EdgeBindings } from '../objects/bindings.ts'
import type { Authenticate } from '../principal.ts'

/** One request, as the log has it: ids, sizes and codes, never content. */
export interface LogLine {
  readonly requestId: string
  readonly method: string
  /**
   * The route's pattern, for example `/v1/sessions/:session/messages`: a path may hold names of
   * people.
   */
  readonly route: string
  readonly status: number
  readonly milliseconds: number
  /** Of a refusal. */
  readonly code?: string
  /**
   * Where something failed that should not: the name and the stack of the error, never its message.
   */
  readonly error?: string
  /** Of a context, its tokens by the memory's own count, and the id of its epoch. */
  readonly tokens?: number
  readonly epoch?: string
  /** Of a chat, the run that answers it; what that took is in the line of its end. */
  readonly run?: string
  /** Of a call by an operator, who it was about. */
  readonly operator?: OperatorLine
}

/** What an operator did. */
export interface OperatorLine {
  readonly action: 'find' | 'export' | 'erase'
  /** Id of the object of the user whom it was about. */
  readonly object: string
}

/** What the app needs to know of where it runs. */
export interface AppSettings {
  readonly objects: EdgeBindings
  readonly authenticate: Authenticate
  /** Makes tokens for people who have not signed in. Default: nobody gets one. */
  readonly guests?: GuestTokens
  /** Knows an operator. Default: nobody is one, and the routes for operators are not there. */
  readonly operator?: CheckOperator
  /**
   * Origins whose pages may call, exactly as browsers write them: `https://example.com`. Of a
   * loopback host the port may be `*`. Default: none but the edge's own.
   */
  readonly origins?: readonly string[]
  /**
   * A coarse shield in front of everything, for example a rate-limit binding of Cloudflare.
   * Default: none.
   */
  readonly shield?: RateLimiter
  /** URL of RapiDoc's script, for the page at `/docs`. Default: no such page. */
  readonly docsScript?: string
  /**
   * Contract: told of every request after its answer; must not throw. Default: {@link logMost}.
   */
  readonly log?: (line: LogLine) => void
  /**
   * Keeps and orders what devices encrypted, and reads nothing: sync, its sockets and what erases a
   * user are there, no other route is, and what is not encrypted is refused. For a deployment from
   * its beginning. Default: the edge reads what it keeps.
   */
  readonly ciphertext?: true
  /** Facts about the deployment, for `/health`. Default: none. */
  readonly health?: Readonly<Record<string, string | boolean>>
}
