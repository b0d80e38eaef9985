/** The neutral commands as calls of the API of 0.1.0. */
import type { Adapter, Handlers, Run, World } from '../adapter.ts'
import type { OpenJson, Ref } from '../commands.ts'
import { damaged } from '../damage.ts'
import { plain } from '../json.ts'
import { turn } from '../turn.ts'
import {
  appendOptions,
  counted,
  defaultOf,
  firstOf,
  one,
  opIdOf,
  remembered,
  versionOption,
} from './arguments.ts'
import { type CounterLike, counterOf } from './counters.ts'
import type { FirstLibrary, MemoryLike, SessionLike, UserLike } from './first-library.ts'
import { optionsOf } from './first-options.ts'
import { firstHead } from './heads.ts'

/** What one tab holds open. */
interface Tab {
  readonly memory: MemoryLike
  readonly counter: CounterLike
  readonly session: SessionLike
  readonly opened: OpenJson
  readonly scope: { readonly tenant?: string; readonly userId: string; readonly sessionId?: string }
  readonly user: { readonly tenant?: string; readonly userId: string }
  /** The newest context that it was given. */
  context?: Awaited<ReturnType<SessionLike['context']>>
  snapshot?: object
  unsubscribe?: () => void
}

type Opened = Pick<Tab, 'memory' | 'counter'>

export function firstAdapter(library: FirstLibrary, name: string): Adapter {
  return { name, begin: (world) => new FirstRun(library, world), head: firstHead }
}

class FirstRun implements Run {
  readonly #library: FirstLibrary
  readonly #world: World
  readonly #tabs = new Map<string, Tab>()
  /** Memories that tabs may share. */
  readonly #memories = new Map<string, Opened>()

  constructor(library: FirstLibrary, world: World) {
    this.#library = library
    this.#world = world
  }

  async settle(): Promise<void> {
    for (const { session } of this.#tabs.values()) {
      await session.compacted()
      while (session.isCompacting) await turn()
      await session.compacted()
    }
  }

