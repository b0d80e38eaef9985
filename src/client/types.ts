/**
 * What travels, as the library has it. Most shapes are those of the ports; these are of the core, which a client does without. A test of
 * types holds them to the core's.
 */
import type { CompactEvent, Rule, SectionName } from '../ports/context.ts'
import type { Json, Message, Role, ToolSpec, Trust } from '../ports/message.ts'
import type { TransferPart } from '../ports/transfer.ts'

export type { AuditQuery, AuditRecord } from '../ports/audit.ts'
export type { Branch } from '../ports/branch.ts'
export type { Certificate, Holder, Removed, RemovedKind } from '../ports/certificate.ts'
export type { ImportConflict, Imported, ImportedPart, SkippedLine, TransferPart } from '../ports/transfer.ts'

export interface SessionInfo {
  readonly sessionId: string
  /** Empty until it is set. */
  readonly title: string
  /** Unix milliseconds. */
  readonly createdAt: number
  /** Whose facts show in it beside those of no project. */
  readonly project?: string
}

export interface AppendResult {
  /** The messages as they are stored, in order. */
  readonly messages: readonly Message[]
  /** Whether they had been stored before. */
  readonly repeated: boolean
  /** Whether what had been stored before has other content: the first wins. */
  readonly mismatch: boolean
}

/** A page ends before about 1 MiB, however many are asked for; the newest step is in it in any case. What is older is `before` its first message. */
export interface HistoryOptions {
  /** The last so many rounds. */
  readonly rounds?: number
  /** The last so many messages, widened to whole steps. Default 50, where `rounds` is not given. */
  readonly messages?: number
  /** Only what shows before this message. */
  readonly before?: string
}

export interface TailSection {
  /** Labels the section's fence: 1 to 64 letters, digits, dashes and underscores. */
  readonly name: string
  readonly text: string
}

/** How much of a conversation shows, beside the budget. */
export interface Limits {
  readonly window?: WindowOptions
  readonly toolOutput?: ToolOutputOptions
}

export interface WindowLimits {
  readonly rounds?: number
  readonly messages?: number
  readonly tokens?: number
}

export interface WindowOptions {
  readonly max?: WindowLimits
  readonly keep?: WindowLimits
}

/** Most tokens of one output that show, from its first call on and once it is old. */
export interface ToolOutputOptions {
  readonly first?: number
  readonly old?: number
}

/** What a context is asked for. See the core's options of the same name. */
export interface ContextOptions {
  readonly tools?: readonly ToolSpec[]
  readonly tail?: string | readonly TailSection[]
  readonly recall?: string | true
  readonly preview?: boolean
  readonly onPending?: 'reject' | 'abandon'
  readonly limits?: Limits
  readonly newEpoch?: boolean
}

/** What became of a compaction that was asked for. */
export type Compacted = { readonly status: string } & Partial<Omit<CompactEvent, 'type' | 'status'>>

/** - `finding`, `blocker`, `correction` belong to one session. - `preference`, `constraint`, said by the user, to all of the user's. */
export type FactKind = 'finding' | 'blocker' | 'correction' | 'preference' | 'constraint'

/** Something that is remembered. */
export interface Fact {
  readonly id: string
  readonly kind: FactKind
  /** At most 80 code points, one line. */
  readonly title: string
  readonly text: string
  readonly project?: string
  /** Of blockers. */
  readonly status?: 'open' | 'resolved'
  readonly pinned: boolean
  /** 0 to 9; more comes first. */
  readonly priority: number
  /** 0 to 1. Below 0.5 it is listed as doubtful. */
  readonly confidence: number
  readonly trust: Trust
  readonly sources: readonly string[]
  readonly supersedes?: string
  readonly supersededBy?: string
  readonly promotedFrom?: Trust
  /** Unix milliseconds. */
  readonly createdAt: number
  readonly reviewAt: number
  readonly expiresAt?: number
  readonly review?: Json
}

/** A fact as an app hands it over. */
export interface FactInput {
  readonly kind: FactKind
  readonly text: string
  readonly title?: string
  readonly project?: string
  readonly pinned?: boolean
  readonly priority?: number
  readonly confidence?: number
  readonly trust?: Trust
  readonly sources?: readonly string[]
  readonly supersedes?: string
  readonly reviewAt?: number
  readonly expiresAt?: number
  readonly createdAt?: number
  readonly id?: string
}

export interface FactQuery {
  /** Default: all kinds. */
  readonly kinds?: readonly FactKind[]
  /** Facts that show in this project: its own and those without any. Default: those of all projects. */
  readonly project?: string
  /** Superseded, resolved and ended ones too, by id. Default false. */
  readonly all?: boolean
  /** At most and by default 512. */
  readonly first?: number
  /** Facts after this one, by its id. */
  readonly after?: string
}

export interface Remembered {
  /** The fact as it stands now: for `merged` and `known` the one that was there. */
  readonly fact: Fact
  readonly status: 'new' | 'merged' | 'known'
}

/** How well a fact held when it was looked at again. */
export type Rating = 'again' | 'hard' | 'good' | 'easy'

