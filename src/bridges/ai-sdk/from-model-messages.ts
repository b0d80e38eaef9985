import type { ModelMessage } from 'ai'
import { base64 } from '../../ports/base64.ts'
import { isRecord } from '../../ports/is-record.ts'
import type { Json, MessageInput, Part, ToolResultPart } from '../../ports/message.ts'
import { contentOf } from '../../render/parts.ts'
import { invalid } from '../../text/json.ts'
import { given, jsonOf, keep, noted, shallow } from './opaque.ts'
import { fromOutput } from './outputs.ts'
import type { AssistantPart, ProviderOptions, ToolPart, UserPart } from './types.ts'

/**
 * Model messages as messages for a log: one for one, but that an answer to a provider's own request
 * for approval becomes an assistant message of its own, before the results beside it. What
 * providers add to texts, reasoning and calls (signatures, ids of items) stays; what only the SDK
 * understands travels in opaque parts. Also takes the prompt that a language model is given.
 *
 * @throws ERR_INVALID_ARGUMENT: what is no model message
 * @example
 * ```ts
 * import { fromModelMessages } from 'plimsoll/ai-sdk'
 *
 * await session.append(fromModelMessages((await result.response).messages))
 * ```
 */
export function fromModelMessages(messages: readonly ModelMessage[]): MessageInput[] {
  if (!Array.isArray(messages)) throw invalid('fromModelMessages', 'messages', 'must be a list')
  return messages.flatMap((message: ModelMessage, index): MessageInput[] => {
    if (!isModelMessage(message))
      throw invalid('fromModelMessages', `messages[${index}]`, 'must be a model message')
    const { role, content } = message
    switch (role) {
      case 'system':
        return [{ role, content }]
      case 'user':
        return [
          { role, content: typeof content === 'string' ? content : contentOf(content.flatMap(fromUserPart)) },
        ]
      case 'assistant':
        return [{ role, content: typeof content === 'string' ? content : contentOf(fromAssistant(content)) }]
      case 'tool':
        return fromToolParts(content)
      default:
        throw invalid('fromModelMessages', `messages[${index}].role`, `is unknown: ${JSON.stringify(role)}`)
    }
  })
}

/** Whether it has a text, or parts of which all are objects; a result has an output. */
function isModelMessage(message: unknown): boolean {
  if (!isRecord(message)) return false
  const { role, content } = message
  if (typeof content === 'string') return role !== 'tool'
  return (
    Array.isArray(content) &&
    content.every((part) => isRecord(part) && (part.type !== 'tool-result' || isRecord(part.output)))
  )
}

/** The parts of a reply, in order. */
export function fromAssistant(parts: readonly AssistantPart[]): Part[] {
  return parts.flatMap((part): Part[] => {
    const options = jsonOptions((part as { readonly providerOptions?: ProviderOptions }).providerOptions)
    switch (part.type) {
      case 'text':
        return [...noted({ of: 'text', ...options }), { type: 'text', text: part.text }]
      case 'reasoning':
        return fromReasoning(part.text, options.options)
      case 'file':
        return fromFile(part)
      case 'tool-call': {
        if (part.providerExecuted) return [keep({ type: 'model', part: jsonOf(part) as never })]
        const { toolCallId: id, toolName: name, input } = part
        return [
          ...noted({ of: 'tool-call', ...(options.options && { id, ...options }) }),
          { type: 'tool-call', id, name, input: shallow(jsonOf(input)).value },
        ]
      }
      default:
        return [keep({ type: 'model', part: jsonOf(part) as never })]
    }
  })
}

/**
 * Reasoning that Anthropic signed is reasoning like any other. What another provider signed is kept
 * whole and never left out for lack of room: its calls are refused without it (vercel/ai#11036).
 */
export function fromReasoning(text: string, options: ProviderOptions | undefined): Part[] {
  const { signature, ...rest } = options?.anthropic ?? {}
  if (typeof signature === 'string' && signature !== '') {
    const { anthropic: _, ...others } = options ?? {}
    const more = { ...others, ...(Object.keys(rest).length > 0 && { anthropic: rest }) }
    return [
      ...noted({
        of: 'reasoning',
        ...(Object.keys(more).length > 0 && { options: more as ProviderOptions }),
      }),
      { type: 'reasoning', text, signature },
    ]
  }
  if (!options) return [{ type: 'reasoning', text }]
  return [keep({ type: 'model', part: { type: 'reasoning', text, providerOptions: options as Json } })]
}

/**
 * Results, and answers to a provider that asked for an approval. Other answers are the SDK's own
 * business, and left out.
 */
function fromToolParts(parts: readonly ToolPart[]): MessageInput[] {
  const answers = parts.flatMap((part) =>
    part.type === 'tool-approval-response' && part.providerExecuted
      ? [keep({ type: 'model', part: jsonOf(part) as never })]
      : [],
  )
  const results = parts.flatMap((part): ToolResultPart[] =>
    part.type === 'tool-result' ? [fromOutput(part.toolCallId, part.output)] : [],
  )
  return [
    ...(answers.length > 0 ? [{ role: 'assistant' as const, content: answers }] : []),
    ...(results.length > 0 ? [{ role: 'tool' as const, content: results }] : []),
  ]
}

function fromUserPart(part: UserPart): Part[] {
  if (part.type === 'text') {
    return [...noted({ of: 'text', ...jsonOptions(part.providerOptions) }), { type: 'text', text: part.text }]
  }
  if (part.type === 'image') {
    return fromFile({
      type: 'file',
      data: part.image,
      mediaType: part.mediaType ?? 'image/*',
      ...given({ providerOptions: part.providerOptions }),
    })
  }
  return fromFile(part)
}

type FilePart = Extract<AssistantPart, { readonly type: 'file' }>

/**
 * Bytes become a data URL: the entry limit of 8 MiB holds for the message. Larger ones belong in
 * `attach`.
 */
function fromFile(part: FilePart): Part[] {
  const { mediaType, filename, providerOptions } = part
  const note = {
    of: 'media' as const,
    ...(filename !== undefined && { filename }),
    ...jsonOptions(providerOptions),
  }
  const data: unknown = part.data
  const tagged = isTagged(data) ? data : undefined
  if (tagged?.type === 'text') return [{ type: 'text', text: String(tagged.text) }]
  const reference = tagged?.type === 'reference' ? tagged.reference : undefined
  if (isRecord(reference)) {
    return [...noted({ ...note, reference: reference as never }), { type: 'media', mediaType }]
  }
  const url = urlOf(tagged ? (tagged.data ?? tagged.url) : data, mediaType)
  return [...noted(note), { type: 'media', mediaType, ...(url !== undefined && { url }) }]
}

function isTagged(data: unknown): data is { readonly type: string; readonly [key: string]: unknown } {
  return typeof data === 'object' && data !== null && 'type' in data && typeof data.type === 'string'
}

function urlOf(data: unknown, mediaType: string): string | undefined {
  if (data instanceof URL) return data.href
  if (data instanceof Uint8Array) return `data:${mediaType};base64,${base64(data)}`
  if (data instanceof ArrayBuffer) return `data:${mediaType};base64,${base64(new Uint8Array(data))}`
  if (typeof data !== 'string') return undefined
  return /^(?:https?|data|blob):/.test(data) ? data : `data:${mediaType};base64,${data}`
}

export function jsonOptions(options: ProviderOptions | undefined): { options?: ProviderOptions } {
  return options && Object.keys(options).length > 0 ? { options: jsonOf(options) as ProviderOptions } : {}
}
