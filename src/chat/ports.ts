/**
 * What the widget's view is given: sessions, one conversation, and what is remembered. No DOM, no
 * storage, no network in here.
 */
import type { SessionClient } from '../client/session.ts'
import type { Certificate } from '../ports/certificate.ts'
import type { Receipt } from '../ports/context.ts'
import type { ErrorCode } from '../ports/errors.ts'
import type { SessionBase } from '../ports/memory.ts'
import type { Json, Message, ToolSpec, Trust } from '../ports/message.ts'
import type { Attachment } from '../ports/store.ts'

/** Where a session is kept and answered. Fixed when the session is created. */
export type HomeKind = 'local' | 'edge'

/** A list entry. */
export interface SessionEntry {
  readonly sessionId: string
  /** Empty until something was said. */
  readonly title: string
  readonly home: HomeKind
  /** Unix milliseconds. */
  readonly createdAt: number
}

/** A message on the screen. */
export interface ShownMessage {
  readonly message: Message
  /**
   * Its place among the versions of this place in the conversation, from 1, where there are
   * several.
   */
  readonly version?: { readonly index: number; readonly count: number }
  /**
   * `sent`: durable. `queued`: kept here, sent to its edge once there is a network. `failed`:
   * refused; `problem` says why, and it can be sent again or dropped.
   */
  readonly delivery: 'sent' | 'queued' | 'failed'
  readonly problem?: Problem
  /** What was remembered of it, with an undo. */
  readonly remembered: readonly RememberedChip[]
}

/** “Remembered: …”, with from whom it is. */
export interface RememberedChip {
  readonly factId: string
  /** Empty once it is forgotten. */
  readonly text: string
  readonly trust: Trust
  /**
   * Id of the message that says it: the user's, where one of its sources that show is. Absent:
   * another version of this message does.
   */
  readonly said?: string
  /** What came of its undo; without one it is kept. */
  readonly undo?: 'begun' | 'done'
}

/** A tool call, in a message or under way. */
export interface ShownCall {
  readonly callId: string
  readonly name: string
  readonly input: Json
  readonly status: 'waiting' | 'running' | 'ok' | 'failed'
  readonly output?: Json
}

/** The reply that is being made. */
export interface RunningReply {
  /** `waiting` until the first piece came. */
  readonly status: 'waiting' | 'streaming' | 'tools'
  /** Of the step under way; the steps before it are messages. */
  readonly text: string
  readonly reasoning: string
  readonly calls: readonly ShownCall[]
}

/** What went wrong, by its code; the view has the words. */
export interface Problem {
  readonly code: ErrorCode | 'ERR_OFFLINE'
  /** For developers: operation, subject, reason. */
  readonly message: string
  /** Whether the same can be tried again. */
  readonly retryable: boolean
  /** Of what, where one thing is meant: an id, or the names of files. */
  readonly id?: string | undefined
  /** Of other files, what is wrong with those. */
  readonly others?: readonly Problem[]
}

/** What a conversation shows. The same object until something changes. */
export interface ConversationState {
  readonly session: SessionEntry | undefined
  /** Whether the newest messages were read. */
  readonly loaded: boolean
  /**
   * Whether it was asked for by an id that no conversation has: one that was deleted, or is not
   * this person's. False for one that was begun in this browser. `deleted`: it was, while it
   * showed.
   */
  readonly isMissing: boolean | 'deleted'
  /**
   * A run of messages without gaps, newest last: the end of the conversation, and as much before it
   * as was asked for.
   */
  readonly messages: readonly ShownMessage[]
  /** Whether there are messages before these. */
  readonly hasOlder: boolean
  readonly reply: RunningReply | undefined
  readonly problem: Problem | undefined
  readonly online: boolean
  /**
   * Of the local store: `full`: nothing more can be written. `memory`: kept until the page is
   * closed only. `lost`: it was there, and is gone. `blocked`: a newer version of the page has
   * changed it. `away`: of an edge, which does not answer though there is a network.
   */
  readonly storage: 'ok' | 'full' | 'memory' | 'lost' | 'blocked' | 'away'
  /** Whether files can be sent with a message. */
  readonly takesUploads: boolean
  /** The account of the newest call, once there was one. */
  readonly receipt: Receipt | undefined
  /** Id of the model that answers, and whether it is the scripted demo. */
  readonly model: { readonly id: string; readonly isDemo: boolean } | undefined
}

