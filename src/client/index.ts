export type { ErrorCode } from '../ports/errors.ts'
export { isPlimsollError, PlimsollError } from '../ports/errors.ts'
export type { ChatChunk, ChatInput, ChatMessage, ChatOptions, ChatResult, ChatRun } from './chat.ts'
export type { CheckpointClient, CheckpointQuery } from './checkpoint.ts'
export {
  type Client,
  createClient,
  type GuestsClient,
  type NewSession,
  type SessionsClient,
} from './client.ts'
export { RequestError, type RequestErrorDetails } from './error.ts'
export type { FactsClient, SessionFactsClient } from './facts.ts'
export type { LiveEvent } from './live.ts'
export type { MeClient, ProfileClient, SkillsClient } from './me.ts'
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
export type { SessionClient } from './session.ts'
export type * from './types.ts'
export type { VersionedOptions } from './versions.ts'
