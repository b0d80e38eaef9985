/**
 * How others cut a window, each told to show about as much as the floor after a cut and as much as
 * the line before it, where it has such sizes.
 */
import { countMessage } from '../../src/kernel/count.ts'
import type { Block } from '../../src/ports/context.ts'
import type { Counter } from '../../src/ports/counter.ts'
import type { Part } from '../../src/ports/message.ts'
import { full, lastTokens, policyOf } from '../../src/replay/baselines.ts'
import { plimsoll } from '../../src/replay/plimsoll.ts'
import type { Policy } from '../../src/replay/policy.ts'

/** Mastra 1.71 `messageHistory`: over `maxTokens`, the oldest `atMaxRemoveTokens` leave at once. */
const mastra = policyOf(({ floor = 0 }) => {
  let from = 0
  return ({ blocks }, room) => {
    if (sum(blocks.slice(from)) > room) {
      const least = Math.min(floor, room)
      while (from < blocks.length - 1 && sum(blocks.slice(from + 1)) >= least) from++
      while (blocks[from]?.role === 'tool') from--
    }
    return blocks.slice(from)
  }
})

/** What `agents/sessions` 0.32 keeps in front of a compaction, whatever it takes. */
const OPENING = 3
/**
 * `agents/sessions` 0.32 `createCompactFunction({ keepRecentTokens })` with `compactAfter`: over
 * the line, what stands between the first three messages and the newest tokens leaves. Its summary,
 * and what that costs, is left out.
 */
const sessions = policyOf(({ floor = 0 }) => {
  let from = OPENING
  return ({ blocks }, room) => {
    const opening = openingOf(blocks)
    const first = Math.max(from, opening.length)
    if (sum(opening) + sum(blocks.slice(first)) > room) {
      from = first
      const least = Math.min(floor, room)
      while (from < blocks.length - 2 && sum(blocks.slice(from + 1)) >= least) from++
      while (blocks[from]?.role === 'tool') from--
    }
    return [...opening, ...blocks.slice(Math.max(from, opening.length))]
  }
})

/** Its first messages, with all results of their calls. */
function openingOf(blocks: readonly Block[]): readonly Block[] {
  let end = OPENING
  while (blocks[end]?.role === 'tool') end++
  return blocks.slice(0, end)
}

/** Messages whose outputs a masking policy leaves as they are. */
const UNMASKED = 10
/** All messages; outputs that are older than the newest ten messages are a note. */
const masked = policyOf(({ counter }) => {
  const notes = new Map<Block, Block>()
  return ({ blocks }) =>
    blocks.map((block, index) => {
      if (block.role !== 'tool' || index >= blocks.length - UNMASKED) return block
      const note = notes.get(block) ?? withParts(counter, block, block.parts.map(maskedPart))
      notes.set(block, note)
      return note
    })
})

function maskedPart(part: Part): Part {
  return part.type === 'tool-result' ? { ...part, output: '[old output removed]' } : part
}

/**
 * `pruneMessages` of AI SDK 7 with `toolCalls: 'before-last-2-messages'`: calls and results leave,
 * but for those of the newest two messages.
 */
const pruned = policyOf(({ counter }) => {
  const texts = new Map<Block, Block>()
  return ({ blocks }) => {
    let whole = Math.max(0, blocks.length - 2)
    while (whole > 0 && blocks[whole]?.role === 'tool') whole--
    const older = blocks.slice(0, whole).map((block) => {
      if (!block.parts.some(({ type }) => type.startsWith('tool-'))) return block
      const spoken = block.parts.filter(({ type }) => !type.startsWith('tool-'))
      const text = texts.get(block) ?? withParts(counter, block, spoken)
      texts.set(block, text)
      return text
    })
    return [...older.filter(({ parts }) => parts.length > 0), ...blocks.slice(whole)]
  }
})

function withParts(counter: Counter, block: Block, parts: readonly Part[]): Block {
  return { ...block, parts, tokens: countMessage(counter, { content: parts }) }
}

function sum(blocks: readonly Block[]): number {
  return blocks.reduce((tokens, block) => tokens + block.tokens, 0)
}

export const WINDOWS = {
  plimsoll,
  mastra,
  sessions,
  sliding: lastTokens,
  masked,
  pruned,
  full,
} as const satisfies { readonly [name: string]: Policy }
export type WindowName = keyof typeof WINDOWS
