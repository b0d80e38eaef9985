import type { Branch } from '../ports/branch.ts'
import type { Certificate } from '../ports/certificate.ts'
import type { CompactEvent, Context, ContextAt } from '../ports/context.ts'
import type { Explanation, Provider } from '../ports/explanation.ts'
import type { FactInput, Remembered } from '../ports/fact.ts'
import type { Message, MessageInput, ToolSpec } from '../ports/message.ts'
import type { RecallAcross } from '../ports/recall.ts'
import type {
  ContextOptions as AnyContextOptions,
  HistoryOptions as AnyHistoryOptions,
  AppendResult,
} from '../ports/session.ts'
import type { StartOptions as AnyStartOptions, SessionStart } from '../ports/start.ts'
import { type ChatInput, type ChatOptions, type ChatRun, chatRun } from './chat.ts'
import { type CheckpointClient, checkpointClient } from './checkpoint.ts'
import { factsClient, type SessionFactsClient } from './facts.ts'
import { type LiveEvent, live } from './live.ts'
import type { CallOptions, WriteOptions } from './options.ts'
import { pack } from './parts.ts'
import { pathOf, queryOf, segmentOf } from './paths.ts'
import type { Transport } from './transport.ts'
import { boundTo, unless, type VersionedOptions } from './versions.ts'

/**
 * A page ends before about 1 MiB, however many are asked for; the newest step is in it in any case.
 * What is older is `before` its first message.
 */
export type HistoryOptions = Omit<AnyHistoryOptions, 'characters'>

export interface ContextOptions extends Omit<AnyContextOptions, 'tools'> {
  /** Tools of the call; `agent`: those that the edge's own agent gets. */
  readonly tools?: readonly ToolSpec[] | 'agent'
  /**
   * Shows what is recalled: for this query, or, with `true`, for what the newest user message says.
   * With `sessions` it shows what other sessions of the user said, too. Default: nothing is
   * recalled.
   */
  readonly recall?: string | true | RecallAcross
}

/** The clock is the edge's. */
export type StartOptions = Omit<AnyStartOptions, 'now'>

/** What is written together. */
export interface Commit {
  readonly messages?: MessageInput | readonly MessageInput[]
  /** State of the task; `null` keeps none. */
  readonly checkpoint?: unknown
  readonly facts?: readonly FactInput[]
}

export interface Committed extends AppendResult {
  /** Version of the checkpoint, if it was given one; `null`: none is kept now. */
  readonly checkpoint?: string | null
  /** What became of each fact, in order. */
  readonly facts?: readonly Remembered[]
}

/** What became of a compaction that was asked for. */
export type Compacted = { readonly status: string } & Partial<Omit<CompactEvent, 'type' | 'status'>>

/**
 * One conversation at the edge. Every method rejects as {@link RequestError} says; named here are
 * the codes that are its own.
 */
export interface SessionClient {
  readonly sessionId: string
  /** What is remembered here, and what the user's sessions share. */
  readonly facts: SessionFactsClient
  readonly checkpoint: CheckpointClient

