/**
 * Twin worlds: one seeded history is played twice, with two secrets of one length, and what must
 * not depend on the secret is the same in both.
 */
import fc from 'fast-check'
import type { Store } from '../../src/ports/store.ts'
import { differenceOf } from './compare.ts'
import { FOUND } from './found.ts'
import { inTurn } from './in-turn.ts'
import { type History, histories, syncedHistories } from './steps.ts'
import { TwoDevices } from './two-devices.ts'
import {
  playedBeside,
  playedForgetting,
  playedOnDevices,
  playedUntrusted,
  type Seen,
  World,
} from './world.ts'

/** Of one length, and of as many tokens. */
const SECRETS = ['xylomarquen', 'zephtanvoli'] as const

/** Pairs of worlds over HTTP (`test/workerd/edge/twins.test.ts`). A push plays a quarter. */
export const HTTP_PAIRS = 24

export interface Pairs {
  /** Contract: a new database, or a handle of it for each tab. */
  readonly open: () => Store | Promise<readonly Store[]>
  readonly seed: number
  readonly worlds: number
  /** Milliseconds after which a failure is told as far as it was shrunk. Default: no limit. */
  readonly limit?: number
}

type Played = (history: History, world: World) => Promise<readonly Seen[]>

/**
 * Once the secret is forgotten, the worlds are the same.
 *
 * @throws what fast-check says of the first history that breaks the law, shrunk
 */
export function checkForgotten(pairs: Pairs): Promise<void> {
  return check(pairs, playedForgetting)
}

/**
 * What tools and the web say in a session changes no system text, and nothing elsewhere. @throws
 */
export function checkUntrusted(pairs: Pairs): Promise<void> {
  return check(pairs, playedUntrusted)
}

/** What another tenant's user says changes nothing. @throws */
export function checkBeside(pairs: Pairs): Promise<void> {
  return check(pairs, playedBeside)
}

async function check({ open, ...pairs }: Pairs, play: Played): Promise<void> {
  await checkPairs(pairs, histories, async (history, secret) =>
    play(history, new World(inTurn([await open()].flat()), { secret })),
  )
}

/**
 * Once the secret is forgotten on one of two devices, and all have synced, nothing of it is left on
 * either of them and at home.
 *
 * @throws
 */
export async function checkSynced({ open, ...pairs }: Pairs): Promise<void> {
  await checkPairs({ ...pairs, found: FOUND }, syncedHistories, async (history, secret) => {
    const [one] = [await open()].flat()
    const devices = new TwoDevices(one as Store)
    try {
      return await playedOnDevices(history, new World(devices.stores, { secret }, devices))
    } finally {
      await devices.close()
    }
  })
}

async function checkPairs(
  { seed, worlds, limit, found = [] }: Omit<Pairs, 'open'> & { readonly found?: readonly History[] },
  all: fc.Arbitrary<History>,
  play: (history: History, secret: string) => Promise<readonly Seen[]>,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(all, async (history) => {
      const seen: (readonly Seen[])[] = []
      for (const secret of SECRETS) {
        const all = await play(history, secret)
        const left = all.find(({ value }) => JSON.stringify(value)?.includes(secret))
        if (left) throw new Error(`${left.what} has it: ${around(JSON.stringify(left.value), secret)}`)
        seen.push(all)
      }
      const difference = differenceOf(seen[0] ?? [], seen[1] ?? [])
      if (difference !== undefined) throw new Error(difference)
    }),
    {
      seed,
      numRuns: worlds,
      examples: found.map((history) => [history]),
      ...(limit !== undefined && { interruptAfterTimeLimit: limit, markInterruptAsFailure: true }),
    },
  )
}

function around(text: string, word: string): string {
  const at = text.indexOf(word)
  return text.slice(Math.max(0, at - 300), at + 100)
}
