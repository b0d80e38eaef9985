import type { KernelUser } from '../kernel/feature.ts'
import { type Slot, slot } from '../kernel/slot.ts'
import type { Fact, FactInput, FactList, FactSums } from '../ports/fact.ts'
import type { IndexEntry } from '../ports/op.ts'
import type { Recalled, RecallOptions } from '../ports/recall.ts'
import type { SkillItem } from '../ports/start.ts'
import type { LogRow, Sum } from '../ports/store.ts'

/**
 * Asked by facts: who notes what a session keeps with its user, by durable work of its own that is
 * written in the transaction of each fact.
 */
export interface NotesFacts {
  /** Resolves when all that was written so far is noted, or is left to that work. */
  settle(): Promise<void>
  /** The same of the user's other sessions, as far as they answer soon. */
  gather(): Promise<void>
}
export const FactNoter: Slot<NotesFacts> = slot('plimsoll/fact-noter')

/** Asked by recall: what can be found beside messages. */
export interface SearchableFacts {
  /** Facts that hold here, those that show first. */
  read(): Promise<readonly Fact[]>
}
export const Searchable: Slot<SearchableFacts> = slot('plimsoll/searchable')

/** The same of a user, whatever the session. */
export const UserFactLists: Slot<(user: KernelUser) => Promise<readonly Fact[]>> = slot('plimsoll/user-facts')

/**
 * Asked by a session's start: facts of the session and of its user, in strict order, and how many
 * there are.
 */
export interface ListedFacts {
  top(
    list: FactList,
    project: string | undefined,
    first: number,
    day: number,
  ): Promise<readonly { readonly fact: Fact; readonly index: readonly IndexEntry[] }[]>
  sums(project: string | undefined, day: number): Promise<FactSums>
  /**
   * Tells the user's scope what it was not told yet; where that fails, it is left.
   *
   * @param others whether the user's other sessions do the same
   */
  settle(others: boolean): Promise<void>
}
export const FactLists: Slot<ListedFacts> = slot('plimsoll/fact-lists')

/**
 * Asked by extraction: keeps a fact of the session that nobody asked for.
 *
 * @returns whether it says something new
 */
export const Extracted: Slot<(fact: FactInput) => Promise<boolean>> = slot('plimsoll/extracted')

/** Asked by a session's start: the user's skills, and how many there are. */
export interface ListedSkills {
  /** Each with its tokens, where the memory's counter counted them when it was written. */
  list(first: number): Promise<readonly { readonly item: SkillItem; readonly tokens?: number }[]>
  sum(): Promise<Sum>
}
export const SkillLists: Slot<ListedSkills> = slot('plimsoll/skill-lists')

/**
 * Asked by a session's start: what a query finds in the session's log and among the facts that are
 * given.
 */
export interface Finder {
  find(
    query: string,
    options: RecallOptions,
    facts: () => Promise<readonly Fact[]>,
  ): Promise<readonly Recalled[]>
}
export const Findable: Slot<Finder> = slot('plimsoll/findable')

/** Asked by who keeps the words of a session elsewhere: what its messages are found by. */
export interface SessionWords {
  /** Names how they are made. */
  readonly kind: string
  /** Reads what is new of the log. */
  read(): Promise<{
    /** Messages of the log, those that cannot be found included: their numbers are below it. */
    readonly size: number
    /** Up to which seq of the log. */
    readonly seq: number
    /** Seq of its newest rewind; 0: there is none. What one hides is left out. */
    readonly rewoundAt: number
    /** Words of the messages from a number up to and without another. */
    encode(from: number, to: number): Uint8Array<ArrayBuffer>
  }>
}
export const Words: Slot<SessionWords> = slot('plimsoll/session-words')

/** Asked by recall of a user: words of sessions that are kept with the user. */
export interface UserWords {
  /** Undefined: none are kept of that session, or not all. */
  of(sessionId: string): Promise<
    | {
        readonly kind: string
        /** As they were encoded, in the order of the log. */
        readonly blocks: readonly Uint8Array[]
        /** What was said later may be missing, Unix milliseconds. */
        readonly asOf: number
      }
    | undefined
  >
  /** Messages of one of them, by their ids; undefined: it is not there, or a rewind hides it. */
  messages(sessionId: string, ids: readonly string[]): Promise<readonly (LogRow | undefined)[]>
}
export const KeptWords: Slot<UserWords> = slot('plimsoll/kept-words')

/** Asked by who reads originals: the text of a document of the user's, by its name. */
export const Documents: Slot<(name: string) => Promise<string | undefined>> = slot('plimsoll/documents')

/** Asked by the checkpoint: whether a register is to say when it was written. */
export const Dated: Slot<true> = slot('plimsoll/dated')
