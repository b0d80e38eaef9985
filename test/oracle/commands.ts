/**
 * What a history is made of: commands that name no API, as plain JSON. An adapter turns each of
 * them into calls of one API.
 */
import type { Configuration } from './configuration.ts'
import type { Json, JsonObject } from './json.ts'
import type { ContextJson, FactJson, LimitsJson, MessageJson } from './shapes.ts'

/** An id: itself, or the one that an earlier command gave under that name (`as`). */
export type Ref = string | { readonly ref: string }

/**
 * Over which version a register is written: the one that is there, one that never was, or none.
 * Left out: over whatever is there.
 */
export type IfVersion = 'current' | 'stale' | 'none'

/** What one tab does with its session. */
type SessionCommand =
  | ({ readonly kind: 'append'; readonly messages: readonly MessageJson[] } & AppendJson)
  | ({
      readonly kind: 'commit'
      readonly messages?: readonly MessageJson[]
      readonly checkpoint?: Json
      readonly facts?: readonly FactJson[]
      readonly ifVersion?: IfVersion
    } & Omit<AppendJson, 'replaces'>)
  | { readonly kind: 'addExchange'; readonly user: string; readonly assistant: string }
  | ({ readonly kind: 'context' } & ContextJson)
  | { readonly kind: 'contextAt'; readonly id: string }
  | {
      readonly kind: 'history'
      readonly rounds?: number
      readonly messages?: number
      readonly before?: string
      readonly characters?: number
    }
  | {
      readonly kind: 'readSource'
      readonly reference: string
      readonly offset?: number
      readonly length?: number
    }
  | {
      readonly kind: 'attach'
      readonly id?: string
      readonly mediaType: string
      readonly bytes: readonly number[]
      readonly tokens?: number
      readonly as?: string
    }
  | { readonly kind: 'attachment'; readonly id: Ref }
  | { readonly kind: 'rewind'; readonly id: string; readonly opId?: string; readonly as?: string }
  | { readonly kind: 'undo'; readonly rewind?: Ref; readonly opId?: string }
  | { readonly kind: 'branches' }
  | { readonly kind: 'switchTo'; readonly id: string; readonly opId?: string }
  | { readonly kind: 'remember'; readonly fact: FactJson; readonly opId?: string; readonly as?: string }
  | { readonly kind: 'facts'; readonly query: JsonObject }
  | { readonly kind: 'fact'; readonly id: Ref }
  | { readonly kind: 'resolve' | 'pin' | 'unpin'; readonly id: Ref }
  | { readonly kind: 'supersede'; readonly id: Ref; readonly fact: FactJson; readonly as?: string }
  | { readonly kind: 'promote'; readonly id: Ref; readonly pinned?: boolean }
  | { readonly kind: 'review'; readonly id: Ref; readonly rating: string }
  | { readonly kind: 'forget'; readonly id: Ref; readonly what?: 'message' | 'fact' }
  | { readonly kind: 'recall' | 'recallPage'; readonly query: string; readonly first?: number }
  | { readonly kind: 'loadSkill' | 'unloadSkill'; readonly name: string }
  | { readonly kind: 'loadedSkills' }
  | {
      readonly kind: 'start'
      readonly project?: string
      readonly query?: string
      readonly budgetTokens?: number | JsonObject
      /** Days from now. */
      readonly days?: number
    }
  | { readonly kind: 'compact'; readonly limits?: LimitsJson }
  | { readonly kind: 'compacted' }
  | { readonly kind: 'checkpointGet'; readonly default?: Json }
  | {
      readonly kind: 'checkpointSet'
      readonly value: Json
      readonly ifVersion?: IfVersion
      readonly opId?: string
    }
  /** Adds one to `n` of the checkpoint. */
  | { readonly kind: 'checkpointUpdate'; readonly default?: Json }
  | { readonly kind: 'checkpointDelete'; readonly ifVersion?: IfVersion }
  /**
   * Tells of a call that took so many times the tokens that the last context of the tab was counted
   * at.
   */
  | { readonly kind: 'report'; readonly factor: number }
  | { readonly kind: 'subscribe' | 'unsubscribe' | 'snapshot' }

export interface AppendJson {
  readonly opId?: string
  readonly round?: string
  readonly replaces?: string
}

