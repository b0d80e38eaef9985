import { contextAt } from '../../operations/context-at.ts'
import { kernelOf } from '../../operations/kernel-of.ts'
import type { Context, ContextAt, Unverified } from '../../ports/context.ts'
import type { SessionBase } from '../../ports/memory.ts'
import type { Message, ToolSpec } from '../../ports/message.ts'
import type { Provider } from '../../replay/transcript.ts'
import { checkOptions } from '../../text/json.ts'

/** A call that was made, or the one that comes next. */
export interface SourceCall {
  readonly id: string
  /** Whether it is the call that comes next: its context may still change. */
  readonly next: boolean
}

export interface SourceContext {
  readonly context: Context
  /**
   * Absent: nobody checked it. `false`: it could not be rebuilt byte for byte, and `reason` says
   * why.
   */
  readonly verified?: boolean
  readonly reason?: Unverified
  /**
   * `whole`: its tail is in it, and was checked too, or it had none. Default: what stood there is
   * not known.
   */
  readonly tail?: ContextAt['tail']
}

/** A session that is being used, as the inspector reads it. */
export interface InspectorSource {
  /** Its name on the screen. */
  readonly name: string
  /** Whose requests are shown. Default `openai` */
  readonly provider?: Provider
  /** Contract: oldest first, the next one last. May be only the newest ones. */
  calls(): Promise<readonly SourceCall[]>
  /**
   * Contract: what that call was given; rejects with the code of a `PlimsollError` where it cannot
   * be known.
   */
  context(id: string): Promise<SourceContext>
  /**
   * Contract: messages as they show, oldest first, for what other policies would have given.
   * Absent: policies are not compared.
   */
  messages?(): Promise<readonly Message[]>
  /** Contract: calls the listener when something was written; gives what ends that. */
  subscribe?(listener: () => void): () => void
}

/** Newest messages of a session that are read: a timeline is for looking, not for archives. */
const MOST_MESSAGES = 400

/** The same at an edge, where each past call is a request. */
const MOST_AT_EDGE = 40

/** How the call that comes next is asked for at an edge, for its agent: nothing is written. */
export interface PreviewOptions {
  readonly preview: true
  readonly onPending: 'abandon'
  readonly tools: 'agent'
}

const NEXT_CALL = { preview: true, onPending: 'abandon' } as const

/** Id of the call that comes next; no message is called that. */
const NEXT = 'next'

export interface SourceOptions {
  /** Whose requests its calls are shown as. Default `openai`. */
  readonly provider?: Provider
  /** What the session is called on the page. Default its id. */
  readonly name?: string
}

/**
 * A session of this page: every past call by the log, the newest 400 messages of it, checked
 * against the hash that its epoch recorded. Reads only: the next call's context is a preview.
 *
 * @param options.tools the tools of the next call
 * @example In a browser:
 * ```ts
 * import { sessionSource } from 'plimsoll/inspector'
 * import 'plimsoll/inspector/define'
 *
 * const inspector = document.querySelector('plimsoll-inspector')
 * if (inspector) inspector.source = sessionSource(memory.session({ userId: 'ada', sessionId: 'trip' }))
 * ```
 */
export function sessionSource(
  session: SessionBase,
  options: SourceOptions & { readonly tools?: readonly ToolSpec[] } = {},
): InspectorSource {
  checkOptions('sessionSource', 'options', options, ['provider', 'name', 'tools'])
  const { tools } = options
  return sourceOf(
    {
      sessionId: session.sessionId,
      messages: () => session.history({ messages: MOST_MESSAGES }),
      next: () => session.context({ ...NEXT_CALL, ...(tools && { tools }) }),
      past: (id) => contextAt(session, id),
      subscribe(listener) {
        // What its user has forgotten is gone from its calls, too.
        const unwatch = kernelOf('sessionSource', session).user.store.watch?.(listener)
        const unsubscribe = session.subscribe(listener)
        return () => {
          unsubscribe()
          unwatch?.()
        }
      },
    },
    options,
  )
}

/** A call was made when the message before its reply was the newest. */
function callsIn(messages: readonly Message[]): readonly SourceCall[] {
  return messages.flatMap(({ role }, index) => {
    const before = messages[index - 1]
    return role === 'assistant' && before ? [{ id: before.id, next: false }] : []
  })
}

/** As much of a `SessionClient` as is used here. */
export interface InspectedClient {
  readonly sessionId: string
  messages(options: { readonly messages: number }): Promise<readonly Message[]>
  context(options: PreviewOptions): Promise<Context>
  contextAt(message: string): Promise<SourceContext>
  live?(listener: (event: { readonly type: string }) => void): () => void
}

/**
 * A session at an edge, as {@link sessionSource} shows one of this page: past calls among the
 * newest 40 messages, a request each whenever something changed. The next one is given the tools
 * that the edge's own agent gets.
 */
export function clientSource(client: InspectedClient, options: SourceOptions = {}): InspectorSource {
  checkOptions('clientSource', 'options', options, ['provider', 'name'])
  return sourceOf(
    {
      sessionId: client.sessionId,
      messages: () => client.messages({ messages: MOST_AT_EDGE }),
      next: () => client.context({ ...NEXT_CALL, tools: 'agent' }),
      past: (id) => client.contextAt(id),
      subscribe: (listener) =>
        client.live?.(({ type }) => {
          // Where it is refused, reading says why.
          if (type !== 'close') listener()
        }) ?? (() => {}),
    },
    options,
  )
}

/** Where the calls of a session are read. */
interface Calls {
  readonly sessionId: string
  messages(): Promise<readonly Message[]>
  /** The context of the call that comes next. */
  next(): Promise<Context>
  /** That of the call that was made when a message was the newest. */
  past(id: string): Promise<SourceContext>
  subscribe(listener: () => void): () => void
}

function sourceOf(
  { sessionId, messages, next, past, subscribe }: Calls,
  { provider, name = sessionId }: SourceOptions,
): InspectorSource {
  return {
    name,
    ...(provider && { provider }),
    messages,
    calls: async () => [...callsIn(await messages()), { id: NEXT, next: true }],
    context: async (id) => (id === NEXT ? { context: await next() } : past(id)),
    subscribe,
  }
}
