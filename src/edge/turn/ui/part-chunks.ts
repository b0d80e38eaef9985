/** Parts of UI messages as the chunks that a client of the AI SDK puts them together from again. */
import type { UIMessage, UIMessageChunk } from 'ai'
import type { UIPart } from '../../../bridges/ai-sdk/from-ui.ts'
import { given } from '../../../bridges/ai-sdk/opaque.ts'
import { isToolPart, toolNameOf } from '../../../bridges/ai-sdk/ui-parts.ts'

/** A whole message, from its first part on; without `start` and `finish`. */
export function chunksOfMessage({ parts }: UIMessage): readonly UIMessageChunk[] {
  return (parts as unknown as readonly UIPart[]).flatMap((part, index) => chunksOfPart(part, `part-${index}`))
}

/** @param id names the part among those of its message that are open at once */
export function chunksOfPart(part: UIPart, id: string): readonly UIMessageChunk[] {
  return chunksFrom(part, id) as unknown as readonly UIMessageChunk[]
}

type Chunk = { readonly type: string; readonly [key: string]: unknown }

function chunksFrom(part: UIPart, id: string): readonly Chunk[] {
  const { type, text, state, providerMetadata } = part
  if (isToolPart(part)) return toolChunks(part)
  if (type.startsWith('data-')) return [part]
  switch (type) {
    case 'step-start':
      return [{ type: 'start-step' }]
    case 'text':
    case 'reasoning':
      return [
        { type: `${type}-start`, id },
        { type: `${type}-delta`, id, delta: text },
        ...(state === 'streaming' ? [] : [{ type: `${type}-end`, id, ...given({ providerMetadata }) }]),
      ]
    case 'file':
    case 'reasoning-file':
    case 'custom':
    case 'source-url':
    case 'source-document':
    case 'steering-message':
      return [part]
    default:
      return []
  }
}

/**
 * A call in each of the states that it went through, as far as a client can tell them apart
 * afterwards.
 */
function toolChunks(part: UIPart): readonly Chunk[] {
  const { toolCallId, state, approval, input, rawInput, output, errorText, preliminary } = part
  const call = {
    toolCallId,
    toolName: toolNameOf(part),
    ...(part.type === 'dynamic-tool' && { dynamic: true }),
    ...given({
      providerExecuted: part.providerExecuted,
      title: part.title,
      toolMetadata: part.toolMetadata,
      providerMetadata: part.callProviderMetadata,
    }),
  }
  if (state === 'input-streaming')
    return [
      { type: 'tool-input-start', ...call },
      ...(typeof rawInput === 'string'
        ? [{ type: 'tool-input-delta', toolCallId, inputTextDelta: rawInput }]
        : []),
    ]
  const chunks: Chunk[] = [{ type: 'tool-input-available', ...call, ...given({ input }) }]
  const {
    id: approvalId,
    approved,
    reason,
  } = (approval ?? {}) as {
    readonly id?: string
    readonly approved?: boolean
    readonly reason?: string
  }
  if (approvalId !== undefined) chunks.push({ type: 'tool-approval-request', approvalId, toolCallId })
  if (approvalId !== undefined && approved !== undefined)
    chunks.push({ type: 'tool-approval-response', approvalId, approved, ...given({ reason }) })
  const result = { toolCallId, ...given({ providerMetadata: part.resultProviderMetadata }) }
  if (state === 'output-available')
    chunks.push({ type: 'tool-output-available', ...result, output, ...given({ preliminary }) })
  if (state === 'output-error') chunks.push({ type: 'tool-output-error', ...result, errorText })
  if (state === 'output-denied') chunks.push({ type: 'tool-output-denied', toolCallId })
  return chunks
}
