import { PlimsollError } from '../../ports/errors.ts'
import type { Host } from '../../ports/host.ts'
import type { Json, Message, MessageInput } from '../../ports/message.ts'
import type { Op, OpResult } from '../../ports/op.ts'
import type { AppendOptions, AppendResult } from '../../ports/session.ts'
import type { ScopeStore } from '../../ports/store.ts'
import type { View } from '../context/view.ts'
import type { Feature, Prepared, WriteDraft, WritePart } from '../feature.ts'
import type { Policy } from '../policy.ts'
import { hashText } from '../text/hash.ts'
import { canonical, checkId, checkOptions, invalid } from '../text/json.ts'
import { messageIn } from './bodies.ts'
import { checkMessage } from './check-message.ts'
import { derivedOf } from './derived.ts'
import { isRepeated, look, once, wasWritten } from './once.ts'
import { TRIES } from './register.ts'
import type { RewindOp } from './rewinds.ts'
import { type AppendOp, answersFromOutside, partByRound, partId } from './rounds.ts'
import { readRoundsOfCalls } from './rounds-of-calls.ts'
import { sealOp } from './seal.ts'

/** What a feature writes with messages. */
export interface NamedWrite {
  readonly name: string
  readonly write: WritePart
}

export interface WriterParts {
  readonly store: ScopeStore
  readonly policy: Policy
  readonly host: Host
  readonly view: View
  readonly writes: readonly NamedWrite[]
  readonly use: readonly Feature[]
  /** Lists the session with its user, unless it is listed. */
  readonly register: () => Promise<void>
}

export type Commit = { readonly messages?: MessageInput | readonly MessageInput[] } & {
  readonly [feature: string]: unknown
}
export type Committed = AppendResult & { readonly [feature: string]: unknown }

/** What a feature was given, checked. */
interface Given extends NamedWrite {
  readonly checked: unknown
}

/** One commit, checked. */
interface Draft {
  readonly operation: string
  readonly opId: string
  readonly messages: readonly Message[]
  readonly round: string | undefined
  readonly given: readonly Given[]
  /** What is written with the messages. */
  readonly marks?: readonly RewindOp[]
}

/** What became of a draft. */
interface Written {
  readonly repeated: boolean
  /** Of the appends, in order. */
  readonly seqs: readonly number[]
  readonly outcomes: { readonly [feature: string]: unknown }
}

/** Writes to one session's log and, in the same commit, what features have for it. One call after the other. */
export class Writer {
  readonly #parts: WriterParts
  /** Highest seq that was seen here; undefined before the first write. */
  #seq: number | undefined
  /** The newest round that was seen here. */
  #round: string | undefined

  constructor(parts: WriterParts) {
    this.#parts = parts
  }

