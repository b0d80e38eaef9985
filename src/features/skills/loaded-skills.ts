import type { Host } from '../../ports/host.ts'
import type { IndexEntry } from '../../ports/op.ts'
import type { ScopeStore } from '../../ports/store.ts'
import { checkList } from '../../text/check-value.ts'
import { limitReached } from '../failures.ts'
import { changeRegister, readRegister } from '../register.ts'
import { checkSkillName } from './skill.ts'

/** Key of the list of skills that a session shows, and group of the one register that holds it. */
export const LOADED_SKILLS = 'skills/loaded'
/** Most skills that are loaded in one session. */
const MOST_LOADED = 16

/**
 * Names of the skills whose texts a session shows, in the order in which they were loaded. The
 * texts are the user's: unloading loses none.
 */
export interface LoadedSkills {
  /** A skill that was deleted since is still named. */
  list(): Promise<readonly string[]>
  /**
   * Idempotent. Whether there is such a skill is not asked. @throws ERR_INVALID_ARGUMENT, ERR_LIMIT
   * (a 17th skill)
   */
  load(name: string): Promise<void>
  /** Idempotent. @throws ERR_INVALID_ARGUMENT */
  unload(name: string): Promise<void>
}

/** @param register lists the session with its user, unless it is listed */
export function loadedSkills(store: ScopeStore, host: Host, register: () => Promise<void>): LoadedSkills {
  async function change(
    operation: string,
    name: string,
    change: (names: readonly string[]) => readonly string[] | Promise<readonly string[]>,
  ): Promise<void> {
    checkSkillName(operation, name)
    await changeRegister<readonly string[]>(store, host, {
      operation,
      key: LOADED_SKILLS,
      index: loadedIndex,
      change: async (before = []) => {
        const after = await change(before)
        return after.length === 0 ? null : after
      },
    })
  }
  return {
    list: async () => (await readRegister<readonly string[]>(store, LOADED_SKILLS)).value ?? [],
    load: (name) =>
      change('load', name, async (names) => {
        if (names.includes(name)) return names
        if (names.length >= MOST_LOADED) throw limitReached('load', 'loaded skills', MOST_LOADED)
        await register()
        return [...names, name]
      }),
    unload: (name) => change('unload', name, (names) => names.filter((one) => one !== name)),
  }
}

/** Names of loaded skills as they are stored. @throws ERR_INVALID_ARGUMENT */
export function checkLoaded(operation: string, value: unknown): readonly string[] {
  checkList(operation, 'names', value, MOST_LOADED)
  return value.map((name: unknown) => checkSkillName(operation, name))
}

/** Where the list stands: once for each of its names. */
export function loadedIndex(names: readonly string[]): readonly IndexEntry[] {
  return names.map((order) => ({ group: LOADED_SKILLS, order }))
}
