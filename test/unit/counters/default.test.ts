import fc from 'fast-check'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { describe, expect, it } from 'vitest'
import { defaultCounter } from '../../../src/counters/default.ts'
import { runs } from '../support/runs.ts'

const { count } = defaultCounter
const exact = (text: string): number => countTokens(text, { disallowedSpecial: new Set() })

/** Any UTF-16, whole or not, and what people write. */
const texts = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'grapheme-ascii', maxLength: 300 }),
  fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
  fc
    .array(
      fc.constantFrom(
        'the ',
        'getUserById',
        ' = ',
        '漢字',
        'を',
        '한국어 ',
        "don't",
        '\n    ',
        '0x2f',
        'né ',
      ),
    )
    .map((parts) => parts.join('')),
)

const LOWER = 'abcdefghijklmnopqrstuvwxyz'
const UPPER = LOWER.toUpperCase()
const DIGITS = '0123456789'

/** Characters to draw from, each family of one kind. */
const FAMILIES: Readonly<Record<string, readonly string[]>> = {
  a: ['a'],
  spaces: [' '],
  newlines: ['\n'],
  dashes: ['-'],
  'one Chinese character': ['漢'],
  'one emoji': ['😀'],
  'one family of emoji': ['👩‍👩‍👧‍👦'],
  'small letters': [...LOWER],
  capitals: [...UPPER],
  'letters of random case': [...LOWER, ...UPPER],
  base64: [...LOWER, ...UPPER, ...DIGITS, '+', '/'],
  base32: [...UPPER, ...'234567'],
  hex: [...DIGITS, ...'abcdef'],
  digits: [...DIGITS],
  punctuation: [...'!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'],
  'combining marks': block(0x300, 0x36f),
  emoji: block(0x1f600, 0x1f64f),
  Chinese: block(0x4e00, 0x9fff),
  Hiragana: block(0x3041, 0x3096),
  Katakana: block(0x30a1, 0x30fa),
  Hangul: block(0xac00, 0xd7a3),
  Cyrillic: block(0x410, 0x44f),
  Greek: block(0x3b1, 0x3c9),
  Hebrew: block(0x5d0, 0x5ea),
  Arabic: block(0x621, 0x64a),
  Devanagari: block(0x904, 0x939),
  Thai: block(0xe01, 0xe2e),
  'accented letters of Western Europe': block(0xe0, 0xff),
  'accented letters of Eastern Europe': block(0x100, 0x17f),
  'lone surrogates': block(0xd800, 0xdbff),
}

function block(first: number, last: number): string[] {
  return Array.from({ length: last - first + 1 }, (_, index) => String.fromCodePoint(first + index))
}

const PROSE = `The lighthouse keeper wrote down everything that passed: the mail boat on Tuesdays, two trawlers from
Lerwick, a yacht whose crew waved and asked, through a megaphone, whether they were anywhere near Norway.
They weren't. In the evenings she trimmed the lamp, boiled potatoes and read the same three novels, which
she no longer needed to open. "If you know how it ends," her brother had once asked, "why do you go on?" She
had thought about it for most of a winter. It seemed to her now that the ending was the least interesting
part of any story, and that Mr. Halvorsen, who arrived each spring with paint and gossip, told his own
stories for exactly that reason: he never got to the end of one.`

const CODE = `import { open } from './storage.ts'

/** Keeps the newest entries, and drops the rest once there are too many. */
export class RecentEntries<Value> {
  readonly #entries = new Map<string, { value: Value; usedAt: number }>()

  constructor(private readonly maxEntries = 1_000, private readonly now = Date.now) {}

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    entry.usedAt = this.now()
    return entry.value
  }

  set(key: string, value: Value): void {
    this.#entries.set(key, { value, usedAt: this.now() })
    if (this.#entries.size <= this.maxEntries) return
    const [oldest] = [...this.#entries].sort(([, a], [, b]) => a.usedAt - b.usedAt)
    if (oldest) this.#entries.delete(oldest[0])
  }
}

export async function restore(path: string): Promise<RecentEntries<string>> {
  const file = await open(path, { create: true })
  const entries = new RecentEntries<string>(500)
  for await (const line of file.readLines()) {
    const [key = '', ...rest] = line.split('\\t')
    if (key !== '') entries.set(key, rest.join('\\t'))
  }
  return entries
}
`

