import { PlimsollError } from '../../ports/errors.ts'
import type { Json, Message, MessageInput } from '../../ports/message.ts'
import type { HandedOut, Op, OpResult } from '../../ports/op.ts'
import { NOT_IN_USE } from '../../ports/options.ts'
import type { AppendOptions, AppendResult } from '../../ports/session.ts'
import { checkFields, optional } from '../../text/fields.ts'
import { hashText } from '../../text/hash.ts'
import { canonical, checkId, checkOptions, invalid } from '../../text/json.ts'
import type { KernelSession, Prepared, WriteDraft, WritePart } from '../feature.ts'
import { named } from '../slot.ts'
import { messageIn } from './bodies.ts'
import { checkMessage } from './check-message.ts'
import { derivedOf } from './derived.ts'
import { areAccepted, changedByOthers, isRepeated, look, once, TRIES, wasWritten } from './once.ts'
import { checkOpId } from './op-id.ts'
import { type AppendOp, answersFromOutside, partByRound, partId, readRoundsOfCalls } from './rounds.ts'
import { sealOp } from './seal.ts'

export type Commit = { readonly messages?: Input } & Values
export type Committed = AppendResult & Values
type Values = { readonly [feature: string]: unknown }
type Input = MessageInput | readonly MessageInput[]
type Beside = (opId: string) => Promise<readonly Op[]>

type Part = Prepared & { readonly name: string }

/** Messages that are to be written, checked. */
interface Draft {
  readonly operation: string
  readonly opId: string
  readonly messages: readonly Message[]
  readonly round: string | undefined
}

/** What a feature was given in `commit`, checked. */
interface Given {
  readonly name: string
  readonly write: WritePart
  readonly checked: unknown
}

const OPTIONS = { opId: optional(checkId), round: optional(checkId) }

/** Contexts that are remembered until the next entry. */
const MOST_CONTEXTS = 4

/**
 * Writes to one session's log and, in the same commit, what features have for it. One call after
 * the other.
 */
export class Writer {
  readonly #session: KernelSession
  readonly #writes: readonly { readonly name: string; readonly write: WritePart }[]
  /** Newest seq that was seen here; undefined before the first write. */
  #seq: number | undefined
  /** The newest round that was seen here. */
  #round: string | undefined
  /** Contexts that were handed out and that no entry has followed yet. */
  #contexts: readonly HandedOut[] = []

  constructor(session: KernelSession) {
    this.#session = session
    this.#writes = named(session.parts, 'write')
  }

  /** Notes a context, which the next entry records. */
  note(context: HandedOut): void {
    const others = this.#contexts.filter(({ hash }) => hash !== context.hash)
    this.#contexts = [...others, context].slice(-MOST_CONTEXTS)
  }

