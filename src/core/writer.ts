import { PlimsollError } from '../ports/errors.ts'
import type { Host } from '../ports/host.ts'
import type { Json, Message, MessageInput } from '../ports/message.ts'
import type { Op, OpResult } from '../ports/op.ts'
import type { ScopeStore } from '../ports/store.ts'
import { messageIn } from './bodies.ts'
import { checkMessage } from './check-message.ts'
import { derivedOf } from './derived.ts'
import type { FactInput } from './facts/check-fact.ts'
import type { Remembered } from './facts/place-fact.ts'
import type { PrepareFacts } from './facts/prepare-facts.ts'
import { hashText } from './hash.ts'
import { canonical, checkId, invalid } from './json.ts'
import { isRepeated, look, once, wasWritten } from './once.ts'
import type { Policy } from './policy.ts'
import type { Recall } from './recall/lexical-recall.ts'
import type { Checkpoint } from './registers/checkpoint.ts'
import { conflict, deleted, readRegister, TRIES } from './registers/register.ts'
import type { RewindOp } from './rewinds.ts'
import { type AppendOp, answersFromOutside, partByRound, partId } from './rounds.ts'
import { readRoundsOfCalls } from './rounds-of-calls.ts'
import { sealOp } from './seal.ts'
import type { View } from './view.ts'

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
  /**
   * Id of a message that a user's message is said in place of: it is hidden with everything that shows after it, in the same commit, as
   * `session.rewind` does. The old version stays in the log: `session.branches`. Only of a write that begins with a user's message.
   */
  readonly replaces?: string
}

export interface AppendResult {
  /** The messages as they are stored, in order. */
  readonly messages: readonly Message[]
  /** Whether they had been stored before. */
  readonly repeated: boolean
  /** Whether what had been stored before has other content: the first wins. */
  readonly mismatch: boolean
}

/** What is written together: all of it, or nothing. */
export interface CommitInput<State> {
  /** As in `append`. Default: none. */
  readonly messages?: MessageInput | readonly MessageInput[]
  /** What the checkpoint is from now on. Default: it stays as it is. */
  readonly checkpoint?: State
  /** Default: none. */
  readonly facts?: readonly FactInput[]
}

export interface CommitOptions extends AppendOptions {
  /** The version over which the checkpoint is written; `null`: only where there is none. Default: over whatever is there. */
  readonly ifVersion?: string | null
}

export interface CommitResult extends AppendResult {
  /** The checkpoint's version, where one was given. */
  readonly version?: string
  /** What became of each fact, in order. Of a repeated commit: those that are still known. */
  readonly remembered: readonly Remembered[]
}

export interface WriterParts<State> {
  readonly store: ScopeStore
  readonly policy: Policy
  readonly host: Host
  readonly view: View
  readonly checkpoint: Checkpoint<State>
  readonly prepareFacts: PrepareFacts
  readonly recall: Recall | undefined
  /** Lists the session with its user, unless it is listed. */
  readonly register: () => Promise<void>
}

/** One commit, checked. */
interface Draft {
  readonly operation: string
  readonly opId: string
  readonly messages: readonly Message[]
  readonly round: string | undefined
  readonly checkpoint?: Json
  readonly ifVersion?: string | null
  readonly facts: readonly FactInput[]
  /** What is written with the messages. */
  readonly marks?: readonly RewindOp[]
}

/** What a draft comes to, by what the store says now. */
interface Prepared {
  readonly appends: readonly AppendOp[]
  readonly checkpoint: readonly Op[]
  readonly facts: readonly Op[]
  readonly remembered: readonly Remembered[]
  /** Whether it is known that all of it was written before. */
  readonly isWritten: boolean
}

interface Written extends Prepared {
  readonly repeated: boolean
  /** Of the appends, in order. */
  readonly seqs: readonly number[]
}

/** Writes to one session's log and, in the same commit, to its checkpoint and facts. One call after the other. */
export class Writer<State> {
  readonly #store: ScopeStore
  readonly #policy: Policy
  readonly #host: Host
  readonly #view: View
  readonly #checkpoint: Checkpoint<State>
  readonly #prepareFacts: PrepareFacts
  readonly #recall: Recall | undefined
  readonly #register: () => Promise<void>
  /** Highest seq that was seen here; undefined before the first write. */
  #seq: number | undefined
  /** The newest round that was seen here. */
  #round: string | undefined

  constructor({ store, policy, host, view, checkpoint, prepareFacts, recall, register }: WriterParts<State>) {
    this.#store = store
    this.#policy = policy
    this.#host = host
    this.#view = view
    this.#checkpoint = checkpoint
    this.#prepareFacts = prepareFacts
    this.#recall = recall
    this.#register = register
  }

