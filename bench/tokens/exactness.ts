/** Whether our encodings are gpt-tokenizer's, token for token. */
import { O200K_TOKEN_SPLIT_REGEX } from 'gpt-tokenizer/encodingParams/constants'
import { corpora } from './corpora.ts'
import { type Library, loadLibrary, OURS } from './libraries.ts'
import { randomStrings } from './strings.ts'

export interface Exactness {
  readonly source: string
  readonly texts: number
  readonly tokens: number
  readonly mismatches: number
  /** Texts with a piece so long that gpt-tokenizer would not finish in time. */
  readonly leftOut: number
  /** The first text that differs, its beginning, as JSON. */
  readonly first?: string
}

export interface ExactnessOptions {
  /** How many random strings. */
  readonly strings: number
  readonly transcripts?: readonly string[]
  readonly progress: (line: string) => void
}

export const TRANSCRIPTS = 'transcripts'

/**
 * The longest piece, in UTF-16 units, that gpt-tokenizer is given: up to a second, and four for
 * twice the length.
 */
const LONGEST_PIECE = 16_384

const SEED = 20_261_121
const SHOWN = 80

export async function compareEncodings(options: ExactnessOptions): Promise<Exactness[]> {
  const { strings, transcripts, progress } = options
  const ours = await loadLibrary(OURS)
  const reference = await loadLibrary('gpt-tokenizer')
  const compareAll = (source: string, texts: readonly string[]) => {
    progress(`exactness: ${source}, ${texts.length} texts`)
    return compare(source, texts, ours, reference)
  }
  const found = Object.entries(corpora).map(([name, messages]) => compareAll(name, messages))
  if (transcripts) found.push(compareAll(TRANSCRIPTS, transcripts))
  else progress(`exactness: ${TRANSCRIPTS} are left out, as there is no --data DIR`)
  const samples = Object.values(corpora).flatMap((messages) => messages.slice(0, 50))
  found.push(compareAll('random strings', randomStrings(samples, strings, SEED)))
  return found
}

function compare(source: string, texts: readonly string[], ours: Library, reference: Library): Exactness {
  let [tokens, mismatches, leftOut] = [0, 0, 0]
  let first: string | undefined
  for (const text of texts) {
    if (longestPiece(text) > LONGEST_PIECE) {
      leftOut++
      continue
    }
    const expected = reference.encode?.(text) ?? []
    tokens += expected.length
    if (same(expected, ours.encode?.(text) ?? []) && ours.count(text) === expected.length) continue
    mismatches++
    first ??= JSON.stringify(text.slice(0, SHOWN))
  }
  return { source, texts: texts.length, tokens, mismatches, leftOut, ...(first && { first }) }
}

function longestPiece(text: string): number {
  if (text.length <= LONGEST_PIECE) return text.length
  let longest = 0
  for (const [piece] of text.matchAll(O200K_TOKEN_SPLIT_REGEX)) longest = Math.max(longest, piece.length)
  return longest
}

function same(one: ArrayLike<number>, other: ArrayLike<number>): boolean {
  if (one.length !== other.length) return false
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false
  return true
}
