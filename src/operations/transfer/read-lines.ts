import { isPlimsollError, PlimsollError } from '../../ports/errors.ts'
import { utf8Length } from '../../ports/utf8-length.ts'
import { invalid, isPlainObject } from '../../text/json.ts'
import { MOST_LINE_BYTES, MOST_WHOLE_UNITS } from './format.ts'

/** A line as it was read: a JSON object of some type. */
export interface ReadLine {
  /** Its number from 1 on; of one that came in parts, that of the last of these. */
  readonly number: number
  /** Lines before it that are not empty. */
  readonly before: number
  readonly value: { readonly type: string; readonly [field: string]: unknown }
}

/** Where a value stands in the file, for messages of errors. */
export function placeOf(number: number, field?: string): string {
  return field === undefined ? `lines[${number}]` : `lines[${number}].${field}`
}

/** Says in which line an argument is that is refused. */
export async function inLine(number: number, run: () => Promise<void>): Promise<void> {
  try {
    await run()
  } catch (error) {
    if (!isPlimsollError(error) || error.argument === undefined || error.argument.startsWith('lines'))
      throw error
    const { code, message, size, limit, id } = error
    throw new PlimsollError(code, message, {
      cause: error,
      argument: `lines[${number}].${error.argument}`,
      ...(size !== undefined && { size }),
      ...(limit !== undefined && { limit }),
      ...(id !== undefined && { id }),
    })
  }
}

/**
 * The lines of a text that comes in chunks of any size, those in parts put together. Empty ones are
 * left out. Holds one line in memory.
 *
 * @throws ERR_INVALID_ARGUMENT (not JSON, no type, parts that do not follow one another),
 * ERR_ENTRY_TOO_LARGE (above 1 MiB, or all parts above 12 MiB)
 */
export async function* readLines(
  operation: string,
  chunks: AsyncIterable<string> | Iterable<string>,
): AsyncGenerator<ReadLine> {
  const parts: string[] = []
  let units = 0
  let number = 0
  let before = -1
  for await (const text of linesIn(operation, chunks)) {
    number++
    if (text.trim() === '') continue
    before++
    const value = parse(operation, number, text)
    if (value.type !== 'part') {
      if (parts.length > 0) throw invalid(operation, placeOf(number), 'must be the next part')
      yield { number, before, value }
      continue
    }
    const { n, of, text: part } = value
    if (typeof part !== 'string' || n !== parts.length + 1 || !Number.isSafeInteger(of) || (of as number) < n)
      throw invalid(operation, placeOf(number), 'is not the next part')
    parts.push(part)
    units += part.length
    if (units > MOST_WHOLE_UNITS) throw tooLarge(operation, number, units, MOST_WHOLE_UNITS)
    if (n < (of as number)) continue
    yield { number, before, value: parse(operation, number, parts.join('')) }
    parts.length = 0
    units = 0
  }
  if (parts.length > 0) throw invalid(operation, placeOf(number), 'is not the last part')
}

/** Lines without their ends; the last one need not have any. */
export async function* linesIn(
  operation: string,
  chunks: AsyncIterable<string> | Iterable<string>,
  limit = MOST_LINE_BYTES,
): AsyncGenerator<string> {
  const given: object = Object(chunks)
  if (!(Symbol.asyncIterator in given || Symbol.iterator in given))
    throw invalid(operation, 'lines', 'must be a text, or what gives one in chunks')
  let rest = ''
  let number = 1
  for await (const chunk of chunks) {
    if (typeof chunk !== 'string') throw invalid(operation, 'lines', 'must give strings')
    let at = 0
    for (let end = chunk.indexOf('\n'); end >= 0; end = chunk.indexOf('\n', at)) {
      const line = rest + chunk.slice(at, end)
      checkSize(operation, number++, line, limit)
      yield line
      rest = ''
      at = end + 1
    }
    rest += chunk.slice(at)
    if (rest.length > limit) throw tooLarge(operation, number, rest.length, limit)
  }
  if (rest === '') return
  checkSize(operation, number, rest, limit)
  yield rest
}

function parse(operation: string, number: number, text: string): ReadLine['value'] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new PlimsollError('ERR_INVALID_ARGUMENT', `${operation}: ${placeOf(number)} is not JSON`, {
      argument: placeOf(number),
      cause,
    })
  }
  if (!isPlainObject(value) || typeof value.type !== 'string')
    throw invalid(operation, placeOf(number), 'must be an object with a type')
  return value as ReadLine['value']
}

function checkSize(operation: string, number: number, line: string, limit: number): void {
  if (line.length * 3 < limit) return
  const size = utf8Length(line) + 1
  if (size > limit) throw tooLarge(operation, number, size, limit)
}

function tooLarge(operation: string, number: number, size: number, limit: number): PlimsollError {
  return new PlimsollError(
    'ERR_ENTRY_TOO_LARGE',
    `${operation}: ${placeOf(number)} is longer than a line may be`,
    { argument: placeOf(number), size, limit },
  )
}