  /** Takes over what the view has read. */
  see(): void {
    const { view } = this.#session.lane
    this.#round = view.conversation.units.at(-1)?.round
    // Where nothing is said any more the session was deleted, and is not listed.
    if (view.head.ordinal === 0) this.#seq = undefined
    if (this.#seq !== undefined) this.#seq = view.head.seq
  }

  /**
   * @throws ERR_INVALID_ARGUMENT, ERR_ENTRY_TOO_LARGE, ERR_DUPLICATE_ID, ERR_NOT_FOUND (no such
   * round); nothing is written
   */
  async append(
    operation: string,
    input: Input,
    options: AppendOptions,
    beside?: Beside,
  ): Promise<AppendResult> {
    checkOptions(operation, 'options', options, Object.keys(OPTIONS))
    if (Array.isArray(input) && input.length === 0)
      throw invalid(operation, 'messages', 'must hold a message')
    return this.#write(this.#draft(operation, 'message', input, options, !beside), [], beside)
  }

  /** @throws as {@link append}, and what features throw; nothing is written */
  async commit(input: Commit, options: AppendOptions & Values): Promise<Committed> {
    const takers = this.#writes.filter(({ write }) => write.check)
    checkOptions('commit', 'options', input, ['messages', ...takers.map(({ name }) => name)], NOT_IN_USE)
    const own = takers.flatMap(({ write }) => write.options ?? [])
    checkOptions('commit', 'options', options, [...Object.keys(OPTIONS), ...own], NOT_IN_USE)
    const given: Given[] = []
    for (const { name, write } of takers) {
      const value = input[name]
      const option = write.options?.find((one) => options[one] !== undefined)
      if (value === undefined && option !== undefined)
        throw invalid('commit', option, `belongs to ${name}, which is not given`)
      const checked = value === undefined ? value : await write.check?.('commit', value as never, options)
      if (checked !== undefined) given.push({ name, write, checked })
    }
    const draft = this.#draft('commit', 'messages', input.messages ?? [], options, false)
    if (draft.messages.length === 0 && given.length === 0)
      throw invalid('commit', 'messages', 'must hold a message, or a feature must have something to write')
    return this.#write(draft, given)
  }

  /**
   * @param single what one message is called that is not in a list
   * @param isAlone whether nothing is written beside the messages: one of them is the whole op then
   */
  #draft(operation: string, single: string, input: Input, options: AppendOptions, isAlone: boolean): Draft {
    const { host } = this.#session.memory
    const isList = Array.isArray(input)
    const inputs = [input].flat() as readonly MessageInput[]
    const messages = inputs.map((one, index) =>
      checkMessage(operation, isList ? `messages[${index}]` : single, one, host),
    )
    const ids = messages.map(({ id }) => id)
    const twice = ids.find((id, index) => ids.indexOf(id) < index)
    if (twice !== undefined) throw duplicate(operation, twice)
    const { opId, round } = checkFields<AppendOptions>(operation, '', options, OPTIONS)
    // Its first message may be what an op is known by, if that is all that it writes.
    const isOwn = isAlone && opId === `entry:${ids[0]}`
    if (opId !== undefined && !isOwn) checkOpId(operation, 'opId', opId)
    const isNamed = inputs.length > 0 && inputs.every(({ id }) => id !== undefined)
    const made = () =>
      isAlone && ids.length === 1
        ? `entry:${ids[0]}`
        : isNamed
          ? `${operation}/${hashText(JSON.stringify(ids))}`
          : host.newId()
    return { operation, opId: opId ?? made(), messages, round }
  }

  /** Commits, again while others change what was read for it. */
  async #write(draft: Draft, given: readonly Given[], beside?: Beside): Promise<Committed> {
    const { operation, opId, round } = draft
    const { store, policy } = this.#session
    const further = (await beside?.(opId)) ?? []
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const appends = (await this.#appends(draft)).map((op, index) =>
        index === 0 ? { ...op, contexts: this.#contexts } : op,
      )
      const parts = await this.#prepare(draft, given)
      const ops: Op[] = [...appends, ...parts.flatMap((part) => part.ops), ...further]
      const sealed = ops.map((op) => sealOp(op, (message) => derivedOf(message, policy.counter)))
      if (this.#seq === undefined) await this.#session.register()
      const results = sealed.length === 0 ? [] : await store.commit(sealed, once)
      const repeated = parts.some(({ isWritten }) => isWritten) || wasWritten(results)
      if (repeated || areAccepted(results)) return this.#end(draft, appends, parts, results, repeated)
      const at = results.findIndex(({ status }) => status === 'rejected')
      const refused = appends[at]
      if (refused) {
        if (!hasNoRound(results[at]))
          throw duplicate(operation, refused.messages.map(({ id }) => id).join(', '))
        const { round: id } = refused
        if (round !== undefined)
          throw new PlimsollError('ERR_NOT_FOUND', `${operation}: no message opened round ${id}`, { id })
        // The round that was seen here is gone: the session was deleted elsewhere, and begins
        // again.
        this.#round = undefined
        this.#seq = undefined
        continue
      }
      const others = results.slice(appends.length)
      for (const part of parts) {
        const own = others.splice(0, part.ops.length)
        await part.refuse?.(own)
      }
    }
    throw changedByOthers(operation, 'what it changes')
  }

