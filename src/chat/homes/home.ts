/** What a conversation needs of the place where sessions are kept and answered. */
import type { Branch } from '../../ports/branch.ts'
import type { Receipt } from '../../ports/context.ts'
import type { Message, MessageInput, SessionMessage, Trust } from '../../ports/message.ts'
import type { Attachment } from '../../ports/store.ts'
import type {
  ConversationState,
  HomeCertificate,
  HomeKind,
  HomeMemory,
  InspectedSession,
  Problem,
  ShownCall,
  Upload,
} from '../ports.ts'

export interface ListedSession {
  readonly sessionId: string
  readonly title: string
  /** Unix milliseconds. */
  readonly createdAt: number
}

export interface FoundSession {
  readonly sessionId: string
  readonly messageId: string
  readonly excerpt: string
}

export interface Home {
  readonly kind: HomeKind
  /** Whether what is read is in this browser: that it can be read says nothing of the network. */
  readonly isHere: boolean
  readonly takesUploads: boolean
  /** What answers, where that is known. */
  model(): ConversationState['model']
  session(sessionId: string): HomeSession
  /** All sessions, in no order. */
  list(): Promise<readonly ListedSession[]>
  /** @returns undefined: there is none */
  find(sessionId: string): Promise<ListedSession | undefined>
  rename(sessionId: string, title: string): Promise<void>
  delete(sessionId: string): Promise<HomeCertificate>
  /** Sessions in whose messages the words are found, best first. */
  search(query: string): Promise<readonly FoundSession[]>
  memory(): Promise<HomeMemory>
  /** How its store does, and when that changes. */
  storage(): ConversationState['storage']
  onStorage(listener: () => void): () => void
  /**
   * Goes on where its store was lost; what was opened of it is of no use then. Absent: it has none
   * that can be.
   */
  acceptLoss?(): Promise<void>
  close(): Promise<void>
}

/** A fact, as much as a chip shows of it. */
export interface RememberedFact {
  readonly id: string
  readonly text: string
  readonly trust: Trust
  readonly sources: readonly string[]
}

export interface AppendOptions {
  /** Id of a message that this is said in place of. */
  readonly replaces?: string | undefined
  /** Of the session, where this is its first message. */
  readonly title?: string
  /** Whom the page's tokens named when it was typed: it is not said by anybody else. */
  readonly by?: string | undefined
}

/** A message that is not among those of its session: it is to be sent, or was refused. */
export interface OutgoingMessage {
  readonly id: string
  readonly text: string
  /** Unix milliseconds. */
  readonly createdAt: number
  /** Why it was refused. Absent: it waits. */
  readonly problem?: Problem
}

/** Messages of a session that are kept beside it until its home has them. */
export interface Outgoing {
  /** In the order in which they were said; the same list until something changes. */
  list(): readonly OutgoingMessage[]
  subscribe(listener: () => void): () => void
  /** Sends a refused one again. */
  retry(id: string): Promise<void>
  drop(id: string): Promise<void>
}

export interface HomeSession {
  /** Absent: what is said is there at once, or not at all. */
  readonly outgoing?: Outgoing
  history(options: {
    readonly messages: number
    readonly before?: string
  }): Promise<readonly SessionMessage[]>
  branches(): Promise<readonly Branch[]>
  facts(): Promise<readonly RememberedFact[]>
  /**
   * Keeps bytes under an id, once, and gives the part that names them. Absent: it takes none.
   *
   * @throws ERR_UNSUPPORTED_MEDIA_TYPE: a picture is not of its type
   */
  readonly attach?: (upload: Upload, id: string) => Promise<MessageInput['content'][number]>
  /** What was kept under an id. Undefined: there is nothing, or no more. */
  attachment(id: string): Promise<Attachment | undefined>
  /**
   * Durable when it resolves; written again under the same id it is written once.
   *
   * @returns whether it is among the session's messages; else it is outgoing, and the home tells
   * when it was sent
   */
  append(message: MessageInput, options: AppendOptions): Promise<boolean>
  /** @returns the rewind's id */
  rewind(messageId: string): Promise<string>
  undo(rewind: string): Promise<void>
  switchTo(messageId: string): Promise<void>
  forget(id: string, kind: 'message' | 'fact'): Promise<HomeCertificate>
  /** Loads what the next message and its reply need, ahead of them. */
  prepare(): Promise<void>
  /**
   * Has the newest message answered, or goes on with a reply that was cut off; one at a time, also
   * among tabs. What came of a reply that was stopped is kept.
   */
  reply(options: ReplyOptions): Promise<void>
  /** Follows a reply that goes on already. @returns whether there was one */
  join(options: ReplyOptions): Promise<boolean>
  /**
   * Calls the listener when something may have changed, and `ended` where it will tell no more,
   * since there is no such session yet.
   */
  watch(listener: () => void, ended: () => void): () => void
  /** @returns undefined: what makes its requests does not know it yet */
  inspected(): Promise<InspectedSession | undefined>
  close(): Promise<void>
}

export interface ReplyOptions {
  /** Stops the reply. */
  readonly signal: AbortSignal
  /** Ends following it; the reply may go on. */
  readonly leave: AbortSignal
  /** Contract: takes in an event; the next one waits for it. */
  readonly tell: (event: ReplyEvent) => void | Promise<void>
}

export type ReplyEvent =
  /** A model call begins. */
  | { readonly type: 'step' }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  /** A call, as it stands now. */
  | { readonly type: 'call'; readonly call: ShownCall }
  /** Something of the reply was recorded. `message`, where it is at hand. */
  | { readonly type: 'recorded'; readonly message?: Message }
  | { readonly type: 'receipt'; readonly receipt: Receipt }
