/** Seeded texts for recall, the same on every platform. */

/** Gives a whole number below a bound. */
export type Random = (below: number) => number

export const people = ['Ada', 'Björn', 'Chloé', 'Dmitri', '林さん', 'user_7']
const openings = [
  'Yesterday',
  'I think',
  'Do you know when',
  'No,',
  'In March',
  'Remember:',
  'How many',
  'Well, maybe',
]
const doings = [
  'booked',
  'is carrying',
  'had painted',
  'went to see',
  'has been selling',
  'forgot',
  'will repair',
]
export const things = [
  'two tickets for the night ferry',
  'a red bicycle with a broken chain',
  'the café’s old menu',
  'an invoice, no. 4711-B,',
  'src/stores/dexie.ts:120',
  'three Ångström-thin mirrors',
  'the constructor of __proto__',
  'naïve façades',
  'order_id=98f3',
]
const places = [
  'in Zürich.',
  'at Gate 12B!',
  'near the harbour?',
  'on 7 May 2026.',
  'behind İstanbul Station.',
  '…',
]
const elsewhere = [
  '明日の朝、港で切符を買います。',
  '船七点四十五分从码头开。',
  '배는 일곱 시 사십오 분에 떠납니다.',
  'Паром отходит утром от причала.',
  'ｆｕｌｌ ｗｉｄｔｈ ＡＢＣ１２３ ｶﾀｶﾅ',
  'fiancé ﬁnds Straße 🚢🌊',
]

export function sentenceFrom(random: Random): string {
  const pick = (list: readonly string[]): string => list[random(list.length)] as string
  return random(6) === 0 ? pick(elsewhere) : [openings, people, doings, things, places].map(pick).join(' ')
}

/**
 * Whole numbers below a bound, by the generator of Numerical Recipes: the same on every machine.
 */
export function randomFrom(seed: number): Random {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return (state >>> 8) % below
  }
}
