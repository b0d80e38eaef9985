import type { Message, MessageInput } from '../../src/index.ts'

/** What was acknowledged to a writer. */
export interface Entry {
  readonly id: string
  readonly message: MessageInput
  /** Text that stands in this message and nowhere else. */
  readonly mark: string
  readonly opId: string
  readonly tab: number
  /** For a result that has to show: the message that called. */
  readonly answers?: string
  /** When, by the clock of all. */
  readonly at: number
}

/** A fact that was acknowledged. */
export interface Fact {
  readonly id: string
  readonly mark: string
  /** The message that it was taken from, or the fact. */
  readonly source: string | Fact
  /** Whether it is the user's rather than the session's. */
  readonly isShared: boolean
  readonly isPinned: boolean
  readonly at: number
  isForgotten: boolean
}

/** Bytes that were attached. */
export interface File {
  readonly id: string
  readonly mark: string
  readonly bytes: Uint8Array
  readonly at: number
  /** Ids of the messages that name it. */
  readonly namedBy: string[]
  /** Since no message names it any more, or none ever did. */
  isRemoved: boolean
}

/** A context that was handed out. */
interface HandedOut {
  /** The message that was the newest in the log, if any. */
  readonly newest?: string
  readonly bytes: string
  readonly hash: string
  /** The process that was given it. */
  readonly by: object
  readonly isRecorded: boolean
}

/** What a scope should hold and show, as far as it was acknowledged. */
export class World {
  /** In the order of the log. */
  readonly entries: Entry[] = []
  readonly forgotten = new Set<string>()
  readonly facts: Fact[] = []
  readonly files: File[] = []
  /** What the checkpoint holds, and when it was written; undefined: nothing is kept. */
  checkpoint: { readonly marks: readonly string[]; readonly at: number } | undefined
  /** Names of the skills that are loaded. */
  loaded: readonly string[] = []
  /** What each rewind that holds hides, the newest last. */
  readonly rewinds: (readonly string[])[] = []
  /** Ids of calls that were made, in their order; some more than once. */
  readonly calls: { readonly id: string; readonly by: string }[] = []
  handedOut: HandedOut[] = []
  /** Who wrote each message, where it was acknowledged at once. */
  readonly writers = new Map<string, object>()
  readonly #answered = new Set<string>()
  readonly #requests = new Map<string, readonly string[]>()
  #history: readonly string[] = []
  #undone = false

  get newest(): Entry | undefined {
    return this.entries.at(-1)
  }

  /** What must show nowhere: what was forgotten, and what was taken from it. */
  get gone(): readonly string[] {
    return [
      ...this.entries.filter(({ id }) => this.forgotten.has(id)),
      ...this.facts.filter((fact) => this.isGone(fact)),
      ...this.files.filter((file) => this.isUnnamed(file) && (file.isRemoved || file.namedBy.length > 0)),
    ].map(({ mark }) => mark)
  }

  /** Whether a fact was forgotten, or what it was taken from. */
  isGone({ isForgotten, source }: Fact): boolean {
    return isForgotten || (typeof source === 'string' ? this.forgotten.has(source) : this.isGone(source))
  }

  /** Whether no message names a file that was not forgotten. */
  isUnnamed({ namedBy }: File): boolean {
    return namedBy.every((id) => this.forgotten.has(id))
  }

  isHidden(id: string): boolean {
    return this.forgotten.has(id) || this.rewinds.some((hides) => hides.includes(id))
  }

  wrote(message: MessageInput, about: Omit<Entry, 'id' | 'message' | 'answers'> & { by?: object }): void {
    const { mark, opId, tab, at, by } = about
    const id = message.id as string
    const parts = typeof message.content === 'string' ? [] : message.content
    let answers: string | undefined
    for (const part of parts)
      if (part.type === 'tool-call') this.calls.push({ id: part.id, by: id })
      else if (part.type === 'tool-result') answers = this.#answer(part.callId)
      else if (part.type === 'media') this.files.find((file) => file.id === part.ref)?.namedBy.push(id)
    this.entries.push({ id, message, mark, opId, tab, at, ...(answers !== undefined && { answers }) })
    if (by) this.writers.set(id, by)
  }

