import { headOf, tailOf } from '../../text/text.ts'

/** A passage of a text, in UTF-16 units: from the first, up to and without the second. */
export type Passage = readonly [from: number, to: number]

/** A longer paragraph, list item, block of code or row of a table is parted. */
const LONGEST = 320
/** Shorter neighbours become one passage, as far as they fit into the longest. */
const SHORTEST = 120
/** What is left of one that is parted is no shorter: by itself it would say nothing. */
const SHORTEST_END = 40
/** Of a longer text this much of its beginning is found, and this much of its end. */
const MOST_HEAD = 224 * 1024
const MOST_TAIL = 32 * 1024

const FENCE = /^\s*(?:```|~~~)/
const HEADING = /^\s*#/
/** A list item, or a row of a table: each begins a passage. */
const ITEM = /^\s*(?:[-*+•|]|\d{1,9}[.)]\s)/
const SENTENCE_ENDS = /[.!?。！？…]["'”’)\]]*\s|[。！？]/g

/** A piece of a text that is not parted, and whether it belongs to the one after it. */
type Piece = readonly [from: number, to: number, leads: boolean]

/**
 * The passages of a text in its order, which together hold all of it but blanks: paragraphs, list
 * items, blocks of code, rows of tables. Short ones are joined, a heading with what it is about;
 * longer ones parted at the end of a line, else of a sentence, else of a word. Of a text beyond
 * 256 Ki units its first 224 Ki and last 32 Ki. A text without words has none. Pure, and linear in
 * the text: what a message is found by, and what shows of it, are the same passages.
 */
export function passagesOf(text: string): readonly Passage[] {
  if (text.length <= LONGEST) return text.trim() === '' ? [] : [[0, text.length]]
  const { length } = text
  const isWhole = length <= MOST_HEAD + MOST_TAIL
  const spans = isWhole
    ? [[0, length]]
    : [
        [0, headOf(text, MOST_HEAD).length],
        [length - tailOf(text, MOST_TAIL).length, length],
      ]
  return spans.flatMap(([from = 0, to = 0]) =>
    joined(piecesOf(text, from, to).flatMap((piece) => parted(text, piece))),
  )
}

function piecesOf(text: string, from: number, to: number): readonly Piece[] {
  const pieces: Piece[] = []
  /** Where the piece begins that is read; -1: none is. */
  let begin = -1
  let isCode = false
  const end = (at: number, leads = false): void => {
    if (begin >= 0) pieces.push([begin, at, leads])
    begin = -1
  }
  for (let at = from; at < to; ) {
    const newline = text.indexOf('\n', at)
    const lineEnd = newline < 0 || newline > to ? to : newline
    // What a line is, its beginning says.
    const line = text.slice(at, Math.min(lineEnd, at + LONGEST))
    const isFence = FENCE.test(line)
    if (!isCode && line.trim() === '') end(at)
    else {
      if (!isCode && (isFence || HEADING.test(line) || ITEM.test(line))) end(at)
      if (begin < 0) begin = at
      if (isFence) isCode = !isCode
      if (!isCode && (isFence || HEADING.test(line))) end(lineEnd, !isFence)
    }
    at = lineEnd + 1
  }
  end(to)
  return pieces
}

/** A piece that is too long, as several. */
function parted(text: string, [from, to, leads]: Piece): readonly Piece[] {
  const pieces: Piece[] = []
  let begin = from
  while (to - begin > LONGEST) {
    const most = Math.min(LONGEST, to - begin - SHORTEST_END)
    const end = begin + borderIn(text.slice(begin, begin + most))
    pieces.push([begin, end, false])
    begin = end
  }
  pieces.push([begin, to, leads])
  return pieces
}

/** Where a text is best parted, not too near its beginning. */
function borderIn(text: string): number {
  const line = text.lastIndexOf('\n') + 1
  if (line > SHORTEST) return line
  let sentence = 0
  for (const { index, 0: mark } of text.matchAll(SENTENCE_ENDS)) sentence = index + mark.length
  if (sentence > SHORTEST) return sentence
  const word = text.lastIndexOf(' ') + 1
  if (word > SHORTEST) return word
  return headOf(text, text.length).length
}

function joined(pieces: readonly Piece[]): readonly Passage[] {
  const passages: Passage[] = []
  let open: Piece | undefined
  for (const piece of pieces) {
    const [from, to, leads] = piece
    const isShort = open && (open[2] || open[1] - open[0] < SHORTEST || (!leads && to - from < SHORTEST))
    if (open && isShort && to - open[0] <= LONGEST) open = [open[0], to, leads]
    else {
      if (open) passages.push([open[0], open[1]])
      open = piece
    }
  }
  if (open) passages.push([open[0], open[1]])
  return passages
}
