/** Of the Web's own functions, the one for random numbers. */
declare const crypto: { getRandomValues(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> }

/** Each byte in hex. */
const HEX = /* @__PURE__ */ Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** 256 random bits, in hex. */
export function newSecret(): string {
  return randomHex(32)
}

/** Bytes that are asked for at once: a call costs more than they do. */
const AT_ONCE = 1_024

let random = new Uint8Array()
let taken = 0

export function randomHex(bytes: number): string {
  let text = ''
  for (let left = bytes; left > 0; left--) {
    if (taken === random.length) {
      random = crypto.getRandomValues(new Uint8Array(AT_ONCE))
      taken = 0
    }
    text += HEX[random[taken++] as number]
  }
  return text
}
