import type { Counter } from '../ports/counter.ts'
import { PlimsollError } from '../ports/errors.ts'
import { checkOptions } from '../ports/options.ts'
import { BytePairMerge } from './byte-pair-merge.ts'
import { classify, pieceEnd } from './pre-tokenizer.ts'
import { BYTES_PER_UNIT, writeUtf8 } from './utf8.ts'
import { buildTables, NO_RANK, Vocabulary, type VocabularyTables } from './vocabulary.ts'

/** Longest text, in UTF-16 units, for which the working memory is kept between two calls. */
const KEPT = 32_768

/**
 * The o200k encoding (GPT-4o and later): counts and encodings are identical to gpt-tokenizer's, on
 * its rank tables. Special tokens in a text (`<|endoftext|>`) are plain text; a lone surrogate is
 * U+FFFD.
 *
 * Time grows with the text, also on a pasted megabyte without a break. A long text takes 6 bytes of
 * working memory for each of its UTF-16 units, for as long as the call takes.
 */
export interface O200k extends Counter {
  encode(text: string): number[]
}

/** As much of a `Worker` as is used here. */
export interface TablesWorker {
  postMessage(message: string): void
  addEventListener(
    type: 'message' | 'error' | 'messageerror',
    listener: (event: { readonly data?: unknown; readonly message?: string }) => void,
  ): void
  terminate(): void
}

export interface LoadOptions {
  /**
   * Makes a module worker that runs `plimsoll/o200k/worker`; the tables are then read and built
   * there, handed over without a copy, and the worker is ended. Default: on this thread, as a
   * module of 1 MiB (gzip).
   */
  readonly worker?: () => TablesWorker
}

/** What the worker is asked. */
export const ASK = 'plimsoll/o200k: tables'

let loading: Promise<O200k> | undefined

/**
 * Loads the tables of the optional peer `gpt-tokenizer`, once: further calls give the same counter,
 * also while it loads and whatever their options. A load that failed is tried again by the next
 * call.
 *
 * @throws ERR_INVALID_ARGUMENT, ERR_COUNTER_UNAVAILABLE (`cause`): gpt-tokenizer is not installed,
 * its module could not be fetched, or the worker failed
 * @example
 * ```ts
 * import { createMemory } from 'plimsoll'
 * import { loadO200k } from 'plimsoll/o200k'
 * const memory = createMemory({ store, budget: 16_000, counter: await loadO200k() })
 * ```
 * @example In a browser, off the main thread, with a bundler that knows module workers:
 * ```ts
 * import { loadO200k } from 'plimsoll/o200k'
 *
 * // tables.ts: import 'plimsoll/o200k/worker'
 * const worker = () => new Worker(new URL('./tables.ts', import.meta.url), { type: 'module' })
 * const counter = await loadO200k({ worker })
 * ```
 */
export async function loadO200k(options: LoadOptions = {}): Promise<O200k> {
  checkOptions('loadO200k', 'options', options, ['worker'])
  const { worker } = options
  loading ??= (worker ? tablesFrom(worker) : readTables()).then(createO200k).catch((error: unknown) => {
    loading = undefined
    throw unavailable(error)
  })
  return loading
}

/** The tables, from the rank table of gpt-tokenizer. */
export async function readTables(): Promise<VocabularyTables> {
  const { default: tokens } = await import('gpt-tokenizer/bpeRanks/o200k_base')
  return buildTables(tokens)
}

function tablesFrom(make: () => TablesWorker): Promise<VocabularyTables> {
  return new Promise<VocabularyTables>((resolve, reject) => {
    const worker = make()
    const end = (settle: () => void): void => {
      worker.terminate()
      settle()
    }
    worker.addEventListener('message', ({ data }) => {
      const { tables, reason } = (data ?? {}) as {
        readonly tables?: VocabularyTables
        readonly reason?: string
      }
      if (tables) end(() => resolve(tables))
      else if (reason !== undefined) end(() => reject(new Error(reason)))
    })
    for (const type of ['error', 'messageerror'] as const)
      worker.addEventListener(type, ({ message }) => end(() => reject(new Error(message ?? type))))
    try {
      worker.postMessage(ASK)
    } catch (error) {
      end(() => reject(error))
    }
  })
}

function unavailable(cause: unknown): PlimsollError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new PlimsollError('ERR_COUNTER_UNAVAILABLE', `loadO200k: no rank tables: ${reason}`, { cause })
}

function createO200k(tables: VocabularyTables): O200k {
  const vocabulary = new Vocabulary(tables)
  const merging = new BytePairMerge(vocabulary)
  const kept = memoryFor(KEPT)
  const tokenize = (text: string, tokens?: number[]): number => {
    const { bytes, classes } = text.length <= KEPT ? kept : memoryFor(text.length)
    const end = writeUtf8(text, bytes, 0)
    classify(bytes, end, classes)
    let count = 0
    for (let from = 0; from < end; ) {
      const to = pieceEnd(bytes, classes, from, end)
      const rank = vocabulary.rank(bytes, from, to)
      if (rank === NO_RANK) count += merging.merge(bytes, from, to, tokens)
      else {
        count++
        tokens?.push(rank)
      }
      from = to
    }
    return count
  }
  return {
    id: 'o200k',
    kind: 'exact',
    family: 'o200k',
    count: (text) => tokenize(text),
    encode: (text) => {
      const tokens: number[] = []
      tokenize(text, tokens)
      return tokens
    },
  }
}

function memoryFor(units: number): { readonly bytes: Uint8Array; readonly classes: Uint8Array } {
  const size = units * BYTES_PER_UNIT
  return { bytes: new Uint8Array(size), classes: new Uint8Array(size) }
}