  /** The message whose call a result has to join: one that is plain to see. */
  #answer(callId: string): string | undefined {
    const made = this.calls.filter(({ id }) => id === callId)
    const first = !this.#answered.has(callId)
    this.#answered.add(callId)
    const [call] = made
    return first && made.length === 1 && call && !this.isHidden(call.by) ? call.by : undefined
  }

  undone(): void {
    this.rewinds.pop()
    this.#undone = true
  }

  /** A version shows again in the place of others. */
  switched(id: string, hides: readonly string[]): void {
    const standing = this.rewinds.filter((hidden) => !hidden.includes(id))
    this.rewinds.splice(0, this.rewinds.length, ...standing)
    if (hides.length > 0) this.rewinds.push(hides)
    this.#undone = true
  }

  forgot(id: string): void {
    if (this.forgotten.has(id)) return
    this.forgotten.add(id)
    this.#clear()
  }

  /**
   * Nothing that was handed out before a message was forgotten is attested, and no epoch goes on.
   */
  #clear(): void {
    this.handedOut = []
    this.#requests.clear()
  }

  /** Where something else was deleted, that may be. */
  doubt(): void {
    this.handedOut = this.handedOut.map((one) => ({ ...one, isRecorded: false }))
    this.#requests.clear()
  }

  /** Why a history is not what was acknowledged. */
  refusesHistory(history: readonly Message[]): string | undefined {
    const shown = new Set(history.map(({ id }) => id))
    if (shown.size < history.length) return 'the history has a message twice'
    const known = new Map(this.entries.map((entry) => [entry.id, entry]))
    for (const { id, role, content } of history) {
      const entry = known.get(id)
      if (!entry) return `the history has ${id}, which nobody wrote`
      if (this.isHidden(id)) return `the history has ${id}, which is hidden or forgotten`
      const { message } = entry
      if (role !== message.role || JSON.stringify(content) !== JSON.stringify(message.content))
        return `the history has ${id} with another content`
    }
    for (const { id, message, answers } of this.entries) {
      const isCertain = message.role !== 'tool' || (answers !== undefined && !this.#isLoose(answers))
      if (isCertain && !this.isHidden(id) && !shown.has(id)) return `the history lost ${id}`
    }
    return this.#refusesOrder([...shown].filter((id) => known.get(id)?.message.role !== 'tool'))
  }

  /** A result that a request has to hold, since it holds its call, and does not. */
  missing(shown: ReadonlySet<string>): string | undefined {
    return this.entries.find(
      ({ id, answers }) =>
        answers !== undefined &&
        shown.has(answers) &&
        !shown.has(id) &&
        !this.isHidden(id) &&
        !this.#isLoose(answers),
    )?.id
  }

  /** A message that called: gone, or an id of its calls was used again. */
  #isLoose(by: string): boolean {
    const own = this.calls.filter((call) => call.by === by).map(({ id }) => id)
    return this.isHidden(by) || this.calls.some((call) => call.by !== by && own.includes(call.id))
  }

  /**
   * What is said after a result, with nothing read in between, joins the round of the call, older
   * as it may be: where it shows is not judged.
   */
  #refusesOrder(shown: readonly string[]): string | undefined {
    const before = new Set(this.#history)
    const again = shown.filter((id) => before.has(id))
    const now = new Set(shown)
    const was = this.#history.filter((id) => now.has(id))
    this.#history = shown
    if (was.join() !== again.join()) return `the order changed from ${was} to ${again}`
    if (this.#undone) return undefined
    for (const tab of new Set(this.entries.map((entry) => entry.tab))) {
      const isOrdered = (entry: Entry) => entry.tab === tab && now.has(entry.id)
      const written = this.entries.filter(isOrdered)
      const own = new Set(written.map(({ id }) => id))
      const read = shown.filter((id) => own.has(id))
      const order = written.map(({ id }) => id)
      if (order.join() !== read.join()) return `a writer wrote ${order}, and ${read} is shown`
    }
    return undefined
  }

  /** Why a request does not go on where the one before it in the same epoch ended. */
  refusesPrefix(epoch: string, request: readonly string[]): string | undefined {
    const before = this.#requests.get(epoch) ?? []
    this.#requests.set(epoch, request)
    const at = before.findIndex((message, place) => message !== request[place])
    return at < 0 ? undefined : `message ${at} changed within ${epoch}`
  }
}