  /** What the features that were given something write, by what the store says now. */
  async #prepare(draft: Draft, given: readonly Given[]): Promise<readonly Part[]> {
    const names = [draft.opId]
    let first: string | undefined
    const asked: WriteDraft = {
      ...draft,
      part: (name) => {
        // Whatever a commit holds, its first op has its name: so is any other body under it known.
        first ??= name
        const isFirst = draft.messages.length === 0 && first === name
        const part = isFirst ? draft.opId : partId(draft.opId, name)
        names.push(part)
        return part
      },
      isWritten: async () => wasWritten(await this.#look(names)),
    }
    const parts: Part[] = []
    for (const { name, write, checked } of given) {
      const prepared = await write.prepare?.(checked as never, asked)
      if (prepared) parts.push({ name, ...prepared })
    }
    return parts
  }

  async #appends({ opId, messages, round }: Draft): Promise<readonly AppendOp[]> {
    if (messages.length === 0) return []
    const { store, lane } = this.#session
    const answers = answersFromOutside(messages)
    if (answers.size > 0) await lane.view.refresh()
    const waiting = await readRoundsOfCalls(store, lane.view, answers)
    const opens = messages[0]?.role === 'user'
    if (round === undefined && !opens && this.#round === undefined) {
      await lane.view.refresh()
      this.see()
    }
    return partByRound(opId, messages, round ?? this.#round, waiting)
  }

  /** Takes over what is durable now, and tells the features; what they throw is ignored. */
  async #end(
    { opId, messages }: Draft,
    appends: readonly AppendOp[],
    parts: readonly Part[],
    results: readonly OpResult[],
    repeated: boolean,
  ): Promise<Committed> {
    const seqs = results.flatMap((result) =>
      'seq' in result && (!repeated || result.repeated) ? result.seq : [],
    )
    const next = (this.#seq ?? 0) + 1
    const [first = next] = seqs
    // What is repeated may have been seen long ago.
    if (!repeated || first >= next) {
      // Where others wrote in between, one of them may have deleted the session.
      if (this.#seq !== undefined && first !== next) await this.#session.register()
      this.#seq = seqs.at(-1) ?? this.#seq
    }
    // A result may join an older round, which does not become the newest by that.
    const spoken = appends.findLast((op) => op.messages.some(({ role }) => role !== 'tool'))
    this.#round = repeated ? undefined : (spoken?.round ?? this.#round)
    // A repetition wrote no row that could record them.
    if (appends.length > 0 && !repeated) this.#contexts = []
    const outcomes: { [feature: string]: unknown } = {}
    for (const { name, outcome } of parts) if (outcome) outcomes[name] = outcome(repeated)
    for (const { name, write } of this.#writes)
      try {
        await write.after?.({ messages, outcome: outcomes[name] as never })
      } catch {}
    if (!repeated) return { ...outcomes, messages, repeated, mismatch: false }
    const written = await this.#writtenBy(opId)
    const said = (all: readonly Message[]) =>
      canonical(all.map(({ role, content }) => [role, content as Json]))
    return { ...outcomes, messages: written, repeated, mismatch: said(written) !== said(messages) }
  }

  /** What became of ops of these names, if they were written. */
  #look(names: readonly string[]): Promise<readonly OpResult[]> {
    const probe = { kind: 'put', key: 'probe', base: null, value: null } as const
    return this.#session.store.commit(
      [...new Set(names)].map((opId) => sealOp({ ...probe, opId })),
      look,
    )
  }

  /** All messages that a commit of that name wrote, into however many rounds. */
  async #writtenBy(opId: string): Promise<readonly Message[]> {
    const [first] = await this.#look([opId])
    const written: Message[] = []
    if (!first || !isRepeated(first)) return written
    for (let next = first.seq, more = true; more; ) {
      const page = await this.#session.store.changesSince(next - 1)
      for (const row of page.rows) {
        // Its ops stand one after the other.
        if (row.opId !== partId(opId, row.seq - first.seq)) return written
        const message = row.kind === 'message' && messageIn(row)
        if (message) written.push(message)
        next = row.seq + 1
      }
      more = page.more
    }
    return written
  }
}

/** An id that a message has already. */
export function duplicate(operation: string, id: string): PlimsollError {
  return new PlimsollError('ERR_DUPLICATE_ID', `${operation}: id ${id} names another message already`, { id })
}

function hasNoRound(result: OpResult | undefined): boolean {
  return result?.status === 'rejected' && result.reason === 'unknown-round'
}
