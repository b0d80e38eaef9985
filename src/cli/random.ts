/** Contract: numbers from 0 up to but not 1, evenly spread. */
export type Random = () => number

/** The same text gives the same numbers: repeatable, which is all that is asked of it. */
export function random(seed: string): Random {
  // FNV-1a over the text, then mulberry32 (both in the public domain).
  let state = 0x811c9dc5
  for (let at = 0; at < seed.length; at++) state = Math.imul(state ^ seed.charCodeAt(at), 0x01000193)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
