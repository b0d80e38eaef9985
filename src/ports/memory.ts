import type { Context } from './context.ts'
import type { MessageInput, SessionMessage } from './message.ts'
import type { Scope } from './op.ts'
import type { AppendOptions, AppendResult, ContextOptions, HistoryOptions, Snapshot } from './session.ts'

/**
 * What a feature adds to the types of a memory: an interface of its own, with as much of this as it
 * has. It is a record, so that a session is typed by names rather than by an order.
 */
export interface Shape {
  /** `session.<name>` */
  readonly api?: object
  /** `memory.user(…).<name>` */
  readonly user?: object
  /** `context({ <name>: … })` */
  readonly context?: unknown
  /** `commit({ <name>: … })` */
  readonly commit?: unknown
  /** `commit(…, { … })`: options of its own */
  readonly commitOptions?: object
  /** `(await commit(…)).<name>` */
  readonly outcome?: unknown
  /** Names of features that must be in `use` too. */
  readonly needs?: string
}

export type Get<S, K extends keyof Shape> = S extends { readonly [P in K]: infer V } ? V : never

/**
 * Of the features of a record, what they add under a key, by their names; those that add nothing
 * are left out.
 */
type Has<F extends object, K extends keyof Shape> = {
  readonly [N in keyof F as Get<NonNullable<F[N]>, K> extends never ? never : N]: Get<NonNullable<F[N]>, K>
}

/** What all features of a record add under a key, as one. */
type AllOf<F extends object, K extends keyof Shape> = Partial<
  UnionToIntersection<{ [N in keyof F]: Get<NonNullable<F[N]>, K> }[keyof F]>
>
type UnionToIntersection<U> = (U extends unknown ? (one: U) => void : never) extends (all: infer I) => void
  ? I
  : never

/** The record of a memory without features. */
export type NoFeatures = Record<never, never>

/** What is written together: all of it, or nothing. */
export type CommitInput<F extends object = NoFeatures> = {
  /** As in `append`. Default: none. */
  readonly messages?: MessageInput | readonly MessageInput[]
} & Partial<Has<F, 'commit'>>

export type CommitOptions<F extends object = NoFeatures> = Pick<AppendOptions, 'opId' | 'round'> &
  ([keyof F] extends [never] ? unknown : AllOf<F, 'commitOptions'>)

/** What was written, and what each feature says of its part. */
export type CommitResult<F extends object = NoFeatures> = AppendResult & Partial<Has<F, 'outcome'>>

/** Options of `context` that the features of a record take. */
export type ContextOptionsOf<F extends object = NoFeatures> = ContextOptions & Partial<Has<F, 'context'>>

/**
 * One conversation, without what features add to it. Its calls run one after the other, in the
 * order in which they were made.
 */
export interface SessionBase<F extends object = NoFeatures> {
  readonly sessionId: string
  /**
   * Writes one or more messages, all or none. A user message opens a round; anything else joins
   * `round`, a tool result the round of its call. Durable when it resolves. A rejection with a
   * storage error does not mean "not written": append again with the same `opId` or the same
   * message ids.
   *
   * @throws ERR_INVALID_ARGUMENT, ERR_ENTRY_TOO_LARGE, ERR_DUPLICATE_ID, ERR_NOT_FOUND (no such
   * round); nothing is written
   */
  append(input: MessageInput | readonly MessageInput[], options?: AppendOptions): Promise<AppendResult>
  /**
   * Writes messages and what features have for it in one commit: all of it, or nothing. Durable
   * when it resolves. A rejection with a storage error does not mean "not written": commit again
   * with the same `opId`, which is a no-op where it was written.
   *
   * @throws as {@link append}, and what the features throw; nothing is written
   * @example
   * ```ts
   * import { checkpoint, createMemory, mapStore } from 'plimsoll'
   *
   * const memory = createMemory({ store: mapStore(), use: [checkpoint({ initial: { done: 0 } })] })
   * const session = memory.session({ userId: 'ada' })
   * const { value, version } = await session.checkpoint.get()
   * await session.commit(
   *   { messages: { role: 'assistant', content: 'One more.' }, checkpoint: { done: value.done + 1 } },
   *   { ifVersion: version },
   * )
   * ```
   */
  commit(input: CommitInput<F>, options?: CommitOptions<F>): Promise<CommitResult<F>>
  /**
   * What the next model call is given. Reads the window; writes only when an epoch begins, one
   * mark. Two calls with nothing between them give the same bytes.
   *
   * @throws ERR_BUDGET_TOO_SMALL (`breakdown`), ERR_TOOL_PENDING (`pending`), ERR_INVALID_ARGUMENT
   */
  context(options?: ContextOptionsOf<F>): Promise<Context>
  /** Messages as they show, newest last: the last `rounds` or `messages`, or those `before` one. */
  history(options?: HistoryOptions): Promise<readonly SessionMessage[]>
  /**
   * Calls the listener after each change of the snapshot, other tabs' writes included where the
   * store can tell of them. What it throws is ignored.
   *
   * @returns what ends it
   */
  subscribe(listener: () => void): () => void
  /** What shows now; for `useSyncExternalStore`. Empty until the first read. */
  getSnapshot(): Snapshot
  /** Lets go of the store. What was appended is durable already. */
  close(): Promise<void>
}

/** One conversation of a memory with the features of a record: `Session<{ facts: FactsShape }>`. */
export type Session<F extends object = NoFeatures> = SessionBase<F> & {
  readonly [N in keyof F as Get<NonNullable<F[N]>, 'api'> extends never ? never : N]:
    | Get<NonNullable<F[N]>, 'api'>
    | (undefined extends F[N] ? undefined : never)
}

/** What all sessions of a user share, by feature. */
export type User<F extends object = NoFeatures> = {
  readonly [N in keyof F as Get<NonNullable<F[N]>, 'user'> extends never ? never : N]:
    | Get<NonNullable<F[N]>, 'user'>
    | (undefined extends F[N] ? undefined : never)
}

export interface SessionOptions {
  /**
   * Whose facts belong here beside those of no project; facts that are remembered here are this
   * project's. Default: none.
   */
  readonly project?: string
}

/** Whose sessions they are: a scope without a session. */
export type UserScope = Omit<Scope, 'sessionId'>

/** A memory over a store, with the features of a record. */
export interface Memory<F extends object = NoFeatures> {
  /**
   * One conversation of a user. Cheap: nothing is read before its first call. Without `sessionId`
   * it is `default`.
   */
  session(scope: Scope, options?: SessionOptions): Session<F>
  /** What all sessions of a user share. Cheap: nothing is read before its first call. */
  user(scope: UserScope): User<F>
}

/** The sessions of a memory: `SessionOf<typeof memory>`. */
export type SessionOf<M> = M extends Memory<infer F> ? Session<F> : never
