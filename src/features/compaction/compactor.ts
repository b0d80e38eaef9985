import type { Secret } from '../../kernel/context/secret.ts'
import { countMessage } from '../../kernel/count.ts'
import type { Covering } from '../../kernel/cover.ts'
import { markIn } from '../../kernel/log/bodies.ts'
import { decide } from '../../kernel/log/decide.ts'
import { partsOf, SUMMARY_ID, textOf } from '../../kernel/log/message.ts'
import { sealOp } from '../../kernel/log/seal.ts'
import type { Policy } from '../../kernel/policy.ts'
import { headOf } from '../../kernel/text/text.ts'
import type { Context } from '../../ports/context.ts'
import type { Host } from '../../ports/host.ts'
import type { Message, MessageInput, Trust } from '../../ports/message.ts'
import type { Model, ModelEvent, ModelRequest } from '../../ports/model.ts'
import type { Name, Scope, SummaryMark } from '../../ports/op.ts'
import type { ScopeStore } from '../../ports/store.ts'
import { aborted } from '../aborted.ts'
import { visible } from '../text/visible.ts'
import { transcriptOf } from '../transcript.ts'
import { lowestTrust } from '../trust.ts'
import { refusalsOf } from './acceptance.ts'
import { type Carry, carryOver, lineOf, type Pin, textIn, weigh } from './carry.ts'
import type { CompactionOptions, SummarySizes } from './compaction-options.ts'
import { extractOf } from './extract.ts'
import type { Past } from './past.ts'
import { READ, WRITE } from './price.ts'
import { defused, memoryText } from './summary.ts'
import {
  continuationRequest,
  type SummarySource,
  type SummaryWish,
  summaryRequest,
} from './summary-request.ts'

/** What is to be summarised, and what the summary has to fit into. */
export interface CompactionJob {
  readonly policy: Policy
  /** Id that the summary names as its base, and its place in the chain. */
  readonly base: string | null
  readonly place: number
  /** The summary that it updates. */
  readonly before: Covering | undefined
  /** Messages that are covered from now on, by round, oldest first. */
  readonly rounds: readonly (readonly Message[])[]
  /** Their tokens, whole. */
  readonly tokens: number
  /** What goes on showing, as it shows. */
  readonly kept: string
  readonly covers: Pick<SummaryMark, 'from' | 'skipped' | 'upto' | 'seen' | 'count' | 'of' | 'apart'>
  /** Tokens for the memory section. */
  readonly room: number
  /** Tag of its fence. */
  readonly tag: string
  /** Requests that the question may be appended to, where it may be. */
  readonly past: Past | undefined
}

export type Compaction =
  | { readonly status: 'summarised'; readonly by: string; readonly reasons: readonly string[] }
  | { readonly status: 'refused'; readonly reasons: readonly string[] }

/**
 * Share of the room from which on a summary is written ahead of need, unless the app says
 * otherwise.
 */
export const AHEAD = 0.8
/** Attempts of a model at one summary. */
const ATTEMPTS = 2
const HOUR = 3_600_000
/** Summaries that are not tried after one could not be stored. */
const PAUSE = 8
/** Summaries that the spend of an hour is added up from. */
const REMEMBERED = 64
/** A shorter text says nothing. */
const LEAST_TEXT = 12
/**
 * Characters of an answer for each token that it may have; whatever is longer is not read to its
 * end.
 */
const LONGEST = 64
/** Characters of an error's message that go on: providers quote whole requests in theirs. */
const LONGEST_MESSAGE = 200
const TIMEOUT = 60_000
const PER_HOUR = 1_000_000
/**
 * A request for a summary has room for at least so many tokens by default: its own words take some
 * 200.
 */
const LEAST_SOURCE = 4_000
const LENGTH = '2 to 3 sentences'
/** Who wrote a summary that no model wrote. */
export const EXTRACT = 'extract'
/** Stands for messages without any words. */
const NOTHING_SAID = '(nothing was said in them)'

/** What a compactor needs from its session. */
export interface CompactorParts {
  readonly store: ScopeStore
  readonly scope: Scope
  readonly host: Host
  readonly secret: Secret
  /** Compactions that run now, by scope and lane. */
  readonly running: Map<string, Promise<unknown>>
}

/** Writes summaries of one session and lane, one at a time. */
export class Compactor {
  readonly #parts: CompactorParts
  readonly #options: CompactionOptions
  readonly #sizes: SummarySizes
  readonly #key: string
  /** Jobs that are refused without a model's call, after one could not be stored. */
  #pause = 0
  /** What became of the last one that was written here. */
  outcome: Compaction | undefined

  constructor(parts: CompactorParts, lane: string, options: CompactionOptions, sizes: SummarySizes) {
    this.#parts = parts
    this.#options = options
    this.#sizes = sizes
    this.#key = runName(parts.scope, lane)
  }

  /**
   * The summary that is being written now, whichever object of the session began it. Never rejects.
   */
  get running(): Promise<unknown> | undefined {
    return this.#parts.running.get(this.#key)
  }

