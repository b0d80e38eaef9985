import type { Random } from '../../everywhere/random.ts'

/**
 * Texts that nobody's statistics fit: what a counter by estimate is held to. Each class makes a
 * text of a length in UTF-16 units, from any source of numbers from 0 to 1.
 */
export type TextClass = (random: Random, length: number) => string

const LOWER = [...'abcdefghijklmnopqrstuvwxyz']
const UPPER = LOWER.map((letter) => letter.toUpperCase())
const DIGITS = [...'0123456789']
const HEX = [...DIGITS, ...'abcdef']
const SIGNS = [...'!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~']
const ALPHANUMERIC = [...LOWER, ...UPPER, ...DIGITS]

/** Pieces, each of some characters, until the length is reached. */
function of(make: (random: Random) => string): TextClass {
  return (random, length) => {
    let text = ''
    while (text.length < length) text += make(random)
    return text
  }
}

export function one<T>(random: Random, list: readonly T[]): T {
  return list[Math.floor(random() * list.length)] as T
}

function some(random: Random, list: readonly string[], least: number, most = least): string {
  const count = least + Math.floor(random() * (most - least + 1))
  return Array.from({ length: count }, () => one(random, list)).join('')
}

const run = (list: readonly string[]): TextClass => of((random) => one(random, list))
const words = (list: readonly string[], least: number, most: number, between = ' '): TextClass =>
  of((random) => some(random, list, least, most) + between)

function block(first: number, last: number): string[] {
  return Array.from({ length: last - first + 1 }, (_, index) => String.fromCodePoint(first + index))
}

/** Sentences in any order. */
const prose = (sentences: readonly string[]): TextClass => of((random) => `${one(random, sentences)} `)

const HAN = block(0x4e00, 0x9fff)
const COMMON_WORDS =
  'the people were talking about something important that nobody could understand in another language'.split(
    ' ',
  )