/** One change of a fact. */
export type FactChange =
  | { readonly pinned: boolean }
  /** Raises it to trust `user` on the caller's word, so never because a model says so. */
  | { readonly promote: true }
  /** Of a blocker: it is out of the way. */
  | { readonly resolve: true }
  | { readonly review: Rating }
  /** Puts another fact in its place. */
  | { readonly supersede: FactInput }

export interface Checkpointed<State> {
  readonly value: State
  /** For `ifVersion`. `null`: nothing is kept. */
  readonly version: string | null
}

export interface BudgetTokens {
  readonly total: number
  readonly pins: number
  readonly skills: number
  readonly recall: number
}

export interface StartOptions {
  /** Facts of this project too, beside those of none. */
  readonly project?: string
  /** What to recall. Default: nothing is. */
  readonly query?: string
  /** A number is the total. What is not given is as in the user's settings. */
  readonly budgetTokens?: number | Partial<BudgetTokens>
  /** The etag of a start that the caller holds. */
  readonly ifNoneMatch?: string
}

/** What a model is told when a session starts; its keys are the same everywhere, in snake_case. */
export interface SessionStart {
  readonly memory_count: number
  readonly pinned: readonly PinnedItem[]
  readonly skills_index: readonly SkillEntry[]
  readonly context_recall: readonly RecalledItem[]
  readonly due_for_review: {
    readonly count: number
    readonly first: readonly { readonly id: string; readonly title: string; readonly review_at: number }[]
  }
  readonly low_confidence_alerts: {
    readonly count: number
    readonly first: readonly { readonly id: string; readonly title: string; readonly confidence: number }[]
  }
  readonly budget: { readonly used: number; readonly cap: number }
  readonly overflow: {
    readonly pinned: Overflow
    readonly skills_index: Overflow
    readonly context_recall: Overflow
  }
  readonly etag: string
}

export type PinnedItem = Pick<
  Fact,
  'id' | 'kind' | 'title' | 'text' | 'project' | 'status' | 'priority' | 'confidence' | 'trust'
>

export type RecalledItem = {
  readonly id: string
  readonly text: string
  readonly trust: Trust
  readonly session?: string
} & ({ readonly role: Role } | { readonly kind: FactKind })

/** What did not fit. */
export interface Overflow {
  readonly count: number
  readonly tokens: number
  readonly first: readonly string[]
}

/** Something that was found. */
export interface Recalled {
  readonly id: string
  readonly type: 'message' | 'fact'
  readonly role?: Role
  readonly name?: string
  readonly kind?: FactKind
  readonly text: string
  readonly trust: Trust
  /** Unix milliseconds. */
  readonly createdAt: number
  readonly sessionId?: string
  readonly ordinal?: number
  /** To compare results of one call by; it means nothing else. */
  readonly score: number
}

export interface RecallOptions {
  /** Results at most: 1 to 200. Default 10. */
  readonly first?: number
  /** Which sessions to look through, at most 256. Default: none, facts alone; `all`: the newest 256. */
  readonly sessions?: 'all' | readonly string[]
}

/** A text that is part of every prompt, for example SOUL.md. */
export interface ProfileDocument {
  readonly name: string
  readonly text: string
  readonly version: string
}

export interface SkillEntry {
  /** 1 to 64 lower-case letters, digits and single hyphens between them. */
  readonly name: string
  /** What it does, and when to use it: 1 to 1 024 characters. */
  readonly description: string
}

export interface Skill extends SkillEntry {
  readonly text: string
  readonly frontMatter?: string
}

export interface ListedSkill extends SkillEntry {
  readonly version: string
}

export interface StoredSkill extends Skill {
  readonly version: string
}

export interface SkillQuery {
  /** Skills after this name, in code unit order. */
  readonly after?: string
  /** At most, and by default, 512. */
  readonly first?: number
}

export type Provider = 'openai' | 'anthropic'

/** What put a piece of a request there. */
export interface Source {
  readonly section: SectionName | 'tools' | 'request'
  readonly rule: Rule | 'tools' | 'request'
  readonly records: readonly string[]
  readonly tokens: number
  readonly trust: Trust
}

/** A stretch of a rendered request that comes from one source, in UTF-16 units of the text. */
export interface Span extends Source {
  readonly from: number
  readonly to: number
}

/** Where every character and every token of a request comes from. */
export interface Explanation {
  readonly provider: Provider
  readonly text: string
  readonly spans: readonly Span[]
  readonly unrendered: readonly Source[]
}

/** Somebody who has not signed in. */
export interface Guest {
  readonly token: string
  readonly userId: string
  /** Unix milliseconds. */
  readonly expiresAt: number
}

export interface ExportOptions {
  /** Default: all. */
  readonly parts?: readonly TransferPart[]
}

/** What became of a guest's sessions: the ids of those that are the caller's now. */
export interface Claimed {
  /** Of all that were ever moved from that guest: what each was called, and what it is called now. */
  readonly sessions: readonly { readonly from: string; readonly to: string }[]
  /** How many facts were. */
  readonly facts: number
}

/** What the edge says of itself. */
export interface Health {
  readonly status: string
  /** Whether what the edge stores is encrypted. */
  readonly encrypted?: boolean
  readonly [name: string]: unknown
}
