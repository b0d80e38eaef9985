/**
 * Twin worlds: one seeded history is played twice, with two secrets of one length. Once the secret
 * is forgotten, whatever anybody can see of the two worlds is the same.
 */
import fc from 'fast-check'
import type { Store } from '../../src/ports/store.ts'
import { differenceOf } from './compare.ts'
import { type History, histories } from './steps.ts'
import { played, type Seen, World } from './world.ts'

/** Of one length, and of as many tokens. */
const SECRETS = ['xylomarquen', 'zephtanvoli'] as const

export interface Pairs {
  readonly open: () => Store | Promise<Store>
  readonly seed: number
  readonly worlds: number
}

/** @throws what fast-check says of the first history that breaks the law, shrunk */
export async function checkTwins({ open, seed, worlds }: Pairs): Promise<void> {
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      const difference = await differenceIn(history, open)
      if (difference !== undefined) throw new Error(difference)
    }),
    { seed, numRuns: worlds },
  )
}

export async function differenceIn(history: History, open: Pairs['open']): Promise<string | undefined> {
  const seen: (readonly Seen[])[] = []
  for (const secret of SECRETS) {
    const all = await played(history, new World(await open(), { secret }))
    const left = all.find(({ value }) => JSON.stringify(value)?.includes(secret))
    if (left) return `the secret is left in ${left.what}: ${around(JSON.stringify(left.value), secret)}`
    seen.push(all)
  }
  return differenceOf(seen[0] ?? [], seen[1] ?? [])
}

function around(text: string, word: string): string {
  const at = text.indexOf(word)
  return text.slice(Math.max(0, at - 300), at + 100)
}
