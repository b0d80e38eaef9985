import type { Feature } from './kernel/feature.ts'
import type { NoFeatures, SessionBase } from './ports/memory.ts'
import type { AppendOptions, ContextOptions } from './ports/session.ts'

type Names<Use extends readonly Feature[]> = Use[number]['name']
type ShapeOf<F> = F extends Feature<string, infer S> ? S : never

/**
 * The record of what is in `use`. What only may be there, since the list's length is not known, may
 * be undefined.
 */
export type Compose<Use extends readonly Feature[]> = Use extends readonly [
  infer F extends Feature,
  ...infer Rest extends readonly Feature[],
]
  ? (string extends F['name'] ? NoFeatures : { readonly [N in F['name']]: ShapeOf<F> }) & Compose<Rest>
  : Use extends readonly []
    ? NoFeatures
    : string extends Names<Use>
      ? NoFeatures
      : { readonly [F in Use[number] as F['name']]?: ShapeOf<F> }

export type Flat<T> = { readonly [K in keyof T]: T[K] }

type Twice<Use extends readonly Feature[], Seen = never> = Use extends readonly [
  infer F extends Feature,
  ...infer Rest extends readonly Feature[],
]
  ? F['name'] extends Seen
    ? F['name']
    : Twice<Rest, Seen | F['name']>
  : never
type Lacks<Use extends readonly Feature[]> = Use[number] extends infer F
  ? F extends Feature<infer N, infer S>
    ? string extends N
      ? never
      : S extends { readonly needs: infer M extends string }
        ? M extends Names<Use>
          ? never
          : `${N}() needs ${M}() in use`
        : never
    : never
  : never

type Reserved = keyof SessionBase | keyof ContextOptions | keyof AppendOptions | 'messages' | 'then'

/** Why features cannot be in use together; never: they can. */
export type Fault<Use extends readonly Feature[]> =
  string extends Names<Use>
    ? never
    : [Twice<Use>] extends [never]
      ? [Extract<Names<Use>, Reserved>] extends [never]
        ? Lacks<Use>
        : `a feature cannot be named ${Extract<Names<Use>, Reserved>}`
      : `${Twice<Use>}() is in use twice`
