import type { UIMessage } from 'ai'
import { EPOCH_ID } from '../../kernel/log/message.ts'
import { isRecord } from '../../ports/is-record.ts'
import type { MessageInput, OpaquePart, Part, ToolResultPart } from '../../ports/message.ts'
import { utf8Length } from '../../ports/utf8-length.ts'
import { hashText } from '../../text/hash.ts'
import { invalid } from '../../text/json.ts'
import { fromReasoning } from './from-model-messages.ts'
import { jsonOf, keep, noted, shallow } from './opaque.ts'
import { DENIED } from './outputs.ts'
import type { ProviderOptions } from './types.ts'
import { type Entry, type Fields, type Layout, withLayout } from './ui-layout.ts'
import { isToolPart, toolNameOf } from './ui-parts.ts'

/** A part of a UI message, as little of it as is read here. */
export type UIPart = Fields & { readonly type: string }

/**
 * UI messages as messages for a log, without loss: `toUIMessages` gives back deep-equal ones. A
 * message of an assistant becomes one message for each of its steps, each followed by the results
 * of its calls; the first has the id of the UI message, the others ids made from it. So repeating
 * an append of the same messages writes nothing.
 *
 * A call is a call of ours from the moment its input is there; it waits (`ERR_TOOL_PENDING` at
 * `context()`) until it has its output, its error, or a person's refusal. A preliminary output is
 * none. Signed reasoning, texts and files are parts of ours too. Opaque parts of provider `ai-sdk`
 * hold the rest that a model reads: calls that the provider ran itself, reasoning of other
 * providers than Anthropic, custom parts. What only a person sees (data parts, sources, states,
 * metadata) is kept in the message's metadata, up to 4 KiB, and beyond that in an opaque part,
 * except for a system message, which is refused then.
 *
 * Values are taken as JSON, as when they travel over HTTP: properties that are undefined are left
 * out.
 *
 * @throws ERR_INVALID_ARGUMENT: what is no UI message, or no JSON
 */
export function fromUIMessages(messages: readonly UIMessage[]): MessageInput[] {
  return uiMessagesIn('fromUIMessages', messages).flatMap(fromUIMessage)
}

/** UI messages as JSON. @throws ERR_INVALID_ARGUMENT: a client may send anything in their place */
export function uiMessagesIn(operation: string, messages: unknown): UIMessage[] {
  if (!Array.isArray(messages)) throw invalid(operation, 'messages', 'must be a list')
  return messages.map((given: unknown, index) => {
    const message = jsonOf(given)
    if (!isRecord(message) || typeof message.id !== 'string' || !isParts(message.parts))
      throw invalid(operation, `messages[${index}]`, 'must be a UI message, with an id and parts')
    return message as unknown as UIMessage
  })
}

function isParts(parts: unknown): boolean {
  return Array.isArray(parts) && parts.every((part) => isRecord(part) && typeof part.type === 'string')
}

/** The id under which a UI message begins in the log. */
export function logId(id: string): string {
  const fits = id !== '' && utf8Length(id) <= 256 && !id.startsWith(EPOCH_ID)
  return fits ? id : `ui/${hashText(id)}`
}

/** What a message of ours is made of. */
interface Piece {
  readonly role: MessageInput['role']
  readonly parts: Part[]
  readonly entries?: Entry[]
  readonly steering?: string
}

function fromUIMessage({ id, role, metadata, parts }: UIMessage): MessageInput[] {
  const all = parts as unknown as readonly UIPart[]
  const first = logId(id)
  const pieces = role === 'assistant' ? fromSteps(all) : [fromParts(role, all)]
  return pieces.map(({ role: own, parts: content, entries, steering }, index) => {
    const layout: Layout = {
      ...(index > 0 && { of: first }),
      ...(index === 0 && first !== id && { id }),
      ...(index === 0 && metadata !== undefined && { metadata: jsonOf(metadata) }),
      ...(entries && { entries }),
      ...(steering !== undefined && { steering }),
    }
    const ownId = index === 0 ? first : `ui/${hashText(JSON.stringify([id, index]))}`
    return withLayout({ id: ownId, role: own, content: '' }, content, layout)
  })
}

function fromSteps(parts: readonly UIPart[]): Piece[] {
  const pieces: Piece[] = []
  let step: UIPart[] = []
  const close = (): void => {
    if (step.length > 0 || pieces.length === 0) pieces.push(...fromStep(step))
    step = []
  }
  for (const part of parts) {
    if (part.type === 'step-start' && step.length > 0) close()
    if (part.type === 'steering-message' && Array.isArray(part.parts)) {
      close()
      const steering = fromParts('user', part.parts as UIPart[])
      pieces.push({ ...steering, steering: String(part.id) })
    } else step.push(part)
  }
  if (step.length > 0 || pieces.length === 0) close()
  return pieces
}

/** A step: what the model said, and the results of the calls in it, in their order. */
function fromStep(parts: readonly UIPart[]): Piece[] {
  const results = parts.flatMap((part) => (isCall(part) ? (resultOf(part) ?? []) : []))
  const said = fromParts('assistant', parts)
  return results.length > 0 ? [said, { role: 'tool', parts: results }] : [said]
}

