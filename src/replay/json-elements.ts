/** One element of a list, as text, and the line on which it begins, from 1. */
export interface JsonElement {
  readonly text: string
  readonly line: number
}

/**
 * The elements of a JSON list that comes in chunks of any size, as texts that are still to be
 * parsed: so a list of any length is read with one element in memory. What is no list, or has no
 * end, throws an error that names the line.
 */
export async function* elementsOf(
  chunks: AsyncIterable<string> | Iterable<string>,
): AsyncGenerator<JsonElement> {
  let state = 'before' as 'before' | 'inside' | 'after'
  let line = 1
  let depth = 0
  let quoted = false
  let escaped = false
  let begun = 0
  let parts: string[] = []
  for await (const chunk of chunks) {
    /** Where, in this chunk, what belongs to the element goes on. */
    let from = 0
    for (let at = 0; at < chunk.length; at++) {
      const unit = chunk.charCodeAt(at)
      if (unit === LINE) line++
      if (quoted) {
        if (escaped) escaped = false
        else if (unit === BACKSLASH) escaped = true
        else if (unit === QUOTE) quoted = false
        continue
      }
      if (unit === SPACE || unit === TAB || unit === LINE || unit === RETURN || unit === BYTE_ORDER) continue
      if (state === 'before') {
        if (unit !== OPEN_LIST) throw new Error(`line ${line}: is no list`)
        state = 'inside'
        from = at + 1
        begun = 0
        continue
      }
      if (state === 'after') throw new Error(`line ${line}: goes on after the end of the list`)
      const ends = depth === 0 && (unit === COMMA || unit === CLOSE_LIST)
      if (ends) {
        const text = parts.join('') + chunk.slice(from, at)
        if (begun > 0) yield { text, line: begun }
        else if (unit === COMMA) throw new Error(`line ${line}: nothing stands in front of a comma`)
        parts = []
        begun = 0
        from = at + 1
        if (unit === CLOSE_LIST) state = 'after'
        continue
      }
      if (begun === 0) begun = line
      if (unit === QUOTE) quoted = true
      else if (unit === OPEN_LIST || unit === OPEN_OBJECT) depth++
      else if (unit === CLOSE_LIST || unit === CLOSE_OBJECT) depth--
    }
    if (state === 'inside') parts.push(chunk.slice(from))
  }
  if (state !== 'after') throw new Error(`line ${line}: the file ends inside of its list`)
}

const SPACE = 0x20
const TAB = 0x09
const LINE = 0x0a
const RETURN = 0x0d
const BYTE_ORDER = 0xfeff
const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
