import { randomBytes } from '@noble/hashes/utils.js'
import type { Host } from '../ports/host.ts'

/** Of the Web's own functions, the one for base64: it takes a text of which each character is a byte. */
declare function btoa(binary: string): string

/** Bytes that become characters at once: a call takes only so many arguments. */
const CHUNK = 2 ** 13

/** The host of every platform with Web standards: browsers, Workers, Node. */
export const webHost: Host = {
  now: () => Date.now(),
  newId: () => uuidv7(Date.now(), randomBytes(10)),
}

/** RFC 9562, section 5.7: 48 bits of Unix milliseconds, then version, variant and 74 random bits. */
function uuidv7(now: number, random: Uint8Array): string {
  const time = now.toString(16).padStart(12, '0')
  const hex = Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('')
  const variant = ((Number.parseInt(hex.slice(3, 4), 16) & 0x3) | 0x8).toString(16)
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex.slice(0, 3)}-${variant}${hex.slice(4, 7)}-${hex.slice(7, 19)}`
}

/** RFC 4648, section 4. */
export function base64(bytes: Uint8Array): string {
  let binary = ''
  for (let at = 0; at < bytes.length; at += CHUNK)
    binary += String.fromCharCode(...bytes.subarray(at, at + CHUNK))
  return btoa(binary)
}
