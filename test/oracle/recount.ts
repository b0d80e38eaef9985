/** Counts blocks again, by a counter of our own where the configuration's is simple enough. */
import type { CounterJson } from './configuration.ts'
import { field, isObject, type Json, listIn, numberIn, textIn } from './json.ts'

/**
 * @returns where a block is said to be less than its texts are, or all of them together more than
 *   what is used
 */
export function recount(
  counter: CounterJson,
  calibration: number,
  blocks: readonly Json[],
  used: number,
): readonly string[] {
  const count = countOf(counter)
  if (!count) return []
  const broken: string[] = []
  let total = 0
  for (const [at, block] of blocks.entries()) {
    const tokens = Math.ceil(
      listIn(block, 'parts').reduce<number>((sum, part) => sum + tokensOf(part, count), 0) * calibration,
    )
    total += tokens
    if (tokens > numberIn(block, 'tokens'))
      broken.push(`law 1: block ${at} has ${tokens} tokens, and ${numberIn(block, 'tokens')} are counted`)
  }
  if (total > used) broken.push(`law 1: the blocks have ${total} tokens, and ${used} are said to be used`)
  return broken
}

/** Tokens of what a part says, without what frames it. */
function tokensOf(part: Json, count: (text: string) => number): number {
  switch (field(part, 'type')) {
    case 'text':
    case 'reasoning':
      return count(textIn(part, 'text'))
    case 'tool-call':
      return count(textIn(part, 'name')) + argumentsOf(field(part, 'input') ?? null, count)
    case 'tool-result':
      return count(spelled(field(part, 'output') ?? null))
    default:
      return 0
  }
}

function argumentsOf(input: Json, count: (text: string) => number): number {
  if (!isObject(input)) return count(spelled(input))
  return Object.entries(input).reduce((sum, [key, value]) => sum + count(key) + count(spelled(value)), 0)
}

function spelled(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function countOf(counter: CounterJson): ((text: string) => number) | undefined {
  if (counter.type === 'utf8') return bytesOf
  const chars = counter.type === 'chars' ? counter.chars : undefined
  if (chars === undefined) return undefined
  return (text) => (text === '' ? 0 : Math.max(1, Math.floor([...text].length / chars)))
}

function bytesOf(text: string): number {
  let bytes = 0
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    bytes += code < 0x80 ? 1 : code < 0x8_00 ? 2 : code < 0x1_00_00 ? 3 : 4
  }
  return bytes
}
