import { readBranches, switchTo } from '../../operations/branches.ts'
import { checkContext } from '../../operations/check-context.ts'
import { contextAt } from '../../operations/context-at.ts'
import { clearLog } from '../../operations/forget/clear-log.ts'
import { forget } from '../../operations/forget/forget.ts'
import { rewind, undo } from '../../operations/rewind.ts'
import { start } from '../../operations/start/start.ts'
import type { Certificate } from '../../ports/certificate.ts'
import type { Context } from '../../ports/context.ts'
import { PlimsollError } from '../../ports/errors.ts'
import type { Provider } from '../../ports/explanation.ts'
import type { FactInput, FactQuery, Rating } from '../../ports/fact.ts'
import type { Session } from '../../ports/memory.ts'
import type { Json, MessageInput, ToolSpec } from '../../ports/message.ts'
import type { AppendResult, ContextOptions, HistoryOptions } from '../../ports/session.ts'
import type { StartOptions } from '../../ports/start.ts'
import { PAGE_UNITS } from '../../ports/store.ts'
import { explain } from '../../render/explain.ts'
import { invalid } from '../../text/json.ts'
import { type EdgeFeatures, type EdgeSession, using } from '../features.ts'
import type { RefreshFailure } from '../replica/user-replica.ts'
import { type Answer, answer, contextAnswer, NOTHING } from './answer.ts'
import { type Conditional, whereTrue } from './condition.ts'
import type { GivenOptions } from './session-writes.ts'

/** A message whose JSON was uploaded before, in parts under its id. */
export interface UploadedMessage {
  readonly id: string
  readonly parts: number
}

export type GivenMessage = MessageInput | UploadedMessage

/** What a context call asks for: messages to append first, and the options of the context. */
export interface ContextCall extends Omit<ContextOptions, 'tools'> {
  /** `agent`: those that the object's own agent gets. */
  readonly tools?: readonly ToolSpec[] | 'agent'
  readonly messages?: readonly GivenMessage[]
}

/** What is written together. */
export interface CommitCall extends Conditional {
  readonly messages?: readonly GivenMessage[]
  readonly checkpoint?: Json
  readonly facts?: readonly FactInput[]
  readonly round?: string
}

/** One change to one fact. */
export interface FactChange {
  readonly fact: string
  readonly pinned?: boolean
  readonly promote?: true
  readonly resolve?: true
  readonly review?: Rating
  readonly supersede?: FactInput
}

/** What a call is made on, and what goes with it. */
export interface Asked {
  readonly session: EdgeSession
  readonly opId?: string
  /** Appends to it, as far as its budgets allow; what was uploaded in parts is put together. */
  readonly append: (messages: readonly GivenMessage[], options: GivenOptions) => Promise<AppendResult>
  /** Puts together what was uploaded in parts, which is removed once it is written. */
  readonly whole: <Result>(
    messages: readonly GivenMessage[],
    write: (messages: readonly MessageInput[]) => Promise<Result>,
  ) => Promise<Result>
  /** Tools of the object's own agent, as its model sees them. */
  readonly tools: () => Promise<readonly ToolSpec[]>
  /** Says whether the user's other sessions hold no more what is forgotten. */
  readonly settled: (certificate: Certificate) => Promise<Certificate>
  /** Why the copy of what the user's sessions share may be old. */
  readonly stale?: RefreshFailure
}

/**
 * What the Worker may ask of a session, by name. Arguments and answers cross between processes:
 * plain data only.
 */