/**
 * The session behind a conversation, for an inspector: what `sessionSource` of `plimsoll/inspector`
 * takes, or `clientSource`. Its contexts are those of the next reply, the tools included.
 */
export type Inspected = InspectedSession & {
  /** What the conversation is called; empty: it has no title. */
  readonly title: string
}

export type InspectedSession =
  | {
      readonly home: 'local'
      readonly session: SessionBase
      readonly tools: readonly ToolSpec[]
    }
  | {
      readonly home: 'edge'
      readonly session: Pick<SessionClient, 'sessionId' | 'messages' | 'context' | 'contextAt' | 'live'>
    }

/** What a home says of what it forgot. */
export type HomeCertificate = Certificate & {
  /**
   * Where the service did not know of it yet: whether it has done it. Resolves once it has, or once
   * the chat is closed.
   */
  readonly arrival?: Promise<boolean>
  /** Of a fact in the panel of all homes: where it was. */
  readonly home?: HomeKind
}

export interface SendOptions {
  readonly uploads?: readonly Upload[]
  /** Whom the page's tokens named when it was typed, where that is known. */
  readonly by?: string | undefined
  /** The session it is for: where another one shows, it is not said. Default: what shows. */
  readonly session?: Pick<SessionEntry, 'home' | 'sessionId'> | undefined
}

/** A file to send with a message. */
export interface Upload {
  readonly mediaType: string
  readonly bytes: Uint8Array
  readonly name: string
}

/**
 * One conversation after the other. Methods never reject for what the state can say: they resolve,
 * and `problem` tells. `subscribe` and `getSnapshot` are as React's `useSyncExternalStore` wants
 * them.
 */
export interface Conversation {
  subscribe(listener: () => void): () => void
  getSnapshot(): ConversationState
  /** Shows a session; a fresh one where there is none of that id. */
  open(sessionId: string, options?: { readonly home?: HomeKind }): Promise<void>
  /** Shows an empty session; it is kept from its first message on. @returns its id */
  create(options?: { readonly home?: HomeKind }): Promise<string>
  /**
   * Loads what the next message needs, ahead of it. Idempotent; what fails is tried again with the
   * message.
   */
  prepare(): void
  /**
   * Resolves once the message is kept, here, at its edge or in the outbox; the reply follows. It
   * is said in the conversation that shows when this is called, or in none.
   *
   * @returns false: it is not kept, `problem` says why, unless another conversation was opened
   * before or somebody signs in or out, and the text belongs back into the composer of who typed
   * it, who may not be the page's user any more
   */
  send(text: string, options?: SendOptions): Promise<boolean>
  /** Ends the reply; what came of it stays. Idempotent. */
  stop(): Promise<void>
  /**
   * Says another thing in the place of a user's message, with its files, and has it answered. The
   * old version stays: see `switchVersion`.
   *
   * @returns as {@link send}
   */
  edit(messageId: string, text: string): Promise<boolean>
  /** Has a reply made again: the newest, or that of an id. */
  regenerate(messageId?: string): Promise<void>
  /** Shows another version of that place, with all that followed it. */
  switchVersion(messageId: string, index: number): Promise<void>
  /** Sends what failed again, or goes on with a reply that was cut off. */
  retry(messageId?: string): Promise<void>
  /** Lets go of a message that was never sent. */
  drop(messageId: string): Promise<void>
  /** Forgets a fact that was remembered of this conversation; its chip says how far that is. */
  forget(factId: string): Promise<void>
  /**
   * Empties a message for good, with all that was derived from it.
   *
   * @returns undefined: no conversation shows
   * @throws as `HomeMemory`
   */
  forgetMessage(messageId: string): Promise<HomeCertificate | undefined>
  /**
   * The bytes of a file that a message names by its `ref`: from this browser, or from the service
   * where they are not here. Undefined: nobody has them.
   *
   * @throws ERR_OFFLINE and other PlimsollErrors: the service was not reached, or did not give them
   */
  attachment(ref: string): Promise<Attachment | undefined>
  /** Reads a page of older messages. Resolves at once where there are none. */
  showOlder(): Promise<void>
  /** Lets go of older pages, so that a long stay does not grow: the newest `messages` stay. */
  releaseOlder(messages: number): void
  /** The session that is shown; undefined: nothing was said in it yet. */
  inspected(): Promise<Inspected | undefined>
  close(): Promise<void>
}

