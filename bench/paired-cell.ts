/** In a process of its own: ours and the limit in turns. Started by `paired.ts`. */
import { send } from './child.ts'
import { exchanges, take } from './history.ts'
import type { Paired } from './paired.ts'
import { median, quantile, round } from './stats.ts'
import type { Open, Subject } from './subject.ts'
import { subject as limit } from './subjects/limit.ts'
import { subject as ours } from './subjects/plimsoll.ts'

const [size = 0, calls = 0] = process.argv.slice(2).map(Number)
/** Calls before those that count. */
const WARM_UP = 2_000

const source = exchanges(7)
const history = [...take(source, size)]
const opened = { limit: await limit.open(history), ours: await ours.open(history) }
const times = { limit: timesOf(limit), ours: timesOf(ours) }
let tokens = 0
let epochs = 0
for (let call = -WARM_UP; call < calls; call++) {
  const exchange = source.next().value
  opened.limit.append(exchange)
  await opened.ours.append(exchange)
  const order = call % 2 === 0 ? (['limit', 'ours'] as const) : (['ours', 'limit'] as const)
  for (const name of order) await run(opened[name], call < 0 ? undefined : times[name])
  const shown = opened.ours.shown().tokens ?? 0
  if (call >= 0 && shown < tokens) epochs++
  tokens = shown
}
const least = percentiles(times.limit.at(-1) ?? [])
await send({
  size,
  calls,
  epochs,
  limit: { what: limit.steps.at(-1) ?? '', ...least },
  ratios: ours.steps.map((what, index) => {
    const micros = percentiles(times.ours[index] ?? [])
    return { what, micros, p50: round(micros.p50 / least.p50), p99: round(micros.p99 / least.p99) }
  }),
} satisfies Paired)

function timesOf({ steps }: Subject): number[][] {
  return steps.map(() => [])
}

async function run({ steps }: Open, into: number[][] | undefined): Promise<void> {
  const begin = performance.now()
  for (const [index, step] of steps.entries()) {
    const result = step()
    if (result instanceof Promise) await result
    into?.[index]?.push(performance.now() - begin)
  }
}

function percentiles(all: readonly number[]) {
  const micros = (milliseconds: number): number => round(milliseconds * 1_000, 4)
  return { p50: micros(median(all)), p99: micros(quantile(all, 0.99)) }
}
