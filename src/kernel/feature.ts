import type { Receipt, SectionUse } from '../ports/context.ts'
import type { Host } from '../ports/host.ts'
import type { Get, Shape } from '../ports/memory.ts'
import type { Json, Message, MessageInput, Trust } from '../ports/message.ts'
import type { EpochCause, IndexEntry, Name, Op, OpResult, Scope } from '../ports/op.ts'
import type { AppendOptions, AppendResult, Limits } from '../ports/session.ts'
import type { Head, ScopeStore, Store } from '../ports/store.ts'
import type { TransferPart } from '../ports/transfer.ts'
import type { Lane } from './context/lane.ts'
import type { Secret } from './context/secret.ts'
import type { Cover } from './cover.ts'
import type { Unit } from './log/fold.ts'
import type { Policy } from './policy.ts'
import type { Provided, Slot } from './slot.ts'

/**
 * What composes a memory, given in `use`: a value without state of its own, so that one may serve
 * several memories. Features act in the order of their names.
 */
export interface Feature<Name extends string = string, S extends Shape = Shape> {
  readonly name: Name
  readonly shape?: S
  readonly needs?: readonly string[]
  /**
   * Settings that change bytes: they enter the lane's hash, as does that there is an `open`. False:
   * memories with and without it have the same epochs. Contract: then its sessions have no `show`
   * and no `cover`; nothing checks that.
   */
  readonly lane?: ((policy: Pick<Policy, 'cap'>) => Json) | false
  /** Registers that it owns: what export, import, forgetting, retention and replicas know of it. */
  readonly registers?: readonly RegisterKind[]
  /** For other features, whatever the session. */
  readonly provides?: readonly Provided[]
  /** What all sessions of one memory share. */
  memory?(memory: KernelMemory): MemoryPart
  user?(user: KernelUser): Get<S, 'user'>
  /** Contract: reads nothing. */
  open?(session: KernelSession): SessionPart<S>
}

/** Whose scope a register is in. */
export type Owner = 'user' | 'session'

/** A kind of register. What export, import and retention know of a key, they know by this. */
export interface RegisterKind {
  /** What its keys begin with, up to a slash; or, without one at its end, the whole key. */
  readonly prefix: string
  readonly owners: readonly Owner[]
  readonly part: TransferPart
  /** Whether it has no label of trust, and shows as the app's or the user's own word. */
  readonly isUnlabelled?: true
  /**
   * The value as it is stored, unless it was taken off.
   *
   * @param name the key after the prefix
   * @throws ERR_INVALID_ARGUMENT, ERR_ENTRY_TOO_LARGE
   */
  check(operation: string, name: string, value: unknown, owner: Owner): Json
  /** Where the register stands in indexes; the writer of a file is not asked. Default: nowhere. */
  index?(name: string, value: Json, standing: Standing): readonly IndexEntry[]
  /** The value at a lower trust; undefined: it cannot be kept there. Default: as it is. */
  lowered?(value: Json, most: Trust, owner: Owner): Json | undefined
  /** The group that counts them, and how many a scope holds. Default: as many as there are. */
  readonly room?: { readonly group: string; readonly most: number }
}

/** What a register stands in its scope by. */
export interface Standing {
  readonly owner: Owner
  readonly memory: KernelMemory
}

/** What a feature has for the whole memory. */
export interface MemoryPart {
  /** Asked before an erase: resolves once nothing that it began can write to the scope. */
  idle?(scope: Scope): Promise<void>
  /** Unix milliseconds; undefined: nothing waits. */
  nextWorkAt?(): Promise<number | undefined>
  /** Does a bounded part of what is due. */
  runDueWork?(): Promise<void>
}

/** What a feature has for one session. */
export interface SessionPart<S extends Shape = Shape> {
  /** Public, and not queued: each method that reads or writes says `session.run(…)` itself. */
  readonly api?: Get<S, 'api'>
  /** For other features, inside a call that runs: never queued, or it would wait for itself. */
  readonly provides?: readonly Provided[]
  readonly write?: WritePart<S>
  readonly show?: ShowPart<unknown, S>
  readonly cut?: CutPart
  /** Before the first call, where a forget of its user is owed: empties what is the feature's. */
  settle?(): Promise<void>
  /** Made once for each lane of the session. At most one feature has it. */
  cover?(lane: Lane): Cover
}

/** What the feature of that name has for one session. */
export interface NamedPart {
  readonly name: string
  readonly part: SessionPart
}

