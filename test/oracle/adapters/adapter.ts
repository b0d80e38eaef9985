/** The neutral commands as calls of sessions, features and operations. */
import type { Adapter, Handlers, Run, World } from '../adapter.ts'
import type { OpenJson, Ref } from '../commands.ts'
import { damaged } from '../damage.ts'
import { field, plain } from '../json.ts'
import type { ContextJson } from '../shapes.ts'
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
import type { ContextLike, LibraryLike, MemoryLike, SessionLike, UserLike } from './library.ts'
import { optionsOf } from './options.ts'

/** What one tab holds open. */
interface Tab {
  readonly memory: MemoryLike
  readonly counter: CounterLike
  readonly session: SessionLike
  readonly opened: OpenJson
  readonly scope: { readonly tenant?: string; readonly userId: string; readonly sessionId?: string }
  readonly user: { readonly tenant?: string; readonly userId: string }
  /** The newest context that it was given. */
  context?: ContextLike
  snapshot?: object
  unsubscribe?: () => void
}

type Opened = Pick<Tab, 'memory' | 'counter'>

export function adapterOf(library: LibraryLike, name: string): Adapter {
  return { name, begin: (world) => new AdapterRun(library, world) }
}

class AdapterRun implements Run {
  readonly #library: LibraryLike
  readonly #world: World
  readonly #tabs = new Map<string, Tab>()
  /** Memories that tabs may share. */
  readonly #memories = new Map<string, Opened>()

  constructor(library: LibraryLike, world: World) {
    this.#library = library
    this.#world = world
  }

