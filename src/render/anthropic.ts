import { asText } from '../kernel/count.ts'
import { EMPTY_MESSAGE, textOf } from '../kernel/log/message.ts'
import type { Block, Context } from '../ports/context.ts'
import { PlimsollError } from '../ports/errors.ts'
import { isRecord } from '../ports/is-record.ts'
import type {
  Json,
  MediaPart,
  MessageInput,
  OpaquePart,
  Part,
  ToolCallPart,
  ToolResultPart,
} from '../ports/message.ts'
import { invalid } from '../ports/options.ts'
import { checkBoolean, checkList } from '../text/check-value.ts'
import { fenced } from '../text/fence.ts'
import { type Check, checkShape, optional } from '../text/fields.ts'
import { checkId, copyOf } from '../text/json.ts'
import { checkBuilt } from './check-built.ts'
import { noteFamily } from './family.ts'
import { callName, checkContent, contentOf, isPicture, type NoteOrigin, placeholder } from './parts.ts'

/** What {@link toAnthropic} gives: spread it into the parameters of `messages.create`. */
export interface AnthropicRequest {
  tools?: AnthropicTool[]
  system?: AnthropicText[]
  messages: AnthropicMessage[]
  diagnostics?: { previous_message_id: string | null }
}

export interface AnthropicMessage {
  role: 'user' | 'assistant'
  content: AnthropicBlock[]
}

export type AnthropicBlock =
  | AnthropicText
  | AnthropicImage
  | AnthropicToolUse
  | AnthropicToolResult
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'redacted_thinking'; data: string }

/** Marks the end of a prefix that the provider keeps for later requests. */
export interface CacheControl {
  type: 'ephemeral'
}

export interface AnthropicText {
  type: 'text'
  text: string
  cache_control?: CacheControl
}

export interface AnthropicImage {
  type: 'image'
  source: { type: 'url'; url: string } | { type: 'base64'; media_type: ImageType; data: string }
  cache_control?: CacheControl
}

export interface AnthropicToolUse {
  type: 'tool_use'
  id: string
  name: string
  input: unknown
  cache_control?: CacheControl
}

export interface AnthropicToolResult {
  type: 'tool_result'
  tool_use_id: string
  is_error?: true
  content?: AnthropicText[]
  cache_control?: CacheControl
}

export interface AnthropicTool {
  name: string
  description?: string
  input_schema: { type: 'object'; properties?: unknown; required?: string[] | null; [key: string]: unknown }
  cache_control?: CacheControl
}

type ImageType = 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp'

/**
 * A message in Anthropic's format, as little of it as is read here. The SDK's parameters and
 * replies are assignable.
 */
export interface AnthropicInputMessage {
  readonly role: string
  readonly content: string | readonly AnthropicInputBlock[]
}

export type AnthropicInputBlock =
  | { readonly type: string }
  | { readonly type: string; readonly [key: string]: unknown }

export interface AnthropicOptions {
  /** Whether to set `cache_control`, at most four times. @default true */
  readonly cache?: boolean
  /**
   * Id of the reply before, or `null` for the first one: asks why the cache missed what this
   * request shares with that one's, for {@link cacheReport}. Default: not asked.
   */
  readonly previousMessageId?: string | null
}

const checkReplyId: Check = (...of) => (of[2] === null ? null : checkId(...of))
const OPTIONS = { cache: optional(checkBoolean), previousMessageId: optional(checkReplyId) }

/** @throws ERR_INVALID_ARGUMENT */
export function checkAnthropic(operation: string, options: AnthropicOptions): AnthropicOptions {
  return checkShape(operation, 'options', options, OPTIONS)
}

/**
 * A context as a Messages request, block after block; the results of one step share a user message,
 * and the tail goes into the last of them. Its keys are in the order in which the provider reads
 * them. Left out: reasoning without a signature, blank texts, and what belongs to another provider.
 *
 * @example With a key of Anthropic:
 * ```ts
 * import Anthropic from '@anthropic-ai/sdk'
 * import { parseAnthropicReply, toAnthropic } from 'plimsoll'
 *
 * const request = toAnthropic(await session.context())
 * const model = 'claude-sonnet-4-5'
 * const reply = await new Anthropic().messages.create({ model, max_tokens: 1_000, ...request })
 * await session.append(parseAnthropicReply(reply))
 * ```
 */
export function toAnthropic(context: Context, options: AnthropicOptions = {}): AnthropicRequest {
  checkBuilt('toAnthropic', context)
  noteFamily(context, 'Anthropic', (family) => family.startsWith('claude'))
  return renderAnthropic(context, checkAnthropic('toAnthropic', options), () => {})
}