const ROWS = [
  {
    id: 48_213,
    uuid: '7c9e6679-7425-40de-944b-e07fc1f90ae7',
    created_at: '2026-03-14T09:26:53.589Z',
    customer: { name: 'Ingrid Solberg', email: 'ingrid.solberg@example.com', tier: 'gold' },
    total: 184.95,
    location: { lat: 60.39126, lon: 5.32205 },
    tags: ['priority', 'fragile'],
    note: 'Please ring twice, the bell is quiet.',
  },
  {
    id: 48_220,
    uuid: '16fd2706-8baf-433b-82eb-8c7fada847da',
    created_at: '2026-03-14T11:02:07.004Z',
    customer: { name: 'Tomas Reyes', email: 't.reyes@example.org', tier: 'basic' },
    total: 12.5,
    location: { lat: -33.44889, lon: -70.66927 },
    tags: [],
    note: null,
    trace: 'k3Jx9QmT2vLr8ZpWc4YdN7sBf1HgUa6E',
  },
]

const CHINESE = `打开文件时出现错误。请检查网络连接，然后重试。如果问题仍然存在，请联系管理员，并说明您使用的系统版本。
您可以在“设置”中更改语言、字体大小和通知方式。保存之前，请确认所有必填项都已填写完整，否则系统不会提交您的申请。`

const TRADITIONAL = `開啟檔案時發生錯誤。請檢查網路連線，然後再試一次。如果問題仍然存在，請聯絡系統管理員，並說明您使用的版本。
您可以在「設定」中變更語言、字型大小與通知方式。儲存之前，請確認所有必填欄位都已填寫完整，否則系統不會送出您的申請。`

const JAPANESE = `ファイルを開くときにエラーが発生しました。ネットワークの接続を確認してから、もう一度お試しください。
問題が解決しない場合は、使用しているバージョンを管理者に連絡してください。「設定」では言語や文字の大きさを変更できます。`

const KOREAN = `파일을 여는 동안 오류가 발생했습니다. 네트워크 연결을 확인한 다음 다시 시도하십시오. 문제가 계속되면 사용 중인 버전을 관리자에게 알려 주십시오. 설정에서 언어와 글자 크기,
알림 방식을 바꿀 수 있습니다. 저장하기 전에 입력한 내용을 확인하십시오.`

const GERMAN = `Die Fähre fährt erst wieder, wenn sich der Nebel über der Förde gelöst hat. Bis dahin stehen die
Reisenden am Anleger, trinken lauwarmen Kaffee aus Pappbechern und erzählen einander, was sie auf
der anderen Seite erwartet.`

const RUSSIAN = `Поезд задержали из-за снега, и пассажиры вышли на платформу. Кто-то нашёл в буфете чай, кто-то
достал гитару. К полуночи все уже знали друг друга по именам, а утром, когда пути расчистили,
прощались как старые друзья.`

const SAMPLES: Readonly<Record<string, string>> = {
  'English prose': PROSE,
  TypeScript: CODE,
  'indented JSON': JSON.stringify(ROWS, null, 2),
  'compact JSON': JSON.stringify(ROWS),
  'simplified Chinese': CHINESE,
  'traditional Chinese': TRADITIONAL,
  Japanese: JAPANESE,
  Korean: KOREAN,
  German: GERMAN,
  Russian: RUSSIAN,
}

