import { type AddedDrafts, addedDrafts } from '../../../src/chat/homes/added.ts'
import { type Drafts, storedDrafts } from '../../../src/chat/homes/drafts.ts'
import { memoryStorage } from '../../../src/chat/homes/platform.ts'
import { PlimsollChat } from '../../../src/chat/index.ts'
import type { ModelChoice } from '../../../src/chat/models/picker.ts'
import type { Chat } from '../../../src/chat/open-chat.ts'
import type {
  ConversationState,
  HomeCertificate,
  HomeKind,
  Inspected,
  MemoryFact,
  RunningReply,
  SessionEntry,
  ShownMessage,
} from '../../../src/chat/ports.ts'
import type { ChatEvent, ChatSettings } from '../../../src/chat/settings.ts'
import type { Certificate } from '../../../src/ports/certificate.ts'
import { type ErrorCode, PlimsollError } from '../../../src/ports/errors.ts'
import type { Part } from '../../../src/ports/message.ts'

const AT = Date.UTC(2026, 10, 20, 9, 30)
const PAGE = 50

/** A chat that does what a test says, and notes what it was asked for. */
export class FakeChat {
  readonly calls: (readonly [name: string, ...values: readonly unknown[]])[] = []
  /** What `send` and `edit` resolve. */
  keeps = true
  /** Whether what is opened has an id that no conversation has. */
  isMissing = false
  /** When an edge erases what it has of a guest. */
  guestEnd: number | undefined
  /** What the conversation is for an inspector. */
  inspected: () => Promise<Inspected | undefined> = async () => undefined
  /** What is kept of files, by their ids. */
  attachment: Chat['conversation']['attachment'] = async () => undefined
  /** Whether the service does what it did not hear of. Undefined: it has heard of all. */
  arrival: Promise<boolean> | undefined
  /** The code with which the memory fails. */
  fails: ErrorCode | undefined
  /** The code with which changes of the memory fail. */
  refuses: ErrorCode | undefined
  /** What a reading of the facts waits for. */
  reading: Promise<void> | undefined
  log: ShownMessage[] = []
  /** What shows once nothing is left of what does. */
  otherVersion: readonly ShownMessage[] = []
  facts: MemoryFact[] = []
  /** Sessions that an import does not take in. */
  refused = 0
  /** Whether an edited fact is another one, behind the others. */
  supersedes = false
  /** Who has no more, and may have still, what is removed. */
  holders: Partial<HomeCertificate> = {}
  /** Where facts were said. */
  origin: { readonly sessionId: string; readonly messageId: string; readonly home: HomeKind } | undefined
  models: ModelChoice = {
    chosen: 'demo',
    options: [
      { kind: 'browser', state: 'downloadable' },
      { kind: 'demo', state: 'available' },
    ],
  }
  profile = [{ name: 'preferences', text: 'Answers in short sentences.' }]
  skills = [{ name: 'timetables', description: 'Reads timetables', text: 'First the station, then the day.' }]
  sessions: SessionEntry[] = []
  /** Id of the message that a search finds. */
  found: string | undefined
  homes: HomeKind[] = ['local']
  destinations: HomeKind[] = ['local']
  /** Where drafts are kept. */
  storage = memoryStorage()
  /** What a message waits for before it is kept. */
  sending: Promise<void> | undefined
  readonly settings: ChatSettings
  #drafts: Drafts | undefined
  #addedDrafts: AddedDrafts | undefined
  #state: ConversationState
  #sessionState: { readonly loaded: boolean; readonly sessions: readonly SessionEntry[] }
  readonly #listeners = new Set<() => void>()
  readonly #eventListeners = new Set<(event: ChatEvent) => void>()

