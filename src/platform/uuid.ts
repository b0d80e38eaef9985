import { randomHex } from './secret.ts'

/**
 * RFC 9562, section 5.7: 48 bits of Unix milliseconds, then version, variant and 74 random bits.
 */
export function uuidv7(): string {
  const time = Date.now().toString(16).padStart(12, '0')
  const hex = randomHex(10)
  const variant = '89ab'.charAt(Number.parseInt(hex.charAt(3), 16) & 0x3)
  // Joined, since a concatenation is kept as the tree of its pieces: a dozen times the text, for as
  // long as the id lives.
  return [
    time.slice(0, 8),
    time.slice(8),
    `7${hex.slice(0, 3)}`,
    variant + hex.slice(4, 7),
    hex.slice(8),
  ].join('-')
}
