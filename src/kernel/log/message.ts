import type { Message, Part, Trust } from '../../ports/message.ts'
import { parseBody } from '../../text/json.ts'

/**
 * What ids of epochs and of summaries begin with; they are made from their content, so messages
 * must not take them.
 */
export const EPOCH_ID = 'epoch/'
export const SUMMARY_ID = 'summary/'
/** What the keys of heads begin with. */
export const HEAD_KEY = 'head/'
/** What names of heads begin with. */
export const HEAD_NAME = `register:${HEAD_KEY}` as const
/** What the names begin with under which a session knows registers of its user's scope. */
export const SHARED = 'user:'
/** Largest entry, in bytes of its stored JSON. */
export const MAX_ENTRY_BYTES = 8 * 1024 * 1024
/** Largest metadata, in bytes of its JSON. */
export const MAX_METADATA_BYTES = 4 * 1024

/** From least to most trusted. */
export const TRUST: readonly Trust[] = ['web', 'tool', 'import', 'assistant', 'user', 'system']

/** The lower of two labels. */
export function lowerTrust(a: Trust, b: Trust): Trust {
  return TRUST.indexOf(a) < TRUST.indexOf(b) ? a : b
}

/** A message's stored body: all but its id, which the row has. */
export function sealMessage({ id: _, ...body }: Message): string {
  return JSON.stringify(body)
}

export function openMessage(id: string, body: string): Message {
  return { id, ...(parseBody(id, body) as Omit<Message, 'id'>) }
}

/** All text of a message, as a person would read it. */
export function textOf(message: Pick<Message, 'content'>): string {
  return partsOf(message).reduce((text, part) => (part.type === 'text' ? text + part.text : text), '')
}

/**
 * Stands for a user message with nothing in it that can be shown: leaving it out would change whose
 * turn it is.
 */
export const EMPTY_MESSAGE = '(empty message)'

/**
 * Whether a message holds nothing that providers take: no text but white space, no call, result,
 * picture or file.
 */
export function isBlank(message: Pick<Message, 'content'>): boolean {
  return partsOf(message).every((part) =>
    part.type === 'text' ? part.text.trim() === '' : part.type === 'reasoning',
  )
}

/** A message's content as parts. */
export function partsOf({ content }: Pick<Message, 'content'>): readonly Part[] {
  return typeof content === 'string' ? said(content) : content
}

/** A text as parts. */
export function said(text: string): readonly Part[] {
  return [{ type: 'text', text }]
}
