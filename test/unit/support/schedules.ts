import {
  type Context,
  charsPerToken,
  type Host,
  isPlimsollError,
  type LogRow,
  type Model,
  type ModelEvent,
  mapStore,
  type Store,
  type SummaryMark,
} from '../../../src/index.ts'
import { webHost } from '../../../src/platform/web.ts'
import { type FullMemory, type FullSession, fullMemory, ONE_SECRET } from '../../contract/full-memory.ts'
import { changedStore } from '../../everywhere/changed-store.ts'
import { scope } from './compacting.ts'
import { rewindAt, undoIfAny } from './scene.ts'

/** What a tab does next; `crash` comes whatever it is doing, the rest when it is idle. */
export type Task = 'say' | 'answer' | 'context' | 'wait' | 'rewind' | 'undo' | 'reload' | 'crash'

/**
 * Chooses one of so many ways to go on, the usual one first; `delay` puts the usual one off until
 * nothing else can be done.
 */
export type Choose = (options: number) => number | 'delay'

/** A call that waits to be let through. */
interface Gate {
  readonly life: Life
  readonly pass: () => void
}

/** A session object, until its tab is closed or crashes. */
interface Life {
  isOver: boolean
}

interface Tab {
  readonly tasks: Task[]
  life: Life
  memory: FullMemory
  session: FullSession
  running: Promise<void> | undefined
}

/** A context with what was in the log when it was asked for, by id. */
export interface Given {
  readonly context: Context
  readonly acknowledged: number
}

/**
 * Tabs of one session over one store. Each call of the store waits before it is made, each commit
 * before its answer too, and the model before and after it answers; the order in which they go on
 * is chosen.
 */
export class Schedule {
  readonly inner = mapStore()
  readonly log = this.inner.open(scope)
  readonly contexts: Given[] = []
  readonly acknowledged: string[] = []
  readonly errors: unknown[] = []
  steps = 0
  #gates: Gate[] = []
  #late: Gate[] = []
  #tabs: Tab[] = []
  #ids = 0
  #shared: FullMemory | undefined
  #isOpen = false
  readonly #choose: Choose
  readonly #memories: 'one' | 'two'

  constructor(choose: Choose, memories: 'one' | 'two') {
    this.#choose = choose
    this.#memories = memories
  }

