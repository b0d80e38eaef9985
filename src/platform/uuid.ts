/** Of the Web's own functions, the one for random numbers. */
declare const crypto: { getRandomValues(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> }

/** Those of the variant first. */
const DIGITS = '89ab01234567cdef'
/**
 * Random digits in one id, a byte each, and of how many ids they are asked for at once: a call
 * costs more than the bytes.
 */
const ID_DIGITS = 19
const IDS_AT_ONCE = 64

let random = new Uint8Array()
let taken = 0

/**
 * RFC 9562, section 5.7: 48 bits of Unix milliseconds, then version, variant and 74 random bits.
 */
export function uuidv7(): string {
  if (taken === random.length) {
    random = crypto.getRandomValues(new Uint8Array(ID_DIGITS * IDS_AT_ONCE))
    taken = 0
  }
  const time = Date.now().toString(16).padStart(12, '0')
  let hex = ''
  for (const end = taken + ID_DIGITS; taken < end; taken++)
    hex += DIGITS[(random[taken] as number) & (hex ? 0xf : 0x3)]
  // Joined, since a concatenation is kept as the tree of its pieces: a dozen times the text, for as
  // long as the id lives.
  return [time.slice(0, 8), time.slice(8), `7${hex.slice(4, 7)}`, hex.slice(0, 4), hex.slice(7)].join('-')
}