/** {@link toAnthropic}, telling `note` which block each message or part of one comes from. */
export function renderAnthropic(
  context: Context,
  { cache = true, previousMessageId }: AnthropicOptions,
  note: NoteOrigin,
): AnthropicRequest {
  const noted = <Piece extends object>(pieces: Piece[], block: Block): Piece[] => {
    for (const piece of pieces) note(piece, block)
    return pieces
  }
  const system: AnthropicText[] = []
  const messages: AnthropicMessage[] = []
  const tail: AnthropicText[] = []
  let tailBlock: Block | undefined
  /** The last message's content, as long as further results belong to it. */
  let results: AnthropicBlock[] | undefined
  let memoryEnd = -1
  /**
   * Blocks at the end that the next call may show in another way: results that may still come, the
   * tail's own.
   */
  let passing = 0
  for (const block of context.blocks) {
    if (block.section === 'system') system.push(...noted(texts(block.parts), block))
    else if (block.section === 'tail' && block.role === 'user') {
      tail.push(...noted(texts(block.parts), block))
      tailBlock ??= block
    } else if (block.role === 'tool') {
      const rendered = noted(block.parts.flatMap(renderResult), block)
      if (block.section === 'tail') passing += rendered.length
      if (results) results.push(...rendered)
      else if (rendered.length > 0) {
        results = rendered
        messages.push(...noted([{ role: 'user' as const, content: results }], block))
      }
    } else {
      results = undefined
      messages.push(...noted(renderBlock(block, context.fence), block))
    }
    if (block.section === 'memory') memoryEnd = messages.length - 1
  }
  const tools = context.tools?.map(renderTool) ?? []
  if (results && tail.length > 0) passing = Math.max(passing, 1)
  if (cache) setMarks(system, tools, messages, memoryEnd, passing)
  if (tailBlock && tail.length > 0) messages.push(...noted(closing(tail, results), tailBlock))
  return {
    ...(tools.length > 0 && { tools }),
    ...(system.length > 0 && { system }),
    messages,
    ...(previousMessageId !== undefined && { diagnostics: { previous_message_id: previousMessageId } }),
  }
}

/**
 * A reply as a message: what `messages.create` resolves to. Citations are left out.
 *
 * @throws ERR_INVALID_ARGUMENT for anything else, an error in place of a message among it
 */
export function parseAnthropicReply(message: AnthropicInputMessage): MessageInput {
  const { content } = Object(message) as Partial<AnthropicInputMessage>
  if (typeof content !== 'string' && !Array.isArray(content))
    throw invalid('parseAnthropicReply', 'message', 'must be what messages.create resolves to')
  return { role: 'assistant', content: fromContent(content) }
}

/**
 * A recorded conversation as messages. The results in a user message become a `tool` message, and
 * whatever else is in it a `user` message after that. Blocks that only Anthropic understands are
 * kept as opaque parts.
 *
 * @throws ERR_INVALID_ARGUMENT
 */
export function fromAnthropicMessages(
  messages: readonly AnthropicInputMessage[],
  system?: string | readonly AnthropicInputBlock[],
): MessageInput[] {
  checkList('fromAnthropicMessages', 'messages', messages)
  checkContent('fromAnthropicMessages', 'system', system ?? '')
  const first: MessageInput[] = system?.length ? [{ role: 'system', content: fromContent(system) }] : []
  return first.concat(messages.flatMap(fromMessage))
}

/**
 * Contract: depends on nothing but the block, so a longer list of blocks only adds messages at the
 * end.
 */
function renderBlock(block: Block, fence: string): AnthropicMessage[] {
  const { role, parts } = block
  if (role === 'assistant') {
    const content = withEnd(parts.flatMap(renderAssistantPart))
    return content.length > 0 ? [{ role, content }] : []
  }
  if (role === 'system') {
    const text = textOf({ content: parts })
    return text.trim() === '' ? [] : [{ role: 'user', content: [textBlock(fenced(fence, 'system', text))] }]
  }
  const content = parts.flatMap(renderUserPart)
  return [{ role: 'user', content: content.length > 0 ? content : [textBlock(EMPTY_MESSAGE)] }]
}

function renderAssistantPart(part: Part): AnthropicBlock[] {
  switch (part.type) {
    case 'reasoning': {
      const { text, signature } = part
      return signature ? [{ type: 'thinking', thinking: text, signature }] : []
    }
    case 'tool-call':
      return [renderCall(part)]
    case 'media':
      return [textBlock(placeholder(part))]
    case 'opaque':
      return renderOpaque(part)
    default:
      return texts([part])
  }
}

function renderUserPart(part: Part): AnthropicBlock[] {
  if (part.type === 'media') return [renderMedia(part)]
  if (part.type === 'opaque') return renderOpaque(part)
  return texts([part])
}

