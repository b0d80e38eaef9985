/** What both renderers do alike. */
import type { Block } from '../ports/context.ts'
import type { MediaPart, MessageInput, Part } from '../ports/message.ts'
import { invalid } from '../ports/options.ts'

/**
 * Gets the block that a piece of a request comes from; `piece` is an object of the request, made
 * for that block alone.
 */
export type NoteOrigin = (piece: object, block: Block) => void

/** Whether a provider can be given the picture itself. */
export function isPicture(part: MediaPart): part is MediaPart & { readonly url: string } {
  return part.url !== undefined && part.mediaType.startsWith('image/')
}

/** What is shown of media that the provider cannot be given. */
export function placeholder({ mediaType, name, ref }: MediaPart): string {
  // Quoted: who named a file may have put anything into it.
  const named = name === undefined ? '' : ` ${JSON.stringify(name)}`
  return `[${mediaType} attachment${named}${ref === undefined ? '' : ` ${ref}`}]`
}

/**
 * The name of a call as providers accept it. Recordings hold names that no provider takes back
 * (`functions.bash`), and one of them would get every later request refused. Names of the tools
 * themselves are never changed.
 */
export function callName(name: string, maxLength: number): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, maxLength) || 'unnamed'
}

/** A text, or a list of parts in a provider's format. @throws ERR_INVALID_ARGUMENT */
export function checkContent(operation: string, argument: string, content: unknown): void {
  if (typeof content !== 'string' && !Array.isArray(content))
    throw invalid(operation, argument, 'must be a string or a list of parts')
}

/** A message's content in its shortest form: a string where the parts are one text, or none. */
export function contentOf(parts: readonly Part[]): MessageInput['content'] {
  const [first, second] = parts
  if (first === undefined) return ''
  return first.type === 'text' && second === undefined ? first.text : parts
}
