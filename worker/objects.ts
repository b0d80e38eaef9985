import {
  DeploymentObject as Deployment,
  type DeploymentSettings,
  inJurisdiction,
  SessionObject as Session,
  type SessionSettings,
  UserObject as User,
  type UserSettings,
} from '../src/edge/cloudflare.ts'
import type { Env } from './env.ts'
import { deploymentSettings, sessionSettings, userSettings } from './settings.ts'

export class SessionObject extends Session<Env> {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, inJurisdiction(env, env.JURISDICTION))
  }

  protected settings(): SessionSettings {
    return sessionSettings(this.env)
  }
}

export class UserObject extends User<Env> {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, inJurisdiction(env, env.JURISDICTION))
  }

  protected settings(): UserSettings {
    return userSettings(this.env)
  }
}

export class DeploymentObject extends Deployment<Env> {
  protected settings(): DeploymentSettings {
    return deploymentSettings(this.env)
  }
}