function fromParts(role: UIMessage['role'], parts: readonly UIPart[]): Piece {
  const content: Part[] = []
  const entries = parts.map((part): Entry => {
    const { entry, own } = split(role, part)
    content.push(...own)
    return entry
  })
  return { role, parts: content, entries }
}

/** A part of a UI message as parts of ours, and what else there is to it. */
function split(
  role: UIMessage['role'],
  part: UIPart,
): { readonly entry: Entry; readonly own: readonly Part[] } {
  const { type, text, url, providerMetadata, ...fields } = part
  const options = providerMetadata as ProviderOptions | undefined
  const note = { ...(options !== undefined && { options }) }
  if (type === 'text' && typeof text === 'string' && !(role === 'system' && options)) {
    return { entry: { is: 'text', fields }, own: [...noted({ of: 'text', ...note }), { type, text }] }
  }
  if (
    type === 'file' &&
    role !== 'system' &&
    typeof url === 'string' &&
    typeof fields.mediaType === 'string'
  ) {
    const { mediaType, filename, providerReference, ...rest } = fields
    const named = typeof filename === 'string' && { filename }
    const reference = providerReference !== undefined && { reference: providerReference as never }
    return {
      entry: { is: 'media', fields: rest },
      own: [...noted({ of: 'media', ...named, ...reference, ...note }), { type: 'media', mediaType, url }],
    }
  }
  if (role === 'assistant' && type === 'reasoning' && typeof text === 'string') {
    const own = fromReasoning(text, options)
    if (own.at(-1)?.type === 'reasoning') return { entry: { is: 'reasoning', fields }, own }
    return { entry: { is: 'kept' }, own: [kept(part)] }
  }
  if (role === 'assistant' && isCall(part)) return call(part)
  const shown = type === 'custom' || type === 'reasoning-file' || part.providerExecuted === true
  if (role === 'assistant' && shown) return { entry: { is: 'kept' }, own: [kept(part)] }
  return { entry: { is: 'part', fields: part }, own: [] }
}

function kept(part: UIPart): OpaquePart {
  return keep({ type: 'ui', part: part as never })
}

/**
 * Whether a part is a call that this side runs, with an input that is whole, and a name and an id
 * that a log takes.
 */
export function isCall(part: UIPart): boolean {
  if (!isToolPart(part) || part.providerExecuted === true || part.state === 'input-streaming') return false
  const name = toolNameOf(part)
  const { toolCallId } = part
  return (
    name !== '' &&
    utf8Length(name) <= 256 &&
    typeof toolCallId === 'string' &&
    utf8Length(toolCallId) <= 1_024
  )
}

function call(part: UIPart): { readonly entry: Entry; readonly own: readonly Part[] } {
  const { type, toolCallId, toolName, input, output, errorText, callProviderMetadata, ...fields } = part
  const settled = resultOf(part) !== undefined
  const given = shallow(input !== undefined ? input : (part.rawInput ?? {}))
  const deep = [
    ...(input !== undefined && given.deep ? ['input'] : []),
    ...(output !== undefined && shallow(output).deep ? ['output'] : []),
  ]
  const none = [
    ...(input === undefined ? ['input'] : []),
    ...(settled && output === undefined ? ['output'] : []),
  ]
  const options = callProviderMetadata as ProviderOptions | undefined
  const id = String(toolCallId)
  // An output that is not the call's result stays with the call.
  const aside = settled
    ? { ...(errorText !== undefined && output !== undefined && { output }) }
    : { ...(output !== undefined && { output }), ...(errorText !== undefined && { errorText }) }
  return {
    entry: {
      is: 'tool-call',
      fields: { ...fields, ...aside },
      ...(type === 'dynamic-tool' && { dynamic: true }),
      ...(settled && { settled: true }),
      ...(deep.length > 0 && { deep }),
      ...(none.length > 0 && { none }),
    },
    own: [
      ...noted({ of: 'tool-call', ...(options && { id, options }) }),
      { type: 'tool-call', id, name: toolNameOf(part), input: given.value },
    ],
  }
}

/** The result of a call, where it is settled: as the SDK's own conversion tells a model of it. */
export function resultOf(part: UIPart): ToolResultPart | undefined {
  const { state, output, errorText, preliminary } = part
  const callId = String(part.toolCallId)
  const approval = part.approval as { readonly approved?: boolean; readonly reason?: string } | undefined
  const failed = (text: string): ToolResultPart => ({
    type: 'tool-result',
    callId,
    output: text,
    isError: true,
  })
  if (state === 'output-available' && preliminary !== true)
    return { type: 'tool-result', callId, output: shallow(output ?? null).value }
  if (state === 'output-error') return failed(typeof errorText === 'string' ? errorText : '')
  const denied = state === 'output-denied' || (state === 'approval-responded' && approval?.approved === false)
  return denied ? failed(approval?.reason ?? DENIED) : undefined
}
