import { checkMessage } from '../kernel/log/check-message.ts'
import { linesIn, readLines } from '../operations/transfer/read-lines.ts'
import { webHost } from '../platform/web.ts'
import { isPlimsollError } from '../ports/errors.ts'
import { isRecord } from '../ports/is-record.ts'
import type { MessageInput } from '../ports/message.ts'
import { isChatGPT } from './chatgpt.ts'
import { isClaude } from './claude.ts'
import { type ForeignMessage, readForeign, sessionsIn } from './foreign.ts'
import { elementsOf } from './json-elements.ts'
import { faultyLine } from './json-fault.ts'
import { type RequestLine, readRequest } from './request-line.ts'
import { type Conversation, conversationOf, readConversation } from './transcript.ts'

/** What a log holds. */
export type LogItem =
  | {
      readonly type: 'conversation'
      readonly conversation: Conversation
      /** Empty where it has none. */
      readonly title: string
      /** Where it begins, from 1. */
      readonly line: number
    }
  | { readonly type: 'request'; readonly request: RequestLine; readonly line: number }

/** Contract: called for each line that could not be read, with the reason. */
export type Unreadable = (line: number, reason: string) => void

/** Longest line, in UTF-8 bytes: it is parsed at one go. */
const MOST_LINE = 64 * 2 ** 20
/**
 * Lines that are looked at to tell lines of JSON from JSON over several lines; fewer where they are
 * that long together, in UTF-16 units.
 */
const LOOK = 20
const LOOK_UNITS = 2 ** 20

/**
 * Reads a log of any of these shapes, as it comes: recordings (a conversation a line), plain
 * messages a line, an export of this library, `conversations.json` of ChatGPT, a list or a file of
 * conversations of other programs, or a file of requests. Holds one line or one element of a list
 * in memory; a document over several lines that is no list, all of it.
 *
 * @param name the id of a conversation that has none of its own
 * @throws what `chunks` throw; what cannot be read of them goes to `unreadable`
 */
export async function* readLog(
  chunks: AsyncIterable<string> | Iterable<string>,
  name: string,
  unreadable: Unreadable,
): AsyncGenerator<LogItem> {
  let broken: { readonly error: unknown } | undefined
  const source = async function* (): AsyncGenerator<string> {
    try {
      yield* chunks
    } catch (error) {
      broken = { error }
      throw error
    }
  }
  const ahead = await lookAhead(source())
  const first = ahead.text.trimStart().replace(/^\ufeff/, '')
  try {
    if (first === '') unreadable(1, 'nothing is in it')
    else if (first.startsWith('[')) yield* fromList(ahead.chunks(), name, unreadable)
    else if (!first.startsWith('{')) unreadable(1, 'begins with neither { nor [')
    else if (isExport(first)) yield* fromExport(ahead.chunks(), unreadable)
    else if (isLines(ahead.text)) yield* fromLines(ahead.chunks(), name, unreadable)
    else yield* fromDocument(ahead.chunks(), name, unreadable)
  } catch (error) {
    if (broken) throw broken.error
    const { line, reason } = placed(error)
    unreadable(line, reason)
  }
}

/**
 * Reads on until enough is there to tell what it is, of a list only its bracket, and gives that
 * once more.
 */
async function lookAhead(rest: AsyncGenerator<string>) {
  const seen: string[] = []
  let mark = ''
  let lines = 0
  let units = 0
  let ended = false
  while (
    !ended &&
    (mark === '' || (mark === '{' && (lines === 0 || (lines <= LOOK && units < LOOK_UNITS))))
  ) {
    const next = await rest.next()
    if (next.done) {
      ended = true
      continue
    }
    const chunk = next.value
    seen.push(chunk)
    units += chunk.length
    mark ||= /[^\s\ufeff]/.exec(chunk)?.[0] ?? ''
    if (mark !== '') lines += chunk.split('\n').length - 1
  }
  return {
    text: seen.join(''),
    chunks: async function* (): AsyncGenerator<string> {
      yield* seen
      while (!ended) {
        const next = await rest.next()
        if (next.done) return
        yield next.value
      }
    },
  }
}

function isExport(text: string): boolean {
  const value = parsed(text.split('\n', 1)[0] ?? '')
  return isRecord(value) && value.type === 'export'
}

/** Whether one of the first lines is a JSON object by itself. */
function isLines(text: string): boolean {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(0, LOOK)
    .some((line) => {
      const value = parsed(line)
      return isRecord(value) && kindOf(value) !== 'document'
    })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''))
  } catch {
    return undefined
  }
}

function kindOf(value: { readonly [key: string]: unknown }) {
  if (value.request !== undefined) return 'request'
  if (isChatGPT(value) || isClaude(value)) return 'exported'
  if ('role' in value || 'content' in value || isRecord(value.data) || isRecord(value.kwargs))
    return 'message'
  return Array.isArray(value.messages) ? 'conversation' : 'document'
}

/** Values that follow one another, and the messages among them that belong to one conversation. */
class Values {
  readonly #messages: MessageInput[] = []
  readonly #name: string
  #line = 1
  readonly #unreadable: Unreadable
  #count = 0

  constructor(name: string, unreadable: Unreadable) {
    this.#name = name
    this.#unreadable = unreadable
  }

