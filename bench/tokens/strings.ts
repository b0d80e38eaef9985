import fc from 'fast-check'

/**
 * Classes of characters between which the pre-tokenizer draws its borders, and what it takes for
 * none of them.
 */
const CLASSES = [
  /[a-z]/,
  /[A-Z]/,
  /[0-9]/,
  /[!-/:-@[-`{-~]/,
  /\r|\n/,
  /\s/u,
  /\p{Ll}/u,
  /\p{Lu}/u,
  /\p{Lt}/u,
  /\p{Lm}/u,
  /\p{Lo}/u,
  /\p{M}/u,
  /\p{N}/u,
  /\p{P}/u,
  /\p{S}/u,
  /\p{Cf}/u,
  /\p{Cs}/u,
  /\p{Cn}/u,
]

/** Scripts and emoji lie below; above is next to nothing but tags and places for private use. */
const CODE_POINTS = 0x3_0000

/**
 * Joins that are easily got wrong: contractions, slashes after a sign, byte order marks, special
 * tokens, joiners.
 */
const JOINS = fc.constantFrom(
  "'s",
  "'LL",
  "'vE",
  "'re ",
  "'",
  ' ',
  '  ',
  '\t',
  '\r\n',
  '\n\n ',
  '/',
  '//\n/',
  '\u00a0',
  '\ufeff',
  '\ufeffusing',
  '\ufeff名',
  'e\u0301',
  '\u200d',
  '👩‍👩‍👧',
  '<|endoftext|>',
  '<|im_start|>',
)

/**
 * Texts full of borders: runs of one class of characters, joins, and slices of real texts cut
 * anywhere; the same run repeated; any binary strings; any graphemes. Lone surrogates are among
 * them.
 */
export function randomStrings(samples: readonly string[], count: number, seed: number): string[] {
  const runs = fc.constantFrom(...CLASSES.map(membersOf)).chain(runOf)
  const piece = fc.oneof({ weight: 4, arbitrary: runs }, { weight: 3, arbitrary: JOINS }, sliceOf(samples))
  const texts = fc.array(piece, { maxLength: 10 }).map((pieces) => pieces.join(''))
  const repeated = fc.tuple(runs, fc.integer({ min: 2, max: 60 })).map(([run, times]) => run.repeat(times))
  const any = fc.oneof(
    { weight: 6, arbitrary: texts },
    { weight: 1, arbitrary: repeated },
    { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 60 }) },
    { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 60 }) },
  )
  return fc.sample(any, { numRuns: count, seed })
}

function membersOf(pattern: RegExp): readonly string[] {
  const characters = Array.from({ length: CODE_POINTS }, (_, code) => String.fromCodePoint(code))
  return characters.filter((character) => pattern.test(character))
}

function runOf(members: readonly string[]): fc.Arbitrary<string> {
  const place = fc.integer({ min: 0, max: members.length - 1 })
  return fc.array(place, { minLength: 1, maxLength: 8 }).map((list) => list.map((at) => members[at]).join(''))
}

function sliceOf(samples: readonly string[]): fc.Arbitrary<string> {
  return fc
    .tuple(fc.constantFrom(...samples), fc.nat(2_000), fc.integer({ min: 1, max: 40 }))
    .map(([sample, start, length]) => sample.slice(start % sample.length, (start % sample.length) + length))
}
