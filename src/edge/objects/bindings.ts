import type { DeploymentObject } from './deployment-object.ts'
import type { SessionObject } from './session-object.ts'
import type { UserObject } from './user-object.ts'

/** What the objects find in their environment, as `wrangler.toml` binds it. */
export interface EdgeBindings {
  /** One object a session. */
  readonly SESSIONS: DurableObjectNamespace<SessionObject>
  /** One object a user. */
  readonly USERS: DurableObjectNamespace<UserObject>
  /** One object in all. Default: none, and what it is for is not there. */
  readonly DEPLOYMENT?: DurableObjectNamespace<DeploymentObject>
}
