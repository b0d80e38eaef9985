/**
 * Names for types of the AI SDK that `ai` does not export itself, all derived from those that it
 * does.
 */
import type { AssistantContent, LanguageModel, ModelMessage, ToolContent } from 'ai'

/** A model of the provider specification that this version of the SDK speaks. */
export type LanguageModelV4 = Extract<LanguageModel, { readonly specificationVersion: 'v4' }>
export type CallOptions = Parameters<LanguageModelV4['doStream']>[0]
export type Prompt = CallOptions['prompt']
export type PromptMessage = Prompt[number]
export type GenerateResult = Awaited<ReturnType<LanguageModelV4['doGenerate']>>
export type StreamResult = Awaited<ReturnType<LanguageModelV4['doStream']>>
export type StreamPart = StreamResult['stream'] extends ReadableStream<infer Part> ? Part : never
export type ReplyContent = GenerateResult['content'][number]
export type ReplyUsage = GenerateResult['usage']
export type FunctionTool = Extract<NonNullable<CallOptions['tools']>[number], { readonly type: 'function' }>

export type AssistantPart = Exclude<AssistantContent, string>[number]
export type ToolPart = ToolContent[number]
export type ResultPart = Extract<ToolPart, { readonly type: 'tool-result' }>
export type ResultOutput = ResultPart['output']
export type UserPart = Exclude<Extract<ModelMessage, { role: 'user' }>['content'], string>[number]
export type ProviderOptions = NonNullable<ModelMessage['providerOptions']>
