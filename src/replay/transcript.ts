import { isRecord } from '../ports/is-record.ts'
import type { Json, MessageInput, ToolSpec } from '../ports/message.ts'
import { fromAnthropicMessages } from '../render/anthropic.ts'
import { fromOpenAIMessages } from '../render/openai-input.ts'

export const PROVIDERS = ['openai', 'anthropic'] as const
export type Provider = (typeof PROVIDERS)[number]

/** A recorded conversation in neutral shapes. */
export interface Conversation {
  readonly id: string
  /** The provider in whose format it was recorded. */
  readonly format: Provider
  /** What it opens with, before anybody speaks. */
  readonly system?: string
  readonly messages: readonly MessageInput[]
  readonly tools?: readonly ToolSpec[]
}

/** Reads one line of a file. Throws an error that says what is wrong with it. */
export function readConversation(line: string, number: number): Conversation {
  const recorded: unknown = JSON.parse(line)
  if (!isRecord(recorded)) throw new Error('not a JSON object')
  const { id, messages, system, tools } = recorded
  if (!Array.isArray(messages)) throw new Error('no "messages" array')
  const broken = messages.findIndex((message) => !isRecord(message) || typeof message.role !== 'string')
  if (broken >= 0) throw new Error(`messages[${broken}] is not an object with a "role"`)
  const format = formatOf(recorded, messages)
  const read = format === 'anthropic' ? readAnthropic(messages, system) : readOpenAI(messages, system)
  return {
    ...conversationOf(typeof id === 'string' && id !== '' ? id : `line-${number}`, format, read),
    ...(Array.isArray(tools) && tools.length > 0 && { tools: tools.map(readTool) }),
  }
}

/** Messages as a conversation: what the system says before anybody speaks is what it opens with. */
export function conversationOf(
  id: string,
  format: Provider,
  messages: readonly MessageInput[],
): Conversation {
  const first = messages.findIndex((message) => message.role !== 'system')
  const opening = messages.slice(0, first < 0 ? messages.length : first).map(({ content }) => textOf(content))
  return {
    id,
    format,
    ...(opening.length > 0 && { system: opening.join('\n\n') }),
    messages: messages.slice(opening.length),
  }
}

function readOpenAI(messages: readonly unknown[], system: unknown): readonly MessageInput[] {
  const opening = typeof system === 'string' ? [{ role: 'system', content: system }] : []
  return fromOpenAIMessages([...opening, ...messages] as Parameters<typeof fromOpenAIMessages>[0])
}

function readAnthropic(messages: readonly unknown[], system: unknown): readonly MessageInput[] {
  return fromAnthropicMessages(
    messages as Parameters<typeof fromAnthropicMessages>[0],
    system as Parameters<typeof fromAnthropicMessages>[1],
  )
}

/** What the line says if it names a provider, else what only one of the two formats has. */
function formatOf(recorded: Record, messages: readonly unknown[]): Provider {
  const named = PROVIDERS.find((provider) => provider === recorded.format)
  if (named) return named
  if (recorded.system !== undefined) return 'anthropic'
  const anthropic = messages.some(
    (message) =>
      isRecord(message) &&
      Array.isArray(message.content) &&
      message.content.some((block) => isRecord(block) && ANTHROPIC_BLOCKS.has(String(block.type))),
  )
  return anthropic ? 'anthropic' : 'openai'
}

const ANTHROPIC_BLOCKS = new Set([
  'tool_use',
  'tool_result',
  'thinking',
  'redacted_thinking',
  'image',
  'document',
])

/** A tool in the spelling of either provider. */
function readTool(tool: unknown, index: number): ToolSpec {
  const spelled = isRecord(tool) && isRecord(tool.function) ? tool.function : tool
  if (!isRecord(spelled) || typeof spelled.name !== 'string') throw new Error(`tools[${index}] has no name`)
  const schema = spelled.parameters ?? spelled.input_schema ?? { type: 'object' }
  if (!isRecord(schema)) throw new Error(`tools[${index}] has a schema that is not an object`)
  return {
    name: spelled.name,
    ...(typeof spelled.description === 'string' && { description: spelled.description }),
    inputSchema: schema as { readonly [key: string]: Json },
  }
}

/** What is said in a message: its text, no calls and no results. */
export function textOf(content: MessageInput['content']): string {
  if (typeof content === 'string') return content
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}

type Record = { readonly [key: string]: unknown }