  async settle(): Promise<void> {
    for (const { session } of this.#tabs.values()) {
      // Is refused when its turn has come: then nothing runs that the session queued itself.
      await session.history({ messages: -1 }).catch(() => {})
      await session.compaction?.settled()
      while (session.compaction?.isRunning) await turn()
      await session.compaction?.settled()
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
    append: async ({ replaces, ...command }) => {
      const session = this.#session(command)
      const [messages, options] = [one(command.messages), appendOptions(command)]
      return replaces === undefined
        ? session.append(messages, options)
        : this.#library.editMessage(session, replaces, messages, options)
    },
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
    addExchange: async (command) =>
      this.#library.addExchange(this.#session(command), command.user, command.assistant),
    context: async ({ kind: _, tab: name, ...options }) => {
      const tab = this.#tab(name)
      tab.context = await contextOf(tab.session, options)
      return tab.context
    },
    contextAt: async (command) => this.#library.contextAt(this.#session(command), command.id),
    history: async ({ kind: _, tab, ...options }) => this.#tab(tab).session.history(options),
    readSource: async ({ kind: _, tab, reference, ...options }) =>
      this.#library.readSource(this.#tab(tab).session, reference, options),
    attach: async ({ kind: _, tab, bytes, as: __, ...given }) => {
      const attachment = { ...given, bytes: Uint8Array.from(bytes) }
      const part = await this.#library.attach(this.#tab(tab).session, attachment)
      return { part, id: part.ref }
    },
    attachment: async (command) => this.#library.readAttachment(this.#session(command), this.#id(command.id)),
    rewind: async (command) => ({
      id: await this.#library.rewind(this.#session(command), command.id, opIdOf(command)),
    }),
    undo: async (command) => {
      const rewind = command.rewind && this.#id(command.rewind)
      return { id: await this.#library.undo(this.#session(command), rewind, opIdOf(command)) }
    },
    branches: async (command) => this.#library.readBranches(this.#session(command)),
    switchTo: async (command) => this.#library.switchTo(this.#session(command), command.id, opIdOf(command)),
    remember: async (command) =>
      remembered(this.#session(command).facts.remember(command.fact, opIdOf(command))),
    facts: async (command) => this.#session(command).facts.list(command.query),
    fact: async (command) => this.#session(command).facts.get(this.#id(command.id)),
    resolve: async (command) => this.#session(command).facts.resolve(this.#id(command.id)),
    pin: async (command) => this.#session(command).facts.pin(this.#id(command.id)),
    unpin: async (command) => this.#session(command).facts.unpin(this.#id(command.id)),
    supersede: async (command) =>
      remembered(this.#session(command).facts.supersede(this.#id(command.id), command.fact)),
    promote: async ({ tab, id, pinned }) =>
      this.#tab(tab).session.facts.promote(this.#id(id), pinned === undefined ? {} : { pinned }),
    review: async (command) => this.#session(command).facts.review(this.#id(command.id), command.rating),
    forget: async ({ tab, id, what }) =>
      this.#library.forget(this.#tab(tab).session, this.#id(id), what === undefined ? {} : { kind: what }),
    recall: async (command) => {
      const { recall = missing() } = this.#session(command)
      return recall.find(command.query, firstOf(command))
    },
    recallPage: async (command) => {
      const { recall = missing() } = this.#session(command)
      return recall.page(command.query, firstOf(command))
    },
    loadSkill: async (command) => this.#session(command).skills.load(command.name),
    unloadSkill: async (command) => this.#session(command).skills.unload(command.name),
    loadedSkills: async (command) => this.#session(command).skills.loaded(),
    start: async ({ kind: _, tab, days, ...options }) =>
      this.#library.start(this.#tab(tab).session, {
        ...options,
        ...(days !== undefined && { now: this.#world.host.now() + days * 86_400_000 }),
      }),
    compact: async ({ tab, limits }) => {
      const { compaction } = this.#tab(tab).session
      return compaction ? compaction.run(limits ? { limits } : {}) : { status: 'none' }
    },
    compacted: async (command) => this.#session(command).compaction?.settled(),
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
      const { fromMarkdown = (text: string) => text } = this.#library
      const given = typeof skill === 'string' ? fromMarkdown(skill) : skill
      return { version: await skills.set(given, written) }
    },
    skillDelete: async (command) => this.#user(command).skills.delete(command.name),
    settings: async ({ tab }) => this.#library.readSettings(...this.#home(tab)),
    changeSettings: async ({ tab, patch }) => this.#library.changeSettings(...this.#home(tab), patch),
    audit: async (command) => this.#library.readAudit(...this.#home(command.tab), firstOf(command)),
    sessions: async ({ tab }) => this.#library.listSessions(...this.#home(tab)),
    title: async ({ tab, session, title }) => this.#library.titleSession(...this.#home(tab), session, title),
    deleteSession: async ({ tab, session }) => this.#library.deleteSession(...this.#home(tab), session),
    userFacts: async (command) => this.#user(command).facts.list(command.query),
    userRemember: async (command) => remembered(this.#user(command).facts.remember(command.fact)),
    userForget: async ({ tab, id }) => {
      await this.#library.forgetFact(...this.#home(tab), this.#id(id))
    },
    userRecall: async ({ kind: _, tab, query, ...options }) => {
      const { recall = missing() } = this.#user({ tab })
      return recall.find(query, options)
    },
    export: async ({ tab: name, of, parts, format }) => {
      const { memory, scope, user } = this.#tab(name)
      const given = of === 'user' ? user : { sessionId: 'default', ...scope }
      const lines: string[] = []
      const options = { ...(parts && { parts }), ...(format && { format }) }
      for await (const line of this.#library.exportFrom(memory, given, options)) lines.push(line)
      return lines
    },
    import: async ({ tab: name, from, user, session, trust, damage }) => {
      const lines = this.#world.named(from)
      const { memory, user: own } = this.#tab(name)
      const given = { ...own, userId: user, ...(session !== undefined && { sessionId: session }) }
      return this.#library.importInto(
        memory,
        given,
        damaged(Array.isArray(lines) ? lines : [], damage),
        trust === undefined ? {} : { trust },
      )
    },
    erase: async ({ tab }) => this.#library.eraseUser(...this.#home(tab)),
    nextWorkAt: async ({ tab }) => this.#library.nextWorkAt(this.#tab(tab).memory),
    runDueWork: async ({ tab }) => this.#library.runDueWork(this.#tab(tab).memory),
  }

  #enter(name: string, { memory, counter }: Opened, opened: OpenJson): void {
    const { tenant, user: userId, session: sessionId, project } = opened
    const user = { ...(tenant !== undefined && { tenant }), userId }
    const scope = { ...user, ...(sessionId !== undefined && { sessionId }) }
    const session = memory.session(scope, project === undefined ? {} : { project })
    session.compaction?.subscribe((event) =>
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
      memory: this.#library.createKernel({ ...options, counter, store: this.#world.store(store) }),
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

  /** The memory of a tab, and its user. */
  #home(name: string): readonly [memory: MemoryLike, user: Tab['user']] {
    const { memory, user } = this.#tab(name)
    return [memory, user]
  }

  #id(ref: Ref): string {
    return typeof ref === 'string' ? ref : String(this.#world.named(ref.ref))
  }
}

/** Histories ask for recall where it may not be in use: that is refused, and they go on. */
async function contextOf(session: SessionLike, { recall, ...options }: ContextJson): Promise<ContextLike> {
  if (recall === undefined) return session.context(options)
  if (session.recall) return session.context({ ...options, recall })
  const refused = await session.context({ ...options, recall }).catch((error: unknown) => error)
  if (field(refused, 'code') !== 'ERR_INVALID_ARGUMENT') throw new Error('recall was not refused')
  return session.context(options)
}

/** As the library says it of features that are not in use. */
function missing(): never {
  throw Object.assign(new Error('recall is not in use'), {
    name: 'PlimsollError',
    code: 'ERR_INVALID_ARGUMENT',
  })
}

function leave(tab: Tab): void {
  tab.unsubscribe?.()
  delete tab.unsubscribe
}
