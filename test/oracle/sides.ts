/** The two builds that are compared. */
import { adapterOf } from './adapters/adapter.ts'
import type { LibraryLike } from './adapters/library.ts'
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
  const side = (library: unknown, name: string): Side => {
    // Generic there, plain here: the shapes are the same, or the first history says so.
    const build = library as LibraryLike & StoresLike
    return { adapter: adapterOf(build, name), ...stores(build) }
  }
  return { frozen: side(frozen, 'the frozen build'), built: side(sources, 'the working sources') }
}
