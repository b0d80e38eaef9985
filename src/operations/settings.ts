import { changeRegister, readRegister } from '../features/register.ts'
import { checkUser } from '../kernel/memory.ts'
import { checkCount, checkOptions, invalid, isPlainObject } from '../kernel/text/json.ts'
import { PlimsollError } from '../ports/errors.ts'
import type { Host } from '../ports/host.ts'
import type { Memory, UserScope } from '../ports/memory.ts'
import type { Settings, SettingsPatch } from '../ports/settings.ts'
import type { ScopeStore } from '../ports/store.ts'
import { memoryOf } from './kernel-of.ts'

/** Key of the settings. */
export const SETTINGS = 'settings'

const DEFAULTS: Settings = { v: 1, budget_tokens: { total: 3000, pins: 1500, skills: 800, recall: 700 } }

/**
 * A user's settings, written with their defaults the first time. @throws ERR_UPGRADE_REQUIRED: a
 * newer version of this library wrote them
 */
export async function readSettings(memory: Memory, user: UserScope): Promise<Settings> {
  const { store, host } = memoryOf('readSettings', memory)
  return settingsIn(store.open(checkUser('readSettings', user)), host)
}

/** The settings in a user's scope. @throws ERR_UPGRADE_REQUIRED */
export async function settingsIn(store: ScopeStore, host: Host): Promise<Settings> {
  const { value } = await readRegister<Settings>(store, SETTINGS)
  return value === undefined
    ? change(store, host, 'settings', (settings) => settings)
    : known('settings', value)
}

/**
 * Changes settings field by field, for example `{ budget_tokens: { total: 2000 } }`: whole numbers
 * of 0 or more, `total` of 1 or more.
 *
 * @returns all settings, as they are now
 * @throws ERR_INVALID_ARGUMENT, ERR_UPGRADE_REQUIRED; nothing is written
 */
export async function changeSettings(
  memory: Memory,
  user: UserScope,
  patch: SettingsPatch,
): Promise<Settings> {
  const { store, host } = memoryOf('changeSettings', memory)
  const { budget_tokens } = checkPatch(patch)
  return change(store.open(checkUser('changeSettings', user)), host, 'changeSettings', (settings) => ({
    ...settings,
    budget_tokens: { ...settings.budget_tokens, ...budget_tokens },
  }))
}

async function change(
  store: ScopeStore,
  host: Host,
  operation: string,
  changed: (settings: Settings) => Settings,
): Promise<Settings> {
  let after = DEFAULTS
  await changeRegister<Settings>(store, host, {
    operation,
    key: SETTINGS,
    change: (before) => {
      after = changed(before === undefined ? DEFAULTS : known(operation, before))
      return after
    },
  })
  return after
}

function known(operation: string, settings: Settings): Settings {
  if (settings.v === 1) return settings
  throw new PlimsollError('ERR_UPGRADE_REQUIRED', `${operation}: a newer version wrote the settings`)
}

/** Settings as they are stored. @throws ERR_INVALID_ARGUMENT, ERR_UPGRADE_REQUIRED */
export function checkSettings(operation: string, value: unknown): Settings {
  if (!isPlainObject(value)) throw invalid(operation, 'settings', 'must be an object')
  const { v: _, ...patch } = known(operation, value as unknown as Settings)
  const { budget_tokens = {} } = checkPatch(patch)
  for (const name of Object.keys(DEFAULTS.budget_tokens))
    if (!Object.hasOwn(budget_tokens, name)) throw invalid(operation, `budget_tokens.${name}`, 'is missing')
  return value as unknown as Settings
}

function checkPatch(patch: SettingsPatch): SettingsPatch {
  checkOptions('changeSettings', 'patch', patch, ['budget_tokens'])
  const { budget_tokens } = patch
  if (budget_tokens === undefined) return {}
  checkOptions('changeSettings', 'budget_tokens', budget_tokens, Object.keys(DEFAULTS.budget_tokens))
  const given = Object.entries(budget_tokens).filter(([, tokens]) => tokens !== undefined)
  for (const [name, tokens] of given) checkCount('changeSettings', `budget_tokens.${name}`, tokens)
  if (budget_tokens.total === 0) throw invalid('changeSettings', 'budget_tokens.total', 'must be at least 1')
  return { budget_tokens: Object.fromEntries(given) }
}
