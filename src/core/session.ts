import type { CompactEvent, Context } from '../ports/context.ts'
import { PlimsollError } from '../ports/errors.ts'
import type { Host } from '../ports/host.ts'
import type { Json, MediaPart, Message, MessageInput } from '../ports/message.ts'
import type { OpResult, RewindMark } from '../ports/op.ts'
import type { Attachment, Decide, ScopeStore } from '../ports/store.ts'
import { type AttachmentInput, attach, readAttachment } from './attachments.ts'
import type { ContextOptions } from './call.ts'
import { type BuilderParts, type ContextAt, ContextBuilder } from './context.ts'
import { countMessage } from './count.ts'
import { decide } from './decide.ts'
import { messagesOf } from './fold.ts'
import { hashText } from './hash.ts'
import { checkTools } from './head.ts'
import {
  type HistoryOptions,
  notFound,
  readFromMessage,
  readHistory,
  readRewinds,
  readRoundsOfCalls,
} from './history.ts'
import { canonical, checkId, checkText, invalid, isPlainObject } from './json.ts'
import { checkMessage, MAX_ENTRY_BYTES } from './message.ts'
import type { Limits, Policy } from './policy.ts'
import { type AppendOp, answersFromOutside, partByRound } from './rounds.ts'
import { markIn, messageIn, sealOp } from './seal.ts'
import { readSource, type SourceOptions, type SourcePage } from './source.ts'
import { utf8Length } from './text.ts'

export interface AppendOptions {
  /**
   * Names the op; repeating an op is a no-op that gives the first result. Default: made from the messages' ids where all of
   * them were given, else fresh.
   */
  readonly opId?: string
  /**
   * Id of the round to join, for what does not open one; a result whose call waits joins its call's. Default: the newest
   * that this session has seen.
   */
  readonly round?: string
}

export interface AppendResult {
  /** The messages as they are stored, in order. */
  readonly messages: readonly Message[]
  /** Whether they had been stored before. */
  readonly repeated: boolean
  /** Whether what had been stored before has other content: the first wins. */
  readonly mismatch: boolean
}

/** Lanes of other limits that a session keeps in memory. */
const MOST_LANES = 4

/** What an app shows of a session. The same object until something changes. */
export interface Snapshot {
  /** Whether the log was read yet. */
  readonly loaded: boolean
  /** The messages of the current window, whole and uncut. */
  readonly messages: readonly Message[]
  /** Highest seq that is in it. */
  readonly seq: number
}

/** What a session needs from the memory that it belongs to. */
export interface SessionParts extends Omit<BuilderParts, 'onCompact'> {
  /** The memory's policy with other limits. @throws ERR_INVALID_ARGUMENT */
  readonly limited: (limits: Limits) => Policy
  /** Lists the session with its user, unless it is listed. */
  readonly register: () => Promise<void>
}

/** One conversation. Its calls run one after the other, in the order in which they were made. */
export class Session {
  readonly sessionId: string
  readonly #store: ScopeStore
  readonly #policy: Policy
  readonly #host: Host
  readonly #register: () => Promise<void>
  readonly #builder: ContextBuilder
  readonly #limited: (limits: Limits) => ContextBuilder
  /** Builders for other limits than the memory's, by their lane; the one used last is last. */
  readonly #lanes = new Map<string, ContextBuilder>()
  readonly #listeners = new Set<() => void>()
  readonly #compactListeners = new Set<(event: CompactEvent) => void>()
  #unwatch: (() => void) | undefined
  #queue: Promise<unknown> = Promise.resolve()
  /** Highest seq that was seen here; undefined before the first append. */
  #seq: number | undefined
  /** The newest round that was seen here. */
  #round: string | undefined
  #snapshot: Snapshot = { loaded: false, messages: [], seq: 0 }

