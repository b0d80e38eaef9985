import type { ModelMessage, SystemModelMessage } from 'ai'
import { EMPTY_MESSAGE, textOf } from '../../kernel/log/message.ts'
import type { Block, Context } from '../../ports/context.ts'
import { isRecord } from '../../ports/is-record.ts'
import type { MediaPart, Part, ToolCallPart } from '../../ports/message.ts'
import { callName, placeholder } from '../../render/parts.ts'
import { fenced } from '../../text/fence.ts'
import { checkOptions, copyOf } from '../../text/json.ts'
import { setMarks } from './cache.ts'
import { type Kept, keptIn, type Note } from './opaque.ts'
import { addressOf, toOutput } from './outputs.ts'
import type { AssistantPart, ProviderOptions, ResultPart, ToolPart, UserPart } from './types.ts'
import { modelPartsOf } from './ui-parts.ts'

/** What {@link toAISDK} gives: spread it into `streamText` or `generateText`. */
export interface AISDKRequest {
  /** The system text, a message for each block of it; absent where there is none. */
  instructions?: SystemModelMessage[]
  messages: ModelMessage[]
}

export interface ToAISDKOptions {
  /**
   * Whether to set `providerOptions.anthropic.cacheControl` at the borders of the sections, at most
   * four times; other providers do not read it. @default true
   */
  readonly cache?: boolean
}

/**
 * A context as messages of the AI SDK, block after block: more blocks only add messages at the end,
 * and the tail is the last of them. Tools are the app's to pass. A system message inside the log is
 * shown in its place as fenced user text, since the SDK refuses system messages among the others,
 * and Anthropic's provider those that others part.
 *
 * Left out: blank texts, reasoning that nothing follows in its message, and what a provider ran
 * without an end. A call that the provider knows by an id of its own keeps that id, unless an
 * earlier call has it; then it goes without what refers to it.
 *
 * @example
 * ```ts
 * import { generateText } from 'ai'
 * import { toAISDK } from 'plimsoll/ai-sdk'
 *
 * const { text } = await generateText({ model, ...toAISDK(await session.context()) })
 * ```
 */
export function toAISDK(context: Context, options: ToAISDKOptions = {}): AISDKRequest {
  checkOptions('toAISDK', 'options', options, ['cache'])
  const { cache = true } = options
  const instructions: SystemModelMessage[] = []
  const messages: ModelMessage[] = []
  const known: Known = {
    calls: new Map(),
    taken: new Set(),
    ran: new Set(),
    ended: new Set(),
    asked: new Set(),
  }
  let memoryEnd = -1
  /** Messages at the end that the next call may show in another way, or not at all. */
  let passing = 0
  for (const block of context.blocks) {
    if (block.section === 'system') {
      const content = textOf({ content: block.parts })
      if (content.trim() !== '') instructions.push({ role: 'system', content })
      continue
    }
    const rendered = renderBlock(block, context.fence, known)
    messages.push(...rendered)
    if (block.section === 'memory') memoryEnd = messages.length - 1
    if (block.section === 'tail') passing += rendered.length
  }
  if (cache) setMarks(instructions, messages, memoryEnd, passing)
  return { ...(instructions.length > 0 && { instructions }), messages }
}

/** What the blocks so far hold. */
interface Known {
  /** Names and shown ids of calls, by their ids in the blocks. */
  readonly calls: Map<string, { readonly id: string; readonly name: string }>
  /** Ids that are shown. */
  readonly taken: Set<string>
  /** Calls that the provider ran, and those of them that ended. */
  readonly ran: Set<string>
  readonly ended: Set<string>
  /**
   * Requests for approval of calls that are shown: an answer to any other is an orphan
   * (vercel/ai#16385).
   */
  readonly asked: Set<string>
}

/**
 * Contract: depends on the block and those before it, so a longer list of blocks only adds messages
 * at the end.
 */
