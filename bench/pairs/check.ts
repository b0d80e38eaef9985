/** One message of a request, reduced to what pairs are made of. */
export interface Shown {
  readonly calls: readonly string[]
  readonly results: readonly string[]
}

export type Request = readonly Shown[]

/**
 * Calls without a result and results without a call, as providers see it: the results of an
 * assistant message's calls follow it directly, each once.
 */
export function brokenPairs(request: Request): number {
  const waiting = new Set<string>()
  let broken = 0
  for (const { calls, results } of request) {
    for (const id of results) {
      if (!waiting.delete(id)) broken++
    }
    if (results.length === 0) {
      broken += waiting.size
      waiting.clear()
    }
    for (const id of calls) {
      if (waiting.has(id)) broken++
      waiting.add(id)
    }
  }
  return broken + waiting.size
}
