import type { Block } from '../../ports/context.ts'

/**
 * By a context's list of blocks, an object that lives as long as nothing can have been forgotten
 * that its lane showed: what is made of the blocks beyond one call is kept by it, weakly.
 */
const owners = new WeakMap<readonly Block[], object>()

export function setOwner(blocks: readonly Block[], owner: object | undefined): void {
  if (owner) owners.set(blocks, owner)
}

/** Undefined: no session keeps these blocks. */
export function ownerOf(blocks: readonly Block[]): object | undefined {
  return owners.get(blocks)
}
