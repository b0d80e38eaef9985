export { appendUIMessages } from './append-ui.ts'
export { type Compacted, type CompactOptions, compact } from './compact.ts'
export type { AISDKModelOptions } from './current-model.ts'
export { fromModelMessages } from './from-model-messages.ts'
export { fromUIMessages } from './from-ui.ts'
export {
  type EndedStep,
  type LoopOptions,
  type MemoryLoop,
  type MemoryLoopOptions,
  memoryLoop,
  type PrepareStep,
  prepareStep,
  type StepToCompact,
  type StepToPrepare,
  writeStep,
} from './loop.ts'
export { memoryToolSet } from './memory-tools.ts'
export { type MemoryMiddlewareOptions, memoryMiddleware } from './middleware.ts'
export { aiSdkModel } from './model.ts'
export type { LoopRequest, OlderRequest } from './older.ts'
export { type AISDKRequest, type ToAISDKOptions, toAISDK } from './to-ai-sdk.ts'
export { toUIMessages } from './to-ui.ts'
export { type ExecutableTool, toToolSet, toToolSpecs } from './tools.ts'
