import { env, runInDurableObject } from 'cloudflare:test'
import { onTestFinished } from 'vitest'
import { demoModel } from '../../../src/agent/demo-model.ts'
import type { DeploymentSettings, SessionSettings, UserSettings } from '../../../src/edge/cloudflare.ts'
import type { Feature } from '../../../src/index.ts'
import { webHost } from '../../../src/platform/web.ts'

interface Configured<Settings> {
  settings(): Settings
}

/**
 * Until the test ends, sessions that wake have other settings than the worker's. Those that are
 * awake keep theirs.
 */
export async function changeSessions(change: (settings: SessionSettings) => SessionSettings): Promise<void> {
  await changed(env.SESSIONS.get(env.SESSIONS.newUniqueId()), change)
}

/** The same of users. */
export async function changeUsers(change: (settings: UserSettings) => UserSettings): Promise<void> {
  await changed(env.USERS.get(env.USERS.newUniqueId()), change)
}

/** The same of the deployment's object, which must not be awake. */
export async function changeDeployment(
  change: (settings: DeploymentSettings) => DeploymentSettings,
): Promise<void> {
  const namespace = env.DEPLOYMENT as unknown as DurableObjectNamespace
  await changed(namespace.get(namespace.newUniqueId()), change)
}

/** The same settings with features in place of those of the same names. */
export function withFeatures<Settings extends SessionSettings | UserSettings>(
  settings: Settings,
  ...features: readonly Feature[]
): Settings {
  const { memory } = settings
  const others = (memory.use ?? []).filter(({ name }) => features.every((one) => one.name !== name))
  return { ...settings, memory: { ...memory, use: [...others, ...features] } }
}

/** Sessions that wake have the scripted model, since the worker under test has none. */
export function useDemoModel(): Promise<void> {
  return changeSessions((settings) => ({ ...settings, model: demoModel(webHost) }))
}

async function changed<Settings>(
  stub: DurableObjectStub,
  change: (settings: Settings) => Settings,
): Promise<void> {
  // The class of the worker, which all of its objects share.
  const prototype = await runInDurableObject(
    stub,
    (instance) => Object.getPrototypeOf(instance) as Configured<Settings>,
  )
  const { settings } = prototype
  prototype.settings = function (this: Configured<Settings>) {
    return change(settings.call(this))
  }
  onTestFinished(() => {
    prototype.settings = settings
  })
}