  constructor({ register, limited, ...given }: SessionParts) {
    const parts = { ...given, onCompact: (event: CompactEvent) => tell(this.#compactListeners, event) }
    const { store, scope, policy, host } = parts
    this.sessionId = scope.sessionId ?? ''
    this.#store = store
    this.#policy = policy
    this.#host = host
    this.#register = register
    this.#builder = new ContextBuilder(parts)
    this.#limited = (limits) => this.#builderOf({ ...parts, policy: limited(limits) })
  }

  /**
   * Writes one or more messages, all or none. A user message opens a round; anything else joins `round`, a tool result the
   * round of its call. Durable when it resolves. A rejection with a storage error does not mean "not written": append again
   * with the same `opId` or the same message ids.
   *
   * @throws ERR_INVALID_ARGUMENT, ERR_ENTRY_TOO_LARGE, ERR_DUPLICATE_ID, ERR_NOT_FOUND (no such round); nothing is written
   */
  append(input: MessageInput | readonly MessageInput[], options: AppendOptions = {}): Promise<AppendResult> {
    return this.#enqueue(() => this.#append('append', input, options))
  }

  /**
   * Writes a plain exchange, and returns the messages of the window that is now shown.
   *
   * @throws as {@link append} and {@link context}; after ERR_BUDGET_TOO_SMALL the exchange is written
   */
  addExchange(userText: string, assistantText: string): Promise<readonly Message[]> {
    return this.#enqueue(async () => {
      const exchange: MessageInput[] = [
        { role: 'user', content: userText },
        { role: 'assistant', content: assistantText },
      ]
      await this.#append('addExchange', exchange, {})
      const { window } = await this.#builder.build({})
      return messagesOf(window.units)
    })
  }

