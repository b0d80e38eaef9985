/** What a language model gives back, as one message. */

import type { Json, MessageInput } from '../../ports/message.ts'
import type { FinishReason, Usage } from '../../ports/model.ts'
import { contentOf } from '../../render/parts.ts'
import { fromAssistant } from './from-model-messages.ts'
import { given } from './opaque.ts'
import type { AssistantPart, ReplyContent, ReplyUsage, StreamPart } from './types.ts'

/**
 * A whole reply as an assistant message; its sources are left out, as the SDK does: no provider
 * takes them back.
 */
export function messageOf(content: readonly ReplyContent[]): MessageInput {
  return { role: 'assistant', content: contentOf(fromAssistant(content.flatMap(modelPart))) }
}

function modelPart(part: ReplyContent): AssistantPart[] {
  const providerOptions = part.providerMetadata && { providerOptions: part.providerMetadata }
  switch (part.type) {
    case 'text':
      // Empty text without metadata is nothing; with it, it may be what a signature holds on to.
      return part.text === '' && !providerOptions
        ? []
        : [{ type: 'text', text: whole(part.text), ...providerOptions }]
    case 'reasoning':
      return [{ type: 'reasoning', text: whole(part.text), ...providerOptions }]
    case 'file':
    case 'reasoning-file':
      return [
        { type: part.type, data: part.data, mediaType: part.mediaType, ...providerOptions } as AssistantPart,
      ]
    case 'tool-call': {
      const { toolCallId, toolName, providerExecuted } = part
      const executed = providerExecuted && { providerExecuted }
      return [
        {
          type: 'tool-call',
          toolCallId,
          toolName,
          input: inputOf(part.input),
          ...executed,
          ...providerOptions,
        },
      ]
    }
    case 'tool-result': {
      const { toolCallId, toolName, result, isError, preliminary } = part
      if (preliminary) return []
      const type = isError ? 'error-json' : 'json'
      return [
        { type: 'tool-result', toolCallId, toolName, output: { type, value: result }, ...providerOptions },
      ]
    }
    case 'custom':
      return [{ type: 'custom', kind: part.kind, ...providerOptions }]
    case 'tool-approval-request':
      return [{ type: 'tool-approval-request', approvalId: part.approvalId, toolCallId: part.toolCallId }]
    case 'source':
      return []
  }
}

/**
 * A call without arguments comes as nothing at all from some servers; text that is not JSON stays
 * text.
 */
export function inputOf(text: string): Json {
  if (text.trim() === '') return {}
  try {
    return JSON.parse(text, (_, value) => (typeof value === 'string' ? whole(value) : value))
  } catch {
    return whole(text)
  }
}

/** Half a character, as at the end of a reply that was cut, becomes U+FFFD: a log refuses it. */
function whole(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd')
}

/** Puts a streamed reply together, part by part. */
export class ReplyBuilder {
  readonly #content: ReplyContent[] = []
  /** Texts and reasoning that are still open, by kind and id. */
  readonly #open = new Map<string, { type: 'text' | 'reasoning'; text: string; providerMetadata?: never }>()

  add(part: StreamPart): void {
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start': {
        const type = part.type === 'text-start' ? 'text' : 'reasoning'
        const block = {
          type,
          text: '',
          ...given({ providerMetadata: part.providerMetadata as never }),
        } as const
        this.#open.set(`${type} ${part.id}`, block)
        this.#content.push(block)
        return
      }
      case 'text-delta':
      case 'reasoning-delta': {
        const block = this.#block(part.type === 'text-delta' ? 'text' : 'reasoning', part.id)
        block.text += part.delta
        if (part.providerMetadata) block.providerMetadata = part.providerMetadata as never
        return
      }
      case 'text-end':
      case 'reasoning-end': {
        // Metadata is replaced, not merged, and the last one counts: as in the SDK's own stream.
        // Signatures come here.
        const block = this.#block(part.type === 'text-end' ? 'text' : 'reasoning', part.id)
        if (part.providerMetadata) block.providerMetadata = part.providerMetadata as never
        return
      }
      case 'tool-call':
      case 'tool-result':
      case 'file':
      case 'reasoning-file':
      case 'custom':
      case 'source':
      case 'tool-approval-request':
        this.#content.push(part)
    }
  }

  message(): MessageInput {
    return messageOf(this.#content)
  }

  /** A delta without a start opens its block itself. */
  #block(type: 'text' | 'reasoning', id: string): { text: string; providerMetadata?: never } {
    const known = this.#open.get(`${type} ${id}`)
    if (known) return known
    const block: { type: 'text' | 'reasoning'; text: string; providerMetadata?: never } = { type, text: '' }
    this.#open.set(`${type} ${id}`, block)
    this.#content.push(block)
    return block
  }
}

export function usageOf({ inputTokens, outputTokens }: ReplyUsage): Usage {
  return given({
    inputTokens: countOf(inputTokens.total),
    cachedInputTokens: countOf(inputTokens.cacheRead),
    cacheWriteTokens: countOf(inputTokens.cacheWrite),
    outputTokens: countOf(outputTokens.total),
  })
}

/** What is no count says nothing: below 0, it would give a budget tokens back. */
function countOf(given: number | undefined): number | undefined {
  return Number.isSafeInteger(given) && (given as number) >= 0 ? given : undefined
}

/**
 * `interrupted` and whatever else there will be is `other`; an error is none of these: the call
 * failed.
 */
export function reasonOf(unified: string): FinishReason {
  const known: readonly string[] = ['stop', 'tool-calls', 'length', 'content-filter']
  return known.includes(unified) ? (unified as FinishReason) : 'other'
}
