/**
 * Most UTF-16 units of a text that is kept in one row: 256 KiB of UTF-8 at most, far below any
 * row's limit.
 */
export const PART_UNITS = 2 ** 18 / 4

/** Most bytes that are kept in one row. */
const PART_BYTES = 2 ** 18

/** A text in numbered parts that follow one another; none begins or ends inside a character. */
export function partsOf(text: string): string[] {
  const parts: string[] = []
  for (let from = 0; from < text.length; ) {
    const end = from + PART_UNITS
    const last = text.charCodeAt(end - 1)
    const to = end < text.length && last >= 0xd800 && last <= 0xdbff ? end - 1 : end
    parts.push(text.slice(from, to))
    from = to
  }
  return parts
}

/** Bytes in numbered parts that follow one another. */
export function partsOfBytes(bytes: Uint8Array<ArrayBuffer>): ArrayBuffer[] {
  const parts: ArrayBuffer[] = []
  for (let from = 0; from < bytes.length; from += PART_BYTES)
    parts.push(bytes.slice(from, from + PART_BYTES).buffer)
  return parts
}