  constructor(settings: ChatSettings = {}) {
    this.settings = settings
    this.#sessionState = { loaded: true, sessions: [] }
    this.#state = {
      session: undefined,
      loaded: false,
      isMissing: false,
      messages: [],
      hasOlder: false,
      reply: undefined,
      problem: undefined,
      online: true,
      storage: 'ok',
      takesUploads: true,
      receipt: undefined,
      model: { id: 'scripted', isDemo: true },
    }
  }

  get state(): ConversationState {
    return this.#state
  }

  become(change: Partial<ConversationState>): void {
    this.#state = { ...this.#state, ...change }
    for (const listener of this.#listeners) listener()
  }

  tell(event: ChatEvent): void {
    for (const listener of this.#eventListeners) listener(event)
  }

  /** Adds messages at the end. */
  add(...messages: readonly ShownMessage[]): void {
    this.log.push(...messages)
    this.become({ messages: [...this.#state.messages, ...messages] })
  }

  stream(reply: Partial<RunningReply>): void {
    this.become({ reply: { status: 'streaming', text: '', reasoning: '', calls: [], ...reply } })
  }

  setSessions(sessions: readonly SessionEntry[]): void {
    this.sessions = [...sessions]
    this.#sessionState = { loaded: true, sessions }
    for (const listener of this.#listeners) listener()
  }

  get drafts(): Drafts {
    this.#drafts ??= storedDrafts(this.storage, 'drafts')
    return this.#drafts
  }

  get #places(): Drafts {
    return storedDrafts(this.storage, 'added')
  }

  get #added(): AddedDrafts {
    this.#addedDrafts ??= addedDrafts(
      { indexedDB, newId: () => crypto.randomUUID() },
      'fake',
      this.#places,
    )(this.#places.own())
    return this.#addedDrafts
  }

  get chat(): Chat {
    const note = (name: string, ...values: readonly unknown[]): void => {
      this.calls.push([name, ...values])
    }
    const subscribe = (listener: () => void): (() => void) => {
      this.#listeners.add(listener)
      return () => this.#listeners.delete(listener)
    }
    const shown = (sessionId: string, home: HomeKind): void =>
      this.become({
        session: this.sessions.find((session) => session.sessionId === sessionId) ?? {
          sessionId,
          title: '',
          home,
          createdAt: AT,
        },
        loaded: true,
        isMissing: this.isMissing,
        messages: this.log.slice(-PAGE),
        hasOlder: this.log.length > PAGE,
      })
    return {
      conversation: {
        subscribe,
        getSnapshot: () => this.#state,
        // Called when the page is idle, which may be between any two other calls.
        prepare: () => {},
        open: async (sessionId, { home = 'local' } = {}) => {
          note('open', sessionId)
          shown(sessionId, home)
        },
        create: async ({ home = 'local' } = {}) => {
          note('create')
          this.log = []
          shown('fresh', home)
          return 'fresh'
        },
        send: async (text, options) => {
          note('send', text, ...(options?.uploads ?? []).map(({ name }) => name))
          await this.sending
          if (this.keeps) this.add(said('user', text))
          return this.keeps
        },
        stop: async () => {
          note('stop')
          this.become({ reply: undefined })
        },
        edit: async (messageId, text) => {
          note('edit', messageId, text)
          return this.keeps
        },
        regenerate: async (messageId) => note('regenerate', messageId),
        switchVersion: async (messageId, index) => note('switchVersion', messageId, index),
        retry: async (messageId) => note('retry', messageId),
        drop: async (messageId) => note('drop', messageId),
        forget: async (factId) => note('forget', factId),
        forgetMessage: async (messageId) => {
          note('forgetMessage', messageId)
          await this.#change(() => {
            this.log = this.log.filter(({ message }) => message.id !== messageId)
            const left = this.#state.messages.filter(({ message }) => message.id !== messageId)
            this.become({ messages: left.length > 0 ? left : this.otherVersion })
          })
          const told = this.#told(certificate('forget'))
          return { ...told, removed: { ...told.removed, messages: { count: 1, first: [messageId] } } }
        },
        showOlder: async () => {
          note('showOlder')
          await Promise.resolve()
          const count = this.#state.messages.length + PAGE
          this.become({ messages: this.log.slice(-count), hasOlder: this.log.length > count })
        },
        releaseOlder: (messages) => {
          note('releaseOlder', messages)
          this.become({ messages: this.#state.messages.slice(-messages), hasOlder: true })
        },
        inspected: () => this.inspected(),
        attachment: (ref) => this.attachment(ref),
        close: async () => {},
      },
      sessions: {
        subscribe,
        getSnapshot: () => this.#sessionState,
        search: async (query) =>
          this.sessions
            .filter(({ title }) => title.toLowerCase().includes(query.toLowerCase()))
            .map((session) => ({
              ...session,
              excerpt: `… ${query} …`,
              ...(this.found !== undefined && { messageId: this.found }),
            })),
        rename: async (sessionId, title) => {
          note('rename', sessionId, title)
          if (this.refuses) throw new PlimsollError(this.refuses, 'Rename the session: it failed')
          this.setSessions(
            this.sessions.map((session) =>
              session.sessionId === sessionId ? { ...session, title } : session,
            ),
          )
        },
        delete: async (sessionId) => {
          note('delete', sessionId)
          this.setSessions(this.sessions.filter((session) => session.sessionId !== sessionId))
          return this.#told(certificate('erase'))
        },
      },
      drafts: this.drafts,
      guestEnd: () => this.guestEnd,
      hasAdded: (name) => this.#places.read(name) !== '',
      added: async () => this.#added,
      models: {
        subscribe,
        getSnapshot: () => this.models,
        choose: async (...values: readonly unknown[]) => note('choose', ...values),
      },
      memory: async () => ({
        homes: this.homes,
        destinations: this.destinations,
        facts: async ({ query = '' } = {}) => {
          const { facts } = this
          await this.reading
          if (this.fails) throw new PlimsollError(this.fails, 'Read the facts: it failed')
          return facts.filter(({ text }) => text.toLowerCase().includes(query.toLowerCase()))
        },
        edit: async (factId, { text }) => {
          note('editFact', factId, text)
          await this.#change(() => {
            if (!this.supersedes) return this.#changeFact(factId, { text })
            const changed = this.facts.filter(({ id }) => id === factId)
            const others = this.facts.filter(({ id }) => id !== factId)
            this.facts = [...others, ...changed.map((each) => ({ ...each, id: `${each.id}-2`, text }))]
          })
        },
        pin: async (factId, pinned) => {
          note('pin', factId, pinned)
          this.#changeFact(factId, { pinned })
        },
        promote: async (factId) => {
          note('promote', factId)
          await this.#change(() => this.#changeFact(factId, { trust: 'user' }))
        },
        forget: async (factId) => {
          note('forgetFact', factId)
          this.facts = this.facts.filter(({ id }) => id !== factId)
          return this.#told(certificate('forget'))
        },
        origin: async (factId) => {
          note('origin', factId)
          return this.origin
        },
        profile: async () => this.profile,
        setProfile: async (name, text) => {
          note('setProfile', name, text)
          this.profile = this.profile.map((each) => (each.name === name ? { name, text } : each))
        },
        skills: async () => this.skills,
        export: async function* (home) {
          note('export', home)
          yield '{"format":"fake"}\n'
        },
        import: async (chunks, home) => {
          let text = ''
          for await (const chunk of chunks) text += chunk
          note('import', text, home)
          return this.#change(() => ({ messages: 3, facts: 1, refused: this.refused }))
        },
        eraseAll: async () => {
          note('eraseAll')
          this.facts = []
          const told = certificate('erase')
          const [sessions, messages] = [3, 9].map((count) => ({ count, first: [] }))
          return this.#told({ ...told, removed: { ...told.removed, sessions, messages } } as Certificate)
        },
      }),
      identify: async (user) => note('identify', user),
      signOut: async (options) => {
        note('signOut', options)
        return { done: true, lost: [] }
      },
      onEvent: (listener) => {
        this.#eventListeners.add(listener)
        return () => this.#eventListeners.delete(listener)
      },
      close: async () => note('close'),
    }
  }

  /** As a chat does it: whatever came of it, the conversation shows its facts again. */
  async #change<Done>(task: () => Done): Promise<Done> {
    try {
      if (this.refuses) throw new PlimsollError(this.refuses, 'Change the memory: it failed')
      return task()
    } finally {
      this.become({ messages: [...this.#state.messages] })
    }
  }

  #told(certificate: Certificate): HomeCertificate {
    const told = { ...certificate, ...this.holders }
    if (!this.arrival) return told
    return { ...told, confirmed: [], pending: ['store', ...told.pending], arrival: this.arrival }
  }

  #changeFact(factId: string, change: Partial<MemoryFact>): void {
    this.facts = this.facts.map((fact) => (fact.id === factId ? { ...fact, ...change } : fact))
  }
}

/** The element over a {@link FakeChat}. */
export class FakePlimsollChat extends PlimsollChat {
  /** Prepares the chats of the elements that come. */
  static prepare: (chat: FakeChat) => void = () => {}
  fake: FakeChat | undefined

  protected override async openChat(settings: ChatSettings): Promise<Chat> {
    this.fake = new FakeChat(settings)
    FakePlimsollChat.prepare(this.fake)
    return this.fake.chat
  }
}

let count = 0

export function said(
  role: 'user' | 'assistant' | 'tool',
  content: string | readonly Part[],
  more: Partial<ShownMessage> = {},
): ShownMessage {
  count++
  return {
    message: {
      id: `m${count}`,
      role,
      content,
      createdAt: AT + count * 60_000,
      trust: role === 'tool' ? 'tool' : role,
    },
    delivery: 'sent',
    remembered: [],
    ...more,
  }
}

export function fact(text: string, more: Partial<MemoryFact> = {}): MemoryFact {
  count++
  return {
    id: `f${count}`,
    kind: 'finding',
    title: '',
    text,
    pinned: false,
    confidence: 0.9,
    trust: 'user',
    createdAt: AT,
    reviewAt: AT + 30 * 86_400_000,
    shared: false,
    sources: [],
    ...more,
  }
}

export function session(title: string, more: Partial<SessionEntry> = {}): SessionEntry {
  count++
  return { sessionId: `s${count}`, title, home: 'local', createdAt: AT - count * 3_600_000, ...more }
}

function certificate(action: Certificate['action']): Certificate {
  const none = { count: 0, first: [] }
  return {
    action,
    target: 't1',
    at: AT,
    already: false,
    removed: {
      sessions: none,
      messages: none,
      summaries: { count: 2, first: ['s1', 's2'] },
      facts: { count: 1, first: ['f1'] },
      heads: none,
      attachments: none,
    },
    kept: none,
    confirmed: ['store'],
    pending: ['devices', 'recovery'],
  }
}
