import { type DiffOptions, type Pair, PROVIDERS, type Provider, UsageError } from './arguments.ts'
import { isEpochCause } from './causes.ts'
import type { Io } from './io.ts'
import type { Epoch } from './policy.ts'
import { pick, reportLine } from './recordings.ts'
import type { Request } from './request.ts'
import { isRecord } from './transcript.ts'

/** A line of a file of requests: what `replay --requests` writes, or a bare request. */
export interface RequestLine {
  readonly conversation?: string
  readonly call?: number
  readonly provider?: Provider
  /** Tokens, as they were counted when the line was written. */
  readonly used?: number
  readonly epoch?: Epoch
  readonly request: Request
}

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
 * The requests of those calls. Lines that cannot be read are reported and counted. Throws {@link UsageError}, which
 * names what there is.
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

/** Throws an error that says what is wrong with the line. */
function readRequest(line: string): RequestLine {
  const read: unknown = JSON.parse(line)
  if (!isRecord(read)) throw new Error('not a JSON object')
  const request = read.request ?? read
  if (!isRecord(request) || !Array.isArray(request.messages) || request.messages.length === 0) {
    throw new Error('no request with "messages"')
  }
  const { conversation, call, used } = read
  const provider = PROVIDERS.find((name) => name === read.provider)
  const epoch = epochIn(read.epoch)
  return {
    ...(typeof conversation === 'string' && { conversation }),
    ...(typeof call === 'number' && { call }),
    ...(provider && { provider }),
    ...(typeof used === 'number' && { used }),
    ...(epoch && { epoch }),
    request: request as unknown as Request,
  }
}

function epochIn(value: unknown): Epoch | undefined {
  if (!isRecord(value)) return undefined
  const { id, cause, place } = value
  return typeof id === 'string' && isEpochCause(cause) && typeof place === 'number'
    ? { id, cause, place }
    : undefined
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
