import type { Context } from '../ports/context.ts'
import { PlimsollError } from '../ports/errors.ts'
import type { Host } from '../ports/host.ts'
import type { Message, MessageInput } from '../ports/message.ts'
import type { Op, OpResult, RewindMark } from '../ports/op.ts'
import type { Decide, ScopeStore } from '../ports/store.ts'
import {
  type BuilderParts,
  type Built,
  type ContextAt,
  ContextBuilder,
  type ContextOptions,
} from './context.ts'
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
  readRoundOfCall,
} from './history.ts'
import { canonical, checkId, checkText, invalid, isPlainObject } from './json.ts'
import { checkMessage } from './message.ts'
import type { Policy } from './policy.ts'
import { markIn, messageIn, sealOp } from './seal.ts'

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
export interface SessionParts extends BuilderParts {
  readonly host: Host
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
  readonly #listeners = new Set<() => void>()
  #unwatch: (() => void) | undefined
  #queue: Promise<unknown> = Promise.resolve()
  /** Highest seq that was seen here; undefined before the first append. */
  #seq: number | undefined
  /** The newest round that was seen here. */
  #round: string | undefined
  #snapshot: Snapshot = { loaded: false, messages: [], seq: 0 }

  constructor({ host, register, ...parts }: SessionParts) {
    const { store, scope, policy } = parts
    this.sessionId = scope.sessionId ?? ''
    this.#store = store
    this.#policy = policy
    this.#host = host
    this.#register = register
    this.#builder = new ContextBuilder(parts)
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
      const { context } = await this.#build(options)
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

  /** Calls the listener after each change of the snapshot, other tabs' writes included where the store can tell of them. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    this.#unwatch ??=
      this.#store.watch?.(() => void this.#enqueue(() => this.#look()).catch(() => {})) ?? (() => {})
    if (!this.#snapshot.loaded) this.#enqueue(() => this.#look()).catch(() => {})
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size > 0) return
      this.#unwatch?.()
      this.#unwatch = undefined
    }
  }

  /** What shows now; for `useSyncExternalStore`. Empty until the first read. */
  getSnapshot(): Snapshot {
    return this.#snapshot
  }

  /** Lets go of the store. What was appended is durable already. */
  async close(): Promise<void> {
    await this.#queue.catch(() => {})
    this.#unwatch?.()
    this.#unwatch = undefined
    this.#listeners.clear()
    await this.#store.close()
  }

  #enqueue<Value>(run: () => Promise<Value>): Promise<Value> {
    const result = this.#queue.then(run)
    this.#queue = result.catch(() => {})
    return result
  }

  async #build(options: ContextOptions): Promise<Built> {
    const built = await this.#builder.build(options)
    this.#see()
    return built
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
    const ops = await this.#rounds(operation, opId, messages, options)
    if (this.#seq === undefined) await this.#register()
    const sealed = ops.map((op) => sealOp(op, (message) => this.#derived(message)))
    const results = await this.#store.commit(sealed, allOrNone)
    results.forEach((result, index) => {
      refuse(operation, result, ops[index])
    })
    // Where others wrote in between, one of them may have deleted the session.
    const [first] = results
    if (this.#seq !== undefined && first?.status === 'accepted' && first.seq > this.#seq + 1)
      await this.#register()
    this.#round = ops.at(-1)?.round
    this.#seq = Math.max(
      this.#seq ?? 0,
      ...results.map((result) => (result.status === 'accepted' ? result.seq : 0)),
    )
    if (this.#listeners.size > 0) await this.#look()
    if (!results.some((result) => result.repeated)) return { messages, repeated: false, mismatch: false }
    return this.#first(messages)
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

  /** One op for each stretch of messages of one round. */
  async #rounds(
    operation: string,
    opId: string,
    messages: readonly Message[],
    options: AppendOptions,
  ): Promise<Extract<Op, { kind: 'append' }>[]> {
    const ops: { kind: 'append'; opId: string; round: string; messages: Message[] }[] = []
    const rounds = new Map<string, string>()
    let current = options.round === undefined ? undefined : checkId(operation, 'round', options.round)
    for (const message of messages) {
      let round: string
      if (message.role === 'user') round = message.id
      else if (message.role === 'tool')
        round =
          (await this.#roundOfCall(message, rounds)) ?? current ?? (await this.#newestRound()) ?? message.id
      else round = current ?? (await this.#newestRound()) ?? message.id
      if (message.role !== 'tool') current = round
      for (const part of typeof message.content === 'string' ? [] : message.content)
        if (part.type === 'tool-call') rounds.set(part.id, round)
      const open = ops.at(-1)
      if (open?.round === round) open.messages.push(message)
      else
        ops.push({
          kind: 'append',
          opId: ops.length === 0 ? opId : `${opId}/${ops.length}`,
          round,
          messages: [message],
        })
    }
    return ops
  }

  /** The round of the newest step that waits for a result: among the messages at hand, else in the log. */
  async #roundOfCall({ content }: Message, rounds: ReadonlyMap<string, string>): Promise<string | undefined> {
    const ids = new Set(
      typeof content === 'string'
        ? []
        : content.flatMap((part) => (part.type === 'tool-result' ? part.callId : [])),
    )
    for (const id of ids) {
      const round = rounds.get(id)
      if (round !== undefined) return round
    }
    const { view } = this.#builder
    await view.refresh()
    return readRoundOfCall(this.#store, view, ids)
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
  async #first(messages: readonly Message[]): Promise<AppendResult> {
    const stored = await Promise.all(
      messages.map(async ({ id }) => {
        const [row] = await this.#store.entries({ from: id, first: 1 })
        return row && messageIn(row)
      }),
    )
    const same = (message: Message, index: number): boolean => {
      const first = stored[index]
      return (
        first !== undefined &&
        first.role === message.role &&
        canonical(first.content as never) === canonical(message.content as never)
      )
    }
    return {
      messages: stored.flatMap((message) => message ?? []),
      repeated: true,
      mismatch: !messages.every(same),
    }
  }

  async #mark(entry: RewindMark): Promise<string> {
    await this.#store.commit([sealOp({ kind: 'mark', opId: entry.id, base: null, entry })], decide)
    await this.#look()
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
    for (const listener of [...this.#listeners]) listener()
  }
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
  }
}

function refuse(operation: string, result: OpResult, op: Extract<Op, { kind: 'append' }> | undefined): void {
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
