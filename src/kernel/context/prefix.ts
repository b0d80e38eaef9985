import { Sha256 } from '../../hashes/sha256.ts'
import type { Block } from '../../ports/context.ts'
import { beginsWith } from './keeper.ts'
import type { Secret } from './secret.ts'

/** What a prefix is hashed by. */
type Keyed = Pick<Secret, 'key'>

/**
 * HMAC-SHA-256 over the head's hash and, a line each, the JSON of a block's section, role and
 * parts.
 */
export function hashPrefix(secret: Keyed, head: string, blocks: readonly Block[]): string {
  return new Prefix(secret).hash(head, blocks, [])
}

/** A prefix that grows: blocks that were hashed before are not hashed again. */
export class Prefix {
  readonly #secret: Keyed
  #head: string | undefined
  #blocks: readonly Block[] = []
  #hash = new Sha256()

  constructor(secret: Keyed) {
    this.#secret = secret
  }

  /** The hash of a head, blocks, and further blocks after them that are not part of what grows. */
  hash(head: string, blocks: readonly Block[], further: readonly Block[]): string {
    // Under another secret the head has another hash.
    if (this.#head !== head || !beginsWith(blocks, this.#blocks)) {
      this.#hash = new Sha256(this.#secret.key)
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
