/** What travels. Shapes are those of the ports; here is what an edge takes or says otherwise. */
import type { CompactEvent } from '../ports/context.ts'
import type { FactInput, Rating } from '../ports/fact.ts'
import type {
  ContextOptions as AnyContextOptions,
  HistoryOptions as AnyHistoryOptions,
  SessionInfo as AnySessionInfo,
} from '../ports/session.ts'
import type { StartOptions as AnyStartOptions } from '../ports/start.ts'
import type { TransferPart } from '../ports/transfer.ts'

export type { AuditQuery, AuditRecord } from '../ports/audit.ts'
export type { Branch } from '../ports/branch.ts'
export type { Certificate, Holder, Removed, RemovedKind } from '../ports/certificate.ts'
export type { Checkpointed } from '../ports/checkpoint.ts'
export type { Explanation, Provider, Source, Span } from '../ports/explanation.ts'
export type { Fact, FactInput, FactKind, FactQuery, Rating, Remembered } from '../ports/fact.ts'
export type { ProfileDocument } from '../ports/profile.ts'
export type { Recalled, UserRecallOptions as RecallOptions } from '../ports/recall.ts'
export type {
  AppendResult,
  Limits,
  TailSection,
  ToolOutputOptions,
  WindowBand,
  WindowLimits,
  WindowOptions,
  WindowSize,
} from '../ports/session.ts'
export type { BudgetTokens } from '../ports/settings.ts'
export type { ListedSkill, Skill, SkillEntry, SkillQuery, StoredSkill } from '../ports/skill.ts'
export type { Overflow, PinnedItem, RecalledItem, SessionStart, SkillItem } from '../ports/start.ts'
export type { ImportConflict, Imported, ImportedPart, SkippedLine, TransferPart } from '../ports/transfer.ts'

/** A conversation, as the edge says of it. */
export interface SessionInfo extends AnySessionInfo {
  /** Whose facts show in it beside those of no project. */
  readonly project?: string
}

/** A page ends before about 1 MiB, however many are asked for; the newest step is in it in any case. What is older is `before` its first message. */
export type HistoryOptions = Omit<AnyHistoryOptions, 'characters'>

export interface ContextOptions extends AnyContextOptions {
  /** Shows what is recalled: for this query, or, with `true`, for what the newest user message says. Default: nothing is recalled. */
  readonly recall?: string | true
}

/** The clock is the edge's. */
export type StartOptions = Omit<AnyStartOptions, 'now'>

/** What became of a compaction that was asked for. */
export type Compacted = { readonly status: string } & Partial<Omit<CompactEvent, 'type' | 'status'>>

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