describe('the default counter', () => {
  it('counts 0 for the empty text, and for any other a whole number of at least 1, always the same', () => {
    expect([count(''), count(' ')]).toEqual([0, 1])
    fc.assert(
      fc.property(texts, (text) => {
        const tokens = count(text)
        expect(Number.isSafeInteger(tokens)).toBe(true)
        expect(tokens).toBeGreaterThanOrEqual(text === '' ? 0 : 1)
        expect(count(`${text}`)).toBe(tokens)
      }),
      runs(500),
    )
  })

  it('counts what is joined at most 40 tokens higher than its parts', () => {
    fc.assert(
      fc.property(texts, texts, (one, other) => {
        expect(count(one + other)).toBeLessThanOrEqual(count(one) + count(other) + 40)
      }),
      runs(500),
    )
    for (const characters of Object.values(FAMILIES)) {
      const half = (characters[0] as string).repeat(24)
      expect(count(half + half)).toBeLessThanOrEqual(2 * count(half) + 40)
    }
  })

  describe.each(Object.keys(FAMILIES))('in an unbroken run of %s', (name) => {
    const characters = FAMILIES[name] ?? []

    it('is never below 0.9 of the exact count', () => {
      const drawn = fc.array(fc.constantFrom(...characters), { minLength: 256, maxLength: 1_200 })
      fc.assert(
        fc.property(drawn, (parts) => {
          const text = parts.join('')
          expect(count(text)).toBeGreaterThanOrEqual(0.9 * exact(text))
        }),
        runs(5),
      )
    })

    it('is not below it in short ones either, on the whole', () => {
      const drawn = fc.array(fc.constantFrom(...characters), { minLength: 64, maxLength: 64 })
      const found = fc.sample(drawn, { numRuns: 20, seed: 1 }).map((parts) => parts.join(''))
      expect(sum(found, count)).toBeGreaterThanOrEqual(0.9 * sum(found, exact))
    })
  })

  it.each(Object.keys(SAMPLES))(
    'is at most a tenth below and a quarter above the exact count of %s',
    (name) => {
      const text = SAMPLES[name] ?? ''
      expect(count(text)).toBeGreaterThanOrEqual(0.9 * exact(text))
      expect(count(text)).toBeLessThanOrEqual(1.25 * exact(text))
    },
  )

  it('errs high, by a few per cent on the whole', () => {
    const all = Object.values(SAMPLES)
    expect(sum(all, count)).toBeGreaterThan(sum(all, exact))
    expect(sum(all, count)).toBeLessThan(1.1 * sum(all, exact))
  })

  it.each([
    ['a word with the space before it', ' river', 1],
    ['what an apostrophe shortens', "they've", 1],
    ['each part of a name', 'getUserById', 4],
    ['the capitals of a name apart from its last word', 'JSONValue', 2],
    ['digits by threes', '1234567', 3],
    ['a space before digits', 'in 2026', 4],
    ['line breaks together with the signs before them', '});\n\n', 1],
    ['an indent as one', '\n        x', 3],
    ['a tab at the beginning of a line', 'a\n\tb', 4],
    ['each group of line breaks between spaces', 'a\n  \n  \nb', 5],
    ['a sign with the space before it, apart from the word', ' (word', 2],
    ['signs beyond ASCII one by one', '✓✗✓', 5],
    ['a longer word higher at the beginning of a line', 'x\npersonally', 5],
    ['a word with a capital after a digit', 'v4Prompt', 3],
    ['capitals and a few small letters inside others by their length', 'xKQRfgw', 5],
    ['letters after two short parts by their length', 'xQbZkTwMpRvLn', 9],
    ['the rest of a word after an accent by its length', 'étudiants', 4],
    ['the rest of a word after a letter of Vietnamese by its length', 'ấtthuong', 4],
    ['Hiragana between other characters as one each', 'の漢の漢の漢の漢', 9],
    ['a line of dashes as a few', '-'.repeat(80), 6],
    ['a line of box drawing as a few', '─'.repeat(80), 21],
    ['joined signs as one', ' !== 0', 3],
    ['a single character of Chinese', '字', 1],
    ['emoji by their halves', '😀', 3],
  ])('counts %s', (_, text, tokens) => {
    expect(count(text)).toBe(tokens)
  })

  it.each([
    ['a sign that shares no token with it', '@person', '.person'],
    ['the beginning of a line', 'personal', ' personal'],
    ['a digit', 'a7effect', 'a-effect'],
    ['letters of random case', 'xKQfqWe', 'ofParse'],
    ['an accented letter in another word', 'é gathering wandering', 'x gathering wandering'],
    ['many capitals and small letters', 'FZVDnpgpbQrstuv', ' FZVDnpgpbQrstuv'],
    ['a bracket, with capitals and small letters', '(SQLite', ' SQLite'],
    ['a space, with a capital', ' Wellington', ' wellington'],
  ])('counts a word higher after %s', (_, high, low) => {
    expect(count(high)).toBeGreaterThan(count(low))
  })

  it.each([
    ['系统设计和系统维护的说明', '系統設計和系統維護的說明'],
    ['统统统统统统', '統統統統統統'],
    ['说说说说说说', '說說說說說說'],
    ['说，好好好好好好好好', '說，好好好好好好好好'],
  ])('counts simplified Chinese lower than traditional: %s', (simplified, traditional) => {
    expect(count(simplified)).toBeLessThan(count(traditional))
  })
})

function sum(list: readonly string[], of: (text: string) => number): number {
  return list.reduce((total, text) => total + of(text), 0)
}
