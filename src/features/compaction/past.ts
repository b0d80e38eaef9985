import { headKey, sum } from '../../kernel/context/head.ts'
import type { Call } from '../../kernel/context/measure.ts'
import type { Window } from '../../kernel/context/window.ts'
import type { Block, Context } from '../../ports/context.ts'
import type { Trust } from '../../ports/message.ts'
import type { LogRow } from '../../ports/store.ts'
import { headOf } from '../../text/text.ts'
import { lowestTrust } from '../trust.ts'
import { textIn } from './message-texts.ts'

/** Requests of one epoch that a provider may have kept. */
export interface Past extends Pick<Context, 'tools' | 'fence' | 'head'> {
  /** The newest first. Each shows all that is cut. */
  readonly requests: readonly PastRequest[]
  /** What the newest shows: its text, the ids of its messages, and the lowest trust of them. */
  readonly shown: string
  readonly ids: readonly string[]
  readonly trust: Trust
}

export interface PastRequest {
  readonly blocks: readonly Block[]
  readonly used: number
  /** How the first message begins that goes on showing; undefined: the request ends before it. */
  readonly stays: string | undefined
}

/** Characters by which the first message that stays is known. */
const BEGINNING = 120

/**
 * The requests of an epoch that a question for a summary can be appended to: each reply answered
 * one that ended right before it.
 *
 * @param cut rows that the summary is to cover, beside what the memory section shows of the one
 *   before
 * @param stored hash by which the head was stored: another secret makes another one of its texts
 * @returns undefined where not all of these show, or nothing was sent
 */
export function pastRequests(
  { head }: Pick<Call, 'head'>,
  { blocks }: Pick<Window, 'blocks'>,
  cut: readonly LogRow[],
  fence: string,
  stored: string,
): Past | undefined {
  const places = new Map(blocks.flatMap(({ from }, index) => from.map((id) => [id, index] as const)))
  let end = 0
  for (const { id } of cut) {
    const place = places.get(id)
    if (place === undefined) return undefined
    end = Math.max(end, place + 1)
  }
  const tokens = sum(head.tokens)
  const requests: PastRequest[] = []
  let used = tokens
  for (const [index, block] of blocks.entries()) {
    // The one that ends with what is cut was sent but for its end.
    if (index === end || (index > end && block.role === 'assistant')) {
      const stays = index === end ? undefined : beginningOf(blocks[end])
      requests.unshift({ blocks: [...head.blocks, ...blocks.slice(0, index)], used, stays })
    }
    used += block.tokens
  }
  const newest = requests[0]
  if (!newest || !blocks.some(({ role }) => role === 'assistant')) return undefined
  const shown = newest.blocks.filter(({ section }) => section !== 'system')
  return {
    requests,
    fence,
    head: headKey(stored),
    ...(head.toolSpecs && { tools: head.toolSpecs }),
    shown: shown.map(({ parts }) => textIn({ content: parts })).join('\n'),
    ids: shown.flatMap(({ from }) => from),
    trust: lowestTrust(shown),
  }
}

function beginningOf(block: Block | undefined): string {
  return headOf(textIn({ content: block?.parts ?? [] }).trim(), BEGINNING)
}
