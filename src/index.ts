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
export {
  type MemoryToolName,
  type MemoryToolsOptions,
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
export { type StandardOptions, standardMiddleware } from './agent/standard.ts'
export type { AttachmentInput } from './core/attachments.ts'
export type { Pin } from './core/carry.ts'
export type { ContextOptions, TailSection } from './core/context-options.ts'
export { charsPerToken, countMessage, utf8Bound } from './core/count.ts'
export type { FactInput } from './core/facts/check-fact.ts'
export { extractFacts } from './core/facts/extract-facts.ts'
export type { Fact, FactKind } from './core/facts/fact.ts'
export type { FactQuery } from './core/facts/fact-lists.ts'
export type { FactOptions } from './core/facts/fact-options.ts'
export type { FactCaps } from './core/facts/fact-plan.ts'
export type { Facts } from './core/facts/facts.ts'
export type { Remembered } from './core/facts/place-fact.ts'
export type { Rating, ReviewResult, ReviewSchedule } from './core/facts/review.ts'
export type { Cut, OnCut } from './core/feature.ts'
export { assertFits } from './core/fits.ts'
export type { KeptFor, RetentionOptions, UnreadableLeft } from './core/governance/retention-options.ts'
export type { HistoryOptions } from './core/history.ts'
export type { Extract } from './core/long-term/extraction.ts'
export type { SectionSizes } from './core/long-term/remembered.ts'
export type { ForgetOptions } from './core/long-term/session-memory.ts'
export type { User, UserRecallOptions } from './core/long-term/user.ts'
export type { Memory, SessionOptions } from './core/memory.ts'
export type {
  CompactionOptions,
  Limits,
  PolicyOptions,
  ToolOutputOptions,
  WindowLimits,
  WindowOptions,
} from './core/policy.ts'
export type { Recalled, RecallOptions } from './core/recall/find.ts'
export { type LexicalRecallOptions, lexicalRecall, type Recall } from './core/recall/lexical-recall.ts'
export type { RecallPage } from './core/recall/recall-page.ts'
export type { Checkpoint, Checkpointed, CheckpointOptions } from './core/registers/checkpoint.ts'
export type { Profile, ProfileDocument } from './core/registers/profile.ts'
export type { WriteOptions } from './core/registers/register.ts'
export type { BudgetTokens, Settings, SettingsPatch } from './core/registers/settings.ts'
export { type Skill, type SkillEntry, toMarkdown } from './core/registers/skill.ts'
export type { ListedSkill, SkillQuery, Skills, StoredSkill } from './core/registers/skills.ts'
export type { Compacted, CompactOptions, Session, Snapshot } from './core/session.ts'
export type { ListOptions, SessionInfo } from './core/session-list.ts'
export type { Sessions } from './core/sessions.ts'
export type { SourceOptions, SourcePage } from './core/source.ts'
export type { PinnedItem, RecalledItem, SkillItem } from './core/start/start-items.ts'
export type { StartOptions } from './core/start/start-options.ts'
export type { SessionStart } from './core/start/start-payload.ts'
export type { Overflow } from './core/start/start-sections.ts'
export type { ExportOptions } from './core/transfer/export-options.ts'
export type { ImportOptions, ImportTrust } from './core/transfer/import.ts'
export { type Version, versionsIn } from './core/versions.ts'
export type {
  AppendOptions,
  AppendResult,
  CommitInput,
  CommitOptions,
  CommitResult,
} from './core/writer.ts'
export { type CalibratedCounter, calibrated, type ReportedUsage } from './counters/calibrated.ts'
export { defaultCounter } from './counters/default.ts'
export { type CreateMemoryOptions, createMemory } from './create-memory.ts'
export { inlineAttachments } from './inline-attachments.ts'
export type { AuditAction, AuditQuery, AuditRecord } from './ports/audit.ts'
export type { Branch } from './ports/branch.ts'
export type { Certificate, Holder, Removed, RemovedKind } from './ports/certificate.ts'
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
  SectionName,
  SectionUse,
  SummaryUse,
} from './ports/context.ts'
export type { Counter } from './ports/counter.ts'
export { type ErrorCode, type FloorBreakdown, isPlimsollError, PlimsollError } from './ports/errors.ts'
export type { AbortSignalLike, Controller, Host, Timeout } from './ports/host.ts'
export type {
  Json,
  MediaPart,
  Message,
  MessageInput,
  OpaquePart,
  Part,
  ReasoningPart,
  Role,
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
  IndexEntry,
  Mark,
  Op,
  OpResult,
  RejectReason,
  RewindMark,
  Scope,
  SealedOp,
  SummaryMark,
} from './ports/op.ts'
export type { StandardIssue, StandardResult, StandardSchema } from './ports/standard-schema.ts'
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
  Page,
  Reads,
  RegisterRow,
  Rows,
  ScopeStore,
  Store,
  Sum,
} from './ports/store.ts'
export type { ImportConflict, Imported, ImportedPart, SkippedLine, TransferPart } from './ports/transfer.ts'
export {
  type AnthropicRequest,
  fromAnthropicMessages,
  parseAnthropicReply,
  toAnthropic,
} from './render/anthropic.ts'
export {
  type ContextDiff,
  type DiffCause,
  type DiffTokens,
  type Divergence,
  diffContexts,
  lintPrefix,
} from './render/diff.ts'
export { type Explanation, explain, type Source, type Span } from './render/explain.ts'
export { stringifyContext } from './render/json.ts'
export { lintRequest, type Problem } from './render/lint.ts'
export { fromOpenAIMessages, type OpenAIRequest, parseOpenAIReply, toOpenAI } from './render/openai.ts'
export { type RunAgentOptions, runAgent } from './run-agent.ts'
export { mapStore } from './stores/map.ts'
