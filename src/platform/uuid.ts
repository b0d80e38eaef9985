import { HEX } from './secret.ts'

/** Of the Web's own functions, the one for random numbers. */
declare const crypto: { getRandomValues(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> }

/**
 * Random bytes in one id, and of how many ids they are asked for at once: a call costs more than
 * the bytes.
 */
const ID_BYTES = 10
const IDS_AT_ONCE = 64

let random = new Uint8Array()
let taken = 0
/** The last time that an id was made, in milliseconds, and how ids begin that are made then. */
let at = Number.NaN
let begin = ''

/**
 * RFC 9562, section 5.7: 48 bits of Unix milliseconds, then version, variant and 74 random bits.
 */
export function uuidv7(): string {
  if (taken === random.length) {
    random = crypto.getRandomValues(new Uint8Array(ID_BYTES * IDS_AT_ONCE))
    taken = 0
  }
  const now = Date.now()
  if (now !== at) {
    at = now
    const time = now.toString(16).padStart(12, '0')
    begin = [time.slice(0, 8), '-', time.slice(8), '-'].join('')
  }
  const hex = (byte: number): string => HEX[random[taken + byte] as number] as string
  // Joined, since a concatenation is kept as the tree of its pieces: a dozen times the text, for as
  // long as the id lives.
  const id = [
    begin,
    HEX[0x70 | ((random[taken] as number) & 0xf)],
    hex(1),
    '-',
    HEX[0x80 | ((random[taken + 2] as number) & 0x3f)],
    hex(3),
    '-',
    hex(4),
    hex(5),
    hex(6),
    hex(7),
    hex(8),
    hex(9),
  ].join('')
  taken += ID_BYTES
  return id
}