  /** A session object that waits for nothing, with nothing in memory. */
  plain(): FullSession {
    return this.#memory(
      this.inner,
      answering(async () => {}),
    ).session(scope)
  }

  /**
   * Plays a script a tab, in the order that is chosen, and then lets all that waits come to its
   * end.
   */
  async play(before: number, scripts: readonly (readonly Task[])[]): Promise<void> {
    const session = this.plain()
    for (let index = 0; index < before; index++)
      await this.#say(session, index % 2 === 0 ? 'user' : 'assistant')
    await session.context()
    this.#tabs = scripts.map((tasks) => ({ tasks: [...tasks], ...this.#open(), running: undefined }))
    for (;;) {
      await settled()
      if (!this.#step()) break
      this.steps++
    }
    this.#isOpen = true
    for (const { session } of this.#tabs) await session.compaction.settled()
  }

  get tabs(): readonly FullSession[] {
    return this.#tabs.map(({ session }) => session)
  }

  async rows(): Promise<readonly LogRow[]> {
    return (await this.log.changesSince(0)).rows
  }

  /** Lets one thing happen; false: nothing is left to. */
  #step(): boolean {
    const ready = this.#tabs.filter(
      ({ tasks, running }) => tasks.length > 0 && (!running || tasks[0] === 'crash'),
    )
    const options: (() => void)[] = [
      ...this.#gates.map((gate) => () => this.#pass(gate)),
      ...ready.map((tab) => () => this.#start(tab)),
      ...this.#late.map((gate) => () => this.#pass(gate)),
    ]
    if (options.length === 0) return false
    let choice = this.#choose(options.length)
    if (choice === 'delay') {
      const gate = this.#gates.shift()
      if (gate) this.#late.push(gate)
      if (gate) return true
      choice = options.length - 1
    }
    options[choice]?.()
    return true
  }

  #pass(gate: Gate): void {
    this.#gates = this.#gates.filter((one) => one !== gate)
    this.#late = this.#late.filter((one) => one !== gate)
    gate.pass()
  }

  #start(tab: Tab): void {
    const task = tab.tasks.shift() as Task
    if (task === 'crash' || task === 'reload') {
      // What an object of a process that lives on was doing goes on without it.
      tab.life.isOver = this.#memories === 'two'
      this.#gates = this.#gates.filter(({ life }) => !life.isOver)
      this.#late = this.#late.filter(({ life }) => !life.isOver)
      Object.assign(tab, this.#open(), { running: undefined })
      return
    }
    const { life } = tab
    const running = this.#do(tab.session, task, life).then(
      () => {},
      (error: unknown) => void this.errors.push(error),
    )
    tab.running = running
    running.then(() => {
      if (tab.running === running) tab.running = undefined
    })
  }

  async #do(session: FullSession, task: Task, life: Life): Promise<void> {
    if (task === 'say') await this.#say(session, 'user', life)
    if (task === 'answer') await this.#say(session, 'assistant', life)
    if (task === 'wait') await session.compaction.settled()
    if (task === 'rewind') await rewindAt(session, 0.7).catch(unlessGone)
    if (task === 'undo') await undoIfAny(session)
    if (task !== 'context') return
    const acknowledged = this.acknowledged.length
    const context = await session.context()
    this.contexts.push({ context, acknowledged })
  }

  async #say(session: FullSession, role: 'user' | 'assistant', life?: Life): Promise<void> {
    const id = `m${++this.#ids}`
    await session.append({ id, role, content: `${id}: ${'a few words more '.repeat(18)}` })
    if (!life?.isOver) this.acknowledged.push(id)
  }

  #open(): Pick<Tab, 'life' | 'memory' | 'session'> {
    const life = { isOver: false }
    const gate = (): Promise<void> => this.#gate(life)
    const store = changedStore(this.inner, (inner) => ({
      commit: async (ops, decide) => {
        await gate()
        const results = await inner.commit(ops, decide)
        await gate()
        return results
      },
      entries: async (query) => {
        await gate()
        return inner.entries(query)
      },
      changesSince: async (seq) => {
        await gate()
        return inner.changesSince(seq)
      },
      head: async () => {
        await gate()
        return inner.head()
      },
    }))
    const model = answering(gate)
    if (this.#memories === 'one') this.#shared ??= this.#memory(store, model)
    const memory = this.#shared ?? this.#memory(store, model)
    return { life, memory, session: memory.session(scope) }
  }

  async #gate(life: Life): Promise<void> {
    if (this.#isOpen) return
    await new Promise<void>((pass) => {
      // What happens to a tab that is gone is never heard of again.
      if (!life.isOver) this.#gates.push({ life, pass })
    })
  }

  #memory(store: Store, model: Model): FullMemory {
    return fullMemory({
      store,
      budget: { contextWindow: 600, maxOutputTokens: 0, margin: 0 },
      counter: charsPerToken(4),
      host: { ...host, newId: () => `id-${++this.#ids}` },
      compaction: { model, ahead: 0.8, pins: () => [{ kind: 'constraint', text: 'Never fly.' }] },
    })
  }
}

/** The clock stands still: what is slow is slow by the schedule. */
const host: Host = {
  ...webHost,
  now: () => 0,
  newId: () => '',
  newSecret: () => ONE_SECRET,
  timeout: () => ({
    signal: { aborted: false, reason: undefined, addEventListener: () => {}, removeEventListener: () => {} },
    clear: () => {},
  }),
  controller: () => {
    throw new Error('unused')
  },
}

function answering(gate: () => Promise<void>): Model {
  return {
    id: 'slow',
    async *complete(): AsyncGenerator<ModelEvent> {
      await gate()
      const content = 'They said a few words.'
      await gate()
      yield { type: 'finish', message: { role: 'assistant', content }, reason: 'stop' }
    },
  }
}

/** Another tab was first to rewind. */
function unlessGone(error: unknown): void {
  if (!isPlimsollError(error, 'ERR_NOT_FOUND')) throw error
}

/** All that can go on without being let through has. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Summaries in the log with their rows. */
export function summariesOf(
  rows: readonly LogRow[],
): readonly { readonly row: LogRow; readonly mark: SummaryMark }[] {
  return rows.flatMap((row) =>
    row.kind === 'summary' && row.body !== null ? [{ row, mark: JSON.parse(row.body) as SummaryMark }] : [],
  )
}
