import { isRecord } from '../ports/is-record.ts'
import { isEpochCause } from './causes.ts'
import type { Epoch } from './policy.ts'
import type { Request } from './request.ts'
import { PROVIDERS, type Provider } from './transcript.ts'

/** A line of a file of requests: what `replay --requests` writes, or a bare request. */
export interface RequestLine {
  readonly conversation?: string
  readonly call?: number
  readonly provider?: Provider
  /** Tokens, as they were counted when the line was written. */
  readonly used?: number
  /** The line, in tokens. */
  readonly cap?: number
  readonly epoch?: Epoch
  readonly request: Request
}

/** Throws an error that says what is wrong with the line. */
export function readRequest(line: string): RequestLine {
  const read: unknown = JSON.parse(line)
  if (!isRecord(read)) throw new Error('not a JSON object')
  const request = read.request ?? read
  if (!isRecord(request) || !Array.isArray(request.messages) || request.messages.length === 0) {
    throw new Error('no request with "messages"')
  }
  const { conversation, call, used, cap } = read
  const provider = PROVIDERS.find((name) => name === read.provider)
  const epoch = epochIn(read.epoch)
  return {
    ...(typeof conversation === 'string' && { conversation }),
    ...(typeof call === 'number' && { call }),
    ...(provider && { provider }),
    ...(typeof used === 'number' && { used }),
    ...(typeof cap === 'number' && { cap }),
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
