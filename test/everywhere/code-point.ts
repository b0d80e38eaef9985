import fc from 'fast-check'

/** Halves of pairs, which are no character by themselves. */
const HALVES = { first: 0xd800, count: 0x800 }

/**
 * Unit of strings of any characters. fast-check's own, `binary`, is the same, but makes a table of
 * all of them first: a second, in each process and each page.
 */
export const codePoint = fc
  .integer({ min: 0, max: 0x10ffff - HALVES.count })
  .map((at) => String.fromCodePoint(at < HALVES.first ? at : at + HALVES.count), placeOf)

/** For what fast-check mixes in by itself: names that are dangerous as keys. */
function placeOf(unit: unknown): number {
  const [character, ...others] = typeof unit === 'string' ? unit : []
  const at = character?.codePointAt(0)
  if (at === undefined || others.length > 0) throw new Error(`${unit} is no character`)
  return at < HALVES.first ? at : at - HALVES.count
}
