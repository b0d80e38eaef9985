import { isRecord } from '../ports/is-record.ts'
import { type Told, told } from './branches.ts'

type Record = { readonly [key: string]: unknown }

/** As much of a conversation in `conversations.json` as is read. */
export interface ChatGPTConversation extends Record {
  readonly mapping: Record
}

/** Whether a value is a conversation as ChatGPT exports it: a tree of nodes by their ids. */
export function isChatGPT(value: unknown): value is ChatGPTConversation {
  return isRecord(value) && isRecord(value.mapping)
}

/** What is told of a ChatGPT conversation. */
export interface ChatGPTMessages {
  /** In OpenAI's shapes. */
  readonly messages: readonly Told[]
  /** How many hold nothing, or are hidden there: they are left out. */
  readonly hidden: number
}

/**
 * The messages of a ChatGPT conversation, all its versions. What the assistant sends to a tool is a
 * call, what the tool says next its result; pictures and sounds are named in brackets.
 */
export function chatGPTMessages({ mapping, current_node: current }: ChatGPTConversation): ChatGPTMessages {
  const nodes = Object.entries(mapping).filter((entry): entry is [string, Record] => isRecord(entry[1]))
  // Versions in the order that their parents tell.
  const ranks = new Map(
    nodes.flatMap(([, { children }]) =>
      Array.isArray(children) ? children.map((id: unknown, rank) => [id, rank] as const) : [],
    ),
  )
  const order = told(
    nodes
      .map(([id, { parent, message }]) => ({
        id,
        parent: typeof parent === 'string' ? parent : undefined,
        value: message,
        isNewest: id === current,
      }))
      .sort((one, other) => (ranks.get(one.id) ?? 0) - (ranks.get(other.id) ?? 0)),
  )
  let hidden = 0
  const messages: Told[] = []
  // Calls of the version that is told, and how deep in it each was answered.
  let calls: { readonly id: string; readonly depth: number; answered: number }[] = []
  for (const { value: node, depth } of order) {
    calls = calls.filter((call) => call.depth < depth)
    for (const call of calls) if (call.answered >= depth) call.answered = Infinity
    if (!isRecord(node)) continue
    const call = calls.findLast(({ answered }) => answered === Infinity)
    const message = messageOf(node, call?.id)
    if (!message) hidden++
    else messages.push({ value: message, depth })
    if (message?.tool_call_id !== undefined && call) call.answered = depth
    if (message?.tool_calls) calls.push({ id: String(node.id), depth, answered: Infinity })
  }
  return { messages, hidden }
}

/** @param open the call that is answered next */
function messageOf(
  { id, author, content, recipient, create_time: time, metadata }: Record,
  open: string | undefined,
): Record | undefined {
  const { role, name } = isRecord(author) ? author : ({} as Record)
  const isHidden = isRecord(metadata) && metadata.is_visually_hidden_from_conversation === true
  const text = textOf(content)
  const thoughts = thoughtsOf(content)
  const timed = typeof time === 'number' ? { created_at: time } : {}
  if (isHidden || (text === '' && thoughts === '') || typeof role !== 'string') return undefined
  if (thoughts !== '') return { role, content: text, reasoning_content: thoughts, ...timed }
  if (role === 'assistant' && typeof recipient === 'string' && recipient !== 'all') {
    const call = { id: String(id), type: 'function', function: { name: recipient, arguments: text } }
    return { role, content: null, tool_calls: [call], ...timed }
  }
  if (role !== 'tool') return { role, content: text, ...timed }
  // A tool that nobody called speaks for itself.
  return open === undefined
    ? { role: 'assistant', content: `[${String(name ?? 'tool')}] ${text}`, ...timed }
    : { role, tool_call_id: open, content: text, ...timed }
}

function thoughtsOf(content: unknown): string {
  const thoughts = isRecord(content) && Array.isArray(content.thoughts) ? content.thoughts : []
  const texts = thoughts.filter(isRecord).map(({ summary, content: thought }) => [summary, thought])
  return texts
    .flat()
    .filter((text) => typeof text === 'string' && text !== '')
    .join('\n')
}

function textOf(content: unknown): string {
  if (!isRecord(content)) return ''
  const { parts, text, result } = content
  if (Array.isArray(parts)) return parts.map(partText).filter(Boolean).join('\n')
  return typeof text === 'string' ? text : typeof result === 'string' ? result : ''
}

function partText(part: unknown): string {
  if (typeof part === 'string') return part
  if (!isRecord(part)) return ''
  if (typeof part.text === 'string') return part.text
  return typeof part.content_type === 'string' ? `[${part.content_type.replaceAll('_', ' ')}]` : ''
}
