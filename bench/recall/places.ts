/** The places where stores are on disk: a page of a Chromium, and a bare workerd. */
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { MessageInput } from '../../src/index.ts'
import { BareWorkerd } from '../../test/kill/bare-workerd.ts'
import { BenchPage } from '../stores/chromium.ts'
import { freePorts } from '../stores/edge-workers.ts'
import { temporaryFolder } from '../stores/temporary.ts'
import type { RecallOrder } from './recall-orders.ts'
import type { FirstReads } from './store-subject.ts'

/** Where a store is asked. Times in milliseconds. */
export interface Place {
  readonly name: string
  /** Appends that are timed together; what counts comes first. */
  readonly batches: readonly number[]
  /** Each list in a call of its own. @returns how long all of them took */
  append(sessionId: string, recalls: boolean, appends: readonly MessageInput[][]): Promise<number>
  rank(sessionId: string, queries: readonly string[], first: number): Promise<string[][]>
  settle(sessionId: string): Promise<void>
  first(sessionId: string, query: string): Promise<FirstReads & { readonly ms: number }>
  close(): Promise<void>
}

export async function openChromium(): Promise<Place> {
  const profile = temporaryFolder()
  const page = await BenchPage.open(profile)
  return {
    name: `Dexie in Chromium ${page.version}, relaxed`,
    batches: [10],
    append: (...args) => page.call('appendRecalled', ...args),
    rank: (...args) => page.call('rankRecalled', ...args),
    settle: (...args) => page.call('settleRecalled', ...args),
    first: (...args) => page.call('recallFirst', ...args),
    async close() {
      await page.close()
      rmSync(profile, { recursive: true, force: true })
    },
  }
}

/**
 * Timed from outside, since a worker's clock stands still while it runs: each time holds one
 * request, whose answer waits for the disk. Several appends in one request wait for it once, so
 * that they tell of little but work.
 */
export async function openWorkerd(): Promise<Place> {
  const folder = temporaryFolder()
  await build({
    entryPoints: [fileURLToPath(new URL('../stores/workers/recall.ts', import.meta.url))],
    outdir: folder,
    bundle: true,
    format: 'esm',
    platform: 'browser',
    conditions: ['workerd', 'worker', 'browser'],
    target: 'es2022',
    external: ['cloudflare:workers'],
    logLevel: 'error',
  })
  const [port = 0] = await freePorts(1)
  const workerd = new BareWorkerd(folder, [
    {
      name: 'recall',
      port,
      module: 'recall.js',
      binding: 'RECALLS',
      className: 'RecallLog',
      uniqueKey: 'recall',
    },
  ])
  process.prependOnceListener('exit', () => void workerd.kill())
  await workerd.start()
  const ask = async <Answer>(order: RecallOrder): Promise<{ ms: number; answer: Answer }> => {
    const body = JSON.stringify(order)
    const start = performance.now()
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body })
    const text = await response.text()
    const ms = performance.now() - start
    if (!response.ok) throw new Error(`recall in workerd: ${text}`)
    return { ms, answer: JSON.parse(text) as Answer }
  }
  return {
    name: 'Durable Object in workerd',
    batches: [1, 10],
    append: async (sessionId, recalls, appends) =>
      (await ask({ ask: 'append', sessionId, recalls, appends })).ms,
    rank: async (sessionId, queries, first) =>
      (await ask<string[][]>({ ask: 'rank', sessionId, queries, first })).answer,
    settle: async (sessionId) => void (await ask({ ask: 'settle', sessionId })),
    async first(sessionId, query) {
      const { ms, answer } = await ask<FirstReads>({ ask: 'first', sessionId, query })
      return { ...answer, ms }
    },
    async close() {
      await workerd.kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
