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
export { memoryTools } from './agent/memory-tools.ts'
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
export type { JsonSchema, StandardIssue, StandardResult, StandardSchema } from './agent/schema.ts'
export {
  type Script,
  type ScriptedCall,
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedReply,
  type ScriptedRequest,
  scriptedModel,
} from './agent/scripted-model.ts'
export { type StandardOptions, standardMiddleware } from './agent/standard.ts'
export type { AttachmentInput } from './core/attachments.ts'
export type { ContextOptions, TailSection } from './core/call.ts'
export type { Pin } from './core/carry.ts'
export type { ContextAt, Cut, OnCut } from './core/context.ts'
export { charsPerToken, countMessage, utf8Bound } from './core/count.ts'
export { assertFits } from './core/fits.ts'
export type { HistoryOptions } from './core/history.ts'
export type { Memory } from './core/memory.ts'
export type {
  CompactionOptions,
  Limits,
  PolicyOptions,
  ToolOutputOptions,
  WindowLimits,
  WindowOptions,
} from './core/policy.ts'
export type { AppendOptions, AppendResult, Session, Snapshot } from './core/session.ts'
export type { ListOptions, SessionInfo, Sessions } from './core/sessions.ts'
export type { SourceOptions, SourcePage } from './core/source.ts'
export { type CalibratedCounter, calibrated, type ReportedUsage } from './counters/calibrated.ts'
export { defaultCounter } from './counters/default.ts'
export { type CreateMemoryOptions, createMemory } from './create-memory.ts'
export { inlineAttachments } from './inline-attachments.ts'
export type {
  Block,
  Budget,
  CompactEvent,
  Context,
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
  Mark,
  Op,
  OpResult,
  RejectReason,
  RewindMark,
  Scope,
  SealedOp,
  SummaryMark,
} from './ports/op.ts'
export type {
  Attachment,
  Changes,
  Decide,
  Decision,
  EntriesQuery,
  EntryKind,
  Head,
  LogRow,
  MarkRow,
  Page,
  Reads,
  RegisterRow,
  Rows,
  ScopeStore,
  Store,
} from './ports/store.ts'
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
