import { Sha256 } from '../../hashes/sha256.ts'
import type { Block } from '../../ports/context.ts'

/** SHA-256 over the head's hash and, a line each, the JSON of a block's section, role and parts. */
export function hashPrefix(head: string, blocks: readonly Block[]): string {
  return new Prefix().hash(head, blocks, [])
}

/** A prefix that grows: blocks that were hashed before are not hashed again. */
export class Prefix {
  #head: string | undefined
  #blocks: readonly Block[] = []
  #hash = new Sha256()

  /** The hash of a head, blocks, and further blocks after them that are not part of what grows. */
  hash(head: string, blocks: readonly Block[], further: readonly Block[]): string {
    if (this.#head !== head || !this.#blocks.every((block, index) => block === blocks[index])) {
      this.#hash = new Sha256()
      this.#hash.update(head)
      this.#head = head
      this.#blocks = []
    }
    this.#hash.update(lines(blocks, this.#blocks.length))
    this.#blocks = blocks
    return this.#hash.hex(lines(further, 0))
  }
}

function lines(blocks: readonly Block[], from: number): string {
  let text = ''
  for (let index = from; index < blocks.length; index++) {
    const { section, role, parts } = blocks[index] as Block
    text += `\n${JSON.stringify([section, role, parts])}`
  }
  return text
}
