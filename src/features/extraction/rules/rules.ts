/** How facts are told in one language. All of it is matched against {@link folded} sentences. */
export interface Rules {
  readonly constraint: RegExp
  readonly preference: RegExp
  readonly correction: RegExp
  /** That something was decided. */
  readonly decision: RegExp
  /** Asks to remember something. */
  readonly remember: RegExp
  /** What somebody is or cannot have, who they are and where they live. */
  readonly self: RegExp
  /** Asked, supposed, or told of others. */
  readonly leftOut: RegExp
  /** Meant for the moment: then it is no constraint. */
  readonly passing: RegExp
  /** Clauses that tell when something was decided, not that it is. */
  readonly past?: RegExp
}

const ASCII = /^[\0-\x7f]*$/
/** Marks over and under Latin and Arabic letters; those of kana tell words apart. */
const MARKS = /[\u0300-\u036f\u064b-\u0655\u0670]/gu

/**
 * A text in small letters without accents and with one kind of apostrophe, so that rules are
 * written once, and need no flag `i`: with it, each class of letters takes milliseconds to compile.
 */
export function folded(text: string): string {
  return plain(text).toLowerCase()
}

function plain(text: string): string {
  if (ASCII.test(text)) return text
  return text.normalize('NFD').replace(MARKS, '').normalize('NFC').replaceAll('’', "'")
}

/** One of several, over folded texts; each may begin and end in the middle of a sentence. */
export function pattern(...alternatives: readonly string[]): RegExp {
  return new RegExp(alternatives.map((one) => `(?:${plain(one)})`).join('|'), 'u')
}
