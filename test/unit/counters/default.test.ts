import fc from 'fast-check'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { describe, expect, it } from 'vitest'
import { defaultCounter } from '../../../src/counters/default.ts'
import { ASCII, CHARACTERS, PAIRS } from '../../../src/counters/default-tables.ts'
import { type Random, randomFrom } from '../../everywhere/random.ts'
import { SEED } from '../../everywhere/runs.ts'
import { encodeAscii, encodeCharacters, encodePairs } from '../support/counter-tables.ts'
import { runs } from '../support/runs.ts'
import { CLASSES, mixture, type TextClass } from '../support/token-classes.ts'

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

  it('counts what is joined about as high as its parts', () => {
    fc.assert(
      fc.property(texts, texts, (one, other) => {
        const parts = count(one) + count(other)
        expect(Math.abs(count(one + other) - parts)).toBeLessThanOrEqual(4)
      }),
      runs(500),
    )
  })

  it.each(Object.keys(CLASSES))(
    'counts 0.98 of the exact count at least over 1 000 tokens of: %s',
    (name) => {
      const make = CLASSES[name] as TextClass
      fc.assert(
        fc.property(fc.integer(), (seed) => {
          const text = ofTokens(make, randomFrom(seed), 1_000)
          expect(count(text)).toBeGreaterThanOrEqual(0.98 * exact(text))
        }),
        runs(4),
      )
    },
  )

  it.each(Object.keys(CLASSES))('counts as much in short messages, together, of: %s', (name) => {
    const random = randomFrom(SEED)
    const found = Array.from({ length: 30 }, () => ofTokens(CLASSES[name] as TextClass, random, 30))
    expect(sum(found, count)).toBeGreaterThanOrEqual(0.95 * sum(found, exact))
  })

  it.each([3, 6, 30])('counts 0.98 of it where the class changes every %i units', (most) => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const text = ofTokens(mixture(most), randomFrom(seed), 1_000)
        expect(count(text)).toBeGreaterThanOrEqual(0.98 * exact(text))
      }),
      runs(4),
    )
  })

  it('takes a moment for a megabyte without a break: time grows with the text', () => {
    // In time that grows with the square, it would take longer than a test may.
    const once = count('qx'.repeat(5_000))
    expect(count('qx'.repeat(500_000)) / once).toBeCloseTo(100, 0)
  })

  it.each(Object.keys(SAMPLES))(
    'is at most a third above the exact count of %s, and Chinese and Korean messages of programs less than twice it',
    (name) => {
      const text = SAMPLES[name] ?? ''
      expect(count(text)).toBeGreaterThanOrEqual(0.95 * exact(text))
      expect(count(text)).toBeLessThanOrEqual((/Chinese|Korean/.test(name) ? 1.9 : 1.35) * exact(text))
    },
  )

  it('is at most 8 % above it on English, code and JSON, in all', () => {
    const all = [PROSE, CODE, JSON.stringify(ROWS, null, 2), JSON.stringify(ROWS)]
    expect(sum(all, count)).toBeGreaterThan(sum(all, exact))
    expect(sum(all, count)).toBeLessThan(1.08 * sum(all, exact))
  })

  it.each([
    ['a word with the space before it', ' river', 1],
    ['what an apostrophe shortens', "they've", 1],
    ['each part of a name', 'getUserById', 4],
    ['digits by threes', '1234567', 3],
    ['a space before digits', 'in 2026', 4],
    ['line breaks together with the signs before them', '});\n\n', 1],
    ['an indent as one', '\n        x', 3],
    ['a tab together with the word after it', 'a\n\tb', 4],
    ['a sign with the space before it, apart from the word', ' (word', 2],
    ['a line of dashes as a few', '-'.repeat(80), 6],
    ['a line of box drawing as a few', '─'.repeat(80), 21],
    ['carriage returns with line breaks', 'a\r\n\r\n\r\nb', 4],
    ['joined signs as one', ' () 0', 3],
    ['one common character of a script as one', 'の', 1],
    ['a rare character of Chinese as two', '龘', 2],
    ['emoji by their halves', '😀', 2],
  ])('counts %s', (_, text, tokens) => {
    expect(count(text)).toBe(tokens)
  })

  it.each([
    ['a sign that shares no token with it', '@person', '.person'],
    ['another accent in the same word', ' été', ' éte'],
    ['letters beyond those of a word', 'ab'.repeat(20), `${'ab'.repeat(10)} x`],
    ['signs that code has nothing to do with', '@`~^', '(")]'],
    ['many different signs', '({.:<[', '({{{{{'],
  ])('counts a text higher for %s', (_, high, low) => {
    expect(count(high)).toBeGreaterThan(count(low))
  })

  it.each(['\f', '\v', '\f\n', 'page\f', '\t\v'])('counts what is rarely written in full: %j', (text) => {
    const many = text.repeat(200)
    expect(count(many)).toBeGreaterThanOrEqual(0.98 * exact(many))
  })

  it('has the tables that are written out readably', () => {
    expect(ASCII).toBe(encodeAscii())
    expect(CHARACTERS).toBe(encodeCharacters())
    expect(PAIRS).toBe(encodePairs())
  })
})

function sum(list: readonly string[], of: (text: string) => number): number {
  return list.reduce((total, text) => total + of(text), 0)
}

/** About so many tokens of a class. */
function ofTokens(make: TextClass, random: Random, tokens: number): string {
  const probe = make(random, 400)
  return make(random, Math.ceil((tokens * probe.length) / exact(probe)))
}
