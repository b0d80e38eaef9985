/**
 * How a library's message is kept in a log: its texts as parts, and its shape, which is all of it
 * but the texts, in an opaque part before them; and how a context is shown to that library.
 */
import { EMPTY_MESSAGE, textOf as textOfMessage } from '../kernel/log/message.ts'
import type { Context } from '../ports/context.ts'
import { isRecord } from '../ports/is-record.ts'
import type { Json, JsonObject, OpaquePart, Part, Role } from '../ports/message.ts'
import { fenced } from '../text/fence.ts'

/** What a picture, a sound or a file is counted as, in tokens. */
const MEDIA_TOKENS = 1_600
const MEDIA = /(?:image|image_url|audio|video|file)$/u
/** Values that are nested deeper are kept as text; a log takes 32 levels. */
const MAX_DEPTH = 24

/** How one library says what a context holds. */
export interface Shower<Shown> {
  /** Text of the user. */
  readonly user: (text: string) => Shown
  /** A block that is no system text; empty where the library has nothing to say of it. */
  readonly block: (role: Role, parts: readonly Part[]) => readonly Shown[]
}

/** A context as a library's messages, in the order of its blocks. */
export interface ShownContext<Shown> {
  /** What instructs the model; undefined: nothing does. */
  readonly system: string | undefined
  readonly messages: Shown[]
}

/**
 * System text of the log, which instructs nobody, is fenced text of the user. A message of the user
 * says something even where all of it is left out: roles must take turns.
 */
export function shownContext<Shown>(context: Context, { user, block }: Shower<Shown>): ShownContext<Shown> {
  const system: string[] = []
  const messages: Shown[] = []
  for (const { section, role, parts } of context.blocks) {
    const text = textOfMessage({ content: parts })
    if (section === 'system') {
      if (text.trim() !== '') system.push(text)
    } else if (role === 'system') {
      if (text.trim() !== '') messages.push(user(fenced(context.fence, 'system', text)))
    } else {
      const shown = block(role, parts)
      messages.push(...(role === 'user' && shown.length === 0 ? [user(EMPTY_MESSAGE)] : shown))
    }
  }
  return { system: system.length > 0 ? system.join('\n\n') : undefined, messages }
}

/** The texts of a content: itself, or those of its parts. */
export function textsOf(content: Json | undefined): string[] {
  if (typeof content === 'string') return [content]
  return Array.isArray(content) ? content.flatMap((part: Json) => textOf(part) ?? []) : []
}

/** A content without its texts. */
export function emptied(content: Json): Json {
  return refilled(content, [])
}

/** A content with other texts, which are as many, or fewer where they are shown shorter. */
export function refilled(content: Json, texts: readonly string[]): Json {
  if (typeof content === 'string') return texts.join('')
  if (!Array.isArray(content)) return content
  const left = [...texts]
  return content.map((part: Json) =>
    isRecord(part) && textOf(part) !== undefined ? { ...part, text: left.shift() ?? '' } : part,
  )
}

/** Whether a content has nothing but blank texts. */
export function isBlankContent(content: Json | undefined): boolean {
  const isText =
    typeof content === 'string' || textsOf(content).length === (content as readonly Json[])?.length
  return isText && textsOf(content).every((text) => text.trim() === '')
}

/** What the parts of a content count beside its texts. */
export function tokensBeside(content: Json | undefined): number {
  if (!Array.isArray(content)) return 0
  return content.reduce((sum: number, part: Json) => {
    if (!isRecord(part) || textOf(part) !== undefined) return sum
    return sum + (MEDIA.test(String(part.type)) ? MEDIA_TOKENS : Math.ceil(JSON.stringify(part).length / 3))
  }, 0)
}

/** @param tokens default: what its JSON counts */
export function keepShape(provider: string, shape: JsonObject, tokens?: number): OpaquePart {
  return {
    type: 'opaque',
    provider,
    value: JSON.stringify(shape),
    ...(tokens !== undefined && { tokens }),
  }
}

/** The shape that a part keeps; undefined: it is none of this provider's. */
export function shapeIn(provider: string, part: Part): JsonObject | undefined {
  return part.type === 'opaque' && part.provider === provider ? shapeOf(part.value) : undefined
}

/** A shape that is kept as text, by whomever: undefined where it is none. */
export function shapeOf(text: Json | undefined): JsonObject | undefined {
  if (typeof text !== 'string') return undefined
  try {
    const shape = JSON.parse(text) as Json
    return isRecord(shape) ? shape : undefined
  } catch {
    return undefined
  }
}

export function without(object: JsonObject, field: string): JsonObject {
  const { [field]: _, ...rest } = object
  return rest
}

/** A value as a log takes it: as text where it is nested too deep. */
export function shallow(value: Json): Json {
  return depthOf(value) > MAX_DEPTH ? JSON.stringify(value) : value
}

function textOf(part: Json): string | undefined {
  return isRecord(part) && typeof part.text === 'string' ? part.text : undefined
}

/** Levels of lists and objects. */
function depthOf(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce((most: number, child: Json) => Math.max(most, 1 + depthOf(child)), 1)
}
