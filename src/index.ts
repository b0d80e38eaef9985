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
export type { AttachmentInput } from './operations/attachments.ts'
export type { Pin } from './features/compaction/carry.ts'
export type { ContextOptions, TailSection } from './ports/session.ts'
export { charsPerToken, countMessage, utf8Bound } from './kernel/context/count.ts'
export type { FactInput } from './ports/fact.ts'
export { extractFacts } from './features/facts/extract-facts.ts'
export type { Fact, FactKind } from './ports/fact.ts'
export type { FactQuery } from './ports/fact.ts'
export type { FactOptions } from './features/facts/fact-options.ts'
export type { FactCaps } from './features/facts/fact-plan.ts'
export type { Facts } from './features/facts/facts.ts'
export type { Remembered } from './ports/fact.ts'
export type { ReviewResult, ReviewSchedule } from './features/facts/review.ts'
export type { Rating } from './ports/fact.ts'
export type { Cut, OnCut } from './kernel/feature.ts'
export { assertFits } from './render/fits.ts'
export type { KeptFor, RetentionOptions, UnreadableLeft } from './features/retention/retention-options.ts'
export type { HistoryOptions } from './ports/session.ts'
export type { Extract } from './features/facts/extraction.ts'
export type { SectionSizes } from './features/facts/remembered.ts'
export type { ForgetOptions } from './features/facts/session-memory.ts'
export type { User } from './features/facts/user.ts'
export type { UserRecallOptions } from './ports/recall.ts'
export type { SessionOptions } from './kernel/memory.ts'
export type { Memory } from './kernel/types.ts'
export type { CompactionOptions, PolicyOptions } from './kernel/policy.ts'
export type { Limits, ToolOutputOptions, WindowLimits, WindowOptions } from './ports/session.ts'
export type { Recalled, RecallOptions } from './ports/recall.ts'
export { type LexicalRecallOptions, lexicalRecall, type Recall } from './features/recall/lexical-recall.ts'
export type { RecallPage } from './features/recall/recall-page.ts'
export type { Checkpoint, CheckpointOptions } from './features/checkpoint/checkpoint.ts'
export type { Checkpointed } from './ports/checkpoint.ts'
export type { Profile } from './features/profile/profile.ts'
export type { ProfileDocument } from './ports/profile.ts'
export type { WriteOptions } from './kernel/log/register.ts'
export type { BudgetTokens, Settings, SettingsPatch } from './ports/settings.ts'
export { toMarkdown } from './features/skills/skill.ts'
export { type Skill, type SkillEntry } from './ports/skill.ts'
export type { Skills } from './features/skills/skills.ts'
export type { ListedSkill, SkillQuery, StoredSkill } from './ports/skill.ts'
export type { CompactOptions } from './kernel/session.ts'
export type { Compacted } from './client/types.ts'
export type { Session } from './kernel/types.ts'
export type { Snapshot } from './ports/session.ts'
export type { ListOptions } from './operations/session-list.ts'
export type { SessionInfo } from './ports/session.ts'
export type { Sessions } from './operations/sessions.ts'
export type { SourceOptions, SourcePage } from './operations/source.ts'
export type { PinnedItem, RecalledItem, SkillItem } from './ports/start.ts'
export type { StartOptions } from './ports/start.ts'
export type { SessionStart } from './ports/start.ts'
export type { Overflow } from './ports/start.ts'
export type { ExportOptions } from './operations/transfer/export-options.ts'
export type { ImportOptions, ImportTrust } from './operations/transfer/import.ts'
export { type Version, versionsIn } from './operations/versions.ts'
export type { CommitInput, CommitOptions, CommitResult } from './kernel/types.ts'
export type { AppendOptions, AppendResult } from './ports/session.ts'
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
export { explain } from './render/explain.ts'
export { type Explanation, type Source, type Span } from './ports/explanation.ts'
export { stringifyContext } from './render/json.ts'
export { lintRequest, type Problem } from './render/lint.ts'
export { fromOpenAIMessages, type OpenAIRequest, parseOpenAIReply, toOpenAI } from './render/openai.ts'
export { type RunAgentOptions, runAgent } from './run-agent.ts'
export { mapStore } from './stores/map.ts'
