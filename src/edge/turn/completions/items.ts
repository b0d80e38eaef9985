/** Messages as they are compared: two items are the same where their keys are equal. */
import { asText } from '../../../kernel/count.ts'
import { checkMessage } from '../../../kernel/log/check-message.ts'
import { partsOf, textOf } from '../../../kernel/log/message.ts'
import type { Json, MediaPart, Message, MessageInput, Part, ToolCallPart } from '../../../ports/message.ts'
import { checkPicture } from '../../../ports/picture.ts'
import { fromOpenAIMessages, type OpenAIInputMessage } from '../../../render/openai-input.ts'
import { hashText } from '../../../text/hash.ts'
import { canonical, invalid } from '../../../text/json.ts'
import { type ConversationMessage, OPERATION } from './request.ts'

/** A picture with its bytes in it. */
type InlinePicture = MediaPart & { readonly url: string }

/** Where a message is only checked. */
const NO_HOST = { newId: () => 'none', now: () => 0 }

/** One message, or one of the results in one. */
export interface Item {
  readonly role: 'user' | 'assistant' | 'tool'
  /** Role and content in one normal form. */
  readonly key: string
  /** Ids of the calls that it makes, or of the one that it answers. */
  readonly calls: readonly string[]
}

export interface SentItem extends Item {
  /** Place in the request. */
  readonly index: number
  readonly input: MessageInput
}

export interface StoredItem extends Item {
  readonly message: Message
}

/**
 * What a client sent. Replies without text and calls are left out: they say nothing, and not every
 * client keeps them.
 *
 * @throws ERR_INVALID_ARGUMENT: a message could not be stored
 */
export function sentItems(
  messages: readonly { readonly message: ConversationMessage; readonly index: number }[],
): readonly SentItem[] {
  return messages.flatMap(({ message, index }) => {
    // Zod's types say `undefined` of fields that are absent.
    const [converted] = fromOpenAIMessages([named(message) as OpenAIInputMessage])
    // A client's word for what a model said.
    const input = {
      ...(converted as MessageInput),
      ...(message.role === 'assistant' && { trust: 'import' as const }),
    }
    checkMessage(OPERATION, `messages[${index}]`, input, NO_HOST)
    for (const part of partsOf(input)) if (isInline(part)) pictureBytes(part, index)
    return itemsIn(input).map((item) => ({ ...item, index, input }))
  })
}

/** Nobody is named `null`. */
function named(message: ConversationMessage): object {
  if (message.role === 'tool' || message.name) return message
  const { name: _, ...unnamed } = message
  return unnamed
}

/**
 * What is stored; instructions among it are left out, for a client does not know of them.
 *
 * @param pictures what pictures are compared by, by what they are attached under
 */
export function storedItems(
  messages: readonly Message[],
  pictures: ReadonlyMap<string, string> = new Map(),
): readonly StoredItem[] {
  return messages.flatMap((message) => itemsIn(message, pictures).map((item) => ({ ...item, message })))
}

/** What a picture is compared by. It is a hash of it, and no id: nothing stores it. */
export function pictureKey(mediaType: string, base64: string): string {
  return hashText(`${mediaType} ${base64}`)
}

/** Whether a part is a picture that a client sent with its bytes. */
export function isInline(part: Part): part is InlinePicture {
  return part.type === 'media' && /^data:/i.test(part.url ?? '')
}

/**
 * A picture's bytes.
 *
 * @param index place of its message in the request
 * @throws ERR_INVALID_ARGUMENT: it is not base64, or not of its type
 */
export function pictureBytes({ mediaType, url }: InlinePicture, index: number): Uint8Array<ArrayBuffer> {
  const argument = `messages[${index}].content`
  let characters: string
  try {
    characters = atob(url.slice(url.indexOf(',') + 1))
  } catch {
    throw invalid(OPERATION, argument, 'holds a picture that is not base64')
  }
  const bytes = Uint8Array.from(characters, (character) => character.charCodeAt(0))
  checkPicture(OPERATION, argument, mediaType, bytes)
  return bytes
}

/** What a client gets to know of a call's input. */
export function argumentsOf(input: Json): string {
  return typeof input === 'string' ? input : JSON.stringify(input)
}

function itemsIn(
  { role, content }: Pick<MessageInput, 'role' | 'content'>,
  pictures: ReadonlyMap<string, string> = new Map(),
): readonly Item[] {
  const parts: readonly Part[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  switch (role) {
    case 'system':
      return []
    case 'user':
      return [{ role, key: keyOf(role, userContent(parts, pictures)), calls: [] }]
    case 'assistant': {
      const made = parts.filter((part): part is ToolCallPart => part.type === 'tool-call')
      // Clients that show a reply often trim it.
      const text = textOf({ content }).trim()
      if (text === '' && made.length === 0) return []
      const shown = made.map(({ id, name, input }): Json => [id, name, reparsed(argumentsOf(input))])
      return [{ role, key: keyOf(role, [text, shown]), calls: made.map(({ id }) => id) }]
    }
    case 'tool':
      return parts.flatMap((part) =>
        part.type === 'tool-result'
          ? [{ role, key: keyOf(role, [part.callId, asText(part.output)]), calls: [part.callId] }]
          : [],
      )
  }
}

function keyOf(role: string, content: Json): string {
  return `${role} ${canonical(content)}`
}

/** Texts in one, and pictures by what they are. */
function userContent(parts: readonly Part[], pictures: ReadonlyMap<string, string>): Json {
  const shown = parts.filter((part): part is MediaPart => part.type === 'media')
  const named = (part: MediaPart): string => {
    const { ref, url = '', mediaType } = part
    if (ref !== undefined) return pictures.get(ref) ?? ref
    return isInline(part) ? pictureKey(mediaType, rewritten(url.slice(url.indexOf(',') + 1))) : url
  }
  return [textOf({ content: parts }), shown.map(named)]
}

/** Base64 as we would write it. */
function rewritten(text: string): string {
  try {
    return btoa(atob(text))
  } catch {
    return text
  }
}

/** Clients parse arguments and serialize them again. */
function reparsed(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}
