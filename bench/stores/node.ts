/**
 * The store of plain Node: a process of its own, files on disk, all subjects and sizes in turns.
 * The peers go on in copies of our files, so that they have the same tables, indexes and rows.
 */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createMemory } from '../../src/create-memory.ts'
import { sqliteStore } from '../../src/stores/sqlite.ts'
import { median, quantile, round } from '../stats.ts'
import { exchangeAt, type PlainMessage } from './messages.ts'
import { type Turn, takeTurns, timed } from './page/turns.ts'
import { BUDGET, EXCHANGE_BYTES, LAST } from './page-orders.ts'
import { temporaryFolder } from './temporary.ts'

export interface NodePlan {
  readonly calls: number
  /** Messages in the logs, in ascending order. */
  readonly sizes: readonly number[]
}

export type Synchronous = 'full' | 'normal'

/** An exchange appended, and what a model is shown. Times in microseconds. */
export interface NodeRow {
  readonly what: string
  readonly synchronous: Synchronous
  readonly messages: number
  readonly samples: number
  readonly p50: number
  readonly p99: number
}

export interface NodeReport {
  readonly rows: readonly NodeRow[]
  readonly fills: readonly { readonly messages: number; readonly seconds: number }[]
}

export const OURS = 'plimsoll'
export const CONTEXT = 'plimsoll, its context() alone'
export const RAW = 'node:sqlite, the same rows'
export const BETTER = 'better-sqlite3, the same rows'

const WARM_UP = 30
/** Messages that one append of a filling holds. */
const FILL_BATCH = 5_000
const SCOPE = { userId: 'ada', sessionId: 'bench' }

/** What both drivers have. */
interface Driver {
  exec(query: string): unknown
  prepare(query: string): {
    run(...values: (string | number)[]): unknown
    all(...values: number[]): unknown[]
    get(): unknown
  }
  close(): void
}

export async function measureNode(plan: NodePlan, progress: (line: string) => void): Promise<NodeReport> {
  const folder = temporaryFolder()
  const better = createRequire(import.meta.url)('better-sqlite3') as new (path: string) => Driver
  const drivers: Readonly<Record<string, (path: string) => Driver>> = {
    [RAW]: (path) => new DatabaseSync(path),
    [BETTER]: (path) => new better(path),
  }
  const fills: NodeReport['fills'][number][] = []
  const pathOf = (what: string, messages: number): string =>
    join(folder, `${Object.keys(drivers).indexOf(what)}-${messages}.db`)
  for (const messages of plan.sizes) {
    const start = performance.now()
    const copies = Object.keys(drivers).map((what) => pathOf(what, messages))
    await fill(pathOf(OURS, messages), messages, copies)
    fills.push({ messages, seconds: round((performance.now() - start) / 1_000) })
    progress(`node: ${messages} messages, ${fills.at(-1)?.seconds} s`)
  }
  const rows: NodeRow[] = []
  for (const synchronous of ['full', 'normal'] as const) {
    progress(`node: calls, ${synchronous}`)
    const contexts = new Map(plan.sizes.map((messages): [number, number[]] => [messages, []]))
    const opened = plan.sizes.flatMap((messages) => [
      ours(pathOf(OURS, messages), synchronous, messages, contexts.get(messages) ?? []),
      ...Object.entries(drivers).map(([what, open]) =>
        peer(what, open(pathOf(what, messages)), synchronous, messages),
      ),
    ])
    const times = await takeTurns(opened, plan.calls, WARM_UP)
    for (const { close } of opened) await close()
    for (const { name, what, messages } of opened) {
      rows.push({ what, synchronous, messages, ...figures(times[name] ?? []) })
      const alone = what === OURS ? contexts.get(messages) : undefined
      if (alone) rows.push({ what: CONTEXT, synchronous, messages, ...figures(alone.slice(WARM_UP)) })
    }
  }
  return { rows, fills }
}

function figures(samples: readonly number[]): Pick<NodeRow, 'samples' | 'p50' | 'p99'> {
  const microseconds = (share: number): number => round(quantile(samples, share) * 1_000)
  return { samples: samples.length, p50: round(median(samples) * 1_000), p99: microseconds(0.99) }
}

/** Fills a file by appends of many messages, and copies it. */
async function fill(path: string, messages: number, copies: readonly string[]): Promise<void> {
  const store = sqliteStore({ path, synchronous: 'normal' })
  const session = createMemory({ store, budget: BUDGET }).session(SCOPE)
  for (let from = 0; from < messages / 2; from += FILL_BATCH / 2) {
    const count = Math.min(FILL_BATCH / 2, messages / 2 - from)
    const numbers = Array.from({ length: count }, (_, index) => from + index)
    await session.append(numbers.flatMap((number) => exchangeAt(number, EXCHANGE_BYTES)))
  }
  await session.context()
  for (const copy of copies) await store.backup(copy)
  await store.close()
}

interface Opened extends Turn {
  readonly what: string
  readonly messages: number
  readonly close: () => unknown
}

/** @param contexts takes the times of the calls' second parts. */
function ours(path: string, synchronous: Synchronous, messages: number, contexts: number[]): Opened {
  const store = sqliteStore({ path, synchronous })
  const session = createMemory({ store, budget: BUDGET }).session(SCOPE)
  return {
    what: OURS,
    messages,
    name: `${OURS} ${messages}`,
    run: async (number) => {
      const exchange = exchangeAt(messages + number, EXCHANGE_BYTES)
      const start = performance.now()
      await session.append(exchange)
      const appended = performance.now()
      await session.context()
      const end = performance.now()
      contexts.push(end - appended)
      return end - start
    },
    close: () => store.close(),
  }
}

/** Two rows in one statement, then the newest messages, parsed. */
function peer(what: string, driver: Driver, synchronous: Synchronous, messages: number): Opened {
  driver.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}`)
  const last = driver.prepare('SELECT * FROM plimsoll_log ORDER BY n DESC LIMIT 1').get()
  let { n, seq, ordinal } = last as { n: number; seq: number; ordinal: number }
  const row = `(1, ?, ?, ?, 'message', ?, ?, ?, ?, ?, ?)`
  const insert = driver.prepare(
    `INSERT INTO plimsoll_log (scope, n, seq, place, kind, id, op, ordinal, round, body, derived)
      VALUES ${row}, ${row}`,
  )
  const read = driver.prepare(`SELECT * FROM plimsoll_log WHERE n > ? ORDER BY n DESC LIMIT ${LAST}`)
  const values = ({ content, role }: PlainMessage, place: number, op: string, round: string, id: string) => {
    const body = JSON.stringify({ role, content, createdAt: Date.now() })
    return [++n, seq, place, id, op, ++ordinal, round, body, JSON.stringify({ tokens: content.length / 4 })]
  }
  return {
    what,
    messages,
    name: `${what} ${messages}`,
    run: (number) => {
      const exchange = exchangeAt(messages + number, EXCHANGE_BYTES)
      return timed(async () => {
        const ids = exchange.map(() => crypto.randomUUID())
        const op = crypto.randomUUID()
        seq++
        const [round = ''] = ids
        insert.run(...exchange.flatMap((one, place) => values(one, place, op, round, ids[place] as string)))
        return read.all(0).map((found) => JSON.parse((found as { body: string }).body))
      })
    },
    close: () => driver.close(),
  }
}