export const sessionCalls = {
  append: async (
    { append, opId }: Asked,
    {
      messages,
      round,
      replaces,
    }: { readonly messages: readonly GivenMessage[]; readonly round?: string; readonly replaces?: string },
  ): Promise<Answer> =>
    answer(
      await append(messages, {
        ...(round !== undefined && { round }),
        ...(replaces !== undefined && { replaces }),
        ...(opId !== undefined && { opId }),
      }),
    ),

  commit: async (
    { session, whole, opId }: Asked,
    { messages = [], checkpoint, facts, round, condition }: CommitCall,
  ): Promise<Answer> => {
    const kept = checkpoint === undefined ? undefined : using(session, 'checkpoint').checkpoint
    if (facts !== undefined) using(session, 'facts')
    // What is given of it is in use.
    const full = session as Session<EdgeFeatures>
    const written = {
      ...(checkpoint !== undefined && { checkpoint }),
      ...(facts !== undefined && { facts }),
    }
    const committed = await whole(messages, (messages) =>
      whereTrue({
        condition,
        read: async () => (await kept?.get())?.version ?? null,
        write: (bound) =>
          full.commit(
            { messages, ...written },
            { ...bound, ...(round !== undefined && { round }), ...(opId !== undefined && { opId }) },
          ),
      }),
    )
    return answer(committed, committed.checkpoint)
  },

  messages: async ({ session }: Asked, options: HistoryOptions): Promise<Answer> =>
    answer({ messages: await session.history({ ...options, characters: PAGE_UNITS }) }),

  context: async (
    { session, append, tools: agents, opId, stale }: Asked,
    { messages = [], tools, ...rest }: ContextCall,
  ): Promise<Answer> => {
    const given = tools === 'agent' ? await agents() : tools
    const options = { ...rest, ...(given !== undefined && { tools: given }) }
    if (messages.length > 0) {
      checkContext(session, options)
      // It would be written, or not be in what is shown.
      if (options.preview)
        throw invalid('context', 'messages', 'cannot be given with preview, which writes nothing')
      await append(messages, opId === undefined ? {} : { opId })
    }
    return contextAnswer(reported(await session.context(options), stale))
  },

  contextAt: async ({ session }: Asked, { message }: { readonly message: string }): Promise<Answer> =>
    answer(await contextAt(session, message)),

  rewind: async (
    { session, opId }: Asked,
    { message, undo: undone }: { readonly message?: string; readonly undo?: string | true },
  ): Promise<Answer> => {
    if ((message === undefined) === (undone === undefined))
      throw invalid('rewind', 'message', 'or undo must be given, and not both')
    const once = opId === undefined ? {} : { opId }
    if (message !== undefined) return answer({ rewind: await rewind(session, message, once) })
    return answer({ rewind: await undo(session, undone === true ? undefined : undone, once) })
  },

  branches: async ({ session }: Asked, _: undefined): Promise<Answer> =>
    answer({ branches: await readBranches(session) }),

  switchTo: async ({ session, opId }: Asked, { show }: { readonly show: string }): Promise<Answer> => {
    await switchTo(session, show, opId === undefined ? {} : { opId })
    return answer({ branches: await readBranches(session) })
  },

  facts: async ({ session }: Asked, query: FactQuery): Promise<Answer> =>
    answer({ facts: await using(session, 'facts').facts.list(query) }),

  remember: async ({ session, opId }: Asked, input: FactInput): Promise<Answer> =>
    answer(await using(session, 'facts').facts.remember(input, opId === undefined ? {} : { opId })),

  changeFact: async ({ session }: Asked, change: FactChange): Promise<Answer> =>
    answer(await changeFact(session, change)),

  forget: async ({ session, settled }: Asked, { fact }: { readonly fact: string }): Promise<Answer> =>
    answer(await settled(await forget(session, fact, { kind: 'fact' }))),

  forgetMessage: async (
    { session, settled }: Asked,
    { message }: { readonly message: string },
  ): Promise<Answer> => answer(await settled(await forget(session, message, { kind: 'message' }))),

  clearLog: async ({ session, settled }: Asked, _: undefined): Promise<Answer> =>
    answer(await settled(await clearLog(session))),

  checkpoint: async ({ session }: Asked, _: undefined): Promise<Answer> => {
    const { value = null, version } = await using(session, 'checkpoint').checkpoint.get()
    return answer({ value, version }, version)
  },

  setCheckpoint: async (asked: Asked, given: { readonly value: unknown } & Conditional): Promise<Answer> => {
    const version = await setCheckpoint(asked, given)
    return answer({ version }, version)
  },

  deleteCheckpoint: async (asked: Asked, given: Conditional): Promise<Answer> => {
    await setCheckpoint(asked, { ...given, value: null })
    return NOTHING
  },

  start: async ({ session }: Asked, options: Omit<StartOptions, 'ifNoneMatch'>): Promise<Answer> => {
    const started = await start(using(session, 'facts'), options)
    // Its bytes are canonical, and its keys are those of the wire already.
    return { json: JSON.stringify(started), etag: started.etag }
  },

  explain: async (
    { session, stale }: Asked,
    { provider }: { readonly provider?: Provider },
  ): Promise<Answer> => {
    const context = reported(await session.context({ preview: true, onPending: 'abandon' }), stale)
    const { receipt, hash } = context
    return answer({ hash, receipt, ...explain(context, provider) })
  },
} as const

