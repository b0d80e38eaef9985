/** What commands and configurations are made of, as plain JSON. */
import type { Json, JsonObject } from './json.ts'

export interface MessageJson {
  readonly id?: string
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly content: string | readonly JsonObject[]
  readonly createdAt?: number
  readonly trust?: string
  readonly name?: string
  readonly metadata?: JsonObject
}

export interface FactJson {
  readonly kind: string
  readonly text: string
  readonly [option: string]: Json
}

export interface LimitsJson {
  readonly window?: { readonly max?: JsonObject; readonly keep?: JsonObject }
  readonly toolOutput?: { readonly first?: number; readonly old?: number }
}

export interface ToolJson {
  readonly name: string
  readonly description?: string
  readonly inputSchema: JsonObject
}

/** Options of a context. */
export interface ContextJson {
  readonly tools?: readonly ToolJson[]
  readonly tail?: string | readonly { readonly name: string; readonly text: string }[]
  readonly recall?: string | true
  readonly preview?: boolean
  readonly onPending?: 'reject' | 'abandon'
  readonly newEpoch?: boolean
  readonly limits?: LimitsJson
}
