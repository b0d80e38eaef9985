import { PlimsollError } from '../../ports/errors.ts'
import { joinedBytes } from '../../ports/joined-bytes.ts'
import { MAX_DEPTH } from '../../text/check-json.ts'

export const JSON_TYPE = 'application/json'
/** Largest body of a request, in bytes. */
export const MAX_BODY_BYTES = 1024 * 1024
/**
 * Levels of a body around a value of the app's, which may have 32 itself: list of messages,
 * message, parts, part.
 */
const LEVELS_AROUND = 8
/** Most keys of a body, over all of its objects. */
const MOST_KEYS = 20_000

export interface Body<Value> {
  readonly value: Value
  /** Its length as it came. */
  readonly bytes: number
  /** As it came. */
  readonly raw: Uint8Array
}

/**
 * The bytes of a body, counted by ourselves: what a header says of its length is only a claim.
 * @throws ERR_ENTRY_TOO_LARGE
 */
export async function readBytes(request: Request, limit = MAX_BODY_BYTES): Promise<Uint8Array> {
  checkEncoding(request)
  const claimed = request.headers.get('Content-Length')
  if (Number(claimed ?? 0) > limit) throw tooLarge(Number(claimed), limit)
  // HTTP lets no more through than a header says; a body without one may have any length.
  const bytes =
    claimed === null
      ? await readAtMost(request, limit)
      : new Uint8Array(await request.arrayBuffer().catch(brokenOff))
  if (bytes.length > limit) throw tooLarge(bytes.length, limit)
  return bytes
}

async function readAtMost(request: Request, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = request.body?.getReader()
  for (;;) {
    const { done, value } = (await reader?.read().catch(brokenOff)) ?? { done: true, value: undefined }
    if (done) return joinedBytes(chunks)
    size += value.length
    if (size > limit) {
      await reader?.cancel().catch(() => {})
      throw tooLarge(size, limit)
    }
    chunks.push(value)
  }
}

/** A body of text of any length, piece by piece. @throws ERR_INVALID_ARGUMENT (not UTF-8) */
export async function* readChunks(request: Request): AsyncGenerator<string, void, undefined> {
  checkEncoding(request)
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })
  const reader = request.body?.getReader()
  try {
    for (;;) {
      const { done, value } = (await reader?.read().catch(brokenOff)) ?? { done: true, value: undefined }
      yield decoded(decoder, value)
      if (done) return
    }
  } finally {
    // What is left of it is not read.
    await reader?.cancel().catch(() => {})
  }
}

/** A body of text. @throws ERR_ENTRY_TOO_LARGE, ERR_INVALID_ARGUMENT (not UTF-8) */
export async function readText(request: Request, limit = MAX_BODY_BYTES): Promise<Body<string>> {
  const bytes = await readBytes(request, limit)
  return { value: decode(bytes), bytes: bytes.length, raw: bytes }
}

/**
 * A body of JSON; an empty one is an empty object.
 *
 * @throws ERR_ENTRY_TOO_LARGE, ERR_UNSUPPORTED_MEDIA_TYPE, ERR_INVALID_ARGUMENT (not UTF-8, not
 * JSON, nested too deep, too many keys)
 */
export async function readJson(request: Request): Promise<Body<unknown>> {
  const { value: text, ...read } = await readText(request)
  if (text === '') return { value: {}, ...read }
  checkType(request, JSON_TYPE)
  // Before it is parsed: whatever walks through it later may recurse.
  checkShape(text, MAX_DEPTH + LEVELS_AROUND, MOST_KEYS)
  return { value: parse(text), ...read }
}

/**
 * A body of JSON whose reader parses it, and renames nothing in it.
 *
 * @throws ERR_ENTRY_TOO_LARGE, ERR_UNSUPPORTED_MEDIA_TYPE, ERR_INVALID_ARGUMENT (not UTF-8, nested
 * too deep)
 */
export async function readJsonText(request: Request, limit?: number): Promise<Body<string>> {
  checkType(request, JSON_TYPE)
  const body = await readText(request, limit)
  checkShape(body.value, MAX_DEPTH + 2 * LEVELS_AROUND, Number.POSITIVE_INFINITY)
  return body
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw invalid('it is not JSON', 'body', cause)
  }
}

function checkEncoding(request: Request): void {
  const encoding = request.headers.get('Content-Encoding')
  if (encoding === null || encoding === 'identity') return
  throw unsupported('its encoding is not supported', 'Content-Encoding')
}

/** Type of a body, without its parameters. */
export function typeOf(request: Request): string | undefined {
  return request.headers.get('Content-Type')?.split(';', 1)[0]?.trim().toLowerCase()
}

/** @throws ERR_UNSUPPORTED_MEDIA_TYPE */
export function checkType(request: Request, ...types: readonly string[]): void {
  if (!types.includes(typeOf(request) ?? ''))
    throw unsupported(`its type must be ${types.join(' or ')}`, 'Content-Type')
}

function unsupported(reason: string, argument: string): PlimsollError {
  return new PlimsollError('ERR_UNSUPPORTED_MEDIA_TYPE', `the body: ${reason}`, { argument })
}

/** Of texts that are there at once, each of which it ends. */
const wholes = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

function decode(bytes: Uint8Array): string {
  return decoded(wholes, bytes, false)
}

/** The next piece of a text; its end, where there are no bytes. */
function decoded(decoder: TextDecoder, bytes: Uint8Array | undefined, stream = bytes !== undefined): string {
  try {
    return decoder.decode(bytes, { stream })
  } catch (cause) {
    throw invalid('it is not UTF-8', 'body', cause)
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Counts levels and keys in one pass over the text, without recursion. */
function checkShape(text: string, levels: number, most: number): void {
  let depth = 0
  let keys = 0
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at)
        break
      case 0x7b: // {
      case 0x5b: // [
        if (++depth > levels) throw invalid('it is nested too deep', 'body')
        break
      case 0x7d: // }
      case 0x5d: // ]
        depth--
        break
      case 0x3a: // :
        if (++keys > most) throw invalid('it has too many keys', 'body')
        break
      default:
    }
  }
}

/** Place of the quote that ends a string, or the end of the text. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end > 0) {
    let slashes = 0
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++
    if (slashes % 2 === 0) return end
    end = text.indexOf('"', end + 1)
  }
  return text.length
}

function invalid(reason: string, argument: string, cause?: unknown): PlimsollError {
  return new PlimsollError('ERR_INVALID_ARGUMENT', `the body: ${reason}`, {
    argument,
    ...(cause !== undefined && { cause }),
  })
}

/** Its sender went away, or sent less than it said: no fault of the edge's. */
function brokenOff(cause: unknown): never {
  throw invalid('it ended too early', 'body', cause)
}

function tooLarge(size: number, limit: number): PlimsollError {
  return new PlimsollError('ERR_ENTRY_TOO_LARGE', `the body: more than ${limit} bytes`, { size, limit })
}
