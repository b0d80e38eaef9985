import { base64, fromBase64 } from '../ports/base64.ts'

/** The engine's own, where it has them: many times as fast. */
interface Encoding {
  toBase64?(): string
}
interface Decoding {
  fromBase64?(text: string): Uint8Array<ArrayBuffer>
}

/** As `base64`, for what is called for each row. */
export function nativeBase64(bytes: Uint8Array): string {
  return (bytes as Encoding).toBase64?.() ?? base64(bytes)
}

/** As `fromBase64`; white space may be skipped. */
export function fromNativeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return (Uint8Array as Decoding).fromBase64?.(text) ?? fromBase64(text)
  } catch {
    return undefined
  }
}
