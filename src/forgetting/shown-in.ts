import type { RegisterRow } from '../ports/store.ts'
import { jsonIn } from '../text/json-in.ts'
import { ownKey, type Renewable, shownKey } from './shown.ts'

/** The key under which heads show what a register holds, if that is renewed under its name. */
export function shownKeyIn(row: RegisterRow): string | undefined {
  if (ownKey(`${row.key}@`) !== row.key) return undefined
  // What is no JSON, no head shows.
  const value = jsonIn(row.body) as Renewable | null | undefined
  return value?.since === undefined ? undefined : shownKey(row.key, value)
}
