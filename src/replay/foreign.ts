import { checkMessage } from '../kernel/log/check-message.ts'
import { lowerTrust, sealMessage } from '../kernel/log/message.ts'
import { headerOf, sessionLine } from '../operations/transfer/export.ts'
import type { TransferLine } from '../operations/transfer/format.ts'
import { webHost } from '../platform/web.ts'
import { isRecord } from '../ports/is-record.ts'
import type { Json, Message, MessageInput } from '../ports/message.ts'
import { TRANSFER_PARTS } from '../ports/transfer.ts'
import { fromOpenAIMessages } from '../render/openai-input.ts'
import { hashJson } from '../text/hash.ts'
import { checkId, invalid } from '../text/json.ts'
import { headOf } from '../text/text.ts'
import { chatGPTMessages, isChatGPT } from './chatgpt.ts'
import { claudeMessages, claudeOrder, isClaude, isClaudeMessage } from './claude.ts'

/** A conversation of another program: its messages as they were found. */
export interface ForeignSession {
  readonly sessionId: string
  readonly title?: string
  /** How many of its messages hold nothing, or are hidden where they come from. */
  readonly hidden?: number
  readonly messages: AsyncIterable<ForeignMessage> | Iterable<ForeignMessage>
}

export interface ForeignMessage {
  readonly value: unknown
  /** Where it stands, for reports: a line of the file. */
  readonly line: number
  /**
   * How many stand before it in its own version: what was told beyond that is an older one, which
   * it hides. Default: all do.
   */
  readonly depth?: number
}

/** Contract: called for each message that was left out. */
export type LeftOut = (line: number, error: unknown) => void

/** Contract: called for each conversation that has no list of messages. */
export type WithoutMessages = (sessionId: string) => void

/** What other programs call a role. */
const ROLES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    human: 'user',
    ai: 'assistant',
    bot: 'assistant',
    model: 'assistant',
    aimessage: 'assistant',
    humanmessage: 'user',
    systemmessage: 'system',
    toolmessage: 'tool',
    functionmessage: 'tool',
  }),
)
/** Fields in which they say when: the first that is there. */
const TIMES = ['timestamp', 'createdAt', 'created_at', 'time', 'date'] as const
/**
 * What is below counts seconds, not milliseconds: as milliseconds it would be before April 1970.
 */
const LEAST_MS = 1e10
/** Characters of a title; of a longer one that many are kept. */
const MOST_TITLE = 200

/** Contract: what a message of another program says, in order. Throws what is wrong with it. */
export type ForeignReader = (value: unknown) => readonly MessageInput[]

/** A title that a memory takes: no longer than that, and without halves of characters. */
function titleOf(title: string): string {
  return headOf(title.replace(/\p{Cs}/gu, '\ufffd'), MOST_TITLE)
}

/** The id of a session, or one made of it where no memory would take it. */
function takenId(id: string): string {
  try {
    return checkId('import', 'sessionId', id)
  } catch {
    return `import/${hashJson(JSON.stringify(id))}`
  }
}

/**
 * Conversations of other programs as the lines of an export. Ids are their own, or made of content
 * and place, so that the same file gives the same bytes and importing it twice writes once. Older
 * versions of messages are rewound. Nobody vouches for what they say: every label is `import` at
 * most.
 */
