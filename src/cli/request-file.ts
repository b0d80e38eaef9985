import { isRecord } from '../ports/is-record.ts'
import { type RequestLine, readRequest } from '../replay/request-line.ts'
import { type DiffOptions, type Pair, UsageError } from './arguments.ts'
import type { Io } from './io.ts'
import { pick, reportLine } from './recordings.ts'

/** Whether the first line that holds anything has a `request`; a line of a recording has none. */
export async function holdsRequests(file: string, io: Io): Promise<boolean> {
  for await (const line of io.lines(file)) {
    if (line.trim() === '') continue
    try {
      const read: unknown = JSON.parse(line)
      return isRecord(read) && read.request !== undefined
    } catch {
      return false
    }
  }
  return false
}

/** The requests in those lines, counted from 1. Throws {@link UsageError} where one is none. */
export async function requestsInLines(
  file: string,
  lines: Pair,
  io: Io,
): Promise<readonly [RequestLine, RequestLine]> {
  const found: RequestLine[] = []
  let number = 0
  for await (const line of io.lines(file)) {
    number++
    if (lines.includes(number)) found.push(readOrRefuse(line, `${file} line ${number}`))
    if (number === lines[1]) return found as unknown as readonly [RequestLine, RequestLine]
  }
  throw new UsageError(`no line ${lines[1]} in ${file}, which has ${number}`)
}

function readOrRefuse(line: string, name: string): RequestLine {
  try {
    return readRequest(line)
  } catch (error) {
    throw new UsageError(`${name}: ${(error as Error).message}`)
  }
}

export interface NamedRequests {
  readonly conversation: string
  readonly requests: readonly [RequestLine, RequestLine]
  readonly malformed: number
}

/**
 * The requests of those calls. Lines that cannot be read are reported and counted. Throws
 * {@link UsageError}, which names what there is.
 */
export async function requestsOfCalls(
  { file, conversation: id }: Pick<DiffOptions, 'file' | 'conversation'>,
  calls: Pair,
  io: Io,
): Promise<NamedRequests> {
  const report = reportLine(io)
  const found = new Map<string, Map<number, RequestLine | undefined>>()
  let malformed = 0
  let line = 0
  for await (const text of io.lines(file)) {
    line++
    if (text.trim() === '') continue
    try {
      const request = readRequest(text)
      const { conversation, call } = request
      if (conversation === undefined || call === undefined) continue
      const those = found.get(conversation) ?? new Map<number, RequestLine | undefined>()
      found.set(conversation, those)
      // Of all others only the number.
      if (!those.has(call)) those.set(call, calls.includes(call) ? request : undefined)
    } catch (error) {
      malformed++
      report({ file, line }, error)
    }
  }
  const ids = [...found.keys()]
  const [conversation, there] = pick(
    [...found].find(([name]) => name === (id ?? name)),
    { file, id, ids },
  )
  const requests = calls.map((call) => {
    const request = there.get(call)
    if (request) return request
    const numbers = ranges([...there.keys()])
    throw new UsageError(`no call ${call} of "${conversation}" in ${file}, which has ${numbers}`)
  })
  return { conversation, requests: requests as unknown as NamedRequests['requests'], malformed }
}

/** `0-5, 8, 10-12`. */
function ranges(numbers: readonly number[]): string {
  const parts: [number, number][] = []
  for (const number of numbers) {
    const last = parts.at(-1)
    if (last && number === last[1] + 1) last[1] = number
    else parts.push([number, number])
  }
  return parts.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(', ')
}
