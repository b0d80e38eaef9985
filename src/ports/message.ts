/** Any JSON value. Numbers are finite; strings are well-formed UTF-16 (no lone surrogates). */
export type Json = null | boolean | number | string | JsonArray | JsonObject

/**
 * Interfaces, not aliases: mapped types, such as those of Workers RPC, go through them without end.
 */
export interface JsonArray extends ReadonlyArray<Json> {}

export interface JsonObject {
  readonly [key: string]: Json
}

export type Role = 'system' | 'user' | 'assistant' | 'tool'

/**
 * Where a text came from, from most to least trusted. A label only ever falls: what is derived
 * takes the lowest of its sources, and nothing below `user` is shown as instructions.
 */
export type Trust = 'system' | 'user' | 'assistant' | 'import' | 'tool' | 'web'

export interface TextPart {
  readonly type: 'text'
  readonly text: string
}

/**
 * A model's reasoning. Shown again only with its `signature`: providers refuse what they did not
 * sign.
 */
export interface ReasoningPart {
  readonly type: 'reasoning'
  readonly text: string
  readonly signature?: string
}

export interface ToolCallPart {
  readonly type: 'tool-call'
  /**
   * The id that the model gave. Providers and recordings reuse ids; rendered ids are made from the
   * entry's.
   */
  readonly id: string
  readonly name: string
  readonly input: Json
}

export interface ToolResultPart {
  readonly type: 'tool-result'
  /** The `id` of the {@link ToolCallPart} that this answers. */
  readonly callId: string
  readonly output: Json
  readonly isError?: boolean
}

/** A picture, sound or file, by reference: bytes never travel inside a message. */
export interface MediaPart {
  readonly type: 'media'
  /** For example `image/png`. */
  readonly mediaType: string
  /** Of its file, for readers and for models that get no bytes. At most 256 bytes of UTF-8. */
  readonly name?: string
  /** Id of a stored attachment. */
  readonly ref?: string
  readonly url?: string
  /** What the provider charges for it, in tokens. Default 1 600. */
  readonly tokens?: number
}

/**
 * Something that only its provider understands; kept and sent back untouched, to that provider
 * alone.
 */
export interface OpaquePart {
  readonly type: 'opaque'
  readonly provider: 'openai' | 'anthropic' | (string & {})
  readonly value: Json
  /** What the provider charges for it, in tokens. Default: what its JSON counts. */
  readonly tokens?: number
}

export type Part = TextPart | ReasoningPart | ToolCallPart | ToolResultPart | MediaPart | OpaquePart

/** One message as it is stored. */
export interface Message {
  readonly id: string
  readonly role: Role
  readonly content: string | readonly Part[]
  /** Unix milliseconds (UTC), for display only; never for order. */
  readonly createdAt: number
  readonly trust: Trust
  readonly name?: string
  /** At most 4 KiB of JSON. */
  readonly metadata?: { readonly [key: string]: Json }
}

/** One message as a session shows it to an app. */
export interface SessionMessage extends Message {
  /**
   * Whether the session's home has it, or this device alone. Absent: the session's store follows no
   * home.
   */
  readonly delivery?: 'local' | 'sent'
}

/**
 * One message as an app hands it over. `id` defaults to a fresh UUIDv7, `createdAt` to the clock,
 * and `trust` to what the role allows (system, user, assistant, tool); a given `trust` may be lower
 * than that, never higher. Other fields are refused, as those of another library would be lost;
 * `delivery`, of a message that was read, is not kept.
 */
export interface MessageInput {
  readonly id?: string
  readonly role: Role
  readonly content: string | readonly Part[]
  readonly createdAt?: number
  readonly trust?: Trust
  readonly name?: string
  readonly metadata?: { readonly [key: string]: Json }
}

/** A tool as the model sees it. */
export interface ToolSpec {
  readonly name: string
  readonly description?: string
  /** JSON Schema of the input, an object at the top. */
  readonly inputSchema: { readonly [key: string]: Json }
}
