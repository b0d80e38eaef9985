/** What a memory is made with, as plain JSON. An option that is left out is left to the library. */

import type { Json, JsonObject } from './json.ts'
import type { LimitsJson } from './shapes.ts'

export type CounterJson =
  | { readonly type: 'default' }
  | { readonly type: 'chars'; readonly chars: number }
  | { readonly type: 'utf8' }
  | { readonly type: 'calibrated'; readonly of: 'default' | 'chars' }

export interface CompactionJson {
  /** Whether the scripted model writes summaries; else each is the extract. */
  readonly model: boolean
  readonly length?: string
  readonly summaryTokens?: number
  readonly carryTokens?: number
  readonly sourceTokens?: number
  readonly tokensPerHour?: number
  readonly ahead?: number | false
  /** What must outlive every compaction; `throws`: the app's own function fails. */
  readonly pins?: readonly { readonly kind: string; readonly text: string }[] | 'throws'
}

export interface Configuration extends LimitsJson {
  readonly budget:
    | number
    | { readonly contextWindow: number; readonly maxOutputTokens: number; readonly margin?: number }
  readonly counter: CounterJson
  readonly system?: string
  readonly sections?: JsonObject
  readonly compaction?: CompactionJson
  /** `rules`: the library's own; `plain`: what was said first, without a source. */
  readonly extract?: 'rules' | 'plain' | 'throws' | 'hangs'
  readonly recall?: 'plain' | 'stemmed' | 'vectors'
  readonly retention?: JsonObject
  readonly facts?: JsonObject
  /** With a schema, a checkpoint needs a whole number `n` of 0 or more. */
  readonly checkpoint?: { readonly schema?: boolean; readonly default?: Json }
  readonly onCut?: 'told' | 'throws'
  readonly development?: boolean
}
