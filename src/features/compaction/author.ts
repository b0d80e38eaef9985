import { countMessage } from '../../kernel/count.ts'
import { markIn } from '../../kernel/log/bodies.ts'
import { decide } from '../../kernel/log/decide.ts'
import { partsOf, SUMMARY_ID, textOf } from '../../kernel/log/message.ts'
import { sealOp } from '../../kernel/log/seal.ts'
import type { Policy } from '../../kernel/policy.ts'
import { aborted } from '../../ports/aborted.ts'
import type { Context } from '../../ports/context.ts'
import type { Host } from '../../ports/host.ts'
import type { MessageInput, Trust } from '../../ports/message.ts'
import type { FinishReason, Model, ModelEvent, ModelRequest } from '../../ports/model.ts'
import type { Name, SummaryMark } from '../../ports/op.ts'
import { headOf } from '../../text/text.ts'
import { visible } from '../text/visible.ts'
import { transcriptOf } from '../transcript.ts'
import { lowestTrust } from '../trust.ts'
import { refusalsOf } from './acceptance.ts'
import { type Carry, carryOver, lineOf, type Pin, weigh } from './carry.ts'
import type { CompactionOptions } from './compaction-options.ts'
import { type Compaction, type CompactionJob, refused, type SummaryParts } from './compactor.ts'
import { extractOf } from './extract.ts'
import { textIn } from './message-texts.ts'
import type { Past } from './past.ts'
import { READ, WRITE } from './price.ts'
import { defused, memoryText } from './summary.ts'
import {
  continuationRequest,
  type SummarySource,
  type SummaryWish,
  summaryRequest,
} from './summary-request.ts'

/** Attempts of a model at one summary. */
const ATTEMPTS = 2
const HOUR = 3_600_000
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
/** How an answer ends that is not whole. */
const CUT_OFF: ReadonlySet<FinishReason> = new Set(['length', 'content-filter'])
const TIMEOUT = 60_000
const PER_HOUR = 1_000_000
/**
 * A request for a summary has room for at least so many tokens by default: its own words take some
 * 200.
 */
const LEAST_SOURCE = 4_000
const LENGTH = '2 to 3 sentences'
/** Who wrote a summary that no model wrote. */
const EXTRACT = 'extract'
/** Stands for messages without any words. */
const NOTHING_SAID = '(nothing was said in them)'

/**
 * Writes the summary of a job into the log as a mark. The model's text counts if it passes the
 * acceptance test, at the first or second attempt; else the extract does. Whatever the model
 * does, this resolves.
 */
export async function writeSummary(
  job: CompactionJob,
  parts: SummaryParts,
  onUnstored: () => void,
): Promise<Compaction> {
  const { store, scope, host, secret, options, sizes } = parts
  let pins: readonly Pin[]
  try {
    pins = (await options.pins?.(scope)) ?? []
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
  const textRoom = Math.min(sizes.summary, room - sizeOf('', pinned))
  if (textRoom < LEAST_TEXT)
    return refused([`${room} tokens are left for it, its pins and its frame need ${room - textRoom}`])
  const { reasons, spent, read, ...found } = await written(job, parts, pins, textRoom, trust)
  const extract = (): string => tidy(extractOf(told, rounds, textRoom, counter.count)) || NOTHING_SAID
  const { text = extract(), by = EXTRACT } = found
  let names = Math.min(sizes.carry, room - sizeOf(text, carried(text, 0).text))
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
    onUnstored()
    return refused([...reasons, `it could not be stored: ${messageOf(error)}`])
  }
  // Where another writer was first, its summary is the one that counts.
  return { status: 'summarised', by, reasons }
}

/** The model's text and its id, if one was accepted; why not; and what it took. */
async function written(
  { policy, before, rounds, tag, tokens, ...job }: CompactionJob,
  parts: SummaryParts,
  pins: readonly Pin[],
  most: number,
  trust: Trust,
): Promise<Written> {
  const { host, options } = parts
  const { model, length = LENGTH, timeout = TIMEOUT, tokensPerHour = PER_HOUR, toolChoice } = options
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
  let left = tokensPerHour - (await spentOfLate(parts))
  let refused: readonly string[] = []
  let { past } = job
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const { context, read } = requestFor(options, policy, source, past, { most, length, refused, tag, trust })
    const cost = context.receipt.used + most
    if (cost > left) {
      reasons.push(`the hour has ${Math.max(0, left)} tokens left for summaries, this one would take ${cost}`)
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
function requestFor(
  options: CompactionOptions,
  policy: Policy,
  source: SummarySource,
  past: Past | undefined,
  wish: Omit<SummaryWish, 'room'>,
): { readonly context: Context; readonly read?: Past } {
  const { sourceTokens, ask } = options
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
async function spentOfLate({ store, host }: SummaryParts): Promise<number> {
  const { rows } = await store.entries({ kinds: ['summary'], last: REMEMBERED })
  const since = host.now() - HOUR
  return rows
    .flatMap((row) => (markIn(row) as SummaryMark | undefined) ?? [])
    .reduce((sum, { at, spent }) => (at > since ? sum + spent : sum), 0)
}

interface Written {
  readonly text?: string
  readonly by?: string
  readonly reasons: readonly string[]
  readonly spent: number
  /** What the text was written from beside what it covers. */
  readonly read?: Past
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
      if (done || value === undefined) throw new Error('it ended without a `finish`')
      if (value.type === 'finish' && CUT_OFF.has(value.reason)) throw new Error('its answer was cut off')
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