  /** Throws an error that says what is wrong with the value. */
  *read(text: string, line: number): Generator<LogItem> {
    const value: unknown = JSON.parse(text.replace(/^\ufeff/, ''))
    this.#count++
    if (!isRecord(value)) throw new Error('not a JSON object')
    switch (kindOf(value)) {
      case 'request':
        yield { type: 'request', request: readRequest(text), line }
        return
      case 'exported':
        yield* foreign(value, `${this.#name}-${this.#count}`, line, this.#unreadable)
        return
      case 'message':
        if (this.#messages.length === 0) this.#line = line
        this.#messages.push(...readForeign(value).map(checked))
        return
      default:
        yield { type: 'conversation', conversation: readConversation(text, line), title: '', line }
    }
  }

  *end(): Generator<LogItem> {
    if (this.#messages.length === 0) return
    const conversation = conversationOf(this.#name, 'openai', this.#messages)
    yield { type: 'conversation', conversation, title: '', line: this.#line }
  }
}

async function* fromLines(
  chunks: AsyncIterable<string>,
  name: string,
  unreadable: Unreadable,
): AsyncGenerator<LogItem> {
  const values = new Values(name, unreadable)
  let line = 0
  for await (const text of linesIn('log', chunks, MOST_LINE)) {
    line++
    if (text.trim() === '') continue
    yield* attempt(() => values.read(text, line), line, unreadable)
  }
  yield* values.end()
}

async function* fromList(
  chunks: AsyncIterable<string>,
  name: string,
  unreadable: Unreadable,
): AsyncGenerator<LogItem> {
  const values = new Values(name, unreadable)
  try {
    for await (const { text, line } of elementsOf(chunks))
      yield* attempt(() => values.read(text, line), line, unreadable)
  } finally {
    yield* values.end()
  }
}

/** What was read before it broke is kept, and what broke is reported. */
function* attempt(read: () => Iterable<LogItem>, line: number, unreadable: Unreadable): Generator<LogItem> {
  try {
    yield* read()
  } catch (error) {
    unreadable(line, reasonOf(error))
  }
}

async function* fromDocument(
  chunks: AsyncIterable<string>,
  name: string,
  unreadable: Unreadable,
): AsyncGenerator<LogItem> {
  const texts: string[] = []
  let units = 0
  for await (const chunk of chunks) {
    texts.push(chunk)
    units += chunk.length
    if (units > MOST_LINE)
      throw new Error('line 1: a document over several lines must be shorter than 64 MiB')
  }
  const text = texts.join('')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new Error(`line ${faultyLine(text)}: ${(error as Error).message}`)
  }
  yield* foreign(value, name, 1, unreadable)
}

function* foreign(value: unknown, name: string, line: number, unreadable: Unreadable): Generator<LogItem> {
  const sessions = sessionsIn(value, name, (sessionId) =>
    unreadable(line, `conversation "${sessionId}" has no messages`),
  )
  for (const { sessionId, title = '', messages } of sessions) {
    let shown: { readonly message: MessageInput; readonly depth: number }[] = []
    for (const { value, line: place, depth = Infinity } of messages as Iterable<ForeignMessage>)
      try {
        const read = readForeign(value).map(checked)
        // Older versions are told before what shows.
        shown = shown.filter((one) => one.depth < depth)
        shown.push(...read.map((message) => ({ message, depth: depth === Infinity ? -1 : depth })))
      } catch (error) {
        unreadable(line, `message ${place} of "${sessionId}": ${reasonOf(error)}`)
      }
    const read = shown.map(({ message }) => message)
    if (read.length > 0)
      yield { type: 'conversation', conversation: conversationOf(sessionId, 'openai', read), title, line }
  }
}

/** Messages as they are in the log; what was forgotten, marks and registers are left out. */
async function* fromExport(chunks: AsyncIterable<string>, unreadable: Unreadable): AsyncGenerator<LogItem> {
  let session = { id: 'export', title: '', line: 1 }
  let messages: MessageInput[] = []
  let ended = false
  const flush = function* (): Generator<LogItem> {
    const { id, title, line } = session
    if (messages.length > 0)
      yield { type: 'conversation', conversation: conversationOf(id, 'openai', messages), title, line }
    messages = []
  }
  try {
    for await (const { number, value } of readLines('log', chunks)) {
      if (value.type === 'session') {
        yield* flush()
        const { sessionId, title } = value
        session = { id: String(sessionId), title: typeof title === 'string' ? title : '', line: number }
      } else if (value.type === 'message' && isRecord(value.message))
        try {
          messages.push(checked(value.message as unknown as MessageInput))
        } catch (error) {
          unreadable(number, reasonOf(error))
        }
      ended = value.type === 'end'
    }
  } finally {
    yield* flush()
  }
  if (!ended) unreadable(session.line, 'the export has no last line, so it is not whole')
}

/** Throws what a memory would, so that no replay ends at a message that no memory takes. */
function checked(input: MessageInput): MessageInput {
  const { role, content } = checkMessage('log', 'message', input, webHost)
  return { role, content }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Errors of whole files say the line that they found. */
function placed(error: unknown): { readonly line: number; readonly reason: string } {
  const reason = reasonOf(error)
  if (isPlimsollError(error))
    return { line: Number(/lines\[(\d+)\]/.exec(error.argument ?? '')?.[1] ?? 1), reason }
  const [, line, rest] = /^line (\d+): (.*)$/s.exec(reason) ?? []
  return line === undefined ? { line: 1, reason } : { line: Number(line), reason: rest ?? '' }
}
