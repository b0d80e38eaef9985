/**
 * The readable form of `src/counters/default-tables.ts`. The numbers are from a fit to o200k; see
 * `src/counters/default.ts`.
 */

/** From the first unit on: 64ths of a token for a common character, and for any other. */
type Block = readonly [from: number, common: number, other: number]

const BLOCKS: readonly Block[] = [
  [0x0, 64, 82], // control characters
  [0x80, 64, 138], // two bytes
  [0xa0, 64, 72], // signs of Latin-1
  [0xc0, 64, 138], // two bytes: phonetic letters, combining marks
  [0x370, 0, 118], // Greek
  [0x400, 0, 92], // Cyrillic
  [0x450, 0, 112], // Cyrillic of other languages
  [0x530, -16, 92], // Armenian
  [0x590, 4, 92], // Hebrew
  [0x600, 4, 104], // Arabic
  [0x700, 64, 138], // two bytes
  [0x800, 64, 206], // three bytes
  [0x900, -12, 98], // Devanagari
  [0x980, -6, 108], // India
  [0xe00, 4, 104], // Thai
  [0xe80, 64, 140], // Lao, Tibetan
  [0x1000, 0, 112], // Burmese
  [0x10a0, -12, 100], // Georgian
  [0x1100, 64, 206], // three bytes
  [0x1780, 12, 110], // Khmer
  [0x1800, 64, 206], // three bytes
  [0x2000, 64, 140], // punctuation, arrows, mathematics, boxes, pictures
  [0x2800, 64, 206], // three bytes
  [0x3000, 64, 112], // punctuation of Chinese and Japanese
  [0x3041, 20, 132], // Hiragana
  [0x30a0, 28, 94], // Katakana
  [0x3100, 64, 206], // three bytes
  [0x4e00, 4, 126], // Han
  [0xa000, 64, 206], // three bytes
  [0xac00, -12, 148], // Hangul
  [0xd7a4, 64, 206], // three bytes
  [0xd800, 0, 204], // first halves of characters beyond U+FFFF
  [0xd83c, 0, 84], // of emoji
  [0xd83e, 0, 104], // of newer emoji
  [0xd83f, 0, 204], // of others
  [0xdc00, 0, 12], // second halves
  [0xe000, 64, 206], // three bytes
  [0xfe00, 64, 138], // variants, as after emoji; full-width forms
]

/** The common characters. */
const COMMON = [
  // signs of Latin-1
  '\u00a0',
  // Greek
  'ήαεηικμνορςστυ',
  // Cyrillic
  'авдеиклмнопрст',
  // Cyrillic of other languages
  'єіїўґқәө',
  // Armenian
  'աեիկմնովրւ',
  // Hebrew
  '\u05d0\u05d1\u05d4\u05d5\u05d7\u05d9\u05dc\u05de\u05e8\u05e9\u05ea',
  // Arabic
  '\u060c\u061b\u061f\u0623\u0627\u0628\u0629\u062a\u062f\u0631\u0633\u0639\u0642\u0644',
  '\u0645\u0646\u0647\u0648\u064a\u064f\u0650\u0651\u0679\u067e\u0686\u0698\u06a9\u06af',
  '\u06ba\u06be\u06c1\u06cc\u06d2\u06d4',
  // Devanagari
  '\u0902कतनपमयरसह\u093e\u093f\u0947\u094b\u094d',
  // India
  'কটতনপবমযরস\u09be\u09bf\u09c7\u09cdਕਤਦਨਰਹ\u0a3e\u0a3f\u0a40\u0a47કતનમરવ\u0abe\u0abf',
  '\u0ac7\u0acb\u0acdகடதபமரவ\u0bbf\u0bc1\u0bc8\u0bcd\u0c02కతనపమయరలవ\u0c3e\u0c3f\u0c41',
  '\u0c4dಕಗತದನಯರವ\u0cbe\u0cbf\u0cc1\u0ccdകതനപമയര\u0d3e\u0d3f\u0d41\u0d46\u0d4dකතනමයවස',
  '\u0dca\u0dcf\u0dd2\u0dd4',
  // Thai
  'กคงดตนมยรลสอ\u0e31าำ\u0e34\u0e35เ\u0e48\u0e49',
  // Burmese
  'ကငတမသအ\u102c\u102d\u102f\u1031\u1037\u1038\u103a\u103d',
  // Georgian
  'აბდეილნორს',
  // Khmer
  'កងដតទនបមរលស\u17b6\u17b7\u17d2',
  // punctuation, arrows, mathematics, boxes, pictures
  '\u200d–—’“”…→─│',
  // punctuation of Chinese and Japanese
  '、。',
  // Hiragana
  'いかがきくこさしすたてでとなにのはまりるれを',
  // Katakana
  'アィイクコシジスタッテトドパフプメラリルンー',
  // Han
  '一上下不与个中为主么之也了事于些人从他代以们件任会但作你使保信個入全公其内出分別利到制前力加动動化十去参又及发取受只可合同名后和因国在地型報場外多大天好如子字学它安定宣',
  '家对将小就已年并式当得心必性您情想意成我或所手指接数文新方无日时明是時更最有期本权条来権正此没法為然现理生用由的目看着示种第类经者而能自行表要解言設認说起过这进送這道那',
  '部都里重除面',
  // Hangul
  '가경계고과권그기나는니다대도동되된드든또로를리만메면모보부비사상서선설성세소수스습시식아어없에여요용유으은을의이인일입있자적전정제조주지치터트파프하한할합해형호',
  // variants, as after emoji; full-width forms
  '\ufe0f（），：',
].join('')

