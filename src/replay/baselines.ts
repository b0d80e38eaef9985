import { plainContext } from '../features/compaction/plain-context.ts'
import { countMessage, countTools, perRequest } from '../kernel/count.ts'
import type { Block } from '../ports/context.ts'
import type { Counter } from '../ports/counter.ts'
import type { MessageInput, Part, Trust } from '../ports/message.ts'
import type { Policy, Settings } from './policy.ts'

export const ROUNDS = 20
export const MESSAGES = 40

/** Messages of a conversation so far, whole, and where its rounds begin. */
interface History {
  readonly blocks: readonly Block[]
  /** Index of each user message. */
  readonly rounds: readonly number[]
}

/** Contract: which blocks to show, in order, within `room` tokens if the policy cares. */
export type Select = (history: History, room: number) => readonly Block[]

/** Everything. */
export const full = whole(({ blocks }) => blocks)

/** The last 20 rounds. */
export const lastRounds = whole(({ blocks, rounds }) => blocks.slice(rounds.at(-ROUNDS) ?? 0))

/** The last 40 messages, wherever that cuts. */
export const lastMessages = whole(({ blocks }) => blocks.slice(-MESSAGES))

/**
 * The newest user message and the longest end of the conversation that fits, without results at its
 * start.
 */
export const lastTokens = whole(({ blocks, rounds }, room) => {
  const newest = rounds.at(-1) ?? 0
  let left = room - (blocks[newest]?.tokens ?? 0)
  let start = blocks.length
  while (start > 0) {
    const cost = start - 1 === newest ? 0 : (blocks[start - 1]?.tokens ?? 0)
    if (cost > left) break
    left -= cost
    start--
  }
  while (blocks[start]?.role === 'tool') start++
  return start <= newest ? blocks.slice(start) : [...blocks.slice(newest, newest + 1), ...blocks.slice(start)]
})

/** A policy that shows messages whole, as they came. */
function whole(select: Select): Policy {
  return policyOf(() => select)
}

/**
 * A policy by what it selects. Contract: `start` is called once a conversation, and what it gives
 * for its calls, in order.
 */
export function policyOf(start: (settings: Settings) => Select): Policy {
  return ({ system, tools }, settings) => {
    const { budget, counter } = settings
    const select = start(settings)
    const blocks: Block[] = []
    const rounds: number[] = []
    const opening = system === undefined ? [] : [wholeBlock('system', 'system', system, counter)]
    const fixed = sum(opening) + countTools(counter, tools) + perRequest(counter)
    return {
      append: async ({ role, content }) => {
        if (role === 'user') rounds.push(blocks.length)
        blocks.push(wholeBlock('window', role, content, counter))
      },
      choose: async (tail) => {
        const closing = tail === '' ? [] : [wholeBlock('tail', 'user', tail, counter)]
        const shown = select({ blocks, rounds }, budget - fixed - sum(closing))
        const tokens = fixed + sum(shown) + sum(closing)
        const context = plainContext([...opening, ...shown, ...closing], { tools, cap: budget, used: tokens })
        return { context, tokens, omitted: blocks.length - shown.length, covered: 0, capped: 0 }
      },
    }
  }
}

const TRUST = { system: 'system', user: 'user', assistant: 'assistant', tool: 'tool' } as const

function wholeBlock(
  section: 'system' | 'window' | 'tail',
  role: Block['role'],
  content: MessageInput['content'],
  counter: Counter,
): Block {
  // Reasoning that its provider has not signed is never rendered, so it must not count.
  const parts: readonly Part[] =
    typeof content === 'string'
      ? [{ type: 'text', text: content }]
      : content.filter((part) => part.type !== 'reasoning' || part.signature)
  const trust: Trust = TRUST[role]
  const rule = section === 'window' ? 'verbatim' : section
  return { section, role, parts, from: [], rule, trust, tokens: countMessage(counter, { content: parts }) }
}

function sum(blocks: readonly Block[]): number {
  return blocks.reduce((tokens, block) => tokens + block.tokens, 0)
}
