import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { Block } from '../../ports/context.ts'

/** The hash of a prefix: SHA-256 over the head's hash and the JSON of section, role and parts of each block, a line each. */
export function hashPrefix(head: string, blocks: readonly Block[]): string {
  return new Prefix().hash(head, blocks, [])
}

/** A prefix that grows: blocks that were hashed before are not hashed again. */
export class Prefix {
  #head: string | undefined
  #blocks: readonly Block[] = []
  #state = sha256.create()

  /** The hash of a head and blocks, and of further blocks after them that are not part of what grows. */
  hash(head: string, blocks: readonly Block[], further: readonly Block[]): string {
    if (this.#head !== head || !this.#blocks.every((block, index) => block === blocks[index])) {
      this.#state = sha256.create().update(utf8ToBytes(head))
      this.#head = head
      this.#blocks = []
    }
    update(this.#state, blocks, this.#blocks.length)
    this.#blocks = blocks
    const state = this.#state.clone()
    update(state, further, 0)
    return bytesToHex(state.digest())
  }
}

function update(state: ReturnType<typeof sha256.create>, blocks: readonly Block[], from: number): void {
  let lines = ''
  for (let index = from; index < blocks.length; index++) {
    const { section, role, parts } = blocks[index] as Block
    lines += `\n${JSON.stringify([section, role, parts])}`
  }
  if (lines !== '') state.update(utf8ToBytes(lines))
}