  readonly handlers: Handlers = {
    open: async ({ tab, ...given }) => {
      const { memory, configuration, store } = given
      const key = JSON.stringify([memory, configuration, store])
      const shared = this.#memories.get(key) ?? this.#memoryOf(given)
      this.#memories.set(key, shared)
      this.#enter(tab, shared, given)
    },
    reopen: async ({ tab }) => {
      const { opened } = this.#tab(tab)
      this.#enter(tab, this.#memoryOf(opened), opened)
    },
    append: async (command) => this.#session(command).append(one(command.messages), appendOptions(command)),
    commit: async (command) => {
      const { messages, checkpoint, facts, ifVersion } = command
      const session = this.#session(command)
      const input = {
        ...(messages && { messages: one(messages) }),
        ...(checkpoint !== undefined && { checkpoint }),
        ...(facts && { facts }),
      }
      const written = await versionOption(ifVersion, async () => (await session.checkpoint.get()).version)
      return session.commit(input, { ...appendOptions(command), ...written })
    },
    addExchange: async (command) => this.#session(command).addExchange(command.user, command.assistant),
    context: async ({ kind: _, tab: name, ...options }) => {
      const tab = this.#tab(name)
      tab.context = await tab.session.context(options)
      return tab.context
    },
    contextAt: async (command) => this.#session(command).contextAt(command.id),
    history: async ({ kind: _, tab, ...options }) => this.#tab(tab).session.history(options),
    readSource: async ({ kind: _, tab, reference, ...options }) =>
      this.#tab(tab).session.readSource(reference, options),
    attach: async ({ kind: _, tab, bytes, as: __, ...given }) => {
      const part = await this.#tab(tab).session.attach({ ...given, bytes: Uint8Array.from(bytes) })
      return { part, id: part.ref }
    },
    attachment: async (command) => this.#session(command).attachment(this.#id(command.id)),
    rewind: async (command) => ({ id: await this.#session(command).rewind(command.id, opIdOf(command)) }),
    undo: async (command) => ({
      id: await this.#session(command).undo(command.rewind && this.#id(command.rewind), opIdOf(command)),
    }),
    branches: async (command) => this.#session(command).branches(),
    switchTo: async (command) => this.#session(command).switchTo(command.id, opIdOf(command)),
    remember: async (command) => remembered(this.#session(command).remember(command.fact, opIdOf(command))),
    facts: async (command) => this.#session(command).facts(command.query),
    fact: async (command) => this.#session(command).fact(this.#id(command.id)),
    resolve: async (command) => this.#session(command).resolve(this.#id(command.id)),
    pin: async (command) => this.#session(command).pin(this.#id(command.id)),
    unpin: async (command) => this.#session(command).unpin(this.#id(command.id)),
    supersede: async (command) =>
      remembered(this.#session(command).supersede(this.#id(command.id), command.fact)),
    promote: async ({ tab, id, pinned }) =>
      this.#tab(tab).session.promote(this.#id(id), pinned === undefined ? {} : { pinned }),
    review: async (command) => this.#session(command).review(this.#id(command.id), command.rating),
    forget: async ({ tab, id, what }) =>
      this.#tab(tab).session.forget(this.#id(id), what === undefined ? {} : { kind: what }),
    recall: async (command) => this.#session(command).recall(command.query, firstOf(command)),
    recallPage: async (command) => this.#session(command).recallPage(command.query, firstOf(command)),
    loadSkill: async (command) => this.#session(command).loadSkill(command.name),
    unloadSkill: async (command) => this.#session(command).unloadSkill(command.name),
    loadedSkills: async (command) => this.#session(command).loadedSkills(),
    start: async ({ kind: _, tab, days, ...options }) =>
      this.#tab(tab).session.start({
        ...options,
        ...(days !== undefined && { now: this.#world.host.now() + days * 86_400_000 }),
      }),
    compact: async ({ tab, limits }) => this.#tab(tab).session.compact(limits ? { limits } : {}),
    compacted: async (command) => this.#session(command).compacted(),
    checkpointGet: async (command) => this.#session(command).checkpoint.get(defaultOf(command)),
    checkpointSet: async (command) => {
      const { checkpoint } = this.#session(command)
      const written = await versionOption(command.ifVersion, async () => (await checkpoint.get()).version)
      return { version: await checkpoint.set(command.value, { ...opIdOf(command), ...written }) }
    },
    checkpointUpdate: async (command) => ({
      version: await this.#session(command).checkpoint.update(counted, defaultOf(command)),
    }),
    checkpointDelete: async (command) => {
      const { checkpoint } = this.#session(command)
      await checkpoint.delete(
        await versionOption(command.ifVersion, async () => (await checkpoint.get()).version),
      )
    },
    report: async ({ tab: name, factor }) => {
      const { counter, context } = this.#tab(name)
      if (context) counter.report?.(context, Math.max(1, Math.round(context.receipt.used * factor)))
    },
    subscribe: async ({ tab: name }) => {
      const tab = this.#tab(name)
      tab.unsubscribe ??= tab.session.subscribe(() => {})
    },
    unsubscribe: async ({ tab: name }) => leave(this.#tab(name)),
    snapshot: async ({ tab: name }) => {
      const tab = this.#tab(name)
      const snapshot = tab.session.getSnapshot()
      const isSame = snapshot === tab.snapshot
      tab.snapshot = snapshot
      return { ...snapshot, isSame }
    },
    profileList: async (command) => this.#user(command).profile.list(),
    profileSet: async (command) => {
      const { profile } = this.#user(command)
      const { name, text, ifVersion } = command
      const written = await versionOption(ifVersion, async () => (await profile.get(name))?.version)
      return { version: await profile.set(name, text, written) }
    },
    profileUpdate: async (command) => ({
      version: await this.#user(command).profile.update(command.name, (text) => text + command.add),
    }),
    profileDelete: async (command) => {
      const { profile } = this.#user(command)
      const { name, ifVersion } = command
      await profile.delete(
        name,
        await versionOption(ifVersion, async () => (await profile.get(name))?.version),
      )
    },
    skillList: async (command) => this.#user(command).skills.list(),
    skillSet: async (command) => {
      const { skills } = this.#user(command)
      const { skill, ifVersion } = command
      const name = typeof skill === 'string' ? (/^name: *(\S+)/m.exec(skill)?.[1] ?? '') : String(skill.name)
      const written = await versionOption(ifVersion, async () => (await skills.get(name))?.version)
      return { version: await skills.set(skill, written) }
    },
    skillDelete: async (command) => this.#user(command).skills.delete(command.name),
    settings: async (command) => this.#user(command).settings(),
    changeSettings: async (command) => this.#user(command).changeSettings(command.patch),
    audit: async (command) => this.#user(command).audit(firstOf(command)),
    sessions: async (command) => this.#sessions(command).list(),
    title: async (command) => this.#sessions(command).title(command.session, command.title),
    deleteSession: async (command) => this.#sessions(command).delete(command.session),
    userFacts: async (command) => this.#user(command).facts.list(command.query),
    userRemember: async (command) => remembered(this.#user(command).facts.remember(command.fact)),
    userForget: async (command) => this.#user(command).facts.forget(this.#id(command.id)),
    userRecall: async ({ kind: _, tab, query, ...options }) => this.#user({ tab }).recall(query, options),
    export: async ({ tab: name, of, parts, format }) => {
      const { memory, scope, user } = this.#tab(name)
      const given = of === 'user' ? user : { sessionId: 'default', ...scope }
      const lines: string[] = []
      const options = { ...(parts && { parts }), ...(format && { format }) }
      for await (const line of memory.export(given, options)) lines.push(line)
      return lines
    },
    import: async ({ tab: name, from, user, session, trust, damage }) => {
      const lines = this.#world.named(from)
      const { memory, user: own } = this.#tab(name)
      const given = { ...own, userId: user, ...(session !== undefined && { sessionId: session }) }
      return memory.import(
        given,
        damaged(Array.isArray(lines) ? lines : [], damage),
        trust === undefined ? {} : { trust },
      )
    },
    erase: async ({ tab: name }) => {
      const { memory, user } = this.#tab(name)
      return memory.erase(user)
    },
    nextWorkAt: async ({ tab }) => this.#tab(tab).memory.nextWorkAt(),
    runDueWork: async ({ tab }) => this.#tab(tab).memory.runDueWork(),
  }

  #enter(name: string, { memory, counter }: Opened, opened: OpenJson): void {
    const { tenant, user: userId, session: sessionId, project } = opened
    const user = { ...(tenant !== undefined && { tenant }), userId }
    const scope = { ...user, ...(sessionId !== undefined && { sessionId }) }
    const session = memory.session(scope, project === undefined ? {} : { project })
    session.onCompact((event) =>
      this.#world.tell({ tab: name, ...(plain(event) as object), type: 'compact' }),
    )
    const before = this.#tabs.get(name)
    if (before) leave(before)
    this.#tabs.set(name, { memory, counter, session, opened, scope, user })
  }

  #memoryOf({ configuration: place, store }: OpenJson): Opened {
    const configuration = this.#world.configurations[place]
    if (!configuration) throw new Error(`the history has no configuration ${place}`)
    const counter = counterOf(this.#library, configuration.counter)
    const options = optionsOf(this.#library, configuration, this.#world)
    return {
      counter,
      memory: this.#library.createCore({ ...options, counter, store: this.#world.store(store) }),
    }
  }

  #tab(name: string): Tab {
    const tab = this.#tabs.get(name)
    if (!tab) throw new Error(`the history opened no tab ${name}`)
    return tab
  }

  #session({ tab }: { readonly tab: string }): SessionLike {
    return this.#tab(tab).session
  }

  #user({ tab }: { readonly tab: string }): UserLike {
    const { memory, user } = this.#tab(tab)
    return memory.user(user)
  }

  #sessions({ tab }: { readonly tab: string }): ReturnType<MemoryLike['sessions']> {
    const { memory, user } = this.#tab(tab)
    return memory.sessions(user)
  }

  #id(ref: Ref): string {
    return typeof ref === 'string' ? ref : String(this.#world.named(ref.ref))
  }
}

function leave(tab: Tab): void {
  tab.unsubscribe?.()
  delete tab.unsubscribe
}
