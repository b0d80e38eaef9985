import { isRecord } from '../ports/is-record.ts'
import type { Json, MessageInput, Part } from '../ports/message.ts'
import { contentOf } from '../render/parts.ts'
import { type Told, told } from './branches.ts'

type Record = { readonly [key: string]: unknown }

/** As much of a conversation in Claude's `conversations.json` as is read. */
export interface ClaudeConversation extends Record {
  readonly chat_messages: readonly unknown[]
}

/** Whether a value is a conversation as Claude exports it. */
export function isClaude(value: unknown): value is ClaudeConversation {
  return isRecord(value) && Array.isArray(value.chat_messages)
}

/**
 * The messages of a Claude conversation, all its versions, by the parents that they name; where
 * they name none, each follows the one before it.
 */
export function claudeOrder({
  chat_messages: messages,
  current_leaf_message_uuid: current,
}: ClaudeConversation): readonly Told[] {
  const ids = messages.map((message, place) => idOf(message) ?? `#${place}`)
  const known = new Set(ids)
  const newest = typeof current === 'string' && known.has(current) ? current : ids.at(-1)
  const branches = messages.map((value, place) => {
    const id = ids[place] as string
    const parent = isRecord(value) ? value.parent_message_uuid : undefined
    // That of the first is one that no message has.
    return {
      id,
      parent: typeof parent === 'string' ? parent : ids[place - 1],
      value,
      isNewest: id === newest,
    }
  })
  return told(branches)
}

function idOf(message: unknown): string | undefined {
  return isRecord(message) && typeof message.uuid === 'string' ? message.uuid : undefined
}

/** Whether a value is a message of such a conversation. */
export function isClaudeMessage(value: unknown): value is Record {
  return isRecord(value) && (value.sender === 'human' || value.sender === 'assistant')
}

/**
 * A message of Claude's as messages of a log: calls and their results, which stand in one message
 * there, take turns here. Texts of attached files come along, files without one are named; blocks
 * of unknown kinds are opaque parts.
 */
export function claudeMessages(message: Record): MessageInput[] {
  const { sender, content, text, attachments, files } = message
  const role = sender === 'human' ? 'user' : 'assistant'
  const blocks: readonly unknown[] =
    Array.isArray(content) && content.length > 0 ? content : [{ type: 'text', text: text ?? '' }]
  const found: { readonly role: MessageInput['role']; readonly content: Part[] }[] = []
  const calls: string[] = []
  for (const [place, block] of [...blocks, ...filesOf(attachments), ...filesOf(files)].entries()) {
    const part = partOf(block, `${idOf(message) ?? ''}/${place}`, calls)
    if (!part) continue
    const own = part.type === 'tool-result' ? 'tool' : role
    const last = found.at(-1)
    if (last?.role === own) last.content.push(part)
    else found.push({ role: own, content: [part] })
  }
  return found.map(({ role: own, content: parts }) => ({ role: own, content: contentOf(parts) }))
}

/** @param calls ids of those of the message that have no result yet */
function partOf(block: unknown, id: string, calls: string[]): Part | undefined {
  if (!isRecord(block)) return undefined
  const { type, text, thinking } = block
  if (type === 'text' && typeof text === 'string') return text === '' ? undefined : { type, text }
  if (type === 'thinking' && typeof thinking === 'string') return { type: 'reasoning', text: thinking }
  if (type === 'tool_use' && typeof block.name === 'string') {
    const callId = nameOr(block.id, id)
    calls.push(callId)
    return { type: 'tool-call', id: callId, name: block.name, input: (block.input ?? {}) as Json }
  }
  const open = calls.indexOf(nameOr(block.tool_use_id, calls[0] ?? ''))
  if (type === 'tool_result' && open >= 0) {
    const [callId = ''] = calls.splice(open, 1)
    const isError = block.is_error === true && { isError: true }
    return { type: 'tool-result', callId, output: outputOf(block.content), ...isError }
  }
  return { type: 'opaque', provider: 'claude', value: block as Json }
}

function nameOr(value: unknown, other: string): string {
  return typeof value === 'string' && value !== '' ? value : other
}

/** Texts are one text, as models are shown it. */
function outputOf(content: unknown): Json {
  if (!Array.isArray(content)) return (content ?? '') as Json
  const texts = content.map((one) => (isRecord(one) && one.type === 'text' ? one.text : undefined))
  return texts.every((text) => typeof text === 'string') ? texts.join('\n') : (content as Json)
}

/** What the file has of the files of a message: names, and the texts of some. */
function filesOf(files: unknown): readonly Record[] {
  if (!Array.isArray(files)) return []
  return files.filter(isRecord).map(({ file_name: name, extracted_content: text }) => {
    const title = `[${typeof name === 'string' && name !== '' ? name : 'file'}]`
    return { type: 'text', text: typeof text === 'string' ? `${title}\n${text}` : title }
  })
}
