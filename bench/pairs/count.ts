import type { Build } from '../subject.ts'
import { brokenPairs } from './check.ts'
import { hard, type RandomHistory, wellFormed } from './histories.ts'
import { buildOurs } from './ours.ts'

/** How many of a library's requests part a call from its result. */
export interface PairCount {
  readonly subject: string
  readonly kind: 'well-formed' | 'hard'
  readonly histories: number
  readonly brokenHistories: number
  /**
   * Requests that were built; ours are checked at several points of each history, in two providers'
   * formats.
   */
  readonly requests: number
  readonly brokenPairs: number
  /**
   * Requests that were not built, as nothing fits or a call waits: an error that the caller sees.
   */
  readonly refused: number
  /** Requests that show no message at all. */
  readonly empty: number
}

const PEERS = ['limit', 'openai-agents', 'mastra-contiguous', 'mastra-best-fit', 'ai', 'langchain']

/** Peers get well-formed histories only; ours the hard ones too. */
export async function countPairs(histories: number, progress: (line: string) => void): Promise<PairCount[]> {
  const counts = [
    await count('plimsoll', 'hard', histories, buildOurs),
    await count('plimsoll', 'well-formed', histories, buildOurs),
  ]
  for (const name of PEERS) {
    progress(`broken pairs: ${name}`)
    const { build } = (await import(`../subjects/${name}.ts`)) as { build: Build }
    const requests = async ({ messages, budget }: RandomHistory) => [await build(messages, budget)]
    counts.push(await count(name, 'well-formed', histories, requests))
  }
  return counts
}

type Requests = (history: RandomHistory, seed: number) => Promise<Awaited<ReturnType<Build>>[]>

async function count(
  subject: string,
  kind: PairCount['kind'],
  histories: number,
  build: Requests,
): Promise<PairCount> {
  const random = kind === 'hard' ? hard : wellFormed
  let [requests, refused, empty, broken, brokenHistories] = [0, 0, 0, 0, 0]
  for (let seed = 0; seed < histories; seed++) {
    let brokenHere = 0
    for (const request of await build(random(seed), seed)) {
      if (request) requests++
      else refused++
      if (request?.length === 0) empty++
      brokenHere += request ? brokenPairs(request) : 0
    }
    broken += brokenHere
    if (brokenHere > 0) brokenHistories++
  }
  return { subject, kind, histories, brokenHistories, requests, brokenPairs: broken, refused, empty }
}
