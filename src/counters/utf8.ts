/** Most bytes that a UTF-16 unit takes in UTF-8. */
export const BYTES_PER_UNIT = 3

/**
 * Writes a text as UTF-8 from `at` on and returns where it ends. A lone surrogate becomes U+FFFD,
 * as in `TextEncoder`, which this replaces because it can write to the middle of an array without
 * making a view of it.
 *
 * @param bytes has room for {@link BYTES_PER_UNIT} for each unit of the text.
 */
export function writeUtf8(text: string, bytes: Uint8Array, at: number): number {
  let end = at
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit < 0x80) {
      bytes[end++] = unit
    } else if (unit < 0x800) {
      bytes[end++] = 0xc0 | (unit >> 6)
      bytes[end++] = 0x80 | (unit & 0x3f)
    } else {
      let point = unit
      if (unit >= 0xd800 && unit <= 0xdfff) {
        const low = unit <= 0xdbff ? text.charCodeAt(index + 1) : 0
        if (low >= 0xdc00 && low <= 0xdfff) {
          point = 0x1_0000 + ((unit & 0x3ff) << 10) + (low & 0x3ff)
          bytes[end++] = 0xf0 | (point >> 18)
          bytes[end++] = 0x80 | ((point >> 12) & 0x3f)
          bytes[end++] = 0x80 | ((point >> 6) & 0x3f)
          bytes[end++] = 0x80 | (point & 0x3f)
          index++
          continue
        }
        point = 0xfffd
      }
      bytes[end++] = 0xe0 | (point >> 12)
      bytes[end++] = 0x80 | ((point >> 6) & 0x3f)
      bytes[end++] = 0x80 | (point & 0x3f)
    }
  }
  return end
}