/** What is written with messages. */
export interface WritePart<S extends Shape = Shape> {
  /** Names of its own options of `commit`. Given without the feature's value, they are refused. */
  readonly options?: readonly string[]
  /**
   * What `commit` was given under the feature's name, checked once; a feature without it takes
   * nothing.
   *
   * @returns undefined: there is nothing to write
   * @throws before anything is written
   */
  check?(
    operation: string,
    given: Get<S, 'commit'>,
    options: { readonly [name: string]: unknown },
  ): Promise<unknown>
  /** What it writes, by what the store says now: asked again at each try. */
  prepare?(checked: never, draft: WriteDraft): Promise<Prepared<S>>
  /** Called once it is durable. A failure is ignored. */
  after?(written: {
    readonly messages: readonly Message[]
    readonly outcome: Get<S, 'outcome'> | undefined
  }): Promise<void> | void
}

/** One commit that is being prepared. */
export interface WriteDraft {
  readonly operation: string
  readonly opId: string
  readonly messages: readonly Message[]
  /** The name of a further op of this commit: the same when it is repeated. */
  part(name: string): string
  /** Whether the commit was written before, as far as its ops were named by now. */
  isWritten(): Promise<boolean>
}

export interface Prepared<S extends Shape = Shape> {
  readonly ops: readonly Op[]
  /** Whether it is known to be written already: then it is a repeat, and not refused. */
  readonly isWritten?: boolean
  /** @throws where another try is of no use */
  refuse?(results: readonly OpResult[]): Promise<void>
  /** What `commit` resolves with under the feature's name. */
  outcome?(repeated: boolean): Get<S, 'outcome'>
}

/**
 * How much a feature shows where the least context needs the room: all, no optional parts, the
 * least.
 */
export type Rung = 0 | 1 | 2

/**
 * Hash of a text, keyed by the session's secret, so that nobody can try what it was made from:
 * another one after something was forgotten.
 */
export type Hash = (text: string) => string

/**
 * What a feature shows. Only `read` and `tail` do I/O; the rest is pure, and asked again at each
 * rung and calibration. Where one of these throws, what the epoch froze shows on, and the receipt
 * says so.
 */
export interface ShowPart<State = unknown, S extends Shape = Shape> {
  /** Contract: the same object while nothing changed; previews write nothing. */
  read?(ask: ReadAsk): Promise<State>
  /** Whether what an epoch froze still holds, though more may be known now. Default: it does. */
  holds?(frozen: HeadPart | undefined, state: State, hash: Hash): boolean
  /** What an epoch that begins now shows from its beginning to its end. Default: nothing. */
  head?(
    state: State,
    ask: { readonly count: (text: string) => number; readonly rung: Rung; readonly hash: Hash },
  ): HeadPart | undefined
  /** What came since the epoch began: it shows in the tail until the next one. */
  since?(frozen: HeadPart | undefined, state: State, count: (text: string) => number): TailPart | undefined
  /**
   * Of what `context` was given under its name; without it, nothing is. @throws
   * ERR_INVALID_ARGUMENT
   */
  check?(operation: string, given: unknown): void
  /** What shows in the tail of this call alone. */
  tail?(ask: TailAsk<S>): Promise<TailPart | undefined>
}

export interface ReadAsk {
  /** The session's head. */
  readonly own: Head
  /** The user's head, read once for all features. */
  user(): Promise<Head>
  /** Seq of the newest change to a register of the session's own, heads aside. */
  readonly registersAt: number
  readonly mayWrite: boolean
}

/** Frozen whole in the register `head/<hash>`: shown again without what it was made from. */
export interface HeadPart {
  readonly sections: readonly Section[]
  /** What `holds` and `since` need to know of it. */
  readonly record?: Json
  /** What it derives from: a delete of what this scope has of it empties it. */
  readonly sources: readonly Name[]
  /** Ids of what it shows, so that the tail does not show it again. */
  readonly ids?: readonly string[]
  /** What did not show as it should: in the receipt of each context of the epoch. */
  readonly failures?: Receipt['failures']
}

/** A named text. Those of the memory section and of the tail are fenced where they show. */
export interface Section {
  readonly in: 'system' | 'memory' | 'tail'
  /** Orders the sections of all features; `features/places.ts` has those of this library. */
  readonly at: number
  readonly name: string
  /** Empty: nothing of it shows. */
  readonly text: string
  readonly trust: Trust
  /** The account of it, for the receipt. */
  readonly use?: SectionUse
  /** Of `since`: names what made it, no content. Contract: made of the same, it is the same. */
  readonly version?: string
}

