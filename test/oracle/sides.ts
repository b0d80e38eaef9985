/** The two builds that are compared. */
import { firstAdapter } from './adapters/first.ts'
import * as frozen from './frozen.mjs'
import * as sources from './library.ts'
import type { Side } from './play.ts'

/** What a build exports, the frozen one or that of the working sources. */
export type Build = typeof frozen

export interface Sides {
  readonly frozen: Side
  readonly built: Side
}

/** @param stores how a build makes its stores */
export function sidesOf(stores: (build: Build) => Pick<Side, 'open' | 'close'>): Sides {
  // Generic there, plain here: the shapes are the same, or the first history says so.
  const working = sources as unknown as Build
  return {
    frozen: { adapter: firstAdapter(frozen, 'the frozen build'), ...stores(frozen) },
    built: { adapter: firstAdapter(working, 'the working sources'), ...stores(working) },
  }
}