  /**
   * What the next model call is given. Reads the window; writes only when an epoch begins, one mark. Two calls with nothing
   * between them give the same bytes.
   *
   * @throws ERR_BUDGET_TOO_SMALL (`breakdown`), ERR_TOOL_PENDING (`pending`), ERR_INVALID_ARGUMENT
   */
  context(options: ContextOptions = {}): Promise<Context> {
    return this.#enqueue(async () => {
      checkContextOptions(options)
      const builder = options.limits ? this.#limited(options.limits) : this.#builder
      const { context } = await builder.build(options)
      if (builder === this.#builder) this.#see()
      return context
    })
  }

  /**
   * Rebuilds the context of the call that was made when message `id` was the newest one (before any rewind that followed),
   * without its tail, and checks it against the hash that its epoch recorded.
   *
   * @throws ERR_NOT_FOUND: no such message, or no context was built in this lane up to it
   */
  contextAt(id: string): Promise<ContextAt> {
    return this.#enqueue(async () => this.#builder.buildAt(checkId('contextAt', 'id', id)))
  }

  /** Messages as they show, newest last: the last `rounds` or `messages`, or those `before` one. */
  history(options: HistoryOptions = {}): Promise<readonly Message[]> {
    return this.#enqueue(() => readHistory(this.#store, options))
  }

  /**
   * Reads originals back, whole and uncut, by the numbers that markers and summaries name: `#3` is the third message of the log, `#3.2`
   * the second result in it, `#1-#5` five messages (at most 64). A page is as long as a tool's output may be to be shown whole, unless `length` says otherwise.
   *
   * @throws ERR_INVALID_ARGUMENT, ERR_NOT_FOUND (no such message, or it was rewound or forgotten)
   */
  readSource(reference: string, options: SourceOptions = {}): Promise<SourcePage> {
    return this.#enqueue(() => readSource(this.#store, this.#policy, reference, options))
  }

  /**
   * Keeps bytes outside of the log, and returns the part by which a message names them: attach first, then append. Durable when
   * it resolves. What no message has named within a day is removed: {@link Memory.runDueWork}.
   *
   * @throws ERR_INVALID_ARGUMENT, ERR_ENTRY_TOO_LARGE (above 8 MiB), ERR_DUPLICATE_ID (other bytes under that id),
   *   ERR_NOT_FOUND (the id was deleted); nothing is written
   * @example
   * ```ts
   * const picture = await session.attach({ mediaType: file.type, bytes: await file.arrayBuffer() })
   * await session.append({ role: 'user', content: [{ type: 'text', text: 'What is this?' }, picture] })
   * ```
   */
  attach(attachment: AttachmentInput): Promise<MediaPart> {
    return attach(this.#store, attachment, this.#host)
  }

  /** The bytes that a media part names by its `ref`. @throws ERR_NOT_FOUND */
  attachment(ref: string): Promise<Attachment> {
    return readAttachment(this.#store, ref)
  }

  /**
   * Hides a message and everything that shows after it, to edit or regenerate from there. The log keeps all of it.
   *
   * @returns the id of the rewind, for {@link undo}
   * @throws ERR_NOT_FOUND
   */
  rewind(id: string): Promise<string> {
    return this.#enqueue(async () => {
      checkId('rewind', 'id', id)
      await this.#builder.view.refresh()
      const hides = await readFromMessage(this.#store, this.#builder.view, id)
      return this.#mark({ type: 'rewind', id: this.#host.newId(), hides })
    })
  }

  /**
   * Shows again what a rewind hid. Default: the newest rewind that still holds.
   *
   * @returns the id of the rewind that was taken back
   * @throws ERR_NOT_FOUND
   */
  undo(rewind?: string): Promise<string> {
    return this.#enqueue(async () => {
      const marks = (await readRewinds(this.#store)).flatMap(
        (row) => (markIn(row) as RewindMark | undefined) ?? [],
      )
      const undone = new Set(marks.flatMap((mark) => ('undo' in mark ? mark.undo : [])))
      const held = marks.filter((mark) => 'hides' in mark && !undone.has(mark.id))
      const target =
        rewind === undefined
          ? held.at(-1)
          : held.find((mark) => mark.id === checkId('undo', 'rewind', rewind))
      if (!target) throw notFound('undo', rewind ?? 'a rewind')
      await this.#mark({ type: 'rewind', id: this.#host.newId(), undo: target.id })
      return target.id
    })
  }

  /**
   * Calls the listener after each change of the snapshot, other tabs' writes included where the store can tell of them.
   * What it throws is ignored.
   */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    const look = (): void => void this.#enqueue(() => this.#look()).catch(ignore)
    this.#unwatch ??= this.#store.watch?.(look) ?? (() => {})
    // Nobody looked while nobody listened.
    if (this.#listeners.size === 1) look()
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size > 0) return
      this.#unwatch?.()
      this.#unwatch = undefined
    }
  }

  /**
   * Calls the listener when a context of this session begins to show a summary, or has to do without one that it needed. What it
   * throws is ignored.
   *
   * @returns what ends it
   */
  onCompact(listener: (event: CompactEvent) => void): () => void {
    this.#compactListeners.add(listener)
    return () => this.#compactListeners.delete(listener)
  }

  /**
   * Resolves when no summary is being written ahead of need. A process that ends before loses nothing but the work: the next
   * context writes the summary that it needs.
   */
  async compacted(): Promise<void> {
    await this.#queue
    await this.#builder.compacted()
  }

  /** What shows now; for `useSyncExternalStore`. Empty until the first read. */
  getSnapshot(): Snapshot {
    return this.#snapshot
  }

  /** Lets go of the store. What was appended is durable already. */
  async close(): Promise<void> {
    await this.#queue
    this.#unwatch?.()
    this.#unwatch = undefined
    this.#listeners.clear()
    await this.#store.close()
  }

  #enqueue<Value>(run: () => Promise<Value>): Promise<Value> {
    const result = this.#queue.then(run)
    this.#queue = result.catch(ignore)
    return result
  }

  /** The builder of a policy, made anew unless its lane was used not long ago. */
  #builderOf(parts: BuilderParts): ContextBuilder {
    const { lane } = parts.policy
    if (lane === this.#policy.lane) return this.#builder
    const builder = this.#lanes.get(lane) ?? new ContextBuilder(parts)
    this.#lanes.delete(lane)
    this.#lanes.set(lane, builder)
    const [oldest = lane] = this.#lanes.keys()
    if (this.#lanes.size > MOST_LANES) this.#lanes.delete(oldest)
    return builder
  }

  async #append(
    operation: string,
    input: MessageInput | readonly MessageInput[],
    options: AppendOptions,
  ): Promise<AppendResult> {
    const inputs = Array.isArray(input) ? (input as readonly MessageInput[]) : [input as MessageInput]
    if (inputs.length === 0) throw invalid(operation, 'messages', 'must hold a message')
    const name = (index: number): string => (Array.isArray(input) ? `messages[${index}]` : 'message')
    const messages = inputs.map((one, index) => checkMessage(operation, name(index), one, this.#host))
    const ids = messages.map(({ id }) => id)
    const seen = new Set<string>()
    for (const id of ids) {
      if (seen.has(id)) throw duplicate(operation, id)
      seen.add(id)
    }
    const opId = this.#opId(operation, inputs, ids, options)
    if (options.round !== undefined) checkId(operation, 'round', options.round)
    if (this.#seq === undefined) await this.#register()
    let { ops, results } = await this.#write(opId, messages, options)
    if (options.round === undefined && results.some(isUnknownRound)) {
      // The round that was seen here is gone: the session was deleted elsewhere, and begins anew.
      this.#round = undefined
      ;({ ops, results } = await this.#write(opId, messages, options))
    }
    results.forEach((result, index) => {
      refuse(operation, result, ops[index])
    })
    const repeated = results.some((result) => result.repeated)
    const written = results.map((result) => (result.status === 'accepted' ? result.seq : 0))
    // Where others wrote in between, one of them may have deleted the session.
    if (this.#seq !== undefined && (written[0] ?? 0) > this.#seq + 1) await this.#register()
    this.#round = repeated ? undefined : ops.at(-1)?.round
    this.#seq = Math.max(this.#seq ?? 0, ...written)
    if (this.#listeners.size > 0) await this.#look().catch(ignore)
    return repeated ? this.#first(written, messages) : { messages, repeated, mismatch: false }
  }

  async #write(
    opId: string,
    messages: readonly Message[],
    options: AppendOptions,
  ): Promise<{ ops: readonly AppendOp[]; results: readonly OpResult[] }> {
    const { view } = this.#builder
    const answers = answersFromOutside(messages)
    if (answers.size > 0) await view.refresh()
    const waiting = await readRoundsOfCalls(this.#store, view, answers)
    const current = options.round ?? (messages[0]?.role === 'user' ? undefined : await this.#newestRound())
    const ops = partByRound(opId, messages, { current, waiting })
    const sealed = ops.map((op) => sealOp(op, (message) => this.#derived(message)))
    return { ops, results: await this.#store.commit(sealed, allOrNone) }
  }

  #opId(
    operation: string,
    inputs: readonly MessageInput[],
    ids: readonly string[],
    { opId }: AppendOptions,
  ): string {
    if (opId !== undefined) return checkId(operation, 'opId', opId)
    return inputs.every(({ id }) => id !== undefined)
      ? `append/${hashText(JSON.stringify(ids))}`
      : this.#host.newId()
  }

  async #newestRound(): Promise<string | undefined> {
    if (this.#round !== undefined) return this.#round
    await this.#builder.view.refresh()
    this.#see()
    return this.#round
  }

  /** Token counts that travel with a message, so that a later reader with the same counter need not count again. */
  #derived(message: Message): string {
    const { counter } = this.#policy
    return JSON.stringify({ [counter.id]: countMessage(counter, message) })
  }

  /** What an op that had been written before wrote. */
  async #first(written: readonly number[], messages: readonly Message[]): Promise<AppendResult> {
    const first: Message[] = []
    for (const seq of written) {
      const { rows } = await this.#store.changesSince(seq - 1)
      first.push(...rows.flatMap((row) => (row.seq === seq ? (messageIn(row) ?? []) : [])))
    }
    const same = (message: Message, index: number): boolean => {
      const { role, content } = first[index] ?? {}
      return role === message.role && canonical(content as Json) === canonical(message.content as Json)
    }
    return {
      messages: first,
      repeated: true,
      mismatch: first.length !== messages.length || !messages.every(same),
    }
  }

  async #mark(entry: RewindMark): Promise<string> {
    const op = sealOp({ kind: 'mark', opId: entry.id, base: null, entry })
    const size = utf8Length(op.bodies[0] ?? '')
    if (size > MAX_ENTRY_BYTES)
      throw new PlimsollError(
        'ERR_ENTRY_TOO_LARGE',
        `rewind: ${size} bytes of ids, more than ${MAX_ENTRY_BYTES}`,
        {
          size,
          limit: MAX_ENTRY_BYTES,
        },
      )
    const [result] = await this.#store.commit([op], decide)
    if (result?.status !== 'accepted' || result.repeated) throw duplicate('rewind', entry.id)
    await this.#look().catch(ignore)
    return entry.id
  }

  /** Reads what is new, and tells the listeners. */
  async #look(): Promise<void> {
    await this.#builder.view.refresh()
    this.#see()
  }

  /** Takes over what the view holds. */
  #see(): void {
    const { view } = this.#builder
    const { units } = view.conversation
    this.#round = units.at(-1)?.round
    if (this.#seq !== undefined) this.#seq = Math.max(this.#seq, view.head.seq)
    if (this.#snapshot.loaded && view.head.seq === this.#snapshot.seq) return
    if (this.#listeners.size === 0) return
    this.#snapshot = { loaded: true, messages: messagesOf(units), seq: view.head.seq }
    tell(this.#listeners)
  }
}

function ignore(): void {}

/** Calls all listeners. An observer stops nothing: what it watches has happened. */
function tell<Events extends unknown[]>(
  listeners: ReadonlySet<(...events: Events) => void>,
  ...events: Events
): void {
  for (const listener of [...listeners]) {
    try {
      listener(...events)
    } catch {}
  }
}

function isUnknownRound(result: OpResult): boolean {
  return result.status === 'rejected' && result.reason === 'unknown-round'
}

/** As `decide`, but if any of the ops is refused, none is written. */
const allOrNone: Decide = (ops, rows) => {
  const decision = decide(ops, rows)
  if (decision.results.every(({ status }) => status === 'accepted')) return decision
  return {
    results: decision.results,
    erase: false,
    log: [],
    registers: [],
    emptied: [],
    marks: [],
    refused: [],
    used: [],
  }
}

function refuse(operation: string, result: OpResult, op: AppendOp | undefined): void {
  if (result.status !== 'rejected') return
  if (result.reason === 'unknown-round')
    throw new PlimsollError('ERR_NOT_FOUND', `${operation}: no message opened round ${op?.round}`, {
      ...(op && { id: op.round }),
    })
  throw duplicate(operation, op?.messages.map(({ id }) => id).join(', ') ?? '')
}

function duplicate(operation: string, id: string): PlimsollError {
  return new PlimsollError('ERR_DUPLICATE_ID', `${operation}: id ${id} names another message already`, { id })
}

/** What labels a section of the tail. */
const SECTION_NAME = /^[\w-]{1,64}$/

function checkContextOptions({ tools, tail = '' }: ContextOptions): void {
  checkTools('context', tools)
  if (!Array.isArray(tail)) {
    checkText('context', 'tail', tail)
    return
  }
  tail.forEach((section: unknown, index) => {
    const argument = `tail[${index}]`
    if (!isPlainObject(section)) throw invalid('context', argument, 'must be an object')
    const { name, text } = section
    if (typeof name !== 'string' || !SECTION_NAME.test(name))
      throw invalid('context', `${argument}.name`, 'must be 1 to 64 letters, digits, dashes or underscores')
    checkText('context', `${argument}.text`, text)
  })
}
