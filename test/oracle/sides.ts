/** The two builds that are compared. */
import { firstAdapter } from './adapters/first.ts'
import { secondAdapter } from './adapters/second.ts'
import type { SecondLibrary } from './adapters/second-library.ts'
import * as frozen from './frozen.mjs'
import * as sources from './library.ts'
import type { Side } from './play.ts'
import type { StoresLike } from './store.ts'

export interface Sides {
  readonly frozen: Side
  readonly built: Side
}

/** @param stores how a build makes its stores */
export function sidesOf(stores: (build: StoresLike) => Pick<Side, 'open' | 'close'>): Sides {
  // Generic there, plain here: the shapes are the same, or the first history says so.
  const working = sources as unknown as SecondLibrary & StoresLike
  return {
    frozen: { adapter: firstAdapter(frozen, 'the frozen build'), ...stores(frozen) },
    built: { adapter: secondAdapter(working, 'the working sources'), ...stores(working) },
  }
}
