/** The same for examples that run in a Worker. */
import { type Context, Hono } from 'hono'
import { createMemory, facts, mapStore } from 'plimsoll'
import type { EdgeBindings } from 'plimsoll/cloudflare'
import type { MetricsDataset } from 'plimsoll/hono'

export interface Env extends EdgeBindings {
  readonly METRICS: MetricsDataset
}
export const app = new Hono<{ Bindings: Env }>()
const memory = createMemory({ store: mapStore(), budget: 16_000, use: [facts()] })
export const sessionOf = async (_: Context) => memory.session({ userId: 'ada' })
export const whoIs = async (_: Request) => ({ userId: 'ada' })