  /** Takes over what the view has read. */
  see(): void {
    const { view } = this.#parts
    this.#round = view.conversation.units.at(-1)?.round
    if (this.#seq !== undefined) this.#seq = Math.max(this.#seq, view.head.seq)
  }

  /** @throws ERR_INVALID_ARGUMENT, ERR_ENTRY_TOO_LARGE, ERR_DUPLICATE_ID, ERR_NOT_FOUND (no such round); nothing is written */
  async append(
    operation: string,
    input: MessageInput | readonly MessageInput[],
    options: AppendOptions,
    hide: (opId: string) => Promise<readonly RewindOp[]> = async () => [],
  ): Promise<AppendResult> {
    checkOptions(operation, 'options', options, ['opId', 'round', 'replaces'])
    if (Array.isArray(input) && input.length === 0)
      throw invalid(operation, 'messages', 'must hold a message')
    const messages = this.#checkMessages(operation, 'message', input)
    const opId = this.#opId(operation, 'append', asList(input), messages, options)
    const round = options.round === undefined ? undefined : checkId(operation, 'round', options.round)
    const marks = await hide(opId)
    const written = await this.#write({ operation, opId, messages, round, given: [], marks })
    await this.#tell(messages, {})
    return this.#stored(written, messages)
  }

  /** @throws as {@link append}, and what features throw; nothing is written */
  async commit(input: Commit, options: AppendOptions & { readonly [name: string]: unknown }): Promise<Committed> {
    const operation = 'commit'
    const { messages: inputs = [], ...values } = input
    const takers = this.#checkOptions(operation, input, options)
    const messages = this.#checkMessages(operation, 'messages', inputs)
    const given = await this.#check(operation, takers, values, options)
    if (messages.length === 0 && given.length === 0)
      throw invalid(operation, 'messages', 'must hold a message, or a feature must have something to write')
    const opId = this.#opId(operation, 'commit', asList(inputs), messages, options)
    const round = options.round === undefined ? undefined : checkId(operation, 'round', options.round)
    const written = await this.#write({ operation, opId, messages, round, given })
    await this.#tell(messages, written.outcomes)
    return { ...written.outcomes, ...(await this.#stored(written, messages)) }
  }

  /** @returns the features that take something in `commit` */
  #checkOptions(operation: string, input: object, options: object): readonly NamedWrite[] {
    const takers = this.#parts.writes.filter(({ write }) => write.check)
    checkOptions(operation, 'options', input, ['messages', ...takers.map(({ name }) => name)])
    const own = takers.flatMap(({ write }) => write.options ?? [])
    checkOptions(operation, 'options', options, ['opId', 'round', ...own])
    return takers
  }

  async #check(
    operation: string,
    takers: readonly NamedWrite[],
    values: { readonly [feature: string]: unknown },
    options: { readonly [name: string]: unknown },
  ): Promise<readonly Given[]> {
    const given: Given[] = []
    for (const { name, write } of takers) {
      if (values[name] === undefined) {
        const option = write.options?.find((one) => options[one] !== undefined)
        if (option !== undefined) throw invalid(operation, option, `belongs to ${name}, which is not given`)
        continue
      }
      const checked = await write.check?.(operation, values[name] as never, options)
      if (checked !== undefined) given.push({ name, write, checked })
    }
    return given
  }

  #checkMessages(
    operation: string,
    single: string,
    input: MessageInput | readonly MessageInput[],
  ): readonly Message[] {
    const name = (index: number): string => (Array.isArray(input) ? `messages[${index}]` : single)
    const messages = asList(input).map((one, index) =>
      checkMessage(operation, name(index), one, this.#parts.host),
    )
    const seen = new Set<string>()
    for (const { id } of messages) {
      if (seen.has(id)) throw duplicate(operation, id)
      seen.add(id)
    }
    return messages
  }

  #opId(
    operation: string,
    kind: 'append' | 'commit',
    inputs: readonly MessageInput[],
    messages: readonly Message[],
    { opId }: AppendOptions,
  ): string {
    if (opId !== undefined) return checkId(operation, 'opId', opId)
    return inputs.length > 0 && inputs.every(({ id }) => id !== undefined)
      ? `${kind}/${hashText(JSON.stringify(messages.map(({ id }) => id)))}`
      : this.#parts.host.newId()
  }

