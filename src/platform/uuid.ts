import { randomHex } from './secret.ts'

/** The last time that an id was made, in milliseconds, and how ids begin that are made then. */
let at = Number.NaN
let begin = ''

/**
 * RFC 9562, section 5.7: 48 bits of Unix milliseconds, then version, variant and 74 random bits.
 */
export function uuidv7(): string {
  const now = Date.now()
  if (now !== at) {
    at = now
    const time = now.toString(16).padStart(12, '0')
    begin = `${time.slice(0, 8)}-${time.slice(8)}-7`
  }
  const hex = randomHex(10)
  const variant = '89ab'.charAt(Number.parseInt(hex.charAt(3), 16) & 0x3)
  // Joined, since a concatenation is kept as the tree of its pieces: a dozen times the text, for as
  // long as the id lives.
  return [begin, hex.slice(0, 3), '-', variant, hex.slice(4, 7), '-', hex.slice(8)].join('')
}
