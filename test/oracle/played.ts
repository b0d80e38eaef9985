/** What was played around a difference. */
import type { OpenJson } from './commands.ts'
import { field, isObject, type JsonObject } from './json.ts'
import { type Result, type Step, shownIn } from './play.ts'

/** A tab, as it was opened. */
export type OpenTab = OpenJson & { readonly tab: string }

/** The tab whose step it is, of a step of a result or of one that ran meanwhile. */
export function tabOf({ steps }: Result, step: number, { command }: Step): OpenTab | undefined {
  let found: OpenTab | undefined
  if ('tab' in command)
    for (const { command: opened } of steps.slice(0, step + 1))
      if (opened.kind === 'open' && opened.tab === command.tab) found = opened
  return found
}

/** The steps of tabs before a place, the newest first; those that ran meanwhile after their own. */
export function* stepsBefore(
  result: Result,
  place: number,
): Generator<{ readonly step: Step; readonly tab: OpenTab }> {
  for (let at = place - 1; at >= 0; at--)
    for (const step of [result.steps[at], ...(result.steps[at]?.raced ?? []).toReversed()]) {
      const tab = step && tabOf(result, at, step)
      if (tab) yield { step, tab }
    }
}

/** In whichever store: an import brings epochs from another one. */
export function isSameSession(one: OpenTab, other: OpenTab): boolean {
  return sessionOf(one) === sessionOf(other)
}

function sessionOf({ tenant, user, session = 'default' }: OpenTab): string {
  return JSON.stringify([tenant, user, session])
}

/** The receipt of a step that gave a context. */
export function receiptOf(step: Step | undefined): JsonObject | undefined {
  const receipt = step && field(shownIn(step), 'receipt')
  return isObject(receipt) ? receipt : undefined
}
