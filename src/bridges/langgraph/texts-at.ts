import type { Json, JsonObject } from '../../ports/message.ts'

/**
 * The texts of a value at a path of names, `[0]`, `[-1]` and `[*]`: `chapters[*].title`. `$` is all
 * of it. Of what is no text there, all texts inside.
 */
export function textsAt(value: Json, path: string): readonly string[] {
  const steps = path === '$' ? [] : (path.match(/[^.[\]]+/g) ?? [])
  let found: readonly Json[] = [value]
  for (const step of steps) found = found.flatMap((one) => stepInto(one, step))
  return found.flatMap(textsIn)
}

function stepInto(value: Json, step: string): readonly Json[] {
  if (typeof value !== 'object' || value === null) return []
  if (step === '*') return Object.values(value)
  if (Array.isArray(value)) return value.slice(Number(step)).slice(0, 1)
  return Object.hasOwn(value, step) ? [(value as JsonObject)[step] as Json] : []
}

function textsIn(value: Json): readonly string[] {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(textsIn)
  return value === null ? [] : [String(value)]
}
