import { invalid } from '../../kernel/text/json.ts'
import type { Host } from '../../ports/host.ts'
import type { IndexEntry } from '../../ports/op.ts'
import type { ScopeStore } from '../../ports/store.ts'
import { limitReached } from '../limit.ts'
import { changeRegister, readRegister } from '../register.ts'
import { checkSkillName } from './skill.ts'

/** Key of the list of skills that a session shows. */
export const LOADED_SKILLS = 'skills/loaded'
/** Group of the one register that says which skills are loaded. */
const LOADED = 'skills/loaded'
/** Most skills that are loaded in one session. */
const MOST_LOADED = 16

export interface LoadedSkillsParts {
  /** The session's scope. */
  readonly store: ScopeStore
  readonly host: Host
  /** Lists the session with its user, unless it is listed. */
  readonly register: () => Promise<void>
}

/** Names of the skills whose texts a session shows. The texts are the user's: unloading loses none. */
export class LoadedSkills {
  readonly #store: ScopeStore
  readonly #host: Host
  readonly #register: () => Promise<void>

  constructor({ store, host, register }: LoadedSkillsParts) {
    this.#store = store
    this.#host = host
    this.#register = register
  }

  /** In the order in which they were loaded. A skill that was deleted since is still named. */
  async list(): Promise<readonly string[]> {
    const { value = [] } = await readRegister<readonly string[]>(this.#store, LOADED_SKILLS)
    return value
  }

  /** Idempotent. Whether there is such a skill is not asked. @throws ERR_INVALID_ARGUMENT, ERR_LIMIT (a 17th skill) */
  async load(name: string): Promise<void> {
    checkSkillName('load', name)
    await this.#change('load', async (names) => {
      if (names.includes(name)) return names
      if (names.length >= MOST_LOADED) throw limitReached('load', 'loaded skills', MOST_LOADED)
      await this.#register()
      return [...names, name]
    })
  }

  /** Idempotent. @throws ERR_INVALID_ARGUMENT */
  async unload(name: string): Promise<void> {
    checkSkillName('unload', name)
    await this.#change('unload', async (names) => names.filter((one) => one !== name))
  }

  async #change(
    operation: string,
    change: (names: readonly string[]) => Promise<readonly string[]>,
  ): Promise<void> {
    await changeRegister<readonly string[]>(this.#store, this.#host, {
      operation,
      key: LOADED_SKILLS,
      index: loadedIndex,
      change: async (before = []) => {
        const after = await change(before)
        return after.length === 0 ? null : after
      },
    })
  }
}

/** Names of loaded skills as they are stored. @throws ERR_INVALID_ARGUMENT */
export function checkLoaded(operation: string, value: unknown): readonly string[] {
  if (!Array.isArray(value) || value.length > MOST_LOADED)
    throw invalid(operation, 'names', `must be a list of at most ${MOST_LOADED} names`)
  return value.map((name: unknown) => checkSkillName(operation, name))
}

/** Where the list stands: once for each of its names. */
export function loadedIndex(names: readonly string[]): readonly IndexEntry[] {
  return names.map((order) => ({ group: LOADED, order }))
}
