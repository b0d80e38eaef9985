import { isRecord } from './transcript.ts'

type Record = { readonly [key: string]: unknown }

/** As much of a conversation in `conversations.json` as is read. */
export interface ChatGPTConversation extends Record {
  readonly mapping: Record
}

/** Whether a value is a conversation as ChatGPT exports it: a tree of nodes by their ids. */
export function isChatGPT(value: unknown): value is ChatGPTConversation {
  return isRecord(value) && isRecord(value.mapping)
}

/**
 * The messages that a ChatGPT conversation shows, in OpenAI's shapes: from its current node up to
 * the root, other branches left out. What the assistant sends to a tool is a call, what the tool
 * says next its result; reasoning and hidden messages are left out, pictures and sounds are named
 * in brackets.
 */
export function chatGPTMessages({ mapping, current_node: current }: ChatGPTConversation): readonly Record[] {
  const open: string[] = []
  return pathTo(mapping, current).flatMap((node): readonly Record[] => {
    const { id, author, content, recipient, create_time: time, metadata } = node
    const { role, name } = isRecord(author) ? author : ({} as Record)
    const hidden = isRecord(metadata) && metadata.is_visually_hidden_from_conversation === true
    const text = textOf(content)
    if (hidden || text === '' || typeof role !== 'string') return []
    const timed = typeof time === 'number' ? { created_at: time } : {}
    if (role === 'assistant' && typeof recipient === 'string' && recipient !== 'all') {
      const callId = String(id)
      open.push(callId)
      const call = { id: callId, type: 'function', function: { name: recipient, arguments: text } }
      return [{ role, content: null, tool_calls: [call], ...timed }]
    }
    if (role !== 'tool') return [{ role, content: text, ...timed }]
    const answered = open.pop()
    // A tool that nobody called speaks for itself.
    return answered === undefined
      ? [{ role: 'assistant', content: `[${String(name ?? 'tool')}] ${text}`, ...timed }]
      : [{ role, tool_call_id: answered, content: text, ...timed }]
  })
}

/** Messages from the root down to the current node, else down the newest branch. */
function pathTo(nodes: Record, current: unknown): readonly Record[] {
  const nodeOf = (id: unknown): Record | undefined => {
    const node = typeof id === 'string' && Object.hasOwn(nodes, id) ? nodes[id] : undefined
    return isRecord(node) ? node : undefined
  }
  const path: Record[] = []
  const seen = new Set<Record>()
  let node = nodeOf(current) ?? newestLeaf(nodes, nodeOf)
  while (node && !seen.has(node)) {
    seen.add(node)
    if (isRecord(node.message)) path.push(node.message)
    node = nodeOf(node.parent)
  }
  return path.reverse()
}

function newestLeaf(nodes: Record, nodeOf: (id: unknown) => Record | undefined): Record | undefined {
  let node = Object.values(nodes).find((one): one is Record => isRecord(one) && !nodeOf(one.parent))
  const seen = new Set<Record>()
  while (node && !seen.has(node)) {
    seen.add(node)
    const children: readonly unknown[] = Array.isArray(node.children) ? node.children : []
    const next = nodeOf(children.at(-1))
    if (!next) break
    node = next
  }
  return node
}

/** Thoughts and recaps of them have other fields. */
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
