import { headOf, tailOf } from '../text/text.ts'

export function grouped(number: number): string {
  return Math.round(number).toLocaleString('en')
}

export function percent(share: number, digits = 1): string {
  return `${(share * 100).toFixed(digits)}%`
}

/** One line, at most `length` characters, without parting what belongs together. */
export function shorten(text: string, length: number): string {
  const line = text.replaceAll(/[\p{White_Space}\p{Cc}]+/gu, ' ').trim()
  if (line.length <= length) return line
  const { segment } = new Intl.Segmenter('en').segment(line).containing(length - 1) ?? {}
  const cut = segment === undefined ? length - 1 : line.lastIndexOf(segment, length - 1)
  return `${line.slice(0, cut)}…`
}

/**
 * With escapes for what a terminal would obey or hide; joiners stay, since emoji and scripts need
 * them.
 */
export function visible(text: string): string {
  return text.replaceAll(HIDDEN, (character) => {
    const code = character.codePointAt(0)?.toString(16) ?? ''
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`
  })
}

const HIDDEN = /[\p{Cc}\p{Zl}\p{Zp}]|(?!\u200c|\u200d)\p{Cf}/gu

/** Two texts around the place where they part. */
export interface Excerpts {
  /** The end of what both begin with. */
  readonly shared: string
  /** How the first goes on, and how the second does. */
  readonly before: string
  readonly after: string
}

/** About that many characters around an index up to which two texts are the same. */
export function excerpts(
  [before, after]: readonly [string, string],
  index: number,
  length: number,
): Excerpts {
  const shared = tailOf(after.slice(0, index), Math.floor(length / 3))
  const rest = length - shared.length
  return {
    shared,
    before: headOf(before.slice(index), rest),
    after: headOf(after.slice(index), rest),
  }
}
