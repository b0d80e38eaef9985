import { bytesToHex, randomBytes } from '@noble/hashes/utils.js'
import type { AbortSignalLike, Controller, Host, Timeout } from '../ports/host.ts'

/** Of the Web's own functions, those for base64: they take and give a text of which each character is a byte. */
declare function btoa(binary: string): string
declare function atob(text: string): string

/** Of the Web's own functions, those for time. */
declare function setTimeout(run: () => void, ms: number): unknown
declare function clearTimeout(timer: unknown): void
declare class AbortController {
  readonly signal: AbortSignalLike
  abort(reason: unknown): void
}

/** Bytes that become characters at once: a call takes only so many arguments. */
const CHUNK = 2 ** 13

/** Random bytes of one id, and of how many ids they are asked for at once: a call costs more than the bytes. */
const ID_BYTES = 10
const IDS_AT_ONCE = 64

let random = new Uint8Array()
let taken = 0

/** The host of every platform with Web standards: browsers, Workers, Node. */
export const webHost: Host = {
  now: () => Date.now(),
  newId: uuidv7,
  timeout,
  controller,
  toBase64: base64,
  fromBase64,
}

function timeout(ms: number): Timeout {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(new Error(`no answer within ${ms} ms`)), ms)
  return { signal: controller.signal, clear: () => clearTimeout(timer) }
}

function controller(): Controller {
  return new AbortController()
}

/** RFC 9562, section 5.7: 48 bits of Unix milliseconds, then version, variant and 74 random bits. */
function uuidv7(): string {
  if (taken === random.length) {
    random = randomBytes(ID_BYTES * IDS_AT_ONCE)
    taken = 0
  }
  const time = Date.now().toString(16).padStart(12, '0')
  const hex = bytesToHex(random.subarray(taken, taken + ID_BYTES))
  taken += ID_BYTES
  const variant = '89ab'.charAt(Number.parseInt(hex.charAt(3), 16) & 0x3)
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex.slice(0, 3)}-${variant}${hex.slice(4, 7)}-${hex.slice(7, 19)}`
}

/** RFC 4648, section 4. */
export function base64(bytes: Uint8Array): string {
  let binary = ''
  for (let at = 0; at < bytes.length; at += CHUNK)
    binary += String.fromCharCode(...bytes.subarray(at, at + CHUNK))
  return btoa(binary)
}

/** RFC 4648, section 5, without padding. */
export function base64url(bytes: Uint8Array): string {
  return base64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** Characters of base64, whose padding ends it. */
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

/** RFC 4648, section 4; undefined: it is no base64. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (text.length % 4 !== 0 || !BASE64.test(text)) return undefined
  const binary = atob(text)
  const bytes = new Uint8Array(binary.length)
  for (let at = 0; at < bytes.length; at++) bytes[at] = binary.charCodeAt(at)
  return bytes
}
