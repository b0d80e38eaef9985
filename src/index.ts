export { type BudgetOptions, budget } from './agent/budget.ts'
export {
  type Composed,
  type ComposedHooks,
  type ComposedRun,
  compose,
  type Proposed,
} from './agent/compose.ts'
export { type ContextFilter, type ContextFilterOptions, contextFilter } from './agent/context-filter.ts'
export type { AgentCall, AgentEvent, CallStatus } from './agent/events.ts'
export { type FactSheetOptions, factSheet, type SheetFact } from './agent/fact-sheet.ts'
export { type Lease, type LeaseOptions, lease, leaseOf } from './agent/lease.ts'
export {
  type MemoryToolName,
  memoryToolSpecs,
  memoryTools,
  runMemoryTool,
} from './agent/memory-tools.ts'
export type {
  CallUsage,
  Denial,
  Hooks,
  Middleware,
  ModelCall,
  ModelCallEnd,
  PastCall,
  PastStep,
  Proposal,
  ReportedTokens,
  RunInfo,
  RunUsage,
  Signalled,
  Stop,
  ToolCall,
  ToolCallEnd,
} from './agent/middleware.ts'
export { type CallRecord, type ObservabilityOptions, observability } from './agent/observability.ts'
export type {
  AgentResult,
  AgentRun,
  AgentTool,
  ResumeOptions,
  RunOptions,
  Timeouts,
  ToolContext,
} from './agent/options.ts'
export { type OtlpOptions, toOtlp } from './agent/otlp.ts'
export { type ProgressOptions, progress } from './agent/progress.ts'
export type { JsonSchema } from './agent/schema.ts'
export {
  type Script,
  type ScriptedCall,
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedReply,
  type ScriptedRequest,
  scriptedModel,
} from './agent/scripted-model.ts'
export { sessionStartGuide } from './agent/session-start-guide.ts'
export { type StandardMiddlewareOptions, standardMiddleware } from './agent/standard.ts'
export { lawChecker } from './assert-laws.ts'
export { type CalibratedCounter, calibrated, type ReportedUsage } from './counters/calibrated.ts'
export { defaultCounter } from './counters/default.ts'
export { type CounterFamily, counterFor, familyOf } from './counters/family.ts'
export { charsPerToken, utf8Bound } from './counters/simple.ts'
export { type CreateMemoryOptions, createMemory, type MemoryOptions } from './create-memory.ts'
export type { Checkpoint } from './features/checkpoint/checkpoint.ts'
export {
  type CheckpointOptions,
  type CheckpointShape,
  checkpoint,
  type InitialCheckpoint,
} from './features/checkpoint/feature.ts'
export type { Pin } from './features/compaction/carry.ts'
export { compaction } from './features/compaction/compaction.ts'
export type { CompactionOptions } from './features/compaction/compaction-options.ts'
export type {
  Compacted,
  CompactionShape,
  CompactOptions,
  SessionCompaction,
} from './features/compaction/feature.ts'
export { extractFacts } from './features/extraction/extract-facts.ts'
export type { Extract } from './features/extraction/extraction.ts'
export { type ExtractionOptions, type ExtractionShape, extraction } from './features/extraction/feature.ts'
export type { FactOptions } from './features/facts/fact-options.ts'
export type { FactCaps } from './features/facts/fact-plan.ts'
export {
  type FactsApi,
  type FactsOptions,
  type FactsShape,
  facts,
  type UserFacts,
} from './features/facts/feature.ts'
export type { ReviewResult, ReviewSchedule } from './features/facts/review.ts'
export { Filling } from './features/filling.ts'
export { PLACES } from './features/places.ts'
export { type ProfileOptions, type ProfileShape, profile } from './features/profile/feature.ts'
export type { Profile } from './features/profile/profile.ts'
export type {
  RecallFeatureOptions,
  RecallShape,
  SessionRecall,
  UserRecall,
} from './features/recall/feature.ts'
export type { LexicalRecallOptions } from './features/recall/lexical-terms.ts'
export { recall } from './features/recall/recall.ts'
export type { RecallPage } from './features/recall/recall-page.ts'
export { type VectorSearchOptions, type Vectors, vectorSearch } from './features/recall/vector-search.ts'
export {
  changeRegister,
  type Register,
  type RegisterChange,
  readRegister,
  type WriteOptions,
} from './features/register.ts'
export {
  type SessionSkills,
  type SkillsOptions,
  type SkillsShape,
  skills,
} from './features/skills/feature.ts'
export { fromMarkdown, toMarkdown } from './features/skills/markdown.ts'
export type { Skills } from './features/skills/skills.ts'
export { slidingWindow } from './features/sliding-window.ts'
export { type StandardFeatures, type StandardOptions, standard } from './features/standard.ts'
export { inlineAttachments, type ReadAttachment } from './inline-attachments.ts'
export type { LawCheck } from './kernel/context/lane.ts'
export { countMessage } from './kernel/count.ts'
export {
  type BeforeCut,
  type Cut,
  type CutPart,
  type Feature,
  type Hash,
  type HeadPart,
  KERNEL,
  type KernelMemory,
  type KernelSession,
  type KernelUser,
  type MemoryPart,
  type OnCut,
  type Owner,
  type Prepared,
  type ReadAsk,
  type RegisterKind,
  type Rung,
  type Section,
  type SessionPart,
  type Showing,
  type ShowPart,
  type Standing,
  type TailAsk,
  type TailPart,
  type WriteDraft,
  type WritePart,
} from './kernel/feature.ts'
export type { Policy } from './kernel/policy.ts'
export { type Provided, provide, type Slot, slot } from './kernel/slot.ts'
export { type AttachmentInput, attach, readAttachment } from './operations/attachments.ts'
export { readAudit } from './operations/audit.ts'
export { readBranches, switchTo } from './operations/branches.ts'
export { checkContext } from './operations/check-context.ts'
export { type CheckPushedOptions, checkPushed } from './operations/check-pushed.ts'
export { contextAt } from './operations/context-at.ts'
export { deleteSession } from './operations/delete-session.ts'
export { addExchange } from './operations/exchange.ts'
export { clearLog } from './operations/forget/clear-log.ts'
export { eraseUser } from './operations/forget/erase.ts'
export { type ForgetOptions, forget, forgetFact } from './operations/forget/forget.ts'
export { retention } from './operations/retention/feature.ts'
export type {
  KeptFor,
  RetentionOptions,
  UnreadableLeft,
} from './operations/retention/retention-options.ts'
export { editMessage, type RewindOptions, rewind, undo } from './operations/rewind.ts'
export {
  findSession,
  type ListOptions,
  listSessions,
  titleSession,
} from './operations/sessions.ts'
export { changeSettings, readSettings } from './operations/settings.ts'
export { count, overBudget, tokens } from './operations/size.ts'
export { readSource, type SourceOptions, type SourcePage } from './operations/source.ts'
export { start } from './operations/start/start.ts'
export { exportFrom, exportMarkdown } from './operations/transfer/export.ts'
export type { ExportOptions } from './operations/transfer/export-options.ts'
export { type ImportOptions, type ImportTrust, importInto } from './operations/transfer/import.ts'
export { nextWorkAt, runDueWork } from './operations/upkeep.ts'
export { type Version, versionsIn } from './operations/versions.ts'
export type { AuditAction, AuditQuery, AuditRecord } from './ports/audit.ts'
export type { Branch } from './ports/branch.ts'
export type { Certificate, Holder, Removed, RemovedKind } from './ports/certificate.ts'
export type { Checkpointed } from './ports/checkpoint.ts'
export type {
  Block,
  Budget,
  CompactEvent,
  Context,
  ContextAt,
  OmitReason,
  Omitted,
  Receipt,
  Rule,
  SearchedSessions,
  SectionName,
  SectionUse,
  SummaryUse,
  Unverified,
} from './ports/context.ts'
export type { Counter } from './ports/counter.ts'
export type { Embedder } from './ports/embedder.ts'
export { type ErrorCode, type FloorBreakdown, isPlimsollError, PlimsollError } from './ports/errors.ts'
export type { Explanation, Provider, Source, Span } from './ports/explanation.ts'
export type { Fact, FactInput, FactKind, FactQuery, Rating, Remembered } from './ports/fact.ts'
export type { AbortSignalLike, Controller, Host, Timeout } from './ports/host.ts'
export type { HomeClock, LeaseMark } from './ports/lease.ts'
export type {
  CommitInput,
  CommitOptions,
  CommitResult,
  ContextOptionsOf,
  Memory,
  Session,
  SessionBase,
  SessionOf,
  SessionOptions,
  Shape,
  User,
  UserScope,
} from './ports/memory.ts'
export type {
  Json,
  MediaPart,
  Message,
  MessageInput,
  OpaquePart,
  Part,
  ReasoningPart,
  Role,
  SessionMessage,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  ToolSpec,
  Trust,
} from './ports/message.ts'
export type {
  FinishReason,
  Model,
  ModelEvent,
  ModelRequest,
  ModelSettings,
  Usage,
} from './ports/model.ts'
export type {
  Cuts,
  Envelope,
  EpochCause,
  EpochMark,
  HandedOut,
  IndexEntry,
  Mark,
  MarkKind,
  Name,
  Op,
  OpResult,
  RejectReason,
  RewindMark,
  Scope,
  SealedOp,
  SummaryMark,
} from './ports/op.ts'
export type { ProfileDocument } from './ports/profile.ts'
export type { RecallAcross, Recalled, RecallOptions, UserRecallOptions } from './ports/recall.ts'
export type {
  AppendOptions,
  AppendResult,
  ContextOptions,
  HistoryOptions,
  Limits,
  SessionInfo,
  Snapshot,
  TailSection,
  ToolOutputOptions,
  WindowBand,
  WindowLimits,
  WindowOptions,
  WindowSize,
} from './ports/session.ts'
export type { Settings, SettingsPatch, StartBudget } from './ports/settings.ts'
export type { ListedSkill, Skill, SkillEntry, SkillQuery, StoredSkill } from './ports/skill.ts'
export type { StandardIssue, StandardResult, StandardSchema } from './ports/standard-schema.ts'
export type {
  Overflow,
  PinnedItem,
  RecalledItem,
  SessionStart,
  SkillItem,
  StartOptions,
} from './ports/start.ts'
export type { Stemmer } from './ports/stemmer.ts'
export type {
  Attachment,
  Changes,
  Decide,
  Decision,
  DerivedRow,
  EntriesQuery,
  EntryKind,
  Head,
  IndexQuery,
  IndexRow,
  LogRow,
  MarkRow,
  OutboxRow,
  Page,
  Reads,
  Rebase,
  RegisterRow,
  ReplicaChange,
  Rows,
  ScopeStore,
  Store,
  Sum,
} from './ports/store.ts'
export type {
  ImportConflict,
  Imported,
  ImportedPart,
  LoweredLine,
  SkippedLine,
  TransferPart,
} from './ports/transfer.ts'
export {
  type AnthropicRequest,
  fromAnthropicMessages,
  parseAnthropicReply,
  toAnthropic,
} from './render/anthropic.ts'
export { type CacheCause, type CacheReply, type CacheReport, cacheReport } from './render/cache-report.ts'
export {
  type ContextDiff,
  type DiffCause,
  type DiffTokens,
  type Divergence,
  diffContexts,
  lintPrefix,
} from './render/diff.ts'
export { explain } from './render/explain.ts'
export { assertFits } from './render/fits.ts'
export { stringifyContext } from './render/json.ts'
export { lintRequest, type Problem } from './render/lint.ts'
export { type OpenAIOptions, toOpenAI } from './render/openai.ts'
export type { OpenAIRequest } from './render/openai-blocks.ts'
export { fromOpenAIMessages, parseOpenAIReply } from './render/openai-input.ts'
export {
  type OpenAIResponsesOptions,
  type OpenAIResponsesRequest,
  parseOpenAIResponse,
  toOpenAIResponses,
} from './render/openai-responses.ts'
export {
  type RequestFields,
  stringifyAnthropic,
  stringifyOpenAI,
  stringifyOpenAIResponses,
} from './render/stringify.ts'
export { type RunAgentOptions, runAgent } from './run-agent.ts'
export { mapStore } from './stores/map.ts'