/**
 * Calls that need nothing of what the user's sessions share, so that they need not look whether it
 * changed.
 */
export const OWN_CALLS: ReadonlySet<SessionCallName> = new Set([
  'append',
  'messages',
  'contextAt',
  'rewind',
  'branches',
  'switchTo',
  'checkpoint',
  'setCheckpoint',
  'deleteCheckpoint',
])

/** Calls that empty what was said, for ever. Their answers hold none of it. */
export const FORGETS: ReadonlySet<SessionCallName> = new Set(['forget', 'forgetMessage', 'clearLog'])

/** Calls after which something shows that did not show before. */
export const CHANGES: ReadonlySet<SessionCallName> = new Set([
  'append',
  'commit',
  'context',
  'rewind',
  'switchTo',
  'remember',
  'changeFact',
  'forget',
  'forgetMessage',
  'clearLog',
  'setCheckpoint',
  'deleteCheckpoint',
])

type SessionCalls = typeof sessionCalls
export type SessionCallName = keyof SessionCalls
export type SessionCallInput<Name extends SessionCallName> = Parameters<SessionCalls[Name]>[1]

/** A context whose receipt says that what is remembered may be old. */
function reported(context: Context, stale: RefreshFailure | undefined): Context {
  if (!stale) return context
  const { receipt } = context
  return {
    ...context,
    receipt: { ...receipt, failures: [...receipt.failures, { part: 'user-replica', ...stale }] },
  }
}

/** @returns the version; `null`: nothing is kept now */
function setCheckpoint(
  { session, opId }: Asked,
  { value, condition }: { readonly value: unknown } & Conditional,
): Promise<string | null> {
  const { checkpoint } = using(session, 'checkpoint')
  return whereTrue({
    condition,
    read: async () => (await checkpoint.get()).version,
    write: (bound) => checkpoint.set(value as Json, { ...bound, ...(opId !== undefined && { opId }) }),
  })
}

async function changeFact(session: EdgeSession, change: FactChange): Promise<unknown> {
  const { fact, pinned, promote, resolve, review, supersede } = change
  const wanted = [pinned, promote, resolve, review, supersede].filter((one) => one !== undefined)
  if (wanted.length !== 1)
    throw new PlimsollError('ERR_INVALID_ARGUMENT', 'facts: the body must hold exactly one change', {
      argument: 'body',
    })
  const { facts } = using(session, 'facts')
  if (supersede !== undefined) return facts.supersede(fact, supersede)
  if (promote) return { fact: await facts.promote(fact) }
  if (resolve) return { fact: await facts.resolve(fact) }
  if (review !== undefined) return { fact: await facts.review(fact, review) }
  return { fact: await (pinned ? facts.pin(fact) : facts.unpin(fact)) }
}
