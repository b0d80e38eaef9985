/** Messages as the AI SDK and LangChain store them, read as their bridges do: nothing is lost. */
import { fromModelMessages } from '../bridges/ai-sdk/from-model-messages.ts'
import { fromUIMessages } from '../bridges/ai-sdk/from-ui.ts'
import { type Stored, toMessage } from '../bridges/langchain/stored.ts'
import { isRecord } from '../ports/is-record.ts'
import type { JsonObject, MessageInput } from '../ports/message.ts'
import { readForeign, timed, timeIn } from '../replay/foreign.ts'
import { hashJson } from '../text/hash.ts'

type UIMessage = Parameters<typeof fromUIMessages>[0][number]
type ModelMessage = Parameters<typeof fromModelMessages>[0][number]
type Record = { readonly [key: string]: unknown }

/** @throws an error that says what is wrong with it */
export function readMessages(value: unknown): readonly MessageInput[] {
  if (!isRecord(value)) return readForeign(value)
  if (isUIMessage(value)) return timed(uiMessages(value), timeIn(value, recordOf(value.metadata)))
  if (isModelMessage(value))
    return timed(fromModelMessages([value as unknown as ModelMessage]), timeIn(value))
  const stored = storedBy(value)
  return stored ? timed([toMessage(withCalls(stored))], timeIn(stored.data, value)) : readForeign(value)
}

/** Those without an id are named by what they say. */
function uiMessages(message: Record): readonly MessageInput[] {
  const { id } = message
  const own = typeof id === 'string' && id !== '' ? id : `import/${hashJson(message as JsonObject)}`
  return fromUIMessages([{ ...message, id: own } as unknown as UIMessage])
}

const recordOf = (value: unknown): Record => (isRecord(value) ? value : {})

function isUIMessage({ role, parts }: Record): boolean {
  return typeof role === 'string' && Array.isArray(parts)
}

/** Parts that no other library writes. */
function isModelMessage({ role, content }: Record): boolean {
  return (
    typeof role === 'string' &&
    Array.isArray(content) &&
    content.some(
      (part) =>
        isRecord(part) &&
        (part.toolCallId !== undefined ||
          (part.type === 'reasoning' && typeof part.text === 'string') ||
          (part.type === 'file' && part.mediaType !== undefined) ||
          (part.type === 'image' && part.image !== undefined)),
    )
  )
}

/** What LangChain's classes are called, and what it calls them where they are stored. */
const TYPES: { readonly [name: string]: string } = {
  HumanMessage: 'human',
  AIMessage: 'ai',
  SystemMessage: 'system',
  ToolMessage: 'tool',
  FunctionMessage: 'function',
  ChatMessage: 'generic',
}
const STORED: ReadonlySet<unknown> = new Set(Object.values(TYPES))

/** `{ type, data }`, what `JSON.stringify` makes of a message, or one laid flat. */
function storedBy(value: Record): Stored | undefined {
  const { type, data, kwargs, id, ...rest } = value
  if (STORED.has(type) && isRecord(data)) return { type, data } as unknown as Stored
  if (isRecord(kwargs) && Array.isArray(id)) {
    const named = TYPES[String(id.at(-1)).replace(/Chunk$/, '')]
    return named === undefined ? undefined : ({ type: named, data: kwargs } as unknown as Stored)
  }
  if (!STORED.has(type) || value.role !== undefined || rest.content === undefined) return undefined
  return { type, data: { ...rest, ...(id !== undefined && { id }) } } as unknown as Stored
}

/** Older versions have calls as OpenAI writes them alone. */
function withCalls({ type, data }: Stored): Stored {
  const { additional_kwargs: more, tool_calls: calls } = data
  const theirs = isRecord(more) && Array.isArray(more.tool_calls) ? more.tool_calls : []
  if (theirs.length === 0 || (Array.isArray(calls) && calls.length > 0)) return { type, data }
  const read = theirs.filter(isRecord).map(({ id, function: called }): JsonObject => {
    const { name, arguments: given } = recordOf(called)
    return { type: 'tool_call', id: String(id), name: String(name), args: argumentsIn(given) }
  })
  return { type, data: { ...data, tool_calls: read } }
}

function argumentsIn(text: unknown): JsonObject {
  try {
    const args: unknown = JSON.parse(String(text))
    return isRecord(args) ? (args as JsonObject) : { input: args as JsonObject }
  } catch {
    return { input: String(text) }
  }
}
