/**
 * As much of JSON-RPC and of the Model Context Protocol as a server of tools, resources and prompts
 * needs. Of its own, so that it serves whatever SDK there is, and none.
 */
import { isRecord } from '../../ports/is-record.ts'
import type { Json } from '../../ports/message.ts'

/** Versions that are spoken, the newest first. */
export const VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'] as const

/** Numbers of JSON-RPC's errors, and of the protocol's. */
export const ERRORS = {
  parse: -32_700,
  request: -32_600,
  method: -32_601,
  params: -32_602,
  internal: -32_603,
  resource: -32_002,
} as const

/** A failure that a client is told. */
export class McpError extends Error {
  override readonly name = 'McpError'
  readonly code: number
  readonly data: Json | undefined

  constructor(code: number, reason: string, data?: Json) {
    super(`MCP error ${code}: ${reason}`)
    this.code = code
    this.data = data
  }
}

type Fields = { readonly [field: string]: unknown }

export interface McpRequest extends Fields {
  readonly id: string | number
  readonly method: string
  readonly params?: Fields
}

export interface McpResponse {
  readonly jsonrpc: '2.0'
  readonly id: string | number
  readonly result?: object
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Json }
}

/** As much of a transport of an SDK as is used. */
export interface McpTransport {
  onclose?: (() => void) | undefined
  onmessage?: ((message: never, extra?: never) => void) | undefined
  start(): Promise<void>
  send(message: object): Promise<void>
  close(): Promise<void>
}

/** What a server introduces itself as. */
export interface McpInfo {
  readonly name: string
  readonly version: string
  readonly title?: string
  readonly [field: string]: unknown
}

/** Whether it is a request, a notification or a response. */
export function isMessage(value: unknown): value is Fields {
  if (!isRecord(value) || value.jsonrpc !== '2.0') return false
  const { id, method, params, result, error } = value
  if (method !== undefined)
    return (
      typeof method === 'string' &&
      (id === undefined || isRequestId(id)) &&
      (params === undefined || isRecord(params))
    )
  const isFailure = isRecord(error) && Number.isSafeInteger(error.code) && typeof error.message === 'string'
  return isFailure ? id === undefined || isRequestId(id) : isRequestId(id) && isRecord(result)
}

export function isRequest(message: unknown): message is McpRequest {
  return isMessage(message) && message.method !== undefined && message.id !== undefined
}

function isRequestId(id: unknown): id is string | number {
  return typeof id === 'string' || Number.isSafeInteger(id)
}
