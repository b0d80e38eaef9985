/**
 * How the parts of a UI message lie in messages of ours: what is needed to put it together again,
 * beside what those hold.
 */

import { MAX_METADATA_BYTES } from '../../kernel/log/message.ts'
import { isRecord } from '../../ports/is-record.ts'
import type { Json, Message, MessageInput, Part } from '../../ports/message.ts'
import { utf8Length } from '../../ports/utf8-length.ts'
import { AI_SDK, keep, keptIn, parsed } from './opaque.ts'

/** A part of a UI message. What a part of ours holds is not in here. */
export type Entry =
  /** Goes with the next part of ours of that type. */
  | { readonly is: 'text' | 'reasoning' | 'media'; readonly fields: Fields }
  /** Goes with the next call, and with its result, where there is one. */
  | {
      readonly is: 'tool-call'
      readonly fields: Fields
      readonly dynamic?: true
      /** Whether the call had a result of its own when it was written. */
      readonly settled?: true
      /** Which of its values stand as text for being nested too deep, or stand for nothing. */
      readonly deep?: readonly string[]
      readonly none?: readonly string[]
    }
  /** Is the next opaque part. */
  | { readonly is: 'kept' }
  /** Is this. */
  | { readonly is: 'part'; readonly fields: Fields }

export type Fields = { readonly [key: string]: Json }

export interface Layout {
  /** Id of the message of ours that began the same UI message; absent in that one. */
  readonly of?: string
  /** Id of the UI message, where no message of ours can have it. */
  readonly id?: string
  /** Metadata of the UI message. */
  readonly metadata?: Json
  readonly entries?: readonly Entry[]
  /** Id of a user message inside of an assistant's. */
  readonly steering?: string
}

/** The message with its layout: in the metadata if that has room, else as its first part. */
export function withLayout(message: MessageInput, parts: readonly Part[], layout: Layout): MessageInput {
  const text = JSON.stringify(layout)
  const metadata = { [AI_SDK]: text }
  const { role } = message
  const fits = utf8Length(JSON.stringify(metadata)) <= MAX_METADATA_BYTES
  // Messages of these roles hold no opaque parts; the log refuses what is too much.
  if (fits || role === 'system' || role === 'tool') return { ...message, content: parts, metadata }
  return { ...message, content: [keep({ type: 'layout', layout: text }), ...parts] }
}

export function layoutOf({ metadata, content }: Pick<Message, 'metadata' | 'content'>): Layout | undefined {
  const noted = metadata?.[AI_SDK]
  const first = typeof content === 'string' ? undefined : content[0]
  const kept = first && keptIn(first)
  const text = typeof noted === 'string' ? noted : kept?.type === 'layout' ? kept.layout : undefined
  const layout = text === undefined ? undefined : parsed(text)
  return isRecord(layout) ? (layout as Layout) : undefined
}
