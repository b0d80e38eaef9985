import type { Block } from '../ports/context.ts'
import { hashText } from './hash.ts'

/**
 * A hash that grows with a list of blocks: each link covers all blocks before it, so equal links mean equal prefixes. Links
 * are kept, and only blocks that are new since the last time are hashed.
 */
export class Chain {
  #head = ''
  #blocks: readonly Block[] = []
  #links: string[] = []

  /** The hash of a head and the blocks after it. */
  hash(head: string, blocks: readonly Block[]): string {
    const common = head === this.#head ? this.#common(blocks) : 0
    const links = this.#links.slice(0, common)
    for (let index = common; index < blocks.length; index++)
      links.push(link(links[index - 1] ?? head, blocks[index] as Block))
    this.#head = head
    this.#blocks = blocks
    this.#links = links
    return links.at(-1) ?? head
  }

  #common(blocks: readonly Block[]): number {
    let common = 0
    while (common < this.#blocks.length && this.#blocks[common] === blocks[common]) common++
    return common
  }
}

/** The hash that follows `previous` after one more block. */
export function link(previous: string, { section, role, parts }: Block): string {
  return hashText(`${previous}${JSON.stringify([section, role, parts])}`)
}