  /** Commits, again while others change what was read for it. */
  async #write(draft: Draft): Promise<Written> {
    const { operation, marks = [] } = draft
    const { store, policy, use, register } = this.#parts
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const appends = await this.#appends(draft)
      const parts = await this.#prepare(draft)
      const ops: Op[] = [...appends, ...parts.flatMap((part) => part.ops), ...marks]
      if (this.#seq === undefined) await register()
      const sealed = ops.map((op) => sealOp(op, (message) => derivedOf(message, policy.counter, use)))
      const results = sealed.length === 0 ? [] : await store.commit(sealed, once)
      const repeated = parts.some(({ isWritten }) => isWritten) || wasWritten(results)
      if (repeated || results.every(({ status }) => status === 'accepted')) {
        const seqs = await this.#take(appends, results, repeated)
        const outcomes = parts.flatMap(({ name, outcome }) => (outcome ? [[name, outcome(repeated)]] : []))
        return { repeated, seqs, outcomes: Object.fromEntries(outcomes) }
      }
      const refused = appends.findIndex((_, index) => results[index]?.status === 'rejected')
      const result = results[refused]
      const isRoundGone = result?.status === 'rejected' && result.reason === 'unknown-round'
      if (isRoundGone && draft.round === undefined) {
        // The round that was seen here is gone: the session was deleted elsewhere, and begins again.
        this.#round = undefined
        this.#seq = undefined
        continue
      }
      if (result) throw refusal(operation, result, appends[refused])
      let from = appends.length
      for (const part of parts) await part.refuse?.(results.slice(from, (from += part.ops.length)))
    }
    throw new PlimsollError(
      'ERR_CONFLICT',
      `${operation}: what it changes was changed by others ${TRIES} times in a row`,
    )
  }

  async #prepare({
    operation,
    opId,
    messages,
    given,
  }: Draft): Promise<readonly (Prepared & { readonly name: string })[]> {
    const names = [opId]
    const draft: WriteDraft = {
      operation,
      opId,
      messages,
      part: (name) => {
        const part = partId(opId, name)
        names.push(part)
        return part
      },
      isWritten: () => this.#isWritten(names),
    }
    const parts: (Prepared & { readonly name: string })[] = []
    for (const { name, write, checked } of given) {
      const prepared = await write.prepare?.(checked as never, draft)
      if (prepared) parts.push({ name, ...prepared })
    }
    return parts
  }

  async #appends({ opId, messages, round }: Draft): Promise<readonly AppendOp[]> {
    if (messages.length === 0) return []
    const { store, view } = this.#parts
    const answers = answersFromOutside(messages)
    if (answers.size > 0) await view.refresh()
    const waiting = await readRoundsOfCalls(store, view, answers)
    const current = round ?? (messages[0]?.role === 'user' ? undefined : await this.#newestRound())
    return partByRound(opId, messages, { current, waiting })
  }

  async #isWritten(names: readonly string[]): Promise<boolean> {
    const probes = names.map((opId) => sealOp({ kind: 'put', opId, key: 'probe', base: null, value: null }))
    return wasWritten(await this.#parts.store.commit(probes, look))
  }

  async #take(
    appends: readonly AppendOp[],
    results: readonly OpResult[],
    repeated: boolean,
  ): Promise<readonly number[]> {
    const seqsOf = (some: readonly OpResult[]): readonly number[] =>
      some.flatMap((result) =>
        result.status === 'accepted' && (!repeated || isRepeated(result)) ? result.seq : [],
      )
    const seqs = seqsOf(results)
    // Where others wrote in between, one of them may have deleted the session.
    if (this.#seq !== undefined && (seqs[0] ?? 0) > this.#seq + 1) await this.#parts.register()
    this.#round = repeated ? undefined : appends.at(-1)?.round
    this.#seq = Math.max(this.#seq ?? 0, ...seqs)
    return seqsOf(results.slice(0, appends.length))
  }

  async #newestRound(): Promise<string | undefined> {
    if (this.#round !== undefined) return this.#round
    await this.#parts.view.refresh()
    this.see()
    return this.#round
  }

  /** Tells features what is durable now. What they throw is ignored: it is written. */
  async #tell(messages: readonly Message[], outcomes: { readonly [feature: string]: unknown }): Promise<void> {
    for (const { name, write } of this.#parts.writes)
      try {
        await write.after?.({ messages, outcome: outcomes[name] as never })
      } catch {}
  }

  /** The messages that were written: of a repeated write, those of the first. */
  async #stored({ repeated, seqs }: Written, messages: readonly Message[]): Promise<AppendResult> {
    if (!repeated) return { messages, repeated, mismatch: false }
    const first: Message[] = []
    for (const seq of seqs) {
      const { rows } = await this.#parts.store.changesSince(seq - 1)
      first.push(...rows.flatMap((row) => (row.seq === seq ? (messageIn(row) ?? []) : [])))
    }
    const same = (message: Message, index: number): boolean => {
      const { role, content } = first[index] ?? {}
      return role === message.role && canonical(content as Json) === canonical(message.content as Json)
    }
    return {
      messages: first,
      repeated,
      mismatch: first.length !== messages.length || !messages.every(same),
    }
  }
}

/** An id that a message has already. */
export function duplicate(operation: string, id: string): PlimsollError {
  return new PlimsollError('ERR_DUPLICATE_ID', `${operation}: id ${id} names another message already`, { id })
}

function refusal(operation: string, result: OpResult, op: AppendOp | undefined): PlimsollError {
  if (result.status === 'rejected' && result.reason === 'unknown-round')
    return new PlimsollError('ERR_NOT_FOUND', `${operation}: no message opened round ${op?.round}`, {
      ...(op && { id: op.round }),
    })
  return duplicate(operation, op?.messages.map(({ id }) => id).join(', ') ?? '')
}

function asList(input: MessageInput | readonly MessageInput[]): readonly MessageInput[] {
  return Array.isArray(input) ? input : [input as MessageInput]
}
