import { checkMessage } from '../kernel/log/check-message.ts'
import { lowerTrust, sealMessage } from '../kernel/log/message.ts'
import { hashJson } from '../kernel/text/hash.ts'
import { headerOf, sessionLine } from '../operations/transfer/export.ts'
import type { TransferLine } from '../operations/transfer/format.ts'
import { webHost } from '../platform/web.ts'
import type { Json, Message, MessageInput } from '../ports/message.ts'
import { TRANSFER_PARTS } from '../ports/transfer.ts'
import { fromOpenAIMessages } from '../render/openai.ts'
import { chatGPTMessages, isChatGPT } from './chatgpt.ts'
import { isRecord } from './transcript.ts'

/** A conversation of another program: its messages as they were found. */
export interface ForeignSession {
  readonly sessionId: string
  readonly title?: string
  readonly messages: AsyncIterable<ForeignMessage> | Iterable<ForeignMessage>
}

export interface ForeignMessage {
  readonly value: unknown
  /** Where it stands, for reports: a line of the file. */
  readonly line: number
}

/** Contract: called for each message that was left out. */
export type LeftOut = (line: number, error: unknown) => void

/** What other programs call a role. */
const ROLES: { readonly [name: string]: string } = {
  human: 'user',
  ai: 'assistant',
  bot: 'assistant',
  model: 'assistant',
  aimessage: 'assistant',
  humanmessage: 'user',
  systemmessage: 'system',
  toolmessage: 'tool',
  functionmessage: 'tool',
}
/** Fields in which they say when: the first that is there. */
const TIMES = ['timestamp', 'createdAt', 'created_at', 'time', 'date'] as const
/**
 * What is below counts seconds, not milliseconds: as milliseconds it would be before April 1970.
 */
const LEAST_MS = 1e10

/**
 * Conversations of other programs as the lines of an export. Ids are made of content and place, so
 * that the same file gives the same bytes and importing it twice writes once. Nobody vouches for
 * what they say: every label is `import` at most.
 */
export async function* foreignLines(
  sessions: AsyncIterable<ForeignSession> | Iterable<ForeignSession>,
  leftOut: LeftOut,
): AsyncGenerator<TransferLine> {
  yield headerOf('user', TRANSFER_PARTS)
  yield { type: 'user' }
  for await (const { sessionId, title = '', messages } of sessions) {
    let seq = 0
    let round: string | undefined
    let time = 0
    for await (const { value, line } of messages) {
      let message: Message
      try {
        message = readMessage(value, { sessionId, place: seq, time })
      } catch (error) {
        leftOut(line, error)
        continue
      }
      time = message.createdAt
      if (seq++ === 0) yield sessionLine(sessionId, { title: title.slice(0, 200), createdAt: time })
      const { id, ...body } = message
      round = message.role === 'user' ? id : (round ?? id)
      yield { type: 'message', seq, opId: id, round, id, message: body as unknown as Json }
    }
  }
}

/** One message as it is stored by an import. Throws an error that says what is wrong with it. */
function readMessage(
  value: unknown,
  { sessionId, place, time }: { readonly sessionId: string; readonly place: number; readonly time: number },
): Message {
  const { createdAt = time, ...input } = readForeign(value)
  const id = `import/${hashJson([sessionId, place])}`
  const message = checkMessage('import', 'message', { ...input, createdAt, id }, webHost)
  const lowered = { ...message, trust: lowerTrust(message.trust, 'import') }
  // As it is stored: what is undefined is not there.
  return { id, ...JSON.parse(sealMessage(lowered)) }
}

/**
 * One message in the shapes of OpenAI, LangChain, mem0, this library and their like. Throws an
 * error that says what is wrong with it.
 */
export function readForeign(value: unknown): MessageInput {
  const [found, around] = unwrapped(value)
  const name = String(found.role ?? around.role ?? around.type ?? found.type ?? '')
  const known = ROLES[name.toLowerCase()] ?? name.toLowerCase()
  const content = found.content ?? found.text ?? found.message ?? null
  if (typeof content !== 'string' && !Array.isArray(content) && !(content === null && found.tool_calls))
    throw new Error('no "content" that is a text or a list of parts')
  const [read] = fromOpenAIMessages([{ ...found, role: known, content }] as Parameters<
    typeof fromOpenAIMessages
  >[0])
  const createdAt = timeIn(found, around)
  return { ...(read as MessageInput), ...(createdAt !== undefined && { createdAt }) }
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

function timeIn(...records: readonly Record[]): number | undefined {
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
const MESSAGES = ['messages', 'history', 'chat_history', 'memory', 'memories', 'turns'] as const
const CONVERSATIONS = ['conversations', 'sessions', 'threads', 'chats'] as const

/**
 * The conversations in a file of one user: `{ user, messages }`,
 * `{ user, conversations: [{ id, title, messages }] }`, a list of messages, or what ChatGPT
 * exports. Throws an error that says what is wrong with it.
 *
 * @param name the session of messages that belong to none
 */
export function sessionsIn(value: unknown, name: string): readonly ForeignSession[] {
  const found = conversationsIn(value, name)
  if (!found) {
    const messages = messagesIn(value)
    if (!messages) throw new Error('no "messages", "history" or "conversations"')
    return [{ sessionId: name, messages }]
  }
  const taken = new Set<string>()
  return found.map(([other, one]) => {
    const held = messagesIn(one)
    if (!held) throw new Error(`conversation ${other} has no "messages"`)
    const { id, sessionId, session_id, conversation_id, title } = isRecord(one) ? one : ({} as Record)
    const names = [id, sessionId, session_id, conversation_id]
    const own = names.find((field) => typeof field === 'string' && field !== '')
    const chosen = typeof own === 'string' && !taken.has(own) ? own : other
    taken.add(chosen)
    return { sessionId: chosen, ...(typeof title === 'string' && { title }), messages: held }
  })
}

/** Conversations by names for those that have none of their own. */
function conversationsIn(value: unknown, name: string): readonly (readonly [string, unknown])[] | undefined {
  if (isChatGPT(value)) return [[name, value]]
  if (Array.isArray(value)) return value.some(isChatGPT) ? numbered(value, name) : undefined
  if (!isRecord(value) || messagesIn(value)) return undefined
  const lists = CONVERSATIONS.map((field) => value[field]).find((field) => field !== undefined)
  if (Array.isArray(lists)) return numbered(lists, name)
  return isRecord(lists) ? Object.entries(lists) : undefined
}

function numbered(list: readonly unknown[], name: string): readonly (readonly [string, unknown])[] {
  return list.map((one, place) => [`${name}-${place + 1}`, one])
}

function messagesIn(value: unknown): readonly ForeignMessage[] | undefined {
  const list = listIn(value)
  return Array.isArray(list)
    ? list.map((one: unknown, place) => ({ value: one, line: place + 1 }))
    : undefined
}

function listIn(value: unknown): unknown {
  if (Array.isArray(value)) return value
  if (isChatGPT(value)) return chatGPTMessages(value)
  return isRecord(value) ? MESSAGES.map((field) => value[field]).find(Array.isArray) : undefined
}
