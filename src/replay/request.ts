import type { Context } from '../ports/context.ts'
import { isRecord } from '../ports/is-record.ts'
import { utf8Length } from '../ports/utf8-length.ts'
import { toAnthropic } from '../render/anthropic.ts'
import { commonLength } from '../render/common-length.ts'
import { lintRequest } from '../render/lint.ts'
import { toOpenAI } from '../render/openai.ts'
import type { Provider } from './transcript.ts'

export type Request = ReturnType<typeof toOpenAI> | ReturnType<typeof toAnthropic>

export function render(context: Context, provider: Provider): Request {
  return provider === 'anthropic' ? toAnthropic(context) : toOpenAI(context)
}

export function lint(request: unknown, provider: Provider): ReturnType<typeof lintRequest> {
  return lintRequest(request as Parameters<typeof lintRequest>[0], provider)
}

/**
 * A stretch of a request in the order in which the provider reads it: what precedes the messages,
 * or one message.
 */
export interface Piece {
  readonly json: string
  readonly bytes: number
  /** What the model can quote: texts, arguments and results. */
  readonly text: string
}

/**
 * Cuts a request into pieces; those that stand at the same place in the `previous` request are
 * taken from there.
 */
export function piecesOf(request: Request, previous: readonly Piece[] = []): readonly Piece[] {
  const { messages, ...rest } = request as { messages: readonly unknown[]; system?: unknown; tools?: unknown }
  const head = [rest.tools ?? null, rest.system ?? null]
  return [head, ...messages].map((value, index) => {
    const json = unmarked(value)
    const before = previous[index]
    if (before?.json === json) return before
    return { json, bytes: utf8Length(json), text: spokenText(index === 0 ? rest.system : value) }
  })
}

/** JSON of a part of a request. Cache marks are advice to the provider, not input, and left out. */
export function unmarked(value: unknown): string {
  return JSON.stringify(value).replaceAll(CACHE_MARK, '')
}

/** A quote inside a JSON string is escaped, so only keys match. */
const CACHE_MARK =
  /,"(?:cache_control|prompt_cache_breakpoint)":\{[^}]*\}|"(?:cache_control|prompt_cache_breakpoint)":\{[^}]*\},/g

/** How many of the bytes of `next` are the beginning of `previous`. */
export function sharedBytes(previous: readonly Piece[], next: readonly Piece[]): number {
  let bytes = 0
  for (const [index, piece] of next.entries()) {
    const before = previous[index]
    if (before !== piece && before?.json !== piece.json) {
      const { json } = piece
      return bytes + utf8Length(json.slice(0, commonLength(json, before?.json ?? '')))
    }
    bytes += piece.bytes
  }
  return bytes
}

function spokenText(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(spokenText).join('\n')
  if (!isRecord(value)) return ''
  const { content, text, input, arguments: given, tool_calls: calls, function: called } = value
  const spoken = [content, text, calls, called, given].filter((part) => part !== undefined).map(spokenText)
  return (input === undefined ? spoken : [...spoken, JSON.stringify(input)]).join('\n')
}