export async function* foreignLines(
  sessions: AsyncIterable<ForeignSession> | Iterable<ForeignSession>,
  leftOut: LeftOut,
  read: ForeignReader = readForeign,
): AsyncGenerator<TransferLine> {
  yield headerOf('user', TRANSFER_PARTS)
  yield { type: 'user' }
  for await (const { sessionId: own, title = '', messages } of sessions) {
    const sessionId = takenId(own)
    const taken = new Set<string>()
    let seq = 0
    let place = 0
    let time = 0
    // What shows of what was told.
    let shown: { readonly id: string; readonly round: string; readonly depth: number }[] = []
    for await (const { value, line, depth = Infinity } of messages) {
      let found: readonly Message[]
      try {
        found = read(value).map((input, index) =>
          readMessage(input, { sessionId, place: place + index, time, taken }),
        )
      } catch (error) {
        leftOut(line, error)
        continue
      }
      const hides = shown.filter((one) => one.depth >= depth).map(({ id }) => id)
      if (hides.length > 0) {
        shown = shown.filter((one) => one.depth < depth)
        const id = `import/${hashJson([sessionId, 'rewind', ++seq])}`
        const mark = { type: 'rewind', id, hides, after: shown.at(-1)?.id ?? null }
        yield { type: 'rewind', seq, opId: id, base: null, id, mark }
      }
      for (const { id, ...body } of found) {
        time = body.createdAt
        if (seq++ === 0) yield sessionLine(sessionId, { title: titleOf(title), createdAt: time })
        const round = body.role === 'user' ? id : (shown.at(-1)?.round ?? id)
        yield { type: 'message', seq, opId: id, round, id, message: body as unknown as Json }
        taken.add(id)
        place++
        // What says nothing of its place stands under all that came before it.
        shown.push({ id, round, depth: depth === Infinity ? -1 : depth })
      }
    }
  }
}

/** A message as it is stored by an import. Throws an error that says what is wrong with it. */
function readMessage(
  { createdAt, id: own, ...input }: MessageInput,
  {
    sessionId,
    place,
    time,
    taken,
  }: {
    readonly sessionId: string
    readonly place: number
    readonly time: number
    readonly taken: ReadonlySet<string>
  },
): Message {
  const id = own === undefined || taken.has(own) ? freeId([sessionId, place], taken) : own
  const message = checkMessage('import', 'message', { ...input, createdAt: createdAt ?? time, id }, webHost)
  const lowered = { ...message, trust: lowerTrust(message.trust, 'import') }
  // As it is stored: what is undefined is not there.
  return { id, ...JSON.parse(sealMessage(lowered)) }
}

/** An id made of a place. A file may have it already, where messages of an import were edited. */
function freeId(place: readonly [string, number], taken: ReadonlySet<string>): string {
  for (let at: readonly (string | number)[] = place; ; at = [...at, 'again']) {
    const id = `import/${hashJson(at)}`
    if (!taken.has(id)) return id
  }
}

/**
 * A message in the shapes of OpenAI, LangChain, mem0, Claude's export, this library and their like.
 * Throws an error that says what is wrong with it.
 */
export function readForeign(value: unknown): readonly MessageInput[] {
  if (isClaudeMessage(value)) return timed(claudeMessages(value), timeIn(value))
  const [found, around] = unwrapped(value)
  const name = String(found.role ?? around.role ?? around.type ?? found.type ?? '')
  const known = ROLES.get(name.toLowerCase()) ?? name.toLowerCase()
  const content = found.content ?? found.text ?? found.message ?? null
  const isSilent = content === null && (found.tool_calls || found.reasoning_content)
  if (typeof content !== 'string' && !Array.isArray(content) && !isSilent)
    throw new Error('no "content" that is a text or a list of parts')
  const read = fromOpenAIMessages([{ ...found, role: known, content }] as Parameters<
    typeof fromOpenAIMessages
  >[0])
  return timed(read, timeIn(found, around))
}

/** Messages with the time of what they were read from, where it has one. */
export function timed(
  messages: readonly MessageInput[],
  createdAt: number | undefined,
): readonly MessageInput[] {
  return createdAt === undefined ? messages : messages.map((message) => ({ ...message, createdAt }))
}

/**
 * The fields of a message, and those around it: LangChain puts them into `data` or `kwargs` of what
 * names the type.
 */
function unwrapped(value: unknown): readonly [Record, Record] {
  if (!isRecord(value)) throw new Error('not a JSON object')
  const { data, kwargs, id } = value
  if (isRecord(data)) return [data, value]
  if (isRecord(kwargs)) return [kwargs, { type: Array.isArray(id) ? id.at(-1) : undefined }]
  return [value, value]
}