/** What one tab does with what the user's sessions share, or with the whole memory. */
type UserCommand =
  | { readonly kind: 'profileList' | 'skillList' | 'settings' | 'sessions' | 'erase' }
  | {
      readonly kind: 'profileSet'
      readonly name: string
      readonly text: string
      readonly ifVersion?: IfVersion
    }
  /** Adds a text to the end of a document. */
  | { readonly kind: 'profileUpdate'; readonly name: string; readonly add: string }
  | { readonly kind: 'profileDelete'; readonly name: string; readonly ifVersion?: IfVersion }
  | { readonly kind: 'skillSet'; readonly skill: string | JsonObject; readonly ifVersion?: IfVersion }
  | { readonly kind: 'skillDelete'; readonly name: string }
  | { readonly kind: 'changeSettings'; readonly patch: JsonObject }
  | { readonly kind: 'audit'; readonly first?: number }
  | { readonly kind: 'title'; readonly session: string; readonly title: string }
  | { readonly kind: 'deleteSession'; readonly session: string }
  | { readonly kind: 'userFacts'; readonly query: JsonObject }
  | { readonly kind: 'userRemember'; readonly fact: FactJson; readonly as?: string }
  | { readonly kind: 'userForget'; readonly id: Ref }
  | {
      readonly kind: 'userRecall'
      readonly query: string
      readonly sessions?: 'all' | readonly string[]
      readonly first?: number
    }
  | {
      readonly kind: 'export'
      readonly of: 'user' | 'session'
      readonly parts?: readonly string[]
      readonly format?: 'jsonl' | 'markdown'
      readonly as: string
    }
  | {
      readonly kind: 'import'
      /** Name of an export. */
      readonly from: string
      readonly user: string
      readonly session?: string
      readonly trust?: 'keep' | 'user' | 'import'
      readonly damage?: Damage
    }
  | { readonly kind: 'nextWorkAt' | 'runDueWork' }

/**
 * What became of a file: its end is missing, a line is no JSON, two lines changed places, or a
 * message says something else.
 */
export type Damage = 'cut' | 'garbled' | 'swapped' | 'changed'

/** What one tab does, through an adapter. */
export type TabCommand = { readonly tab: string } & (
  | OpenJson
  /** The same session in a fresh memory over the same store. */
  | { readonly kind: 'reopen' }
  | SessionCommand
  | UserCommand
)

/**
 * Opens a session in a tab. Tabs that name the same memory share it, if their configuration and
 * store are the same too.
 */
export interface OpenJson {
  readonly kind: 'open'
  readonly memory: number
  /** Place in the history's configurations. */
  readonly configuration: number
  /** Which store: 0 or 1. */
  readonly store: number
  readonly tenant?: string
  readonly user: string
  readonly session?: string
  readonly project?: string
}

/** What an op of the store is called, as faults and races name it. */
export type OpName = 'append' | 'epoch' | 'summary' | 'rewind' | 'put' | 'delete' | 'erase'

/** What the scripted model answers to one request for a summary. */
export type Answer =
  | 'good'
  | 'faithful'
  | 'streamed'
  | 'empty'
  | 'silent'
  | 'error'
  | 'long'
  | 'invented'
  | 'json'
  | 'forged'
  | 'rules'
  | 'cut off'
  | 'hangs'
  | 'throws'

/** What happens around the tabs; the driver does it itself. */
export type WorldCommand =
  | { readonly kind: 'advance'; readonly ms: number }
  /**
   * Until the end of the next command of a tab, calls of the store fail, before or after they did
   * their work.
   */
  | {
      readonly kind: 'fail'
      readonly calls: 'commits' | 'reads'
      readonly scope?: 'session' | 'user'
      readonly op?: OpName
      readonly how?: 'before' | 'after'
      /** How many of them. Default: all. */
      readonly times?: number
    }
  /**
   * These commands of other tabs run when the next command is about to commit an op of that kind.
   */
  | {
      readonly kind: 'race'
      readonly at: OpName
      readonly scope?: 'session' | 'user'
      readonly commands: readonly TabCommand[]
    }
  /**
   * From now on these entries cannot be read, as if they were encrypted with a lost key. No ids:
   * all can be again.
   */
  | { readonly kind: 'veil'; readonly ids: readonly string[] }
  /** The model's next answers; after them it answers `good` again. */
  | { readonly kind: 'model'; readonly answers: readonly Answer[] }
  /** All that the stores hold. */
  | { readonly kind: 'rows' }

export type Command = TabCommand | WorldCommand

export type CommandOf<Kind extends TabCommand['kind']> = NamedBy<TabCommand, Kind>

/** Of several commands those that may be of a kind. */
type NamedBy<One, Kind> = One extends { readonly kind: infer Own } ? (Kind extends Own ? One : never) : never

/** A run from an empty store. */
export interface History {
  readonly seed: number
  readonly configurations: readonly Configuration[]
  readonly commands: readonly Command[]
}

const WORLD: ReadonlySet<string> = new Set<WorldCommand['kind']>([
  'advance',
  'fail',
  'race',
  'veil',
  'model',
  'rows',
])

export function isWorldCommand(command: Command): command is WorldCommand {
  return WORLD.has(command.kind)
}

/** Whether a command is answered by what recall finds, or by tokens of what it shows. */
export function isRecall(command: Command): boolean {
  return (
    ['recall', 'recallPage', 'userRecall', 'start'].includes(command.kind) ||
    (command.kind === 'context' && command.recall !== undefined)
  )
}
