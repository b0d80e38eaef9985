/**
 * Loads one counter in a process of its own, with `--expose-gc`, and sends what that cost. Started
 * by `load.ts` with what to load and the folder of ours as JavaScript.
 */
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { LoadOptions, O200k, TablesWorker } from '../../src/counters/o200k.ts'
import type { Counter } from '../../src/ports/counter.ts'
import { send } from '../child.ts'
import { DEFAULT, IN_WORKER, type Library, type LibraryName, loadLibrary, OURS } from './libraries.ts'

/**
 * What was added to the process, in MiB after a collection, and the time that it took, in
 * milliseconds.
 */
export interface Load {
  /** Import and first count. */
  readonly ms: number
  /** Longest time in which a timer of 1 ms did not run. */
  readonly blockedMs: number
  readonly heapMiB: number
  /** Outside of the heap: array buffers, WebAssembly, sources of modules. */
  readonly externalMiB: number
  /**
   * As much of it as are array buffers made on this thread; those that a worker handed over are not
   * counted here.
   */
  readonly arrayBuffersMiB: number
  readonly residentMiB: number
}

const TEXT = 'The ferry does not sail before 07:45; we board at Gate 12B, "upper deck".'
/** Time for the timer to begin, and for collections to end. */
const SETTLE_MS = 50

const [what = '', folder = ''] = process.argv.slice(2)

const before = await memory()
const watch = watchGaps()
await wait(SETTLE_MS)
watch.reset()
const start = performance.now()
const library = await load()
library.count(TEXT)
const ms = performance.now() - start
await wait(SETTLE_MS)
const blockedMs = watch.end()
const after = await memory()
const grown = (key: keyof NodeJS.MemoryUsage) => (after[key] - before[key]) / 2 ** 20
await send({
  ms,
  blockedMs,
  heapMiB: grown('heapUsed'),
  externalMiB: grown('external'),
  arrayBuffersMiB: grown('arrayBuffers'),
  residentMiB: grown('rss'),
} satisfies Load)
process.disconnect()

async function memory(): Promise<NodeJS.MemoryUsage> {
  for (let times = 0; times < 3; times++) {
    globalThis.gc?.()
    await wait(SETTLE_MS)
  }
  return process.memoryUsage()
}

function watchGaps(): { reset(): void; end(): number } {
  let last = performance.now()
  let longest = 0
  const tick = () => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
  }
  const timer = setInterval(tick, 1)
  return {
    reset: () => {
      last = performance.now()
      longest = 0
    },
    end: () => {
      clearInterval(timer)
      return longest
    },
  }
}

async function load(): Promise<Library> {
  if (what === DEFAULT) return (await ours<{ defaultCounter: Counter }>('default.mjs')).defaultCounter
  if (what !== OURS && what !== IN_WORKER) return loadLibrary(what as LibraryName)
  const { loadO200k } = await ours<{ loadO200k(options?: LoadOptions): Promise<O200k> }>('o200k.mjs')
  return loadO200k(what === IN_WORKER ? { worker: nodeWorker } : {})
}

function ours<Module>(file: string): Promise<Module> {
  return import(pathToFileURL(join(folder, file)).href)
}

/** A thread of Node with the interface of a Web worker. */
function nodeWorker(): TablesWorker {
  const worker = new Worker(join(folder, 'worker.mjs'))
  return {
    postMessage: (message) => worker.postMessage(message),
    addEventListener: (type, listener) => {
      worker.on(type, (value: unknown) =>
        listener(type === 'message' ? { data: value } : { message: String(value) }),
      )
    },
    terminate: () => void worker.terminate(),
  }
}