/** Each of these is counted at 0.98 of the exact count at least, over any 1 000 tokens. */
export const CLASSES: Readonly<Record<string, TextClass>> = {
  'capitals without a break': run(UPPER),
  'words of capitals': words(UPPER, 3, 10),
  'capitals in lines': words(UPPER, 4, 12, '\n'),
  'capitals between commas': words(UPPER, 4, 12, ','),
  'short words of capitals': words(UPPER, 1, 4),
  'small letters without a break': run(LOWER),
  'words of small letters': words(LOWER, 3, 10),
  'short words of small letters': words(LOWER, 1, 4),
  'long words of small letters': words(LOWER, 12, 40),
  'made-up names': of((random) => `${one(random, UPPER)}${some(random, LOWER, 2, 9)} `),
  'names in camel case': of((random) => one(random, UPPER) + some(random, LOWER, 2, 7)),
  'names in snake case': words(LOWER, 2, 8, '_'),
  'names between dots': words(LOWER, 2, 8, '.'),
  'letters of any case': run([...LOWER, ...UPPER]),
  'ids of any case': words([...ALPHANUMERIC, '-', '_'], 8, 24),
  'ids with a prefix': of((random) => `cus_${some(random, ALPHANUMERIC, 14)} `),
  'ids of a booking': of((random) => `${some(random, UPPER, 2, 3)}${Math.floor(random() * 10_000)}, `),
  UUIDs: of(
    (random) =>
      `${some(random, HEX, 8)}-${some(random, HEX, 4)}-4${some(random, HEX, 3)}-${some(random, HEX, 12)}\n`,
  ),
  ULIDs: words([...'0123456789ABCDEFGHJKMNPQRSTVWXYZ'], 26, 26, '\n'),
  'base64 without a break': run([...ALPHANUMERIC, '+', '/']),
  'base64 in lines': words([...ALPHANUMERIC, '+', '/'], 64, 64, '\n'),
  base32: run([...UPPER, ...'234567']),
  base58: words(
    [...ALPHANUMERIC].filter((character) => !'0OIl'.includes(character)),
    44,
    44,
    '\n',
  ),
  'hex without a break': run(HEX),
  'words of hex': words(HEX, 3, 10),
  'hex in capitals': words(
    HEX.map((digit) => digit.toUpperCase()),
    32,
    64,
    '\n',
  ),
  'bytes in hex': words(HEX, 2, 2, ':'),
  'escapes of an address': of((random) => `%${some(random, HEX, 2).toUpperCase()}`),
  'escapes of JSON': of((random) => `\\u${some(random, HEX, 4)}`),
  passwords: words([...ALPHANUMERIC, ...SIGNS], 8, 16, '\n'),
  digits: run(DIGITS),
  numbers: words(DIGITS, 1, 7),
  'decimal numbers': of((random) => `${(random() * 1_000 - 500).toFixed(5)}, `),
  times: of((random) => `${new Date(1.7e12 + random() * 3e11).toISOString()} `),
  signs: run(SIGNS),
  'signs and letters': of((random) => some(random, SIGNS, 1, 3) + some(random, LOWER, 1, 4)),
  operators: run([...'+-*/<>=!&|^~%']),
  brackets: run([...'(){}[];,.']),
  'spaces, tabs and line breaks': run([' ', '\t', '\n']),
  'words between many spaces': of((random) => `x${' '.repeat(1 + Math.floor(random() * 30))}`),
  'rare Han': run(HAN),
  'rare Han between signs': of((random) => some(random, HAN, 2, 5) + one(random, [...'，。、\n'])),
  'Han of extension A': run(block(0x3400, 0x4dbf)),
  'Han of extension B': run(block(0x2_0000, 0x2_a6d0)),
  'random Hiragana': run(block(0x3041, 0x3096)),
  'random Katakana': run(block(0x30a1, 0x30fa)),
  'random Hangul': run(block(0xac00, 0xd7a3)),
  'random Hangul between spaces': words(block(0xac00, 0xd7a3), 2, 5),
  'random Thai': run(block(0xe01, 0xe2e)),
  'random Devanagari': words(block(0x904, 0x939), 2, 8),
  'random Arabic': words(block(0x621, 0x63a), 2, 8),
  'random Hebrew': words(block(0x5d0, 0x5ea), 2, 8),
  'random Cyrillic': words(block(0x430, 0x44f), 2, 8),
  'random Greek': words(block(0x3b1, 0x3c9), 2, 8),
  'random Georgian': words(block(0x10d0, 0x10f0), 2, 8),
  'random Bengali': words(block(0x985, 0x9b9), 2, 8),
  Ethiopic: run(block(0x1200, 0x1248)),
  'accented letters of Western Europe': words(block(0xe0, 0xff), 2, 8),
  'accented letters of Eastern Europe': words(block(0x100, 0x17f), 2, 8),
  'phonetic letters': run(block(0x250, 0x2af)),
  'combining marks': run(block(0x300, 0x36f)),
  'letters in their parts': of((random) => one(random, LOWER) + one(random, ['\u0301', '\u0308', '\u0303'])),
  emoji: run(block(0x1f600, 0x1f64f)),
  'newer emoji': run(block(0x1f900, 0x1f9ff)),
  'emoji of several': of(
    (random) => `${one(random, ['👩', '👨', '🧑', '👧'])}${one(random, ['🏻', '🏿', ''])}\u200d`,
  ),
  flags: run(block(0x1f1e6, 0x1f1ff)),
  'mathematical letters': run(block(0x1d400, 0x1d7ff)),
  mathematics: run(block(0x2200, 0x22ff)),
  'box drawing': run(block(0x2500, 0x257f)),
  arrows: run(block(0x2190, 0x21ff)),
  'full-width letters': run(block(0xff21, 0xff5a)),
  'characters for private use': run(block(0xe000, 0xf8ff)),
  'lone surrogates': run(Array.from({ length: 1_024 }, (_, low) => String.fromCharCode(0xd800 + low))),
  'control characters': run(block(0x00, 0x08)),
  'small letters among words': of((random) => `${one(random, COMMON_WORDS)} ${some(random, LOWER, 4, 10)} `),
  'capitals among words': of((random) => `${one(random, COMMON_WORDS)} ${some(random, UPPER, 4, 10)} `),
  'minified code': of((random) => {
    const name = (): string => some(random, [...LOWER, ...UPPER], 1, 2)
    return one(random, [
      `function ${name()}(${name()},${name()}){return ${name()}.${one(random, COMMON_WORDS)}(${name()}[0])||${name()}}`,
      `var ${name()}=${name()}?${name()}+${Math.floor(random() * 99)}:void 0;`,
      `if(!${name()}&&"${one(random, COMMON_WORDS)}"!==typeof ${name()})throw new Error(${name()});`,
      `${name()}.exports={${name()}:()=>${name()},${name()}:{}};`,
      `for(let ${name()}=0;${name()}<${name()}.length;++${name()})${name()}(${name()},!1);`,
    ])
  }),
  'German compounds': of((random) => {
    const parts =
      'Donau Dampf Schiff Fahrt Kranken Versicherung Verkehr Unfall Meldung Pflicht Wohnung Bau Steuer Erklärung Zug'
    const made = Array.from({ length: 2 + Math.floor(random() * 4) }, () => one(random, parts.split(' ')))
    return `${made.map((part, at) => (at === 0 ? part : `s${part.toLowerCase()}`)).join('')} `
  }),
  French: prose([
    'Le train de Marseille a encore pris une demi-heure de retard à cause de la neige.',
    "Nous nous étions promis de ne plus jamais parler de l'héritage, mais ma sœur n'a pas tenu sa promesse.",
    "Pouvez-vous m'envoyer la facture corrigée avant vendredi, s'il vous plaît ?",
    'Le boulanger ferme à treize heures, et il ne reste presque plus de pain aux céréales.',
    "Quelqu'un a oublié un parapluie vert près de la fenêtre du deuxième étage.",
  ]),
  Vietnamese: prose([
    'Chuyến tàu đêm đến muộn gần một tiếng vì mưa lớn ở miền Trung.',
    'Bà tôi vẫn giữ thói quen ghi lại giá rau mỗi buổi sáng vào một quyển sổ nhỏ.',
    'Anh có thể gửi lại cho tôi hóa đơn đã sửa trước thứ sáu được không?',
    'Quán phở đầu ngõ đóng cửa sớm hơn thường lệ, nên chúng tôi đành ăn bánh mì.',
  ]),
  Thai: prose([
    'รถไฟขบวนกลางคืนมาถึงช้าเกือบหนึ่งชั่วโมงเพราะฝนตกหนัก',
    'คุณยายยังจดราคาผักทุกเช้าลงในสมุดเล่มเล็ก',
    'ช่วยส่งใบแจ้งหนี้ที่แก้ไขแล้วให้ฉันก่อนวันศุกร์ได้ไหม',
    'ร้านก๋วยเตี๋ยวหน้าปากซอยปิดเร็วกว่าปกติ เราจึงกินขนมปังแทน',
  ]),
  Hindi: prose([
    'रात की गाड़ी भारी बारिश के कारण लगभग एक घंटे देर से पहुँची।',
    'मेरी दादी अब भी हर सुबह सब्ज़ियों के दाम एक छोटी कॉपी में लिखती हैं।',
    'क्या आप मुझे शुक्रवार से पहले सुधारा हुआ बिल भेज सकते हैं?',
    'गली की दुकान आज जल्दी बंद हो गई, इसलिए हमने घर पर ही खाना बनाया।',
  ]),
  Arabic: prose([
    'وصل القطار الليلي متأخرا ساعة تقريبا بسبب المطر الغزير.',
    'ما زالت جدتي تكتب أسعار الخضار كل صباح في دفتر صغير.',
    'هل يمكنك أن ترسل لي الفاتورة المصححة قبل يوم الجمعة؟',
    'أغلق المطعم أبوابه مبكرا، فأكلنا الخبز والجبن في البيت.',
  ]),
  Korean: prose([
    '밤 기차는 폭우 때문에 거의 한 시간이나 늦게 도착했습니다.',
    '할머니는 아직도 매일 아침 채소 값을 작은 공책에 적으신다.',
    '금요일 전까지 수정한 청구서를 다시 보내 주실 수 있나요?',
    '골목 입구의 국수 가게가 일찍 문을 닫아서 우리는 빵을 먹었다.',
  ]),
}

/** Pieces of all classes, each of at most so many units. */
export function mixture(most: number): TextClass {
  const all = Object.values(CLASSES)
  return of((random) => {
    const length = 1 + Math.floor(random() * most)
    return one(random, all)(random, length).slice(0, length)
  })
}