export interface TailAsk<S extends Shape = Shape> {
  /** What `context` was given under the feature's name. */
  readonly given: Get<S, 'context'> | undefined
  readonly count: (text: string) => number
  readonly policy: Policy
  /** What shows without the tail, which is not to say it again. Gathered when it is asked for. */
  showing(): Showing
}

export interface TailPart {
  readonly sections: readonly Section[]
  /** Ids of what it shows. */
  readonly ids?: readonly string[]
  /** Of `tail`: what did not show as it should, for the receipt of this call. */
  readonly failures?: Receipt['failures']
}

export interface Showing {
  /** The newest user message, if there is one. */
  readonly asked: Message | undefined
  /** Ids of messages, and of what features show. */
  readonly ids: ReadonlySet<string>
}

/** What left the window at an epoch change: whole messages, in the order in which they showed. */
export interface Cut {
  readonly scope: Scope
  /** Id of the epoch that began. */
  readonly epoch: string
  readonly cause: EpochCause
  readonly messages: readonly Message[]
}

/** What became of what was to be written before messages leave the window. */
export interface BeforeCut {
  /** Whether it changes what shows: then the epoch is planned again. */
  readonly isNew: boolean
  /** What failed, for the receipt. */
  readonly error?: unknown
}

/**
 * Called once for each epoch that begins and cuts something, after it is durable. It is awaited:
 * hand longer work on, and never wait for a call to the same session, which waits for this one. A
 * failure stops nothing; the receipt reports it.
 */
export type OnCut = (cut: Cut) => void | Promise<void>

/** What leaves the window. */
export interface CutPart {
  /** Names it in the receipt's failures. */
  readonly name: string
  /** Awaited before the epoch begins, once a call. */
  before?(cut: readonly Unit[]): Promise<BeforeCut>
  /** Awaited once the epoch is durable, and only where something left. */
  after?: OnCut
}

/** Under this symbol sessions and memories have what operations need: not in their public types. */
export const KERNEL: unique symbol = Symbol.for('plimsoll.kernel/1') as never

/** What features and operations are given of a memory. */
export interface KernelMemory {
  readonly host: Host
  readonly store: Store
  readonly policy: Policy
  /** The app's own instructions. */
  readonly system: string
  readonly use: readonly Feature[]
  /** Of the features that have one. */
  readonly parts: readonly MemoryPart[]
  user(scope: Scope): KernelUser
  /** What the sessions of this memory share under a key: made once. */
  shared<Value>(key: string, make: () => Value): Value
  /** What features provide, whatever the session. */
  all<Value>(slot: Slot<Value>): readonly Value[]
}

export interface KernelUser {
  readonly scope: Scope
  readonly store: ScopeStore
  readonly memory: KernelMemory
  session(sessionId: string): ScopeStore
}

export interface KernelSession {
  readonly scope: Scope
  readonly sessionId: string
  /** What its hashes are keyed by, as of the newest look at its scope. */
  readonly secret: Secret
  /** Whose facts belong here beside those of no project. */
  readonly project: string | undefined
  readonly store: ScopeStore
  readonly user: KernelUser
  readonly memory: KernelMemory
  readonly policy: Policy
  readonly parts: readonly NamedPart[]
  /** The memory's own lane. */
  readonly lane: Lane
  /** Runs after the calls before it. Never awaited inside one: it would wait for itself. */
  run<Value>(work: () => Promise<Value>): Promise<Value>
  /** Lists the session with its user, unless it is listed. */
  register(): Promise<void>
  /** As `append`, from inside a call that runs; `beside`, by the op's name, in the same commit. */
  append(
    operation: string,
    input: MessageInput | readonly MessageInput[],
    options?: AppendOptions,
    beside?: (opId: string) => Promise<readonly Op[]>,
  ): Promise<AppendResult>
  /** Reads what is new, and tells the listeners. */
  look(): Promise<void>
  /** The same, where anybody listens; it never rejects. */
  tell(): Promise<void>
  /** The lane of these limits; of the memory's own without. @throws ERR_INVALID_ARGUMENT */
  laneOf(limits: Limits | undefined): Lane
  /** The lanes that are in memory. */
  lanes(): readonly Lane[]
  /** Options of `context`, checked without reading anything. @throws ERR_INVALID_ARGUMENT */
  check(options: object): void
  all<Value>(slot: Slot<Value>): readonly Value[]
  one<Value>(slot: Slot<Value>): Value | undefined
}
