/**
 * Control characters, and those that turn or hide text. Marks of emoji and of scripts that join
 * letters go with them.
 */
const HIDDEN =
  /\r\n|[\p{Cc}\u{AD}\u{61C}\u{180E}\u{200B}-\u{200F}\u{202A}-\u{202E}\u{2060}-\u{2069}\u{FEFF}\u{E0000}-\u{E007F}]|[\u{E0100}-\u{E01EF}]/gu

/** Without them, words would be joined. */
const OTHER_LINE_ENDS = '\r\v\f\x85'

/**
 * A text without what no reader should see (P10 of the threat model of memory poisoning); newlines
 * and tabs stay, and other line ends become spaces.
 */
export function visible(text: string): string {
  return text.replace(HIDDEN, (hidden) => {
    if (hidden === '\t') return hidden
    if (hidden.endsWith('\n')) return '\n'
    return OTHER_LINE_ENDS.includes(hidden) ? ' ' : ''
  })
}