/**
 * Brings an assistant message to an end that the API accepts. It refuses reasoning there ("The
 * final block in an assistant message cannot be `thinking`"), and, at least with extended thinking
 * or its own tools, anything after a call ("tool_use ids were found without tool_result blocks
 * immediately after"): vercel/ai#13013, stacklok/mecatl#1465. So what follows the last call goes
 * before the calls that it follows; reasoning keeps its order.
 */
function withEnd(blocks: AnthropicBlock[]): AnthropicBlock[] {
  const isCall = (index: number): boolean => blocks[index]?.type === 'tool_use'
  let end = blocks.length
  while (end > 0 && !isCall(end - 1)) end--
  let start = end
  while (start > 0 && isCall(start - 1)) start--
  const ended = [...blocks.slice(0, start), ...blocks.slice(end), ...blocks.slice(start, end)]
  while (isReasoning(ended.at(-1))) ended.pop()
  return ended
}

const isReasoning = (block: AnthropicBlock | undefined): boolean =>
  block?.type === 'thinking' || block?.type === 'redacted_thinking'

const textBlock = (text: string): AnthropicText => ({ type: 'text', text })

/** The texts, without blank ones: "text content blocks must contain non-whitespace text". */
function texts(parts: readonly Part[]): AnthropicText[] {
  return parts.flatMap((part) =>
    part.type === 'text' && part.text.trim() !== '' ? [textBlock(part.text)] : [],
  )
}

function renderCall({ id, name, input }: ToolCallPart): AnthropicToolUse {
  const given = isRecord(input) ? input : { input }
  return { type: 'tool_use', id, name: callName(name, 128), input: copyOf(given) }
}

/** The content is always a list, so that a tail only adds to it. */
function renderResult(part: Part): AnthropicToolResult[] {
  if (part.type !== 'tool-result') return []
  const { callId, output, isError } = part
  const text = asText(output)
  return [
    {
      type: 'tool_result',
      tool_use_id: callId,
      ...(isError && { is_error: true }),
      ...(text.trim() !== '' && { content: [textBlock(text)] }),
    },
  ]
}

/** Schemes and types are written in any case (RFC 3986, section 3.1; RFC 2045, section 5.1). */
const INLINE_IMAGE = /^data:(image\/(?:jpeg|png|gif|webp));base64,/i

function renderMedia(part: MediaPart): AnthropicBlock {
  if (!isPicture(part)) return textBlock(placeholder(part))
  const { url } = part
  const [header, mediaType] = INLINE_IMAGE.exec(url) ?? []
  if (header !== undefined) {
    const data = url.slice(header.length)
    const type = mediaType?.toLowerCase() as ImageType
    return { type: 'image', source: { type: 'base64', media_type: type, data } }
  }
  return /^data:/i.test(url) ? textBlock(placeholder(part)) : { type: 'image', source: { type: 'url', url } }
}

/**
 * A copy of the block that {@link fromAnthropicMessages} kept. The union does not name all of
 * Anthropic's blocks, so it passes as one of them. Blocks that have parts of their own are refused,
 * as they would slip past pairing.
 */
function renderOpaque({ provider, value }: OpaquePart): AnthropicBlock[] {
  if (provider !== 'anthropic' || !isBlock(value) || OWN_PARTS.has(value.type)) return []
  return [copyOf(value) as unknown as AnthropicBlock]
}

const OWN_PARTS: ReadonlySet<string> = new Set(['text', 'thinking', 'tool_use', 'tool_result'])

