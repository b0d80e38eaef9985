import { setTimeout as pause } from 'node:timers/promises'
import { median, quantile } from '../stats.ts'
import type { Lab } from './lab.ts'
import type { HomeOrder } from './orders.ts'

/** How long a change takes from one screen to another. */
export interface PokeRow {
  readonly home: string
  readonly samples: number
  readonly p50Ms: number
  readonly p95Ms: number
}

const WARM_UP = 5
/** Between two messages at least, and up to twice as long, so that nothing falls in step. */
const REST_MS = 60
/** A change that takes longer went without a poke. */
const LOST_MS = 20_000

/** One page writes, another one shows it: one message after the other, in the same conversation. */
export async function measurePokes(
  home: string,
  order: HomeOrder,
  { server, first, second }: Lab,
  samples: number,
): Promise<PokeRow> {
  for (const page of [first, second]) {
    await page.load(server.url)
    await page.call('openLive', home, order)
  }
  const times: number[] = []
  for (let number = 0; number < WARM_UP + samples; number++) {
    const text = `message ${number}`
    const [shown, said] = await Promise.all([second.call('shown', text, LOST_MS), first.call('say', text)])
    if (number >= WARM_UP) times.push(shown - said)
    await pause(REST_MS * (1 + Math.random()))
  }
  for (const page of [first, second]) await page.call('closeLive')
  return { home, samples: times.length, p50Ms: median(times), p95Ms: quantile(times, 0.95) }
}
