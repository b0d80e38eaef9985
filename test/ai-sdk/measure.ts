import type { Counter } from '../../src/ports/counter.ts'
import { costOf } from '../../src/replay/cost.ts'
import { promptTokens } from './count.ts'
import type { Request } from './replay.ts'
import { BLANK, brokenRules } from './rules.ts'

export interface Measured {
  readonly requests: number
  /** Most tokens of a request. */
  readonly mostTokens: number
  readonly overCap: number
  /** Pairs, ids, roles and ends, not counting blank texts: those a recording brings. */
  readonly rulesBroken: number
  readonly blankTexts: number
  /**
   * 0.1 x tokens of the bytes that repeat the beginning of the previous request, and 1.25 x the
   * rest, a request.
   */
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
  let blankTexts = 0
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
      const broken = brokenRules(request.prompt)
      const blank = broken.filter((rule) => rule.endsWith(BLANK)).length
      rulesBroken += broken.length - blank
      blankTexts += blank
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
    blankTexts,
    costPerRequest: Math.round(cost / Math.max(1, requests)),
    hitShare: Number((hits / Math.max(1, all)).toFixed(3)),
  }
}

function shared(a: string, b: string): number {
  let length = 0
  while (length < a.length && length < b.length && a.charCodeAt(length) === b.charCodeAt(length)) length++
  return length
}
