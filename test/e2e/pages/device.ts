/** A device of the tests of sync: a page that `sync.test.ts` drives. */
import { createMemory } from '../../../src/create-memory.ts'
import {
  lease,
  type Model,
  memoryTools,
  type Part,
  runAgent,
  standard,
  toAnthropic,
} from '../../../src/index.ts'
import type { Scope } from '../../../src/ports/op.ts'
import type { LogRow } from '../../../src/ports/store.ts'
import { dexieStore } from '../../../src/stores/dexie.ts'
import { edgeSocket, httpTransport, keepLocal, type SyncedStore, sync } from '../../../src/sync/index.ts'
import { readRows } from '../../../src/sync/read.ts'
import { REPLY_MS, stepAfter } from '../support/steps.ts'

/** Whose device it is, and where home is. */
export interface DeviceOrder {
  readonly url: string
  readonly token: string
  readonly scope: Scope
  /** Bytes that it keeps of the session. Default: all. */
  readonly keep?: number
}

/** What the edge has as well: see `worker/objects.ts`. */
const BUDGET = { contextWindow: 16_000, maxOutputTokens: 0 }
const MOST_FACTS = 500
/** More than any test says. */
const ALL = 100_000

let isTold = false

/** Notes whether the session's is open. */
class NotedSocket extends WebSocket {
  constructor(url: string, protocols: string[]) {
    super(url, protocols)
    if (!url.includes('/sessions/')) return
    this.addEventListener('open', () => {
      isTold = true
    })
    this.addEventListener('close', () => {
      isTold = false
    })
  }
}

function openAll({ url, token, scope, keep: bytes }: DeviceOrder) {
  const local = dexieStore({ name: 'device' })
  const transport = httpTransport({ url, token, socket: edgeSocket({ WebSocket: NotedSocket }) })
  const user = { userId: scope.userId, ...(scope.tenant !== undefined && { tenant: scope.tenant }) }
  const keep = bytes === undefined ? undefined : keepLocal({ bytes })
  const store = sync({ store: local, transport, user, baseMs: 50, capMs: 500, ...(keep && { keep }) })
  const use = standard({ facts: { caps: { facts: MOST_FACTS } } })
  const session = createMemory({ store, budget: BUDGET, use }).session(scope)
  return { local, store, session, scope }
}

/** Says what the one at the edge says. */
const model: Model = {
  id: 'tests',
  async *complete({ context }) {
    await new Promise((resolve) => setTimeout(resolve, REPLY_MS))
    const { text, calls } = stepAfter(JSON.stringify(context.blocks.map(({ parts }) => parts)))
    const parts: Part[] = calls.map((call, index) => ({ type: 'tool-call', id: `call-${index}`, ...call }))
    const message = { role: 'assistant', content: [{ type: 'text', text }, ...parts] } as const
    yield { type: 'finish', message, reason: calls.length > 0 ? 'tool-calls' : 'stop' }
  },
}
const answers: string[] = []

let opened: ReturnType<typeof openAll>

const device = {
  open: async (order: DeviceOrder): Promise<void> => {
    opened = openAll(order)
    await opened.session.history()
  },

  /** Whether it is told of changes. */
  isTold: (): boolean => isTold,

  say: async (id: string, content: string): Promise<void> => {
    await opened.session.append({ id, role: 'user', content })
  },

  /** Says so many, and tells `wrote` of each that is durable, if that is there. */
  sayMany: async (name: string, count: number): Promise<void> => {
    const { wrote } = globalThis as { readonly wrote?: (id: string) => void }
    for (let index = 0; index < count; index++) {
      const id = `${name}-${index}`
      await opened.session.append({ id, role: 'user', content: id })
      wrote?.(id)
    }
  },

  state: (): string => opened.store.status.state,

  resume: (): void => opened.store.resume(),

  /** Has an agent here answer the newest message, or go on where another one ended. */
  answer: async (): Promise<void> => {
    const { session } = opened
    const run = runAgent({ session, model, tools: memoryTools(session), lease: lease({ holder: 'browser' }) })
    run.then(
      ({ answer }) => answers.push(answer),
      (error: unknown) => answers.push(String(error)),
    )
  },

  /** What came of that, each time. */
  answers: (): readonly string[] => answers,

  /** What it shows, in order. */
  texts: async (): Promise<readonly string[]> =>
    (await opened.session.history({ messages: ALL })).map(({ content }) =>
      typeof content === 'string'
        ? content
        : content.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    ),

  /**
   * JSON of all rows of its session, whatever the order of their columns, without what each store
   * works out for itself.
   */
  rows: async (): Promise<readonly string[]> =>
    (await rowsOf(opened.store, opened.scope)).map(({ derived: _, ...row }) => JSON.stringify(row, inOrder)),

  /** Bytes of the request that the next model call would be, and their hash. */
  context: async (): Promise<{ readonly request: string; readonly hash: string }> => {
    const context = await opened.session.context()
    return { request: JSON.stringify(toAnthropic(context)), hash: context.hash }
  },

  /** How many rows of its session are here. */
  held: async (): Promise<number> => (await rowsOf(opened.local, opened.scope)).length,

  /** What reading all comes to: how many messages, or the code of an error. */
  reads: async (): Promise<number | string> => {
    try {
      return (await opened.session.history({ messages: ALL })).length
    } catch (error) {
      return (error as { readonly code: string }).code
    }
  },

  waiting: (): number => opened.store.status.waiting,

  settled: async (): Promise<string> => (await opened.store.settled()).state,
}

export type Device = typeof device

Object.assign(globalThis, { device })

async function rowsOf(store: Pick<SyncedStore, 'open'>, scope: Scope): Promise<readonly LogRow[]> {
  const log = store.open(scope)
  const rows = await readRows(log, 0)
  await log.close()
  return rows
}

function inOrder(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
}
