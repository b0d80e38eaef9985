import { PROFILE } from '../features/profile/profile.ts'
import { Documents } from '../features/slots.ts'
import { transcriptOf } from '../features/transcript.ts'
import { asText } from '../kernel/count.ts'
import type { KernelSession } from '../kernel/feature.ts'
import { messageIn } from '../kernel/log/bodies.ts'
import { hiddenBy } from '../kernel/log/fold.ts'
import { readRewinds } from '../kernel/log/history.ts'
import { lowerTrust, partsOf } from '../kernel/log/message.ts'
import type { Policy } from '../kernel/policy.ts'
import { PlimsollError } from '../ports/errors.ts'
import type { SessionBase } from '../ports/memory.ts'
import type { Message, Trust } from '../ports/message.ts'
import type { LogRow, ScopeStore } from '../ports/store.ts'
import { checkOptions, invalid } from '../text/json.ts'
import { headOf } from '../text/text.ts'
import { kernelOf } from './kernel-of.ts'

/** What a reference names: messages by their numbers in the log, or one result of a message. */
const REFERENCE = /^#?(\d{1,15})(?:\.(\d{1,4})|\s*(?:-|–|to)\s*#?(\d{1,15}))?$/
/** Most messages that one reference names. */
const MOST_MESSAGES = 64
/** Tokens of what a tool says beside a page of source. */
const FRAME = 48

export interface SourceOptions {
  /** UTF-16 units of the text to leave out at its beginning. Default 0. */
  readonly offset?: number
  /** Most UTF-16 units of text. Default: as many as a context shows whole in a tool's output. */
  readonly length?: number
}

/** Originals, as the log has them. */
export interface SourcePage {
  readonly text: string
  readonly offset: number
  /** UTF-16 units of the whole text. */
  readonly total: number
  /** Offset at which the rest begins; absent: there is none. */
  readonly next?: number
  /** The lowest of the messages. */
  readonly trust: Trust
}

/**
 * Reads originals back, whole and uncut, by what markers and summaries name: `#3` is the third
 * message of the log, `#3.2` the second result in it, `#1-#5` five messages (at most 64);
 * `profile/MEMORY.md` is a document of the user's, as it is now.
 *
 * @throws ERR_INVALID_ARGUMENT, ERR_NOT_FOUND (no such message or document, or it was rewound or
 * forgotten)
 */
export async function readSource(
  session: SessionBase,
  reference: string,
  options: SourceOptions = {},
): Promise<SourcePage> {
  const kernel = kernelOf('readSource', session)
  return kernel.run(() => readPage(kernel, reference, options))
}

async function readPage(
  kernel: KernelSession,
  reference: string,
  options: SourceOptions,
): Promise<SourcePage> {
  checkOptions('readSource', 'options', options, ['offset', 'length'])
  const { offset = 0, length } = options
  if (!Number.isSafeInteger(offset) || offset < 0)
    throw invalid('readSource', 'offset', 'must be a whole number, 0 or more')
  if (length !== undefined && (!Number.isSafeInteger(length) || length < 1))
    throw invalid('readSource', 'length', 'must be a whole number, 1 or more')
  const { whole, trust } = await wholeOf(kernel, String(reference).trim())
  if (whole === undefined)
    throw new PlimsollError('ERR_NOT_FOUND', `readSource: there is no ${reference}`, {
      id: String(reference),
    })
  const rest = whole.slice(offset)
  const text = headOf(rest, length ?? shownWhole(rest, kernel.policy))
  const next = offset + text.length
  return { text, offset, total: whole.length, ...(next < whole.length && text !== '' && { next }), trust }
}

/** What a reference names, if it is there. @throws ERR_INVALID_ARGUMENT */
async function wholeOf(
  { store, one }: KernelSession,
  reference: string,
): Promise<{ readonly whole: string | undefined; readonly trust: Trust }> {
  if (reference.startsWith(PROFILE))
    return { whole: await one(Documents)?.(reference.slice(PROFILE.length)), trust: 'user' }
  const [, number = '', result, last = number] = REFERENCE.exec(reference) ?? []
  const first = Number(number)
  const end = Math.min(Number(last), first + MOST_MESSAGES - 1)
  if (first < 1 || end < first)
    throw invalid('readSource', 'reference', 'must look like #3, #3.1, #1-#5 or profile/MEMORY.md')
  const hidden = hiddenBy(await readRewinds(store))
  const rows = (await readNumbered(store, first, end)).filter(({ id }) => !hidden.has(id))
  const messages = rows.flatMap((row) => messageIn(row) ?? [])
  const trust = messages.map(({ trust }) => trust).reduce(lowerTrust, 'system')
  if (result !== undefined) return { whole: resultOf(messages[0], Number(result)), trust }
  const isThere = messages.length > 0
  return { whole: isThere ? transcriptOf(messages, Number.MAX_SAFE_INTEGER, () => 0) : undefined, trust }
}

/** How much of a text a tool's output may hold beside a line of its own, and be shown whole. */
function shownWhole(text: string, { counter, first }: Policy): number {
  const most = Math.max(1, first - FRAME)
  if (counter.count(text) <= most) return text.length
  let low = 1
  let high = text.length
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (counter.count(headOf(text, middle)) <= most) low = middle
    else high = middle
  }
  return low
}

function resultOf(message: Message | undefined, place: number): string | undefined {
  const part = message && partsOf(message)[place - 1]
  return part?.type === 'tool-result' ? asText(part.output) : undefined
}

/**
 * The rows of the messages with these numbers. The log is read by seq, and messages number it no
 * less evenly than its ops do: the first page is guessed, and each wrong guess halves what is left.
 */
async function readNumbered(store: ScopeStore, first: number, last: number): Promise<readonly LogRow[]> {
  const { seq, ordinal } = await store.head()
  if (first > ordinal) return []
  // The message stands after the first of these seqs, and not after the second.
  let before = 0
  let after = seq
  let at = Math.max(0, Math.floor((seq * (first - 1)) / ordinal) - 1)
  for (;;) {
    const { rows, more } = await store.changesSince(at)
    const [start] = rows
    const end = rows.at(-1)
    if (!start || !end) return []
    if (start.ordinal - (start.kind === 'message' ? 1 : 0) >= first) after = at
    else if (end.ordinal >= first) return withFurther(store, rows, more, first, last)
    else before = end.seq
    at = Math.max(before, Math.min(after - 1, Math.floor((before + after) / 2)))
  }
}

async function withFurther(
  store: ScopeStore,
  rows: readonly LogRow[],
  more: boolean,
  first: number,
  last: number,
): Promise<readonly LogRow[]> {
  const found = rows.filter((row) => row.kind === 'message' && row.ordinal >= first && row.ordinal <= last)
  const end = rows.at(-1)
  if (!more || !end || end.ordinal >= last) return found
  const further = await store.changesSince(end.seq)
  return [...found, ...(await withFurther(store, further.rows, further.more, end.ordinal + 1, last))]
}
