export type { AuditQuery, AuditRecord } from '../ports/audit.ts'
export type { Branch } from '../ports/branch.ts'
export type { Certificate, Holder, Removed, RemovedKind } from '../ports/certificate.ts'
export type { Checkpointed } from '../ports/checkpoint.ts'
export type { ErrorCode } from '../ports/errors.ts'
export { isPlimsollError, PlimsollError } from '../ports/errors.ts'
export type { Explanation, Provider, Source, Span } from '../ports/explanation.ts'
export type { Fact, FactInput, FactKind, FactQuery, Rating, Remembered } from '../ports/fact.ts'
export type { ProfileDocument } from '../ports/profile.ts'
export type { RecallAcross, Recalled, UserRecallOptions as RecallOptions } from '../ports/recall.ts'
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
export type { StartBudget } from '../ports/settings.ts'
export type { ListedSkill, Skill, SkillEntry, SkillQuery, StoredSkill } from '../ports/skill.ts'
export type { Overflow, PinnedItem, RecalledItem, SessionStart, SkillItem } from '../ports/start.ts'
export type { ImportConflict, Imported, ImportedPart, SkippedLine, TransferPart } from '../ports/transfer.ts'
export type { ChatChunk, ChatInput, ChatMessage, ChatOptions, ChatResult, ChatRun } from './chat.ts'
export type { CheckpointClient, CheckpointQuery } from './checkpoint.ts'
export {
  type Client,
  createClient,
  type Guest,
  type GuestsClient,
  type Health,
  type NewSession,
  type SessionInfo,
  type SessionsClient,
} from './client.ts'
export { RequestError, type RequestErrorDetails } from './error.ts'
export type { FactChange, FactsClient, SessionFactsClient } from './facts.ts'
export type { LiveEvent } from './live.ts'
export type { Claimed, MeClient, ProfileClient, SkillsClient } from './me.ts'
export type {
  CallOptions,
  ClientOptions,
  Fetch,
  RetryOptions,
  Socket,
  SocketClass,
  Token,
  WriteOptions,
} from './options.ts'
export type {
  Commit,
  Committed,
  Compacted,
  ContextOptions,
  HistoryOptions,
  SessionClient,
  StartOptions,
} from './session.ts'
export type { ExportOptions } from './transfer.ts'
export type { VersionedOptions } from './versions.ts'
