/**
 * Parts of UI messages that have no part of ours, as the parts of a model message that the SDK
 * makes of them.
 */
import { isRecord } from '../../ports/is-record.ts'
import type { Json } from '../../ports/message.ts'
import { given, jsonOf } from './opaque.ts'
import { addressOf } from './outputs.ts'
import type { AssistantPart, ProviderOptions, ToolPart } from './types.ts'

type Fields = { readonly type: string; readonly [key: string]: Json | undefined }

/** As `convertToModelMessages` would; none for what only a person sees. */
export function modelPartsOf(part: Fields): (AssistantPart | ToolPart)[] {
  const options = part.providerMetadata as ProviderOptions | undefined
  const providerOptions = options && { providerOptions: options }
  switch (part.type) {
    case 'reasoning':
      return [{ type: 'reasoning', text: String(part.text), ...providerOptions }]
    case 'custom':
      return [{ type: 'custom', kind: part.kind as never, ...providerOptions }]
    case 'reasoning-file': {
      const url = addressOf(String(part.url))
      if (!url) return []
      const data = { type: 'url' as const, url }
      return [{ type: 'reasoning-file', data, mediaType: String(part.mediaType), ...providerOptions }]
    }
  }
  return part.providerExecuted === true && isToolPart(part) ? providerCall(part) : []
}

export const isToolPart = ({ type }: { readonly type: string }): boolean =>
  type === 'dynamic-tool' || type.startsWith('tool-')

export const toolNameOf = (part: Fields): string =>
  part.type === 'dynamic-tool' ? String(part.toolName) : part.type.slice('tool-'.length)

/**
 * A call that the provider ran, with its result, or with the answer of the person who was asked.
 */
function providerCall(part: Fields): (AssistantPart | ToolPart)[] {
  if (part.state === 'input-streaming') return []
  const toolCallId = String(part.toolCallId)
  const toolName = toolNameOf(part)
  const failed = part.state === 'output-error'
  const own = part.callProviderMetadata as ProviderOptions | undefined
  const results = part.resultProviderMetadata as ProviderOptions | undefined
  const callOptions = own ?? (failed ? results : undefined)
  const resultOptions = results ?? own
  const approval = isRecord(part.approval) ? part.approval : undefined
  const input = part.input ?? (failed ? part.rawInput : undefined) ?? {}
  const parts: (AssistantPart | ToolPart)[] = [
    {
      type: 'tool-call',
      toolCallId,
      toolName,
      input,
      providerExecuted: true,
      ...(callOptions && { providerOptions: callOptions }),
    },
  ]
  if (approval) {
    const approvalId = String(approval.id)
    parts.push({ type: 'tool-approval-request', approvalId, toolCallId })
    if (typeof approval.approved === 'boolean') {
      const { approved, reason } = approval
      parts.push({
        type: 'tool-approval-response',
        approvalId,
        approved,
        ...given({ reason: reason as string | undefined }),
        providerExecuted: true,
      })
    }
  }
  if (failed || part.state === 'output-available') {
    const { output = null } = part
    parts.push({
      type: 'tool-result',
      toolCallId,
      toolName,
      output: failed
        ? { type: 'error-json', value: jsonOf(part.errorText) as never }
        : typeof output === 'string'
          ? { type: 'text', value: output }
          : { type: 'json', value: output as never },
      ...(resultOptions && { providerOptions: resultOptions }),
    })
  }
  return parts
}
