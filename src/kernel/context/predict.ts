import type { Block, Context } from '../../ports/context.ts'

/** Tokens of a request, and those of them with which the request before it began too. */
export function predict(
  context: Context,
  before: Context | undefined,
): { readonly input: number; readonly cached: number } {
  return { input: context.receipt.used, cached: before ? sharedTokens(before, context) : 0 }
}

/**
 * A provider reads tools, then instructions, then messages: with another head nothing is shared.
 */
function sharedTokens(before: Context, { head, blocks, receipt }: Context): number {
  if (before.head !== head) return 0
  let tokens = receipt.sections.find(({ name }) => name === 'tools')?.tokens ?? 0
  for (const [index, block] of blocks.entries()) {
    if (!isSame(block, before.blocks[index])) break
    tokens += block.tokens
  }
  return tokens
}

/** A block that shows again is mostly the very same object. */
function isSame(block: Block, other: Block | undefined): boolean {
  if (block === other) return true
  if (block.role !== other?.role || block.section !== other.section) return false
  return JSON.stringify(block.parts) === JSON.stringify(other.parts)
}