const STRUCTURE = '"\'()[]{}<>=:;,./*-'
const RULERS = '!#%*+-./:;=_~'
const JOINTS = "'(,-.=[\\_"

/**
 * What two letters weigh, from 0 to 3, a row for each first letter: the border of a word, a to z,
 * accented letters of Western Europe, of the rest of Europe, of Vietnamese.
 */
const WEIGHTS = [
  '000000001012100003000110212233',
  '230003203032001303000212102222',
  '223321223203012023320033303130',
  '203110220220032033000123323130',
  '002200333131233013210213322220',
  '002001013223011010001310003222',
  '003220033033231023020133303312',
  '023330330233331233120113323331',
  '003231333023332133130233133000',
  '220100012323200003100303130230',
  '333330333232333021313133333222',
  '021230213033332323303332323311',
  '021301032132133003310022303321',
  '110330333233102013303133303320',
  '013001301221232103200023313221',
  '110213122102010113020000223110',
  '113300322232023122020023023322',
  '333333333333223333133033333202',
  '013200203132200033011222303331',
  '022220221032132013100033323310',
  '013001230033312033012231203230',
  '210010113223011303010233233221',
  '103330333033323233333232333331',
  '103321330033330032113332233111',
  '012021131333323303330333323002',
  '033331333123221003311331333211',
  '123331333333233333333233323232',
  '222221323333321031333231121332',
  '321111211321211210323212011330',
  '223032223023310212230133212313',
].join('')

export function encodeAscii(): string {
  const kinds = Array.from({ length: 128 }, (_, code) => kindOf(String.fromCharCode(code)))
  return String.fromCharCode(...kinds.map((kind) => 0x30 + kind))
}

export function encodeCharacters(): string {
  const blocks = BLOCKS.flatMap(([from, common, other], index) => {
    const end = BLOCKS[index + 1]?.[0] ?? 0x1_0000
    return [end - from, Math.round((common + 20) / 4), Math.round(other / 4)]
  })
  const places = [...COMMON].map((character) => character.charCodeAt(0)).sort((a, b) => a - b)
  const distances = places.map((place, index) => place - (places[index - 1] ?? 0))
  return [...blocks, ...distances].map(digitsOf).join('')
}

export function encodePairs(): string {
  const characters = WEIGHTS.match(/.{3}/g) ?? []
  return characters
    .map(([first, second, third]) => Number(first) + 4 * Number(second) + 16 * Number(third))
    .map((bits) => String.fromCharCode(40 + bits))
    .join('')
}

function kindOf(character: string): number {
  if (/[a-z]/.test(character)) return 0
  if (/[A-Z]/.test(character)) return 1
  if (/[0-9]/.test(character)) return 2
  // The encoding has no token for several form feeds or vertical tabs.
  if (/[\t\n\r ]/.test(character)) return 3
  if (!/[!-~]/.test(character)) return 16
  const bit = (of: string, value: number): number => (of.includes(character) ? value : 0)
  return 8 + bit(STRUCTURE, 1) + bit(RULERS, 2) + bit(JOINTS, 4)
}

function digitsOf(number: number): string {
  const last = String.fromCharCode(40 + (number % 42))
  return number < 42 ? last : higherDigitsOf(Math.floor(number / 42)) + last
}

function higherDigitsOf(number: number): string {
  const last = String.fromCharCode(82 + (number % 42))
  return number < 42 ? last : higherDigitsOf(Math.floor(number / 42)) + last
}
