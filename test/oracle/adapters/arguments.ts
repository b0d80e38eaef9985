/** Arguments that both APIs take, from neutral commands. */
import type { AppendJson, CommandOf, IfVersion } from '../commands.ts'
import { isObject, numberIn } from '../json.ts'

/** One message alone is given as itself. */
export function one(messages: readonly unknown[]): unknown {
  return messages.length === 1 ? messages[0] : messages
}

export function appendOptions({ opId, round, replaces }: AppendJson): object {
  return {
    ...(opId !== undefined && { opId }),
    ...(round !== undefined && { round }),
    ...(replaces !== undefined && { replaces }),
  }
}

export function opIdOf({ opId }: { readonly opId?: string }): object {
  return opId === undefined ? {} : { opId }
}

export function firstOf({ first }: { readonly first?: number }): object {
  return first === undefined ? {} : { first }
}

export function defaultOf(command: CommandOf<'checkpointGet' | 'checkpointUpdate'>): object {
  return command.default === undefined ? {} : { default: command.default }
}

export async function versionOption(
  ifVersion: IfVersion | undefined,
  current: () => Promise<string | null | undefined>,
): Promise<object> {
  if (ifVersion === undefined) return {}
  if (ifVersion === 'none') return { ifVersion: null }
  return { ifVersion: ifVersion === 'stale' ? 'no-such-version' : ((await current()) ?? null) }
}

/** What became of a fact, and its id for later commands. */
export async function remembered(result: Promise<unknown>): Promise<unknown> {
  const found = (await result) as { readonly fact: { readonly id: string } }
  return { ...found, id: found.fact.id }
}

export function counted(value: unknown): unknown {
  return { ...(isObject(value) && value), n: numberIn(value, 'n') + 1 }
}
