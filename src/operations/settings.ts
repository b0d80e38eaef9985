import { changeRegister, readRegister } from '../features/register.ts'
import { checkUser } from '../kernel/memory.ts'
import { PlimsollError } from '../ports/errors.ts'
import type { Host } from '../ports/host.ts'
import type { Memory, UserScope } from '../ports/memory.ts'
import type { Settings, SettingsPatch } from '../ports/settings.ts'
import type { ScopeStore } from '../ports/store.ts'
import { checkCount, checkOptions, invalid, isPlainObject } from '../text/json.ts'
import { memoryOf } from './kernel-of.ts'

/** Key of the settings. */
export const SETTINGS = 'settings'

const DEFAULTS: Settings = {
  v: 1,
  working_memory_budget_tokens: 3000,
  pin_budget_tokens: 1500,
  skills_index_budget_tokens: 800,
  recall_budget_tokens: 700,
}

/** Names of what may be set. */
export const BUDGETS = Object.keys(DEFAULTS).filter((name) => name !== 'v')

/**
 * A user's settings, written with their defaults the first time. @throws ERR_UPGRADE_REQUIRED: a
 * newer version of this library wrote them
 */
export async function readSettings(memory: Memory, user: UserScope): Promise<Settings> {
  const { store, host } = memoryOf('readSettings', memory)
  const home = store.open(checkUser('readSettings', user))
  return (await storedIn(home)) ?? change(home, host, 'readSettings', (settings) => settings)
}

/** The settings in a user's scope, or the defaults. @throws ERR_UPGRADE_REQUIRED */
export async function settingsIn(store: ScopeStore): Promise<Settings> {
  return (await storedIn(store)) ?? DEFAULTS
}

async function storedIn(store: ScopeStore): Promise<Settings | undefined> {
  const { value } = await readRegister<Settings>(store, SETTINGS)
  return value && known('settings', value)
}

/**
 * Changes settings field by field, for example `{ working_memory_budget_tokens: 2000 }`: whole
 * numbers of 0 or more, that of the whole 1 or more.
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
  const checked = checkPatch(patch)
  return change(store.open(checkUser('changeSettings', user)), host, 'changeSettings', (settings) => ({
    ...settings,
    ...checked,
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
  const checked = checkPatch(patch)
  for (const name of BUDGETS) if (!Object.hasOwn(checked, name)) throw invalid(operation, name, 'is missing')
  return value as unknown as Settings
}

function checkPatch(patch: SettingsPatch): SettingsPatch {
  checkOptions('changeSettings', 'patch', patch, BUDGETS)
  const given = Object.entries(patch).filter(([, tokens]) => tokens !== undefined)
  for (const [name, tokens] of given) checkCount('changeSettings', name, tokens)
  if (patch.working_memory_budget_tokens === 0)
    throw invalid('changeSettings', 'working_memory_budget_tokens', 'must be at least 1')
  return Object.fromEntries(given)
}
