/** What a page gives the widget, and what the widget needs of the platform. */
import type { AgentTool } from '../agent/options.ts'
import type { Budget } from '../ports/context.ts'
import type { Message } from '../ports/message.ts'
import type { Model } from '../ports/model.ts'
import type { Problem, ShownCall } from './ports.ts'

/** A message as simple models know it. */
export interface PlainMessage {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string
}

/**
 * Contract: gives the reply to messages, whole or as it comes. The first one is the instructions,
 * the last one what was said.
 */
export type ReplyFunction = (
  messages: readonly PlainMessage[],
  options: { readonly signal: AbortSignal },
) => string | Promise<string> | AsyncIterable<string>

/** What a page may give as a model: one of the library's, or any function that answers. */
export type ChatModel = Model | ReplyFunction

/**
 * All but `src`, `synced`, `name`, `budget` and `platform` are read at each use, so an object with
 * getters may change them.
 */
export interface ChatSettings {
  /**
   * Base URL of an edge; empty: where the page is from. Default: none, all is kept in this browser.
   */
  readonly src?: string | undefined
  /**
   * Whether this browser keeps the edge's sessions, too: they can be read, found and gone on with
   * without a network, and what is said is sent when there is one. Default `false`: what waits to
   * be sent is kept, and all else is at the edge. Without `src` it is refused.
   */
  readonly synced?: boolean | undefined
  /**
   * Token for the edge; given one that the edge refused, a fresh one. Default: a guest's, asked of
   * the edge and kept.
   */
  readonly getToken?: ((refused?: string) => string | Promise<string>) | undefined
  /** With it the names of databases and keys begin. Default `plimsoll-chat`. */
  readonly name?: string | undefined
  /** Answers local sessions. */
  readonly model?: ChatModel | undefined
  /** Instructions of local sessions. */
  readonly system?: string | undefined
  /** Tools of local sessions, run in the page. */
  readonly tools?: readonly AgentTool[] | undefined
  /** Whether the model of local sessions may remember and recall. Default `true`. */
  readonly memoryTools?: boolean | undefined
  /**
   * Contract: what the page shows, as text, for the end of each request of local sessions; empty:
   * nothing.
   */
  readonly pageContext?: (() => string | Promise<string>) | undefined
  /** Of local sessions. Default 16 000 tokens, of which 2 000 are for the reply. */
  readonly budget?: Budget | undefined
  readonly platform?: Partial<ChatPlatform> | undefined
}

/** As much of `localStorage` as is used here. */
export interface ChatStorage {
  getItem(key: string): string | null
  setItem(key: string, value: string): void
  removeItem(key: string): void
}

/** As much of `navigator.locks` as is used here. */
export interface ChatLocks {
  request<Value>(
    name: string,
    options: { readonly ifAvailable?: boolean; readonly signal?: AbortSignal },
    run: (lock: object | null) => Promise<Value>,
  ): Promise<Value>
}

export interface Network {
  isOnline(): boolean
  /** Calls the listener when that changes. @returns what ends it */
  subscribe(listener: () => void): () => void
}

/** What the widget needs of the platform; each can be given, for tests. */
export interface ChatPlatform {
  /** For who the guest is. Default `localStorage`, else memory. */
  readonly storage: ChatStorage
  /** Calls the listener when another tab removes a key of the storage. @returns what ends it */
  readonly onForgotten: (key: string, listener: () => void) => () => void
  /** Default `navigator.locks`, else locks within this page alone. */
  readonly locks: ChatLocks
  readonly network: Network
  /** Default the page's; `undefined`: all is kept in memory. */
  readonly indexedDB: IDBFactory | undefined
  readonly IDBKeyRange: typeof globalThis.IDBKeyRange | undefined
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
  readonly WebSocket: typeof globalThis.WebSocket | undefined
  readonly newId: () => string
  /** Unix milliseconds. */
  readonly now: () => number
  /** Contract: resolves after so many milliseconds, or when the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
}

/** What the element tells its page of. */
export type ChatEvent =
  /** A message is kept, said or answered. */
  | { readonly type: 'message'; readonly sessionId: string; readonly message: Message }
  /** A tool begins. */
  | { readonly type: 'tool-call'; readonly sessionId: string; readonly call: ShownCall }
  | { readonly type: 'error'; readonly sessionId: string | undefined; readonly problem: Problem }
