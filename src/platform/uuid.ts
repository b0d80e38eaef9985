/** Of the Web's own functions, the one for random numbers. */
declare const crypto: { getRandomValues(words: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> }

/**
 * Random words of 32 bits in one id, and of how many ids they are asked for at once: a call costs
 * more than the words.
 */
const ID_WORDS = 3
const IDS_AT_ONCE = 64

let random = new Uint32Array()
let taken = 0

/**
 * RFC 9562, section 5.7: 48 bits of Unix milliseconds, then version, variant and 74 random bits.
 */
export function uuidv7(): string {
  if (taken === random.length) {
    random = crypto.getRandomValues(new Uint32Array(ID_WORDS * IDS_AT_ONCE))
    taken = 0
  }
  const time = Date.now().toString(16).padStart(12, '0')
  let hex = ''
  for (const word of random.subarray(taken, taken + ID_WORDS)) hex += word.toString(16).padStart(8, '0')
  taken += ID_WORDS
  const variant = '89ab'.charAt(Number.parseInt(hex.charAt(3), 16) & 0x3)
  // Joined, since a concatenation is kept as the tree of its pieces: a dozen times the text, for as
  // long as the id lives.
  return [
    time.slice(0, 8),
    time.slice(8),
    `7${hex.slice(0, 3)}`,
    variant + hex.slice(4, 7),
    hex.slice(7, 19),
  ].join('-')
}
