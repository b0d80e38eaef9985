import type { MessageInput } from '../../src/index.ts'

/** What the worker can be asked for: a request's body. */
export type RecallOrder =
  | {
      readonly ask: 'append'
      readonly sessionId: string
      readonly recalls: boolean
      /** Each in a call of its own. */
      readonly appends: readonly MessageInput[][]
    }
  | {
      readonly ask: 'rank'
      readonly sessionId: string
      readonly queries: readonly string[]
      readonly first: number
    }
  | { readonly ask: 'settle'; readonly sessionId: string }
  | { readonly ask: 'first'; readonly sessionId: string; readonly query: string }