  /**
   * Writes messages, all or none, durable when it resolves. What is too long for one request
   * travels in parts before.
   *
   * @param options.round id of the round to join, for what does not open one. Default: the newest
   * @param options.replaces id of a message that a user's message is said in place of: it is hidden
   * with all after it, in the same commit
   * @throws ERR_INVALID_ARGUMENT, ERR_ENTRY_TOO_LARGE, ERR_DUPLICATE_ID, ERR_NOT_FOUND; nothing is
   * written
   */
  append(
    input: MessageInput | readonly MessageInput[],
    options?: WriteOptions & { readonly round?: string; readonly replaces?: string },
  ): Promise<AppendResult>
  /**
   * Writes messages, checkpoint and facts, all or nothing, durable when it resolves.
   *
   * @param options.ifVersion the version over which the checkpoint is written; `null`: only where
   * there is none
   * @param options.round as for {@link append}
   * @throws as {@link append}, and ERR_CONFLICT (`version`), ERR_LIMIT; nothing is written
   */
  commit(input: Commit, options?: VersionedOptions & { readonly round?: string }): Promise<Committed>
  /** Messages as they show, newest last. @throws ERR_NOT_FOUND */
  messages(options?: HistoryOptions & CallOptions): Promise<readonly Message[]>
  /**
   * Empties a message, and all that was derived from it, for ever. Idempotent: `already` says that
   * nothing was left to remove.
   *
   * @returns what was removed: ids and counts, no text
   * @throws ERR_NOT_FOUND: there never was one
   */
  forget(message: string, options?: WriteOptions): Promise<Certificate>
  /**
   * Empties all messages, and all that was derived from them, for ever; a run that goes on is
   * stopped. Checkpoint, title and facts that name no message stay. Idempotent.
   *
   * @returns what was removed: ids and counts, no text
   */
  clearLog(options?: WriteOptions): Promise<Certificate>
  /**
   * What the next model call is given, for the library's renderers:
   * `toAnthropic(await session.context())`.
   *
   * @throws ERR_BUDGET_TOO_SMALL (`breakdown`), ERR_TOOL_PENDING (`pending`), ERR_INVALID_ARGUMENT
   */
  context(options?: ContextOptions & WriteOptions): Promise<Context>
  /**
   * Rebuilds the context of the call that was made when a message was the newest one, without its
   * tail, and checks it against the hash that its epoch recorded. Writes nothing.
   *
   * @throws ERR_NOT_FOUND: no such message, or no context was built up to it
   */
  contextAt(message: string, options?: CallOptions): Promise<ContextAt>
  /** Has a summary written now, if there is anything to sum up. */
  compact(options?: WriteOptions & { readonly newEpoch?: boolean }): Promise<Compacted>
  /**
   * Hides a message and everything that shows after it. @returns the id of the rewind, for
   * {@link undo} @throws ERR_NOT_FOUND
   */
  rewind(message: string, options?: WriteOptions): Promise<string>
  /**
   * Shows again what a rewind hid; default: the newest that still holds. @returns its id @throws
   * ERR_NOT_FOUND
   */
  undo(rewind?: string, options?: WriteOptions): Promise<string>
  /**
   * Places at which a message was edited or a reply made again. `versionsIn` of the library says
   * which versions show.
   */
  branches(options?: CallOptions): Promise<readonly Branch[]>
  /**
   * Shows a version, by the message with which it begins, in the place of the one that shows.
   * Idempotent. @throws ERR_NOT_FOUND
   */
  switchTo(version: string, options?: WriteOptions): Promise<readonly Branch[]>
  /** What a model should know when this session starts. */
  start(options?: Omit<StartOptions, 'ifNoneMatch'> & CallOptions): Promise<SessionStart>
  /** @returns undefined where the start's etag is `ifNoneMatch`: nothing has changed */
  start(options: StartOptions & CallOptions): Promise<SessionStart | undefined>
  /**
   * Where every character and every token of the current context comes from. Default: as a request
   * to OpenAI.
   */
  explain(options?: CallOptions & { readonly provider?: Provider }): Promise<Explanation>
  /**
   * Says something to the agent at the edge, or has a reply made again. The run goes on if this
   * client leaves.
   *
   * @example With an edge:
   * ```ts
   * const run = session.chat('Where were we?')
   * for await (const chunk of run) if (chunk.type === 'text-delta') process.stdout.write(chunk.delta ?? '')
   * const { text } = await run.result()
   * ```
   */
  chat(input: ChatInput, options?: ChatOptions): ChatRun
  /** A run from its beginning, one that goes on included. Default: the one that goes on now. */
  resumeChat(run?: string, options?: CallOptions): ChatRun
  /** Stops a run, by default the one that goes on now; what it had recorded stays. Idempotent. */
  stopChat(run?: string, options?: WriteOptions): Promise<void>
  /**
   * Calls the listener when something changed, and when the socket that says so opens or closes;
   * until it is closed.
   *
   * @returns what closes it
   * @throws ERR_NOT_CONFIGURED: there is no WebSocket
   */
  live(listener: (event: LiveEvent) => void): () => void
}

