import type { Added } from '../homes/added.ts'
import type { Chat } from '../open-chat.ts'
import type { ConversationState, HomeKind, Problem, SessionEntry, SessionList } from '../ports.ts'
import type { PanelWords } from '../strings/panels/words.ts'
import type { Words } from '../strings/words.ts'

/** What the element tells its view, read at each drawing. */
export interface ViewSettings {
  readonly heading: string | undefined
  readonly placeholder: string | undefined
  /** Whether it can be hidden. */
  readonly isFloating: boolean
  readonly isDeveloper: boolean
  /** Whether there is an edge, so that a conversation may be kept there or here. */
  readonly hasEdge: boolean
  readonly isSynced: boolean
  /** Whether the id of a conversation comes from a link, so that there should be one. */
  readonly isLinked: boolean
  /** Whether the page has buttons of its own in the header. */
  readonly hasButtons: boolean
}

/** What covers or stands beside the messages. */
export type Side = 'sessions' | 'memory' | 'model' | 'seen'

/** What only the view knows. */
export interface Ui {
  readonly side?: Side | undefined
  /** Another number with each side that is opened or closed. */
  readonly openings: number
  /** Whether the menu of the header is open. */
  readonly isMore: boolean
  /**
   * Id of the message whose request the side `seen` shows: that which it was the newest of.
   * Undefined: the next one.
   */
  readonly sentFor?: string | undefined
  /** Id of the message that is being edited. */
  readonly editing?: string | undefined
  /** What is loaded after the view. */
  readonly later?: typeof import('./later.ts') | undefined
  /** A message that is to be forgotten, or was: the question, and what came of it. */
  readonly forgetting?: Forgetting | undefined
  /** Id of the message that was just copied. */
  readonly copied?: string | undefined
  readonly hasDraft: boolean
  /** Whether messages came that a reader above the end has not seen. */
  readonly hasNews?: boolean
  readonly query: string
  readonly found?: readonly FoundSession[] | undefined
  /** Key of the row in the list: its session is renamed, or may be deleted. */
  readonly renaming?: string | undefined
  readonly removing?: string | undefined
  /** Id of the message that a search was for, while it is marked. */
  readonly sought?: string | undefined
  /** What goes with the next message: files, and texts too long for the field. */
  readonly files: readonly File[]
  readonly pasted: readonly string[]
  /** Whether that is gone with the page. */
  readonly isUnkept: boolean
  /** Whether what stood in the field was removed, by a sign-out in this tab or another. */
  readonly isEmptied: boolean
  /** Whether what was to be sent was not, since another conversation was opened first. */
  readonly isLeft: boolean
  /** Ids of messages whose long text shows whole. */
  readonly whole: ReadonlySet<string>
  readonly problem?: Problem | undefined
  /** A problem of the conversation that was waved away. */
  readonly dismissed?: Problem | undefined
}

export interface Forgetting {
  /** Id of the message at which it shows. Undefined: none is left. */
  readonly at: string | undefined
  readonly view: (scene: PanelScene) => unknown
}

export type FoundSession = Awaited<ReturnType<SessionList['search']>>[number]

/** What the parts of the view share: what is shown, and what a click may do. */
export interface Scene {
  readonly words: Words
  readonly settings: ViewSettings
  readonly state: ConversationState
  readonly sessions: { readonly loaded: boolean; readonly sessions: readonly SessionEntry[] }
  readonly ui: Ui
  readonly chat: Chat
  /** Unix milliseconds. */
  readonly now: number
  update(change: Partial<Ui>): void
  /** Shows why it failed, if it does. */
  attempt(task: Promise<unknown>): void
  readonly act: Actions
}

/** What a panel is given that has words of its own. */
export type PanelScene = Omit<Scene, 'words'> & { readonly words: PanelWords }

/** What needs more of the view than its state. */
export interface Actions {
  /** Sends what stands in the composer. */
  send(): void
  /** Ends the reply. */
  stop(): void
  /** @param messageId of the message to show; default: the newest */
  openSession(sessionId: string, home: HomeKind, messageId?: string): void
  /** @param home default: that of the one that shows */
  newSession(home?: HomeKind): void
  hide(): void
  toEnd(): void
  /** Copies to the clipboard, and says so at the message. */
  copy(text: string, messageId: string): void
  show(side: Side | undefined): void
  /** Says it aloud. */
  say(text: string): void
  /** Shows a request: that which a message was the newest of, or the next one. */
  showSeen(messageId: string | undefined): void
  /** Shows a long message whole. */
  showAll(messageId: string): void
  /** Loads what is loaded after the view, if it is not there. */
  loadLater(): void
  /** Begins to edit a message. */
  edit(messageId: string): void
  /** Asks whether a message is to be forgotten. */
  forget(messageId: string): void
  /** Called when something was typed. */
  typed(): void
  /** Changes what goes with the next message. */
  add(change: Partial<Added>): void
  /** Adds files, without those that would be refused, and says why. */
  addFiles(files: readonly File[]): void
  /** Takes a text that was pasted, if it is too long for the field. @returns whether it did */
  paste(text: string): boolean
}
