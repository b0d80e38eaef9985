import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { areNear, areSameWords, bandsOf, contentWords } from '../../../src/features/facts/near-duplicates.ts'
import { runs } from '../support/runs.ts'

const SAME = [
  ['Never deploy on Fridays.', 'never deploy on a Friday'],
  ['The user likes short answers', 'Short answers: the user likes these!'],
  ['Do not push to main', "Don't push to main."],
  ['On Fridays, do not deploy', 'Do not deploy on Fridays'],
  ['You cannot use tabs', "You can't use tabs"],
  ['Use `pnpm` for installs', 'use pnpm for installs'],
  ['Pre-commit hooks run biome', 'pre commit hooks run biome'],
  ["The user's cat is Miso", 'the user’s cat is miso'],
  ['Ｕｓｅ ｔａｂｓ', 'use tabs'],
  ['ユーザーは短い答えが好き。', 'ユーザーは短い答えが好き'],
  ['用户喜欢简短的回答', '用户喜欢简短的回答！'],
  ['He likes cooking slow dinners', 'He likes cooking slow vegetarian dinners'],
  ['👍', '👍'],
  ['it is', 'It is.'],
] as const

const DIFFERENT = [
  ['Deploy on Fridays', 'Never deploy on Fridays'],
  ['Use tabs, not spaces', 'Use spaces, not tabs'],
  ['Prefer tea over coffee', 'Prefer coffee over tea'],
  ['The port is 8080', 'The port is 9090'],
  ['The timeout is 5 s', 'The timeout is 5 min'],
  ['Budget: $500', 'Budget: $5000'],
  ['Change src/a.ts', 'Change src/b.ts'],
  ['The key is Ab1', 'The key is aB1'],
  ['Run it with --force', 'Run it with force'],
  ['You must use pnpm', 'You may use pnpm'],
  ['Her birthday is in May', 'His birthday is in May'],
  [
    'Reply in German to all long and difficult questions',
    'Do not reply in German to all long and difficult questions',
  ],
  [
    'Reply in German to long and difficult questions',
    'Reply in German to long and difficult questions if asked',
  ],
  ['Tests run before the long nightly build', 'Tests run after the long nightly build'],
  ['one two three four five six', 'one two three'],
  ['用户喜欢简短的回答', '用户不喜欢简短的回答'],
  ['短い答えが好き', '短い答えが好きではない'],
  ['C++ is used', 'C# is used'],
  ['👍', '👎'],
] as const

describe('near-duplicates', () => {
  it.each(SAME)('are %j and %j', (one, other) => {
    expect(areNear(one, other)).toBe(true)
    expect(areNear(other, one)).toBe(true)
  })

  it.each(DIFFERENT)('are not %j and %j', (one, other) => {
    expect(areNear(one, other)).toBe(false)
    expect(areNear(other, one)).toBe(false)
  })

  it('of the same words are told from those that one word narrows', () => {
    expect(areSameWords('Never book a train before 9:00.', 'Before 9:00, never book trains')).toBe(true)
    expect(areSameWords('Never book a train before 9:00', 'Never book a train before 9:00 in summer')).toBe(
      false,
    )
    expect(areSameWords('Never book a train before 9:00 in summer', 'Never book a train before 9:00')).toBe(
      false,
    )
  })

  it('of the same words share a band, those of most words nearly always', () => {
    const fact = (text: string) => ({ kind: 'finding', text }) as const
    for (const [one, other] of SAME.filter(
      ([one, other]) => contentWords(one).size === contentWords(other).size,
    ))
      expect(bandsOf(fact(one))).toEqual(bandsOf(fact(other)))
    let shared = 0
    for (let index = 0; index < 1_000; index++) {
      const words = Array.from({ length: 8 }, (_, place) => `w${index}x${place}`)
      const bands = new Set(bandsOf(fact(words.join(' '))))
      if (bandsOf(fact([...words, 'further', 'nicely'].join(' '))).some((band) => bands.has(band))) shared++
    }
    expect(shared).toBeGreaterThan(930)
  })

  it('of other kinds and projects share none', () => {
    const text = 'Never deploy on Fridays'
    const bands = new Set(bandsOf({ kind: 'finding', text }))
    expect(bandsOf({ kind: 'constraint', text }).filter((band) => bands.has(band))).toEqual([])
    expect(bandsOf({ kind: 'finding', text, project: 'site' }).filter((band) => bands.has(band))).toEqual([])
  })

  it('are found by hashes that stay as they are, for what is stored rests on them', () => {
    expect(bandsOf({ kind: 'finding', text: 'Never deploy on Fridays' })).toMatchInlineSnapshot(`
      [
        "0/9r8v95",
        "1/16u3jpz",
        "2/18d051h",
      ]
    `)
  })

  it('are symmetric, and every text is one of itself', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (one, other) => {
        expect(areNear(one, one)).toBe(true)
        expect(areNear(one, other)).toBe(areNear(other, one))
        expect(bandsOf({ kind: 'finding', text: one })).toHaveLength(3)
      }),
      runs(200),
    )
  })
})