/** @throws ERR_INVALID_ARGUMENT: no URL can hold the id */
export function sessionClient(transport: Transport, sessionId: string): SessionClient {
  const { get, json, raw, stream, opId, settings } = transport
  const at = pathOf('sessions', sessionId)
  const chats = `${at}/chat`

  const rewind = async (body: object, options: WriteOptions | undefined): Promise<string> =>
    (await json<{ readonly rewind: string }>('POST', `${at}/rewind`, { ...options, body })).rewind

  /** Sends what is too long for one body. @returns what stands for messages in it */
  const sent = async (
    input: MessageInput | readonly MessageInput[],
    options: CallOptions,
  ): Promise<readonly object[]> => {
    const { long, messages } = pack([input].flat(), settings.newId)
    for (const { id, parts } of long)
      for (const [place, text] of parts.entries())
        await json('PUT', `${at}/parts/${segmentOf(id)}/${place}`, {
          ...options,
          opId: undefined,
          raw: { type: 'text/plain; charset=utf-8', text },
        })
    return messages
  }

  return {
    sessionId,
    facts: factsClient(transport, `${at}/facts`),
    checkpoint: checkpointClient(transport, `${at}/checkpoint`),

    async append(input, { round, replaces, ...options } = {}) {
      const named = { ...options, opId: opId(options.opId) }
      const messages = await sent(input, options)
      return json('POST', `${at}/messages`, { ...named, body: { messages, round, replaces } })
    },

    async commit({ messages: input, ...state }, { round, ifVersion, ...options } = {}) {
      const named = { ...options, opId: opId(options.opId) }
      const messages = input && (await sent(input, options))
      const bound = boundTo({ ...named, ...(ifVersion !== undefined && { ifVersion }) })
      return json('POST', `${at}/commit`, { ...bound, body: { ...state, messages, round } })
    },

    messages: async (options) =>
      (await get<{ readonly messages: readonly Message[] }>(`${at}/messages`, options)).messages,

    forget: (message, options) => json('DELETE', `${at}/messages/${segmentOf(message)}`, options),

    clearLog: (options) => json('DELETE', `${at}/messages`, options),

    context: ({ signal, timeoutMs, opId, ...body } = {}) =>
      json('POST', `${at}/context`, { signal, timeoutMs, opId, body }),

    contextAt: (message, options) => get(`${at}/context/${segmentOf(message)}`, options),

    compact: ({ newEpoch, ...options } = {}) =>
      json('POST', `${at}/compact`, { ...options, body: { newEpoch } }),

    rewind: (message, options) => rewind({ message }, options),
    undo: (undo, options) => rewind({ undo: undo ?? true }, options),

    branches: async (options) =>
      (await get<{ readonly branches: readonly Branch[] }>(`${at}/branches`, options)).branches,
    async switchTo(version, options) {
      const call = { ...options, body: { show: version } }
      return (await json<{ readonly branches: readonly Branch[] }>('POST', `${at}/branches`, call)).branches
    },

    // Its keys are the same everywhere.
    start: ({
      project,
      query,
      sessions,
      budgetTokens = {},
      ifNoneMatch,
      ...call
    }: StartOptions & CallOptions = {}) => {
      const budget =
        typeof budgetTokens === 'number' ? { working_memory_budget_tokens: budgetTokens } : budgetTokens
      const path = `${at}/start${queryOf({ project, query, sessions, ...budget })}`
      return raw<SessionStart>('GET', path, { ...call, headers: unless(ifNoneMatch) })
    },

    explain: (options) => get(`${at}/explain`, options),

    chat(input, { body, ...options } = {}) {
      const named = { ...options, opId: opId(options.opId) }
      const text = JSON.stringify({ ...body, id: sessionId, ...asked(input, settings.newId) })
      const call = { ...named, raw: { type: 'application/json', text } }
      return chatRun(transport, chats, 'current', options, () => stream('POST', chats, call))
    },

    resumeChat: (run = 'current', options = {}) => chatRun(transport, chats, run, options, undefined),
    stopChat: async (run = 'current', options = {}) => json('DELETE', `${chats}/${segmentOf(run)}`, options),
    live: (listener) => live(transport, at, listener),
  }
}

/**
 * What the AI SDK's `useChat` sends. Messages have ids, so that one which is sent again is known.
 */
function asked(input: ChatInput, newId: () => string): object {
  if (typeof input === 'string') return asked({ parts: [{ type: 'text', text: input }] }, newId)
  if ('parts' in input)
    return { trigger: 'submit-message', messages: [{ id: newId(), role: 'user', ...input }] }
  const { regenerate } = input
  const messageId = regenerate === true ? undefined : regenerate
  return { trigger: 'regenerate-message', messages: [], messageId }
}
