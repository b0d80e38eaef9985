import type { Secret } from '../../kernel/context/secret.ts'
import type { Covering } from '../../kernel/cover.ts'
import type { Policy } from '../../kernel/policy.ts'
import type { Host } from '../../ports/host.ts'
import type { Message } from '../../ports/message.ts'
import type { Name, Scope, SummaryMark } from '../../ports/op.ts'
import type { ScopeStore } from '../../ports/store.ts'
import { headOf } from '../../text/text.ts'
import type { CompactionOptions, SummarySizes } from './compaction-options.ts'
import type { Past } from './past.ts'

/** Characters of an error's message that go on: providers quote whole requests in theirs. */
const LONGEST_MESSAGE = 200

/** What is to be summarised, and what the summary has to fit into. */
export interface CompactionJob {
  readonly policy: Policy
  /** Id that the summary names as its base, and its place in the chain. */
  readonly base: string | null
  readonly place: number
  /** The summary that it updates. */
  readonly before: Covering | undefined
  /** Messages that are covered from now on, by round, oldest first. */
  readonly rounds: readonly (readonly Message[])[]
  /** Their tokens, whole. */
  readonly tokens: number
  /** What goes on showing, as it shows. */
  readonly kept: string
  readonly covers: Pick<SummaryMark, 'from' | 'skipped' | 'upto' | 'seen' | 'count' | 'of' | 'apart'>
  /** Tokens for the memory section. */
  readonly room: number
  /** Tag of its fence. */
  readonly tag: string
  /** Requests that the question may be appended to, where it may be. */
  readonly past: Past | undefined
}

export type Compaction =
  | { readonly status: 'summarised'; readonly by: string; readonly reasons: readonly string[] }
  | Refused

export interface Refused {
  readonly status: 'refused'
  readonly reasons: readonly string[]
}

/** A summary that is to be stored, and why the model's own text was refused, if it was. */
export interface Drafted {
  readonly mark: SummaryMark
  readonly sources: readonly Name[]
  readonly reasons: readonly string[]
}

/** What a summary is written with. */
export interface SummaryParts {
  readonly store: ScopeStore
  readonly scope: Scope
  readonly host: Host
  readonly secret: Secret
  readonly options: CompactionOptions
  readonly sizes: SummarySizes
}

/** What did not come to a summary, and why. */
export function refused(reasons: readonly string[]): Refused {
  return { status: 'refused', reasons }
}

/** What an error says, for a reason. */
export function messageOf(error: unknown): string {
  return headOf(error instanceof Error ? error.message : String(error), LONGEST_MESSAGE)
}