function renderBlock(block: Block, fence: string, known: Known): ModelMessage[] {
  const { role, parts } = block
  switch (role) {
    case 'system': {
      const text = textOf({ content: parts })
      return text.trim() === '' ? [] : [{ role: 'user', content: fenced(fence, 'system', text) }]
    }
    case 'user':
      return renderUser(block)
    case 'assistant':
      return renderAssistant(parts, known)
    case 'tool': {
      const content = parts.flatMap((part): ResultPart[] => {
        if (part.type !== 'tool-result') return []
        const { id, name } = known.calls.get(part.callId) ?? { id: part.callId, name: 'unnamed' }
        return [{ type: 'tool-result', toolCallId: id, toolName: name, output: toOutput(part) }]
      })
      return content.length > 0 ? [{ role, content }] : []
    }
  }
}

function renderUser({ section, parts }: Block): ModelMessage[] {
  const content: UserPart[] = []
  for (const { part, note } of withNotes(parts)) {
    if (part.type === 'text' && part.text.trim() !== '')
      content.push({ type: 'text', text: part.text, ...optionsOf(note) })
    if (part.type === 'media') content.push(renderMedia(part, note))
  }
  if (content.length > 0) return [{ role: 'user', content }]
  // The tail is only for what there is to say.
  return section === 'tail' ? [] : [{ role: 'user', content: EMPTY_MESSAGE }]
}

function renderAssistant(parts: readonly Part[], known: Known): ModelMessage[] {
  const content: AssistantPart[] = []
  const answers: ToolPart[] = []
  const pieces = withNotes(parts)
  const asks = pieces.some(({ part }) => part.type === 'tool-call')
  const kept = pieces.map(({ part }) => keptModelParts(keptIn(part)))
  const answered = new Set(
    kept.flat().flatMap((part) => (part.type === 'tool-result' ? part.toolCallId : [])),
  )
  pieces.forEach(({ part, note }, index) => {
    if (part.type === 'text' && part.text.trim() !== '')
      content.push({ type: 'text', text: part.text, ...optionsOf(note) })
    if (part.type === 'reasoning' && part.signature) {
      const anthropic = { ...note?.options?.anthropic, signature: part.signature }
      content.push({ type: 'reasoning', text: part.text, providerOptions: { ...note?.options, anthropic } })
    }
    if (part.type === 'media') content.push(renderMedia(part, note))
    if (part.type === 'tool-call') content.push(renderCall(part, note, known))
    for (const own of kept[index] ?? []) {
      if (own.type === 'tool-approval-response') {
        if (known.asked.delete(own.approvalId)) answers.push(own)
      } else if (own.type === 'tool-approval-request') {
        if (known.ran.has(own.toolCallId)) known.asked.add(own.approvalId)
      } else if (own.type === 'tool-call') {
        // One that nothing came of: the reply was cut off, and no provider takes it back. A call
        // that it made may still be open, and then its own result is to come.
        const open = asks || kept.flat().some((other) => other.type === 'tool-approval-request')
        if (!(answered.has(own.toolCallId) || open) || known.taken.has(own.toolCallId)) continue
        known.taken.add(own.toolCallId)
        known.ran.add(own.toolCallId)
        content.push(own)
      } else if (own.type === 'tool-result') {
        if (!known.ran.has(own.toolCallId) || known.ended.has(own.toolCallId)) continue
        known.ended.add(own.toolCallId)
        content.push(own)
      } else content.push(own)
    }
  })
  const ended = withEnd(content)
  return [
    ...(ended.length > 0 ? [{ role: 'assistant' as const, content: ended }] : []),
    ...(answers.length > 0 ? [{ role: 'tool' as const, content: answers }] : []),
  ]
}

/**
 * Brings a message to an end that providers accept. Reasoning at the end is refused: Anthropic,
 * "The final block in an assistant message cannot be `thinking`"; OpenAI, "reasoning was provided
 * without its required following item" (vercel/ai#11036, #13430). Anthropic refuses what comes
 * after calls (vercel/ai#13013), so that goes before them. OpenAI's items keep their order: its
 * reasoning belongs to the item that follows.
 */
