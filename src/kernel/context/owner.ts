import type { Block } from '../../ports/context.ts'

/**
 * By a context's list of blocks, an object that its lane holds until something may be forgotten:
 * what is made of the blocks, and is to be there for the next call, is kept by it, weakly.
 */
export const owners: WeakMap<readonly Block[], object> = new WeakMap()