  /** Takes over what the view has read. */
  see(): void {
    this.#round = this.#view.conversation.units.at(-1)?.round
    if (this.#seq !== undefined) this.#seq = Math.max(this.#seq, this.#view.head.seq)
  }

  /** @throws ERR_INVALID_ARGUMENT, ERR_ENTRY_TOO_LARGE, ERR_DUPLICATE_ID, ERR_NOT_FOUND (no such round); nothing is written */
  async append(
    operation: string,
    input: MessageInput | readonly MessageInput[],
    options: AppendOptions,
    hide: (opId: string) => Promise<readonly RewindOp[]> = async () => [],
  ): Promise<AppendResult> {
    if (Array.isArray(input) && input.length === 0)
      throw invalid(operation, 'messages', 'must hold a message')
    const messages = this.#checkMessages(operation, 'message', input)
    const opId = this.#opId(operation, 'append', asList(input), messages, options)
    const round = options.round === undefined ? undefined : checkId(operation, 'round', options.round)
    const marks = await hide(opId)
    const written = await this.#write({ operation, opId, messages, round, facts: [], marks })
    return this.#stored(written, messages)
  }

  /** @throws as {@link append}; ERR_CONFLICT (`version`), and what preparing the facts throws; nothing is written */
  async commit(
    { messages: input = [], checkpoint, facts = [] }: CommitInput<State>,
    options: CommitOptions,
  ): Promise<CommitResult> {
    const operation = 'commit'
    const messages = this.#checkMessages(operation, 'messages', input)
    if (!Array.isArray(facts)) throw invalid(operation, 'facts', 'must be a list')
    if (messages.length === 0 && checkpoint === undefined && facts.length === 0)
      throw invalid(operation, 'messages', 'must hold a message, or there must be a checkpoint or a fact')
    const { ifVersion } = options
    if (ifVersion !== undefined && checkpoint === undefined)
      throw invalid(operation, 'ifVersion', 'is that of a checkpoint, and there is none')
    const opId = this.#opId(operation, 'commit', asList(input), messages, options)
    const written = await this.#write({
      operation,
      opId,
      messages,
      round: options.round === undefined ? undefined : checkId(operation, 'round', options.round),
      ...(checkpoint !== undefined && { checkpoint: await this.#checkpoint.check(operation, checkpoint) }),
      ...(ifVersion !== undefined && { ifVersion }),
      facts,
    })
    const [put] = written.checkpoint
    return {
      ...(await this.#stored(written, messages)),
      ...(put && { version: put.opId }),
      remembered: written.repeated
        ? written.remembered.filter(({ status }) => status === 'known')
        : written.remembered,
    }
  }

  #checkMessages(
    operation: string,
    single: string,
    input: MessageInput | readonly MessageInput[],
  ): readonly Message[] {
    const name = (index: number): string => (Array.isArray(input) ? `messages[${index}]` : single)
    const messages = asList(input).map((one, index) => checkMessage(operation, name(index), one, this.#host))
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
      : this.#host.newId()
  }

  /** Commits, again while others change what was read for it. */
  async #write(draft: Draft): Promise<Written> {
    const { operation, marks = [] } = draft
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const prepared = await this.#prepare(draft)
      const { appends, checkpoint, facts } = prepared
      const ops = [...appends, ...checkpoint, ...facts, ...marks]
      if (this.#seq === undefined) await this.#register()
      const sealed = ops.map((op) =>
        sealOp(op, (message) => derivedOf(message, this.#policy.counter, this.#recall)),
      )
      const results = sealed.length === 0 ? [] : await this.#store.commit(sealed, once)
      const repeated = prepared.isWritten || wasWritten(results)
      if (repeated || results.every(({ status }) => status === 'accepted'))
        return this.#take(prepared, results, repeated)
      const refused = appends.findIndex((_, index) => results[index]?.status === 'rejected')
      const result = results[refused]
      const isRoundGone = result?.status === 'rejected' && result.reason === 'unknown-round'
      if (isRoundGone && draft.round === undefined) {
        // The round that was seen here is gone: the session was deleted elsewhere, and begins anew.
        this.#round = undefined
        this.#seq = undefined
        continue
      }
      if (result) throw refusal(operation, result, appends[refused])
      await this.#refuseRegisters(draft, ops, results)
    }
    throw new PlimsollError(
      'ERR_CONFLICT',
      `${operation}: what it changes was changed by others ${TRIES} times in a row`,
    )
  }

  /** Throws where trying again is of no use. */
  async #refuseRegisters(
    { operation, ifVersion }: Draft,
    ops: readonly Op[],
    results: readonly OpResult[],
  ): Promise<void> {
    for (const [index, result] of results.entries()) {
      const op = ops[index]
      if (op?.kind !== 'put') continue
      const isCheckpoint = op.key === 'checkpoint'
      // That a fact was forgotten meanwhile is seen when it is prepared again: another one of its words need not be refused.
      if (result.status === 'rejected' && (isCheckpoint || !(await this.#store.register(op.key))))
        throw deleted(operation, op.key)
      if (result.status === 'conflict' && isCheckpoint && ifVersion !== undefined)
        throw conflict(operation, op.key, (await readRegister(this.#store, op.key)).version)
    }
  }

  async #prepare(draft: Draft): Promise<Prepared> {
    return {
      appends: await this.#appends(draft),
      checkpoint: await this.#checkpointPut(draft),
      ...(await this.#facts(draft)),
    }
  }

  async #checkpointPut({ opId, checkpoint, ifVersion }: Draft): Promise<readonly Op[]> {
    if (checkpoint === undefined) return []
    const write = { opId: checkpointId(opId), ...(ifVersion !== undefined && { ifVersion }) }
    return [await this.#checkpoint.prepare(checkpoint, write)]
  }

  async #appends({ opId, messages, round }: Draft): Promise<readonly AppendOp[]> {
    if (messages.length === 0) return []
    const answers = answersFromOutside(messages)
    if (answers.size > 0) await this.#view.refresh()
    const waiting = await readRoundsOfCalls(this.#store, this.#view, answers)
    const current = round ?? (messages[0]?.role === 'user' ? undefined : await this.#newestRound())
    return partByRound(opId, messages, { current, waiting })
  }

  async #facts(draft: Draft): Promise<Pick<Prepared, 'facts' | 'remembered' | 'isWritten'>> {
    const { operation, opId, messages, facts } = draft
    if (facts.length === 0) return { facts: [], remembered: [], isWritten: false }
    try {
      const { ops, remembered } = await this.#prepareFacts(operation, facts, messages)
      return { facts: named(opId, ops), remembered, isWritten: false }
    } catch (error) {
      // What was remembered once may be refused now, for example because it supersedes what it superseded.
      if (!(await this.#isWritten(opId))) throw error
      return { facts: [], remembered: [], isWritten: true }
    }
  }

  async #isWritten(opId: string): Promise<boolean> {
    const ids = [opId, checkpointId(opId), factId(opId, 0)]
    const probes = ids.map((id) =>
      sealOp({ kind: 'put', opId: id, key: 'checkpoint', base: null, value: null }),
    )
    return wasWritten(await this.#store.commit(probes, look))
  }

  async #take(prepared: Prepared, results: readonly OpResult[], repeated: boolean): Promise<Written> {
    const { appends } = prepared
    const seqsOf = (some: readonly OpResult[]): readonly number[] =>
      some.flatMap((result) =>
        result.status === 'accepted' && (!repeated || isRepeated(result)) ? result.seq : [],
      )
    const seqs = seqsOf(results)
    // Where others wrote in between, one of them may have deleted the session.
    if (this.#seq !== undefined && (seqs[0] ?? 0) > this.#seq + 1) await this.#register()
    this.#round = repeated ? undefined : appends.at(-1)?.round
    this.#seq = Math.max(this.#seq ?? 0, ...seqs)
    return { ...prepared, repeated, seqs: seqsOf(results.slice(0, appends.length)) }
  }

  async #newestRound(): Promise<string | undefined> {
    if (this.#round !== undefined) return this.#round
    await this.#view.refresh()
    this.see()
    return this.#round
  }

  /** The messages that were written: of a repeated write, those of the first. */
  async #stored({ repeated, seqs }: Written, messages: readonly Message[]): Promise<AppendResult> {
    if (!repeated) return { messages, repeated, mismatch: false }
    const first: Message[] = []
    for (const seq of seqs) {
      const { rows } = await this.#store.changesSince(seq - 1)
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

/** Ops under names that are made from the commit's, so that they are the same when it is repeated. */
function named(opId: string, ops: readonly Op[]): readonly Op[] {
  const names = new Map(ops.map((op, index) => [op.opId, factId(opId, index)]))
  return ops.map((op, index) => ({
    ...op,
    opId: factId(opId, index),
    // One of them may be written over another.
    ...(op.kind === 'put' && { base: names.get(op.base ?? '') ?? op.base }),
  }))
}

function checkpointId(opId: string): string {
  return partId(opId, 'checkpoint')
}

function factId(opId: string, index: number): string {
  return partId(opId, `fact/${index}`)
}

function asList(input: MessageInput | readonly MessageInput[]): readonly MessageInput[] {
  return Array.isArray(input) ? input : [input as MessageInput]
}
