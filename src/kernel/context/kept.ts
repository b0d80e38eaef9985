import type { Block } from '../../ports/context.ts'

/** What is made of lists of blocks, and is to be there for the next call, by its name. */
export interface Kept {
  /** Undefined once something may have been forgotten: then nothing is kept any more. */
  made: Map<string, object> | undefined
}

/** By a context's list of blocks, where its lane keeps what is made of it. */
export const keptOf: WeakMap<readonly Block[], Kept> = new WeakMap()
