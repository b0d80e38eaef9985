/** Plays a history through one adapter, and notes what came of each command. */
import type { Adapter, Run, World } from './adapter.ts'
import { type Command, type History, isWorldCommand, type TabCommand, type WorldCommand } from './commands.ts'
import { Faults } from './faults.ts'
import { CountingHost } from './host.ts'
import { isObject, type Json, type JsonObject, plain } from './json.ts'
import { ScriptedModel } from './model.ts'
import { logOf, rowsOf } from './rows.ts'
import type { ScopeJson, StoreLike } from './store.ts'
import { within } from './turn.ts'

/** Real milliseconds after which a command is taken to hang. */
const LONGEST = 20_000

/** What came of one command. */
export type Outcome = { readonly ok: Json } | { readonly error: JsonObject }

export interface Step {
  readonly command: Command
  readonly outcome: Outcome
  /** What the memory told meanwhile, and what the model was asked. */
  readonly events: readonly JsonObject[]
  /** Of a command during which others ran: what came of these. */
  readonly raced?: readonly Step[]
  /** Of a context: the ids of all messages of its session, in the log's order. */
  readonly log?: readonly string[]
}

export interface Result {
  readonly name: string
  readonly configurations: History['configurations']
  readonly steps: readonly Step[]
}

/** One build, and where it keeps what it is given. */
export interface Side {
  readonly adapter: Adapter
  /** Contract: an empty store. A run asks for two. */
  open(): StoreLike
  /** Contract: lets go of what {@link open} opened since the last time. */
  close?(): Promise<void>
}

export async function play(history: History, side: Side): Promise<Result> {
  const player = new Player(history, side)
  const steps: Step[] = []
  for (const command of [...history.commands, { kind: 'rows' } as const])
    steps.push(await player.step(command))
  await side.close?.()
  return { name: side.adapter.name, configurations: history.configurations, steps }
}

class Player implements World {
  readonly configurations: World['configurations']
  readonly host = new CountingHost()
  readonly #faults = new Faults()
  readonly #named = new Map<string, unknown>()
  readonly #stores: readonly StoreLike[]
  readonly #wrapped: readonly StoreLike[]
  readonly #run: Run
  readonly #spelling: Adapter
  /** The scope and store of each tab. */
  readonly #tabs = new Map<string, { readonly scope: ScopeJson; readonly store: number }>()
  #events: JsonObject[] = []
  readonly model = new ScriptedModel({
    expire: () => this.host.expire(),
    tell: (event) => this.tell(event),
  })
  #raced: Step[] = []

  constructor({ configurations }: History, side: Side) {
    this.configurations = configurations
    this.#stores = [side.open(), side.open()]
    this.#wrapped = this.#stores.map((one) => this.#faults.wrap(one))
    this.#run = side.adapter.begin(this)
    this.#spelling = side.adapter
  }

  store(number: number): StoreLike {
    const store = this.#wrapped[number]
    if (!store) throw new Error(`there is no store ${number}`)
    return store
  }

  named(name: string): unknown {
    return this.#named.get(name)
  }

  tell(event: JsonObject): void {
    this.#events.push(event)
  }

  async step(command: Command): Promise<Step> {
    this.#events = []
    this.#raced = []
    if (isWorldCommand(command)) return { command, outcome: { ok: await this.#around(command) }, events: [] }
    const step = await this.#play(command)
    const settled = within(LONGEST, this.#run.settle(), 'late')
    if ((await settled.catch(() => undefined)) === 'late') this.tell({ type: 'hangs' })
    this.#faults.clear()
    const events = [...this.#events]
    const log = command.kind === 'context' ? await this.#logOf(command.tab) : undefined
    return {
      ...step,
      events,
      ...(this.#raced.length > 0 && { raced: this.#raced }),
      ...(log && { log }),
    }
  }

  async #play(command: TabCommand): Promise<Pick<Step, 'command' | 'outcome' | 'events'>> {
    if (command.kind === 'open') {
      const { tenant, user: userId, session: sessionId = 'default', store } = command
      const scope = { ...(tenant !== undefined && { tenant }), userId, sessionId }
      this.#tabs.set(command.tab, { scope, store })
    }
    return { command, outcome: await this.#outcome(command), events: [] }
  }

  async #outcome(command: TabCommand): Promise<Outcome> {
    try {
      const call = this.#run.handlers[command.kind] as (command: TabCommand) => Promise<unknown>
      const value = await within(LONGEST, call(command), HANGS)
      if (value === HANGS) return { error: { code: 'HANGS' } }
      if ('as' in command && command.as !== undefined)
        this.#named.set(command.as, isObject(value) && 'id' in value ? value.id : value)
      return { ok: plain(this.#spelled(command, value)) }
    } catch (error) {
      return { error: errorOf(error) }
    }
  }

  /** The lines of an export in the spelling that builds are compared in. */
  #spelled(command: TabCommand, value: unknown): unknown {
    const { row } = this.#spelling
    if (command.kind !== 'export' || command.format === 'markdown' || !row || !Array.isArray(value))
      return value
    return value.map((line) => JSON.stringify(row(JSON.parse(line))))
  }

  async #around(command: WorldCommand): Promise<Json> {
    switch (command.kind) {
      case 'advance':
        this.host.advance(command.ms)
        return null
      case 'fail':
        this.#faults.arm(command)
        return null
      case 'race':
        this.#faults.race({
          at: command.at,
          scope: command.scope,
          run: async () => {
            for (const other of command.commands) this.#raced.push(await this.#play(other))
          },
        })
        return null
      case 'veil':
        this.#faults.veil(command.ids)
        return null
      case 'model':
        this.model.script(command.answers)
        return null
      case 'rows':
        return Promise.all(this.#stores.map(async (store) => (await rowsOf(store, this.#spelling)) as Json))
    }
  }

  async #logOf(tab: string): Promise<readonly string[] | undefined> {
    const opened = this.#tabs.get(tab)
    const store = opened && this.#stores[opened.store]
    if (!store) return undefined
    const rows = await logOf(store.open(opened.scope))
    return rows.flatMap(({ kind, id }) => (kind === 'message' ? id : []))
  }
}

const HANGS = Symbol('hangs')

/** What of an error is a promise of the API: its code and fields, not its words. */
function errorOf(error: unknown): JsonObject {
  const { name, code, message } = error as { name?: unknown; code?: unknown; message?: unknown }
  if (name !== 'PlimsollError' || typeof code !== 'string')
    return { code: 'THROWN', message: String(message) }
  const found = error as { readonly [field: string]: unknown }
  const fields = ['breakdown', 'pending', 'size', 'limit', 'id', 'version'].filter(
    (one) => found[one] !== undefined,
  )
  return { code, ...Object.fromEntries(fields.map((one) => [one, plain(found[one])])) }
}

/** The context that a step gave, if it gave one. */
export function shownIn({ command, outcome }: Step): JsonObject | undefined {
  const value = 'ok' in outcome ? outcome.ok : undefined
  return command.kind === 'context' && isObject(value) ? value : undefined
}