/** The list of sessions of all homes. */
export interface SessionList {
  subscribe(listener: () => void): () => void
  getSnapshot(): { readonly loaded: boolean; readonly sessions: readonly SessionEntry[] }
  /**
   * Sessions in whose titles or messages the words are found, best first; of a session in whose
   * messages they are, the best of these.
   */
  search(
    query: string,
  ): Promise<readonly (SessionEntry & { readonly excerpt?: string; readonly messageId?: string })[]>
  /** @param options `home`: of which home, where two of one id are listed. Default: the newest */
  rename(sessionId: string, title: string, options?: { readonly home?: HomeKind }): Promise<void>
  /** What waits to be sent goes with it. @param options as of `rename` */
  delete(sessionId: string, options?: { readonly home?: HomeKind }): Promise<HomeCertificate>
}

/** A fact as the panel shows it. */
export interface MemoryFact {
  readonly id: string
  readonly kind: 'finding' | 'blocker' | 'correction' | 'preference' | 'constraint'
  readonly title: string
  readonly text: string
  readonly pinned: boolean
  /** 0 to 1. */
  readonly confidence: number
  readonly trust: Trust
  /** Unix milliseconds. */
  readonly createdAt: number
  readonly reviewAt: number
  /** Whether all sessions of the user share it. */
  readonly shared: boolean
  readonly sources: readonly string[]
}

export interface FactOrigin {
  readonly sessionId: string
  readonly messageId: string
}

/** What is remembered of one user in one home. Methods reject with a PlimsollError. */
export interface HomeMemory {
  facts(): Promise<readonly MemoryFact[]>
  edit(factId: string, change: { readonly text: string }): Promise<void>
  pin(factId: string, pinned: boolean): Promise<void>
  /** Takes it for the user's own word. */
  promote(factId: string): Promise<void>
  forget(factId: string): Promise<HomeCertificate>
  /**
   * Where the first message is from which a fact was taken. Undefined: its conversation or it is
   * gone.
   */
  origin(factId: string): Promise<FactOrigin | undefined>
  profile(): Promise<readonly { readonly name: string; readonly text: string }[]>
  setProfile(name: string, text: string): Promise<void>
  skills(): Promise<readonly { readonly name: string; readonly description: string; readonly text: string }[]>
  /** All that is kept of the user as JSON lines, as they come. */
  export(): AsyncIterable<string>
  /** @param chunks of an export, cut anywhere */
  import(chunks: AsyncIterable<string>): Promise<ImportCount>
  /** Removes everything. */
  eraseAll(): Promise<HomeCertificate>
}

/** What an import came to. */
export interface ImportCount {
  /** Those that were written. */
  readonly messages: number
  /** Those that show now and did not before: not what another one has replaced. */
  readonly facts: number
  /** Sessions that were not taken in: they have another log there, or were erased. */
  readonly refused: number
}

/** What is remembered of one user in all homes, for the panel. */
export interface MemoryPanelModel extends Omit<HomeMemory, 'facts' | 'export' | 'import' | 'origin'> {
  facts(options?: { readonly query?: string }): Promise<readonly MemoryFact[]>
  /** Where something is kept: each has an export of its own. */
  readonly homes: readonly HomeKind[]
  /** Where what is imported may be kept: the person says where. */
  readonly destinations: readonly HomeKind[]
  export(home: HomeKind): AsyncIterable<string>
  origin(factId: string): Promise<(FactOrigin & { readonly home: HomeKind }) | undefined>
  import(chunks: AsyncIterable<string>, home: HomeKind): Promise<ImportCount>
}
