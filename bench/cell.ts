/**
 * One cell, in a process of its own, so that it can be stopped in the middle of a call: holds a
 * subject with a history and, when told to, runs it for a while. Started by `cells.ts` with the
 * subject's file name and the history's size.
 */
import { exchanges, take } from './history.ts'
import type { Open, Subject } from './subject.ts'

export type Order = { readonly run: number } | { readonly cold: number }

/** All times in milliseconds. */
export type Report =
  | { readonly kind: 'ready'; readonly steps: readonly string[]; readonly cold?: string; readonly fill: Fill }
  | ({ readonly kind: 'samples' } & Samples)

export interface Fill {
  readonly ms: number
  readonly messages: number
  /** Resident memory of the process, in MiB. */
  readonly residentMiB: number
}

export interface Samples {
  /** For each step, its times. */
  readonly steps: number[][]
  readonly appends: number[]
  readonly cold: number[]
  /** Messages and tokens that each call showed. */
  readonly messages: number[]
  readonly tokens: number[]
}

/**
 * Exchanges that are appended before a short history is made again; a long one may grow by a
 * twentieth.
 */
const LEAST_GROWTH = 40

const [name = '', sizeText = ''] = process.argv.slice(2)
const size = Number(sizeText)
const { subject } = (await import(`./subjects/${name}.ts`)) as { subject: Subject }
const room = Math.max(LEAST_GROWTH, Math.floor(size / 40))

const start = performance.now()
let filled = 0
let next = exchanges(7)
let appended = 0
let open = await fill()
globalThis.gc?.()

send({
  kind: 'ready',
  steps: subject.steps,
  ...(subject.cold && { cold: subject.cold }),
  fill: {
    ms: performance.now() - start,
    messages: filled,
    residentMiB: Math.round(process.memoryUsage().rss / 2 ** 20),
  },
})

process.on('message', async (order: Order) =>
  send('run' in order ? await run(order.run) : await runCold(order.cold)),
)

async function fill(): Promise<Open> {
  next = exchanges(7)
  appended = 0
  filled = 0
  const opened = await subject.open(counted(take(next, size)))
  return opened
}

function* counted<T extends readonly unknown[]>(source: Iterable<T>): Generator<T> {
  for (const item of source) {
    filled += item.length
    yield item
  }
}

/**
 * Appends outside the timed region, so that no call finds the result of the call before. At least
 * one call.
 */
async function run(ms: number): Promise<Report> {
  const samples: Samples = {
    steps: subject.steps.map(() => []),
    appends: [],
    cold: [],
    messages: [],
    tokens: [],
  }
  const until = performance.now() + ms
  do {
    const exchange = await nextExchange()
    const before = performance.now()
    const appending = open.append(exchange)
    if (appending instanceof Promise) await appending
    const begin = performance.now()
    samples.appends.push(begin - before)
    for (const [index, step] of open.steps.entries()) {
      const result = step()
      if (result instanceof Promise) await result
      samples.steps[index]?.push(performance.now() - begin)
    }
    const { messages, tokens } = open.shown()
    samples.messages.push(messages)
    if (tokens !== undefined) samples.tokens.push(tokens)
  } while (performance.now() < until)
  return { kind: 'samples', ...samples }
}

async function runCold(ms: number): Promise<Report> {
  const cold: number[] = []
  const until = performance.now() + ms
  do {
    await open.append(await nextExchange())
    if (open.cold) cold.push(await open.cold())
  } while (performance.now() < until)
  return { kind: 'samples', steps: [], appends: [], cold, messages: [], tokens: [] }
}

async function nextExchange() {
  if (appended++ >= room) {
    open = await fill()
    appended = 1
  }
  return next.next().value
}

function send(report: Report): void {
  process.send?.(report)
}
