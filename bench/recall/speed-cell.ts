/**
 * One engine over one long conversation, in a process of its own, with `--expose-gc`: sends what it
 * took. Started by `speed.ts` with the engine's name, the folder of the data, the number of
 * messages and that of laps.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { RecallDocument } from '../../src/features/recall/terms.ts'
import { send } from '../child.ts'
import { median, quantile } from '../stats.ts'
import { type Engine, engines, type Index } from './engines.ts'
import { readLocomo } from './locomo.ts'
import { messagesFrom, plainQueries, questionsFrom, rareQueries } from './messages.ts'

/** Times in milliseconds; memory in MiB, after collections. */
export interface SpeedSample {
  /** The first index of the process, and the median of those after it. */
  readonly firstMs: number
  readonly indexMs: number
  /** Heap and array buffers that the index keeps. */
  readonly heapMiB: number
  /** Adding one message, and adding one and asking for it at once. */
  readonly addMs: number
  readonly addAndAskMs: number
  /** The three rarest words of a message, any three of one, a question of LoCoMo. */
  readonly rareWords: Latency
  readonly words: Latency
  readonly questions: Latency
  readonly encodeMs: number
  readonly encodedMiB: number
  readonly loadMs: number
}

export interface Latency {
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

const QUERIES = 200
const TOP = 10
const ADDED = 200
const ADD_LAPS = 5

const [name = '', folder = '', sizeText = '', lapsText = ''] = process.argv.slice(2)
const size = Number(sizeText)
const laps = Number(lapsText)
const engine = engines.find((one) => one.name === name) as Engine
const locomo = await readLocomo(folder)
if (!locomo) throw new Error(`no LoCoMo in ${folder}`)
const all = messagesFrom(locomo, size + 2 * ADDED * ADD_LAPS)
const documents = all.slice(0, size)
const rare = rareQueries(documents, QUERIES)
const queries = plainQueries(documents, QUERIES)
const questions = questionsFrom(locomo, QUERIES)

const before = await memory()
const first = timed(() => engine.index(documents))
let index = first.value
const heapMiB = (await memory()) - before
const again = repeated(laps, () => {
  index = engine.index(documents)
})
const rareWords = latency(index, rare)
const words = latency(index, queries)
const asked = latency(index, questions)
const encoded = timed(() => index.encode())
const encodeMs = median(repeated(laps, () => index.encode()))
const loadMs = median(repeated(laps, () => engine.load(encoded.value)))
checkLoaded()
const more = all.slice(size)
const addMs = median(batches(more.slice(0, ADDED * ADD_LAPS), (document) => index.add(document)))
const newest = rareQueries(more, ADDED * ADD_LAPS)
const addAndAskMs = median(
  batches(more.slice(ADDED * ADD_LAPS), (document, number) => {
    index.add(document)
    index.search(newest[number] ?? '', TOP)
  }),
)
await send({
  firstMs: first.ms,
  indexMs: median(again),
  heapMiB,
  addMs,
  addAndAskMs,
  rareWords,
  words,
  questions: asked,
  encodeMs,
  encodedMiB: Buffer.byteLength(encoded.value) / 2 ** 20,
  loadMs,
} satisfies SpeedSample)
process.disconnect()

async function memory(): Promise<number> {
  for (let times = 0; times < 3; times++) {
    globalThis.gc?.()
    await wait(50)
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return (heapUsed + arrayBuffers) / 2 ** 20
}

function timed<Value>(work: () => Value): { ms: number; value: Value } {
  const start = performance.now()
  const value = work()
  return { ms: performance.now() - start, value }
}

function repeated(times: number, work: () => unknown): number[] {
  return Array.from({ length: times }, () => {
    globalThis.gc?.()
    return timed(work).ms
  })
}

/** Every query once unmeasured, then in each lap. */
function latency(searched: Index, texts: readonly string[]): Latency {
  for (const text of texts) searched.search(text, TOP)
  const times: number[] = []
  for (let lap = 0; lap < laps; lap++) {
    for (const text of texts) times.push(timed(() => searched.search(text, TOP)).ms)
  }
  return { p50: median(times), p95: quantile(times, 0.95), p99: quantile(times, 0.99) }
}

/** The time of each document, by batch. */
function batches(list: readonly RecallDocument[], work: (document: RecallDocument, number: number) => void) {
  return Array.from({ length: ADD_LAPS }, (_, lap) => {
    const batch = list.slice(lap * ADDED, (lap + 1) * ADDED)
    return timed(() => batch.forEach(work)).ms / batch.length
  })
}

/** What was loaded must find what the index finds, or its time means nothing. */
function checkLoaded(): void {
  const loaded = engine.load(encoded.value)
  for (const query of [...rare, ...queries, ...questions]) {
    const [ours, theirs] = [index, loaded].map((one) => one.search(query, TOP).join())
    if (ours !== theirs)
      throw new Error(`${name}: loaded, it answers ${JSON.stringify(query)} in another way`)
  }
}
