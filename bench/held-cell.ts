/**
 * In a process of its own, with `--expose-gc`: sends what is held. Started by `held.ts` with the
 * number of messages.
 */
import { charsPerToken, createMemory, mapStore } from '../src/index.ts'
import type { ContextOptions } from '../src/ports/session.ts'
import type { Store } from '../src/ports/store.ts'
import { send } from './child.ts'
import { randomFrom } from './history.ts'
import { BUDGET } from './subject.ts'

export interface Read {
  readonly ms: number
  /** More than before the call, once it is over and all that nobody holds is gone. */
  readonly heapMiB: number
  /** Entries read from the store. */
  readonly rows: number
}

export interface Held {
  readonly bytesBeyondText: number
  readonly reads: Readonly<
    Record<'appended to it' | 'written by another' | 'another lane' | 'a new one', Read>
  >
}

/** Has a lane of its own. */
const SMALLER: ContextOptions = { limits: { window: { max: { messages: 20 }, keep: { messages: 10 } } } }
const TEXT = 200
const size = Number(process.argv[2])
const random = randomFrom(1)
const gc = globalThis.gc as () => void
let entriesRead = 0

/** Text of its own, one byte a character. */
function text(): string {
  const codes = Array.from({ length: TEXT }, () => 97 + Math.floor(random() * 26))
  return Buffer.from(codes).toString('latin1')
}

function heap(): number {
  gc()
  return process.memoryUsage().heapUsed
}

function counting(store: Store): Store {
  return {
    ...store,
    open(scope) {
      const opened = store.open(scope)
      const entries = opened.entries.bind(opened)
      opened.entries = async (query) => {
        const page = await entries(query)
        entriesRead += page.rows.length
        return page
      }
      return opened
    },
  }
}

const store = counting(mapStore())
const open = () =>
  createMemory({ store, budget: BUDGET, counter: charsPerToken(4) }).session({
    userId: 'bench',
    sessionId: 'held',
  })

type Opened = ReturnType<typeof open>

async function fill(session: Opened, count: number): Promise<void> {
  for (let index = 0; index < count; index++)
    await session.append({ role: index % 2 === 0 ? 'user' : 'assistant', content: text() })
}

async function read(session: Opened, options: ContextOptions = {}): Promise<Read> {
  const before = heap()
  entriesRead = 0
  const start = performance.now()
  await session.context(options)
  const ms = performance.now() - start
  return { ms, heapMiB: (heap() - before) / 2 ** 20, rows: entriesRead }
}

// The code is warm, and so are both sessions.
const own = open()
const other = open()
for (let lap = 0; lap < 50; lap++) {
  await fill(own, 2)
  await own.context()
  await own.context(SMALLER)
  await other.context()
  await open().context()
}
const before = heap()
await fill(own, size)
const bytesBeyondText = Math.round((heap() - before) / size - TEXT)
const reads = {
  'appended to it': await read(own),
  'written by another': await read(other),
  'another lane': await read(own, SMALLER),
  'a new one': await read(open()),
}
await send({ bytesBeyondText, reads } satisfies Held)