  /**
   * Writes a summary, unless one is being written: then it waits for that one, and gives nothing.
   */
  async run(job: CompactionJob): Promise<Compaction | undefined> {
    if (this.running) {
      await this.running
      return undefined
    }
    const { running } = this.#parts
    const compaction = this.#compact(job)
    running.set(this.#key, compaction.catch(ignore))
    try {
      this.outcome = await compaction
      return this.outcome
    } finally {
      running.delete(this.#key)
    }
  }

  /**
   * Writes the summary of a job into the log as a mark. The model's text counts if it passes the
   * acceptance test, at the first or second attempt; else the extract does. Whatever the model
   * does, this resolves.
   */
  async #compact(job: CompactionJob): Promise<Compaction> {
    const { store, scope, host, secret } = this.#parts
    if (this.#pause > 0) {
      this.#pause--
      return refused(['the last summary could not be stored'])
    }
    let pins: readonly Pin[]
    try {
      pins = (await this.#options.pins?.(scope)) ?? []
    } catch (error) {
      return refused([`the pins could not be read: ${messageOf(error)}`])
    }
    const { policy, base, before, rounds, covers, kept, room, tag, place } = job
    const { lane, counter } = policy
    const { text: told = '', carry: listed = '', trust: most = 'user' } = before?.mark ?? {}
    const messages = rounds.flat()
    const trust = lowestTrust(messages, most)
    const pinned = pins.map(lineOf).join('\n')
    const sizeOf = (text: string, carry: string): number => {
      const mark = { text, carry, pinned, of: covers.of }
      return countMessage(counter, { content: memoryText({ mark, place }, tag) })
    }
    const weights = weigh(told, listed, messages)
    const carried = (text: string, names: number): Carry =>
      carryOver({ pins, text, weights, kept, room: names, count: counter.count })
    const textRoom = Math.min(this.#sizes.summary, room - sizeOf('', pinned))
    if (textRoom < LEAST_TEXT)
      return refused([`${room} tokens are left for it, its pins and its frame need ${room - textRoom}`])
    const { reasons, spent, read, ...written } = await this.#write(job, pins, textRoom, trust)
    const extract = (): string => tidy(extractOf(told, rounds, textRoom, counter.count)) || NOTHING_SAID
    const { text = extract(), by = EXTRACT } = written
    let names = Math.min(this.#sizes.carry, room - sizeOf(text, carried(text, 0).text))
    let carry = carried(text, names)
    // Pieces may count for more together than apart; then a few less are carried.
    while (names > 0 && sizeOf(text, carry.text) > room) {
      names = Math.floor(names * 0.9)
      carry = carried(text, names)
    }
    const mark: SummaryMark = {
      type: 'summary',
      id: `${SUMMARY_ID}${secret.hash(JSON.stringify([lane, base, covers.upto, text, carry.text]))}`,
      lane,
      ...covers,
      text,
      carry: carry.text,
      pinned,
      lost: carry.lost,
      trust: read ? lowestTrust([read], trust) : trust,
      by,
      spent,
      at: host.now(),
    }
    const ids = [...(before ? [before.mark] : []), ...messages].map(({ id }) => id)
    // What goes on showing was read too, and so was what the head shows.
    const entries = new Set([...ids, ...(read?.ids ?? [])])
    const sources = [
      ...Array.from(entries, (id): Name => `entry:${id}`),
      ...(read ? [`register:${read.head}` as const] : []),
    ]
    try {
      const opId = `entry:${mark.id}`
      await store.commit([sealOp({ kind: 'mark', opId, base, entry: mark, sources })], decide)
    } catch (error) {
      this.#pause = PAUSE
      return refused([...reasons, `it could not be stored: ${messageOf(error)}`])
    }
    // Where another writer was first, its summary is the one that counts.
    return { status: 'summarised', by, reasons }
  }

  /** The model's text and its id, if one was accepted; why not; and what it took. */
  async #write(
    { policy, before, rounds, tag, tokens, ...job }: CompactionJob,
    pins: readonly Pin[],
    most: number,
    trust: Trust,
  ): Promise<Written> {
    const { host } = this.#parts
    const { model, length = LENGTH, timeout = TIMEOUT, tokensPerHour = PER_HOUR, toolChoice } = this.#options
    const reasons: string[] = []
    let spent = 0
    if (!model) return { reasons, spent }
    const { count } = policy.counter
    const messages = rounds.flat()
    const { text: told = '', carry = '' } = before?.mark ?? {}
    const source = { before: told, pins, messages }
    const known = [
      told,
      carry,
      ...pins.map(({ text }) => text),
      ...messages.map(textIn),
      // Names of tools and fields too, which are in no message's own words.
      transcriptOf(messages, Infinity, () => 0),
    ].join('\n')
    const sourceTokens = tokens + count(told)
    let left = tokensPerHour - (await this.#spentOfLate())
    let refused: readonly string[] = []
    let { past } = job
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const { context, read } = this.#request(policy, source, past, { most, length, refused, tag, trust })
      const cost = context.receipt.used + most
      if (cost > left) {
        reasons.push(
          `the hour has ${Math.max(0, left)} tokens left for summaries, this one would take ${cost}`,
        )
        break
      }
      left -= cost
      spent += context.receipt.used
      try {
        const settings = { maxOutputTokens: Math.ceil(most * 1.5), ...(read && toolChoice && { toolChoice }) }
        const answer = await answerOf(model, { context, settings }, most, host, timeout)
        const text = tidy(answer ?? '')
        spent += count(text)
        const all = read ? `${known}\n${read.shown}` : known
        refused =
          answer === undefined
            ? ['it called a tool']
            : refusalsOf({ text, source: all, sourceTokens, most, count })
        if (refused.length === 0) return { text, by: model.id, reasons, spent, ...(read && { read }) }
        // Where no tool is shown, none can be called.
        if (answer === undefined) past = undefined
      } catch (error) {
        refused = [`the model failed: ${messageOf(error)}`]
      }
      reasons.push(...refused)
    }
    return { reasons, spent }
  }

  /** What the model is asked, and which requests it goes on with, if it does. */
  #request(
    policy: Policy,
    source: SummarySource,
    past: Past | undefined,
    wish: Omit<SummaryWish, 'room'>,
  ): { readonly context: Context; readonly read?: Past } {
    const { sourceTokens, ask } = this.#options
    const apart = (): Context =>
      summaryRequest(policy, source, { ...wish, room: sourceTokens ?? Math.max(policy.cap, LEAST_SOURCE) })
    const line = policy.isOpen ? Infinity : policy.cap - policy.margin
    const room = Math.min(line, sourceTokens ?? Infinity)
    const context = past && continuationRequest(policy, past, source, { ...wish, room })
    if (!context) return { context: apart() }
    if (ask === undefined) {
      const { used } = context.receipt
      const asked = context.blocks.at(-1)?.tokens ?? 0
      const other = apart()
      if (WRITE * other.receipt.used < READ * (used - asked) + WRITE * asked) return { context: other }
    }
    return { context, read: past }
  }

  /** Tokens that this session's summaries of the last hour took. */
  async #spentOfLate(): Promise<number> {
    const { store, host } = this.#parts
    const { rows } = await store.entries({ kinds: ['summary'], last: REMEMBERED })
    const since = host.now() - HOUR
    return rows
      .flatMap((row) => (markIn(row) as SummaryMark | undefined) ?? [])
      .reduce((sum, { at, spent }) => (at > since ? sum + spent : sum), 0)
  }
}

interface Written {
  readonly text?: string
  readonly by?: string
  readonly reasons: readonly string[]
  readonly spent: number
  /** What the text was written from beside what it covers. */
  readonly read?: Past
}

/** What did not come to a summary, and why. */
export function refused(reasons: readonly string[]): Compaction {
  return { status: 'refused', reasons }
}

/** By what a compaction is found that runs: its scope, then its lane. */
export function runName({ tenant, userId, sessionId }: Scope, lane: string): string {
  return JSON.stringify([tenant ?? null, userId, sessionId ?? null, lane])
}

function tidy(text: string): string {
  return defused(visible(text).replace(/\p{Surrogate}/gu, '')).trim()
}

/**
 * The text of a model's answer, read no further than it could be accepted; undefined: it called a
 * tool.
 *
 * @throws what the model throws; when the time is over
 */
async function answerOf(
  model: Model,
  request: Pick<ModelRequest, 'context' | 'settings'>,
  most: number,
  host: Host,
  ms: number,
): Promise<string | undefined> {
  const { signal, clear } = host.timeout(ms)
  let iterator: AsyncIterator<ModelEvent> | undefined
  try {
    iterator = model.complete({ ...request, signal })[Symbol.asyncIterator]()
    const stopped = aborted(signal)
    let text = ''
    for (;;) {
      const { value, done } = await Promise.race([iterator.next(), stopped])
      if (done || value === undefined) return text
      if (value.type === 'finish' && value.reason === 'length') throw new Error('its answer was cut off')
      if (value.type === 'tool-call' || (value.type === 'finish' && callsIn(value.message))) return undefined
      if (value.type === 'finish') return textOf({ content: value.message.content }).slice(0, most * LONGEST)
      if (value.type === 'text') text += value.text
      if (text.length > most * LONGEST) return text
    }
  } finally {
    clear()
    // Not awaited: what hangs would hang here too.
    iterator?.return?.()?.then?.(ignore, ignore)
  }
}

function callsIn({ content }: Pick<MessageInput, 'content'>): boolean {
  return partsOf({ content }).some(({ type }) => type === 'tool-call')
}

function ignore(): void {}

function messageOf(error: unknown): string {
  return headOf(error instanceof Error ? error.message : String(error), LONGEST_MESSAGE)
}
