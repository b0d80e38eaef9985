/**
 * What a generator knows of the history that it writes: which tabs are open, and what was said in
 * their sessions.
 */
import type { AppendJson, Command, TabCommand } from '../commands.ts'
import type { Configuration } from '../configuration.ts'
import { START } from '../host.ts'
import type { ContextJson, MessageJson, ToolJson } from '../shapes.ts'
import { tokensPerCharacter } from './configure.ts'
import type { Random } from './random.ts'

export const HOUR = 3_600_000

export interface Said {
  readonly id: string
  readonly role: MessageJson['role']
  readonly round: string
}

/** A call, by the id that the model gave. */
export interface Asked {
  readonly callId: string
  readonly round: string
}

/** What was said in one session, as far as ids are known. */
export interface Conversation {
  /** What shows, about. */
  live: Said[]
  /** All that was said. */
  readonly all: Said[]
  /** Versions that an edit or a rewind hid: the message with which each begins. */
  readonly versions: string[]
  /** Names of rewinds. */
  readonly rewinds: string[]
  /** Calls without a result, and those with one. */
  open: Asked[]
  readonly answered: Asked[]
  /** Ids or names of facts. */
  readonly facts: string[]
  /** Messages of the log. */
  count: number
}

export interface Tab {
  readonly name: string
  readonly configuration: number
  readonly store: number
  readonly user: string
  readonly session: string | undefined
  readonly conversation: Conversation
  tools: readonly ToolJson[]
}

/** Distributes over the commands, so that each keeps its own fields. */
type WithoutTab<One> = One extends { readonly tab: string } ? Omit<One, 'tab'> : never

export class Course {
  readonly random: Random
  readonly configurations: readonly Configuration[]
  readonly commands: Command[] = []
  readonly tabs: Tab[] = []
  /** Names of exports, documents and skills. */
  readonly exports: { readonly name: string; readonly of: 'user' | 'session'; readonly session: string }[] =
    []
  readonly documents: string[] = []
  readonly skills: string[] = []
  readonly attachments: string[] = []
  readonly #conversations = new Map<string, Conversation>()
  /** Milliseconds that the clock was advanced by. */
  elapsed = 0
  readonly #tenant: string | undefined
  #ids = 0

  constructor(random: Random, configurations: readonly Configuration[]) {
    this.#tenant = random.chance(0.1) ? 'acme' : undefined
    this.random = random
    this.configurations = configurations
  }

  /** The tab in which most happens. */
  get main(): Tab {
    return this.tabs[0] as Tab
  }

  /** Any tab, the first more often. */
  anyTab(): Tab {
    return this.random.chance(0.6) ? this.main : this.random.pick(this.tabs)
  }

  id(prefix: string): string {
    return `${prefix}${++this.#ids}`
  }

  add(command: Command): void {
    this.commands.push(command)
  }

  advance(ms: number): void {
    this.elapsed += ms
    this.add({ kind: 'advance', ms })
  }

  /** Unix milliseconds at so many days from now. */
  dayFrom(days: number): number {
    return START + this.elapsed + days * 24 * HOUR
  }

  in(tab: Tab, command: WithoutTab<TabCommand>): void {
    this.add({ ...command, tab: tab.name } as TabCommand)
  }

  open(options: {
    readonly name?: string
    readonly configuration?: number
    readonly session?: string | undefined
    readonly user?: string
    readonly store?: number
    readonly memory?: number
    readonly project?: string | undefined
  }): Tab {
    const { configuration = 0, session, user = 'ada', store = 0, project } = options
    const name = options.name ?? String.fromCharCode(97 + this.tabs.length)
    const memory = options.memory ?? this.tabs.length
    const conversation = this.#conversationOf(JSON.stringify([store, user, session ?? 'default']))
    const tab: Tab = { name, configuration, store, user, session, conversation, tools: [] }
    this.tabs.push(tab)
    this.in(tab, {
      kind: 'open',
      memory,
      configuration,
      store,
      ...(this.#tenant !== undefined && { tenant: this.#tenant }),
      user,
      ...(session !== undefined && { session }),
      ...(project !== undefined && { project }),
    })
    return tab
  }

  /** A further tab of the same session, in a memory of its own, which no later scene knows. */
  rival(tab: Tab): Tab {
    const { configuration, store, user, session } = tab
    const memory = 100 + this.commands.length
    const rival = this.open({ configuration, store, user, session, name: this.id('r'), memory })
    this.tabs.pop()
    return rival
  }

  /** Characters that fill the line of a tab's configuration, about. */
  lineOf({ configuration }: Tab): number {
    const { budget, counter } = this.configurations[configuration] as Configuration
    const cap = typeof budget === 'number' ? budget : budget.contextWindow - budget.maxOutputTokens
    return cap / tokensPerCharacter(counter)
  }

  append(tab: Tab, messages: readonly MessageJson[], options: AppendJson = {}): void {
    this.in(tab, { kind: 'append', messages, ...options })
    this.noteSaid(tab, messages, options.round)
  }

  noteSaid({ conversation }: Tab, messages: readonly MessageJson[], given?: string): void {
    const { live, all } = conversation
    for (const { id, role, content } of messages) {
      conversation.count++
      const newest = given ?? live.at(-1)?.round ?? id ?? ''
      const round = role === 'user' ? (id ?? newest) : newest
      if (id !== undefined) {
        live.push({ id, role, round })
        all.push({ id, role, round })
      }
      if (typeof content === 'string') continue
      for (const part of content) {
        if (part.type === 'tool-call') conversation.open.push({ callId: String(part.id), round })
        if (part.type !== 'tool-result') continue
        const found = conversation.open.find(({ callId }) => callId === part.callId)
        conversation.open = conversation.open.filter((one) => one !== found)
        if (found) conversation.answered.push(found)
      }
    }
  }

  context(tab: Tab, options: ContextJson = {}): void {
    const tools = options.tools ?? tab.tools
    this.in(tab, { kind: 'context', ...options, ...(tools.length > 0 && { tools }) })
  }

  /** Hides a message and what shows after it. */
  hide({ conversation }: Tab, id: string): void {
    const at = conversation.live.findIndex((said) => said.id === id)
    if (at < 0) return
    conversation.live = conversation.live.slice(0, at)
    conversation.versions.push(id)
  }

  #conversationOf(key: string): Conversation {
    const known = this.#conversations.get(key)
    if (known) return known
    const made: Conversation = {
      live: [],
      all: [],
      versions: [],
      rewinds: [],
      open: [],
      answered: [],
      facts: [],
      count: 0,
    }
    this.#conversations.set(key, made)
    return made
  }
}
