import { type Context, stringifyContext } from '../../src/index.ts'
import type { BrowserSide } from './browser.ts'
import type { EdgeSide } from './edge.ts'
import type { Replay } from './steps.ts'

export interface Comparison {
  /** Calls whose answers were compared. */
  readonly calls: number
  /** Calls that the browser refused because even the least context was too large. */
  readonly refused: number
  readonly epochs: number
  /** Bytes of the browser's answers. */
  readonly bytes: number
  readonly differences: readonly string[]
}

/**
 * Replays a conversation on both sides, and compares each answer byte by byte, whatever the order
 * of its fields, its hash first. The browser keys its hashes by the edge's secret.
 */
export async function compare(
  replay: Replay,
  { budget, browser, edge }: { budget: number; browser: BrowserSide; edge: EdgeSide },
): Promise<Comparison> {
  let onSecret: (secret: string | undefined) => void = () => {}
  const secret = new Promise<string | undefined>((resolve) => {
    onSecret = resolve
  })
  const [there, here] = await Promise.all([
    edge.contextsOf(replay, onSecret),
    secret.then((found) => browser.contextsOf(replay, budget, found)),
  ])
  return comparisonOf(replay, here, there)
}

/** Of all answers to the calls of a replay. */
function comparisonOf(replay: Replay, here: readonly string[], there: readonly string[]): Comparison {
  const differences: string[] = []
  if (here.length !== replay.steps.length || there.length !== replay.steps.length)
    differences.push(`${here.length} and ${there.length} answers to ${replay.steps.length} calls`)
  const epochs = new Set<string>()
  let refused = 0
  here.forEach((answer, call) => {
    const { epoch, hash, code } = JSON.parse(answer) as Partial<Context> & { readonly code?: string }
    if (epoch !== undefined) epochs.add(epoch)
    else if (code === 'ERR_BUDGET_TOO_SMALL') refused++
    else differences.push(`call ${call}: nothing to compare, ${answer}`)
    const [own, other] = [written(answer), written(there[call] ?? '{}')]
    if (own === other) return
    const hashes = hash === hashIn(other) ? 'the same hash' : 'another hash'
    differences.push(`call ${call}: ${hashes}, ${parting(own, other)}`)
  })
  const bytes = here.reduce((total, answer) => total + Buffer.byteLength(answer), 0)
  return { calls: here.length, refused, epochs: epochs.size, bytes, differences }
}

/**
 * Replays a conversation on both sides of one log: a browser that is a replica, and the edge, which
 * is its home. They write by turns, and each is the first to build every other context.
 */
export async function compareSynced(
  replay: Replay,
  { budget, browser, edge }: { budget: number; browser: BrowserSide; edge: EdgeSide },
): Promise<Comparison> {
  const { sessionId, system, steps } = replay
  const home = await edge.session(sessionId)
  const order = {
    url: edge.url,
    token: home.token,
    scope: { tenant: 'identity', userId: sessionId, sessionId },
    budget,
    ...(system !== undefined && { system }),
  }
  const here: string[] = []
  const there: string[] = []
  for (const [index, { messages, options }] of steps.entries()) {
    // What was written before is read from the disk half-way.
    if (index === 0 || index === steps.length >> 1) await browser.replica('open', order)
    if (index % 2 === 0) await browser.replica('append', messages)
    else await home.append(messages)
    if (index % 4 < 2) here.push(await browser.replica('context', options))
    there.push(await home.context(options))
    if (index % 4 >= 2) here.push(await browser.replica('context', options))
  }
  return comparisonOf(replay, here, there)
}

/**
 * The edge sends blocks last, since it keeps their text; a renderer does not depend
 * on that.
 */
function written(answer: string): string {
  const { blocks = [], ...fields } = JSON.parse(answer) as Context
  return stringifyContext({ ...fields, blocks })
}

function hashIn(answer: string): string | undefined {
  try {
    return (JSON.parse(answer) as Partial<Context>).hash
  } catch {
    return undefined
  }
}

/** Where two texts part, and how they go on. */
function parting(one: string, other: string): string {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  const excerpt = (text: string): string => JSON.stringify(text.slice(Math.max(0, at - 40), at + 80))
  return `from character ${at} on: ${excerpt(one)} in the browser, ${excerpt(other)} at the edge`
}
