/**
 * Control characters, and those that turn or hide text. Marks of emoji and of scripts that join
 * letters go with them.
 */
const HIDDEN =
  /[\p{Cc}\u{AD}\u{61C}\u{180E}\u{200B}-\u{200F}\u{202A}-\u{202E}\u{2060}-\u{2069}\u{FEFF}\u{E0000}-\u{E007F}]|[\u{E0100}-\u{E01EF}]/gu

/** Line ends of other kinds: without them, words would be joined. */
const OTHER_ENDS = /\r(?!\n)|[\v\f\x85]/g

/**
 * A text without what no reader should see (P10 of the threat model of memory poisoning); newlines
 * and tabs stay, and other line ends become spaces.
 */
export function visible(text: string): string {
  return text
    .replace(OTHER_ENDS, ' ')
    .replace(HIDDEN, (hidden) => (hidden === '\n' || hidden === '\t' ? hidden : ''))
}
