/**
 * Of the Web's own functions, those for base64: they take and give a text of which each character
 * is a byte.
 */
declare function btoa(binary: string): string
declare function atob(text: string): string

/** Bytes that become characters at once: a call takes only so many arguments. */
const CHUNK = 2 ** 13

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