function isBlock(value: Json): value is { readonly type: string } {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

function renderTool({
  name,
  description,
  inputSchema,
}: NonNullable<Context['tools']>[number]): AnthropicTool {
  return {
    name,
    ...(description !== undefined && { description }),
    input_schema: { ...copyOf(inputSchema), type: 'object' } as AnthropicTool['input_schema'],
  }
}

/**
 * The message that holds the tail; none after results, where it becomes part of the last one: a
 * text beside results teaches the model to expect the user there.
 */
function closing(tail: AnthropicText[], results: AnthropicBlock[] | undefined): AnthropicMessage[] {
  const last = results?.at(-1)
  if (last?.type !== 'tool_result') return [{ role: 'user', content: tail }]
  last.content = [...(last.content ?? []), ...tail]
  return []
}

/**
 * Sets at most four marks: after system and tools, after memory, where the previous call ended (so
 * that what it wrote is found however long the newest step is: the provider looks back 20 blocks),
 * and after all that stays, which is all but the tail. The result that will hold the tail gets
 * none, since a mark after the tail would be written for nothing and a mark inside a result is
 * refused ("cache_control is not supported at messages.N.content.M.content.K").
 */
function setMarks(
  system: AnthropicText[],
  tools: AnthropicTool[],
  messages: AnthropicMessage[],
  memoryEnd: number,
  passing: number,
): void {
  // The order of the prefix is tools, system, messages.
  const head = system.at(-1) ?? tools.at(-1)
  if (head) head.cache_control = { type: 'ephemeral' }
  setMark(messages, memoryEnd)
  setMark(messages, previousEnd(messages))
  setMark(messages, messages.length - 1, passing)
}

/**
 * Index of the message that the newest assistant message answered: the last one of the previous
 * call.
 */
function previousEnd(messages: readonly AnthropicMessage[]): number {
  let index = messages.length - 1
  while (index >= 0 && messages[index]?.role !== 'assistant') index--
  while (index >= 0 && messages[index]?.role !== 'user') index--
  return index
}

/**
 * Marks the last block that can carry a mark, of the message at `index` without its last `skip`
 * blocks, or before it.
 */
function setMark(messages: readonly AnthropicMessage[], index: number, skip = 0): void {
  const before = messages.slice(0, index + 1).flatMap(({ content }) => content)
  const marked = before
    .slice(0, before.length - skip)
    .reverse()
    .find(isMarkable)
  if (marked) marked.cache_control = { type: 'ephemeral' }
}

/** Reasoning and empty content cannot carry a mark; of opaque blocks nobody here knows. */
function isMarkable(
  block: AnthropicBlock,
): block is Extract<AnthropicBlock, { cache_control?: CacheControl }> {
  if (block.type === 'tool_result') return block.content !== undefined
  return block.type === 'text' || block.type === 'tool_use' || block.type === 'image'
}

function fromMessage(message: AnthropicInputMessage, index: number): MessageInput[] {
  const operation = 'fromAnthropicMessages'
  const { role, content } = Object(message) as AnthropicInputMessage
  const isUser = role === 'user'
  if (!isUser && role !== 'assistant' && role !== 'system') {
    throw new PlimsollError('ERR_INVALID_ARGUMENT', `${operation}: unknown role ${JSON.stringify(role)}`, {
      argument: `messages[${index}].role`,
    })
  }
  checkContent(operation, `messages[${index}].content`, content)
  if (!isUser || typeof content === 'string') return [{ role, content: fromContent(content) }]
  const results = content.filter((block) => block.type === 'tool_result')
  const others = content.filter((block) => block.type !== 'tool_result')
  const messages: MessageInput[] = []
  if (results.length > 0) messages.push({ role: 'tool', content: results.map(fromResult) })
  if (others.length > 0 || results.length === 0) messages.push({ role, content: fromContent(others) })
  return messages
}

function fromContent(content: AnthropicInputMessage['content']): MessageInput['content'] {
  return typeof content === 'string' ? content : contentOf(content.map(fromBlock))
}

type Fields = { readonly [key: string]: Json | undefined }

function fromBlock(block: AnthropicInputBlock): Part {
  const { cache_control: _, ...fields } = block as AnthropicInputBlock & Fields
  const { text, thinking, signature, id, name, input } = fields
  if (block.type === 'text' && typeof text === 'string') return { type: 'text', text }
  if (block.type === 'thinking' && typeof thinking === 'string') {
    return {
      type: 'reasoning',
      text: thinking,
      ...(typeof signature === 'string' && signature !== '' && { signature }),
    }
  }
  if (block.type === 'tool_use' && typeof id === 'string' && typeof name === 'string') {
    return { type: 'tool-call', id, name, input: input ?? {} }
  }
  if (block.type === 'image') {
    const { type, url, media_type: mediaType, data } = (fields.source ?? {}) as Fields
    if (type === 'url' && typeof url === 'string') return { type: 'media', mediaType: 'image/*', url }
    if (type === 'base64' && typeof mediaType === 'string' && typeof data === 'string') {
      return { type: 'media', mediaType, url: `data:${mediaType};base64,${data}` }
    }
  }
  return { type: 'opaque', provider: 'anthropic', value: fields as Json }
}

/**
 * Texts become one text, with a line break between them. A result with anything else in it is kept
 * as the list it is.
 */
function fromResult(block: AnthropicInputBlock): ToolResultPart {
  const { tool_use_id: callId, content = '', is_error: isError } = block as AnthropicInputBlock & Fields
  let output: Json = content
  if (Array.isArray(content)) {
    const blocks = (content as readonly Fields[]).map(({ cache_control: _, ...fields }) => fields)
    const onlyTexts = blocks.every(({ type, text }) => type === 'text' && typeof text === 'string')
    output = onlyTexts ? blocks.map(({ text }) => text).join('\n') : (blocks as Json)
  }
  return {
    type: 'tool-result',
    callId: String(callId),
    output,
    ...(typeof isError === 'boolean' && { isError }),
  }
}