/** When a message says that it was said, Unix milliseconds. */
export function timeIn(...records: readonly Record[]): number | undefined {
  for (const record of records)
    for (const name of TIMES) {
      const time = record[name]
      if (typeof time === 'number' && Number.isFinite(time))
        return Math.round(Math.abs(time) < LEAST_MS ? time * 1_000 : time)
      const parsed = typeof time === 'string' ? Date.parse(time) : Number.NaN
      if (!Number.isNaN(parsed)) return parsed
    }
  return undefined
}

type Record = { readonly [key: string]: unknown }

/**
 * Fields of a file or of a conversation that hold messages, and fields of a file that hold
 * conversations.
 */
const MESSAGES = [
  ...['messages', 'history', 'chat_history', 'memory', 'memories', 'turns'],
  // Claude's.
  'chat_messages',
] as const
const CONVERSATIONS = ['conversations', 'sessions', 'threads', 'chats'] as const

/**
 * The conversations in a file of one user: `{ user, messages }`,
 * `{ user, conversations: [{ id, title, messages }] }`, a list of messages, a list of
 * `{ id, messages }`, or what ChatGPT or Claude exports.
 *
 * @param name the session of messages that belong to none
 * @throws ERR_INVALID_ARGUMENT: it has no messages at all
 */
export function sessionsIn(
  value: unknown,
  name: string,
  without: WithoutMessages,
): readonly ForeignSession[] {
  const found = conversationsIn(value, name)
  if (!found) {
    const held = messagesIn(value)
    if (!held) throw invalid('import', 'file', 'has no "messages", "history" or "conversations"')
    return [{ sessionId: name, ...held }]
  }
  if (found.length > 0 && !found.some(([, one]) => messagesIn(one)))
    throw invalid('import', 'file', 'has no conversation with "messages"')
  const taken = new Set<string>()
  return found.flatMap(([other, one]) => {
    const { id, sessionId, session_id, conversation_id, uuid, title, name } = isRecord(one)
      ? one
      : ({} as Record)
    const own = [id, sessionId, session_id, conversation_id, uuid].find(isText)
    const chosen = freeName(own ?? other, other, taken)
    taken.add(chosen)
    const held = messagesIn(one)
    if (!held) {
      without(chosen)
      return []
    }
    const titled = [title, name].find(isText)
    return [{ sessionId: chosen, ...(titled !== undefined && { title: titled }), ...held }]
  })
}

/** The first of them that nothing is called yet, or the second with a number behind it. */
function freeName(first: string, second: string, taken: ReadonlySet<string>): string {
  if (!taken.has(first)) return first
  for (let name = second, count = 2; ; name = `${second}-${count++}`) if (!taken.has(name)) return name
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** Conversations by names for those that have none of their own. */
function conversationsIn(value: unknown, name: string): readonly (readonly [string, unknown])[] | undefined {
  if (isChatGPT(value) || isClaude(value)) return [[name, value]]
  if (Array.isArray(value))
    return value.some((one) => isRecord(one) && messagesIn(one)) ? numbered(value, name) : undefined
  if (!isRecord(value) || messagesIn(value)) return undefined
  const lists = CONVERSATIONS.map((field) => value[field]).find((field) => field !== undefined)
  if (Array.isArray(lists)) return numbered(lists, name)
  return isRecord(lists) ? Object.entries(lists) : undefined
}

function numbered(list: readonly unknown[], name: string): readonly (readonly [string, unknown])[] {
  return list.map((one, place) => [`${name}-${place + 1}`, one])
}

function messagesIn(value: unknown): Pick<ForeignSession, 'messages' | 'hidden'> | undefined {
  if (isChatGPT(value)) {
    const { messages, hidden } = chatGPTMessages(value)
    return { messages: placed(messages), hidden }
  }
  if (isClaude(value)) return { messages: placed(claudeOrder(value)) }
  const list = Array.isArray(value)
    ? value
    : isRecord(value) && MESSAGES.map((field) => value[field]).find(Array.isArray)
  return list ? { messages: placed(list.map((one: unknown) => ({ value: one }))) } : undefined
}

function placed(messages: readonly Omit<ForeignMessage, 'line'>[]): readonly ForeignMessage[] {
  return messages.map((message, place) => ({ ...message, line: place + 1 }))
}
