import { costOf } from '../../src/cli/cost.ts'
import type { Counter } from '../../src/ports/counter.ts'
import { promptTokens } from '../../test/ai-sdk/count.ts'
import { brokenRules } from '../../test/ai-sdk/rules.ts'
import type { Request } from './replay.ts'

export interface Measured {
  readonly requests: number
  /** Most tokens of a request. */
  readonly mostTokens: number
  readonly overCap: number
  readonly rulesBroken: number
  /** 0.1 x tokens of the bytes that repeat the beginning of the previous request, and 1.25 x the rest, a request. */
  readonly costPerRequest: number
  /** Share of the tokens that repeat. */
  readonly hitShare: number
}

export function measure(
  conversations: readonly (readonly Request[])[],
  counter: Counter,
  cap: number,
): Measured {
  let requests = 0
  let mostTokens = 0
  let overCap = 0
  let rulesBroken = 0
  let cost = 0
  let all = 0
  let hits = 0
  for (const conversation of conversations) {
    let previous = ''
    for (const request of conversation) {
      const size = promptTokens(counter, request)
      requests++
      mostTokens = Math.max(mostTokens, size)
      if (size > cap) overCap++
      rulesBroken += brokenRules(request.prompt).length
      const text = JSON.stringify([request.tools ?? [], request.prompt])
      const tokens = counter.count(text)
      const hit = counter.count(text.slice(0, shared(previous, text)))
      cost += costOf(tokens, Math.min(hit, tokens))
      all += tokens
      hits += hit
      previous = text
    }
  }
  return {
    requests,
    mostTokens,
    overCap,
    rulesBroken,
    costPerRequest: Math.round(cost / Math.max(1, requests)),
    hitShare: Number((hits / Math.max(1, all)).toFixed(3)),
  }
}

function shared(a: string, b: string): number {
  let length = 0
  while (length < a.length && length < b.length && a.charCodeAt(length) === b.charCodeAt(length)) length++
  return length
}