function withEnd(parts: AssistantPart[]): AssistantPart[] {
  const isCall = (index: number): boolean => {
    const part = parts[index]
    return part?.type === 'tool-call' && part.providerExecuted !== true
  }
  let ended = [...parts]
  if (!parts.some(isItem)) {
    let end = parts.length
    while (end > 0 && !isCall(end - 1)) end--
    let start = end
    while (start > 0 && isCall(start - 1)) start--
    ended = [...parts.slice(0, start), ...parts.slice(end), ...parts.slice(start, end)]
  }
  while (isReasoning(ended.at(-1))) ended.pop()
  return ended
}

const isReasoning = (part: AssistantPart | undefined): boolean =>
  part?.type === 'reasoning' || part?.type === 'reasoning-file'

/** Whether a part stands for an item that the provider keeps. */
function isItem(part: AssistantPart): boolean {
  const { providerOptions } = part as { readonly providerOptions?: ProviderOptions }
  return Object.values(providerOptions ?? {}).some((options) => options?.itemId !== undefined)
}

function renderCall({ id, name, input }: ToolCallPart, note: Note | undefined, known: Known): AssistantPart {
  const isFree = note?.id !== undefined && note.id !== '' && !known.taken.has(note.id)
  const shownId = isFree ? note.id : id
  const shownName = callName(name, 64)
  known.calls.set(id, { id: shownId, name: shownName })
  known.taken.add(shownId)
  const options = isFree ? withoutGoneCaller(note.options, known) : undefined
  return {
    type: 'tool-call',
    toolCallId: shownId,
    toolName: shownName,
    input: copyOf(isRecord(input) ? input : { input }),
    ...(options && { providerOptions: options }),
  }
}

/**
 * Anthropic refuses a call whose `caller` names a call that is not in the request
 * (vercel/ai#12504).
 */
function withoutGoneCaller(options: ProviderOptions | undefined, known: Known): ProviderOptions | undefined {
  const anthropic = options?.anthropic
  const caller = anthropic?.caller
  if (!isRecord(caller)) return options
  const { toolId } = caller
  if (typeof toolId !== 'string' || known.ran.has(toolId)) return options
  const { caller: _, ...rest } = anthropic ?? {}
  return { ...options, anthropic: rest }
}

function renderMedia(part: MediaPart, note: Note | undefined): UserPart & AssistantPart {
  const filename = note?.filename ?? part.name
  const file = {
    type: 'file' as const,
    mediaType: part.mediaType,
    ...(filename !== undefined && { filename }),
  }
  if (note?.reference) {
    return { ...file, data: { type: 'reference', reference: note.reference }, ...optionsOf(note) }
  }
  const { url } = part
  const inline = url === undefined ? undefined : /^data:[^,]*;base64,/i.exec(url)?.[0]
  if (url !== undefined && inline !== undefined) {
    return { ...file, data: { type: 'data', data: url.slice(inline.length) }, ...optionsOf(note) }
  }
  const address = url === undefined ? undefined : addressOf(url)
  return address
    ? { ...file, data: { type: 'url', url: address }, ...optionsOf(note) }
    : { type: 'text', text: placeholder(part) }
}

const optionsOf = (note: Note | undefined): { providerOptions?: ProviderOptions } =>
  note?.options ? { providerOptions: note.options } : {}

/** The parts that are shown, each with the note before it. */
function withNotes(parts: readonly Part[]): { readonly part: Part; readonly note: Note | undefined }[] {
  const pieces: { part: Part; note: Note | undefined }[] = []
  let note: Note | undefined
  for (const part of parts) {
    const kept = keptIn(part)
    if (kept?.type === 'note') {
      note = kept
      continue
    }
    pieces.push({ part, note: note?.of === part.type ? note : undefined })
    note = undefined
  }
  return pieces
}

function keptModelParts(kept: Kept | undefined): (AssistantPart | ToolPart)[] {
  if (kept?.type === 'ui') return modelPartsOf(kept.part)
  if (kept?.type !== 'model') return []
  const { part } = kept
  const address =
    isRecord(part.data) && part.data.type === 'url' ? addressOf(String(part.data.url)) : undefined
  return [{ ...part, ...(address && { data: { type: 'url', url: address } }) } as unknown as AssistantPart]
}
