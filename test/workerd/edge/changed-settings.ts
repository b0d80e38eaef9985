import { onTestFinished } from 'vitest'
import type { SessionSettings, UserSettings } from '../../../src/edge/cloudflare.ts'
import { demoModel } from '../../../src/edge/models/demo-model.ts'
import { webHost } from '../../../src/platform/web.ts'
import { SessionObject, UserObject } from '../../../worker/objects.ts'

interface Configured<Settings> {
  settings(): Settings
}

/** Until the test ends, objects that wake have other settings than the worker's. Those that are awake keep theirs. */
export function changeSettings(changes: {
  readonly session?: (settings: SessionSettings) => SessionSettings
  readonly user?: (settings: UserSettings) => UserSettings
}): void {
  change(SessionObject.prototype as unknown as Configured<SessionSettings>, changes.session)
  change(UserObject.prototype as unknown as Configured<UserSettings>, changes.user)
}

/** Sessions that wake have the scripted model, since the worker under test has none. */
export function useDemoModel(): void {
  changeSettings({ session: (settings) => ({ ...settings, model: demoModel(webHost) }) })
}

function change<Settings>(
  prototype: Configured<Settings>,
  make: ((settings: Settings) => Settings) | undefined,
): void {
  if (!make) return
  const { settings } = prototype
  prototype.settings = function (this: unknown) {
    return make(settings.call(this as Configured<Settings>))
  }
  onTestFinished(() => {
    prototype.settings = settings
  })
}
