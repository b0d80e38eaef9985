/**
 * What conversations hold, as messages of some 2 000 characters. The texts come from packages that
 * the lock file pins, so that a figure can be measured again; only the rows of `json` are made
 * here, from a seed.
 */
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { randomFrom } from '../history.ts'

export type CorpusName = 'prose' | 'code' | 'json' | 'cjk'
export type Corpora = Readonly<Record<CorpusName, readonly string[]>>

/** In UTF-16 units. */
const MESSAGE = 2_000
/** UTF-8 bytes that a corpus is kept to. */
const CORPUS = 1_000_000

const MODULES = fileURLToPath(new URL('../node_modules/', import.meta.url))
const LOCKS = ['../../package-lock.json', '../package-lock.json'].map(
  (path) => new URL(path, import.meta.url),
)

const FENCED = /^(```|~~~)[\s\S]*?^\1/gmu
/** What a table, a list, a link or a component has, and a sentence has not. */
const MARKUP = /^[^A-Z]|[<{|[\]]/u
const LEAST_PARAGRAPH = 80

const HEX = '0123456789abcdef'
const CAPITALS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const ALPHANUMERIC = `${CAPITALS}${CAPITALS.toLowerCase()}0123456789`
const FIRST_NAMES = ['Ada', 'Barbara', 'Dennis', 'Frances', 'Grace', 'Ken', 'Margaret', 'Niklaus']
const LAST_NAMES = ['Allen', 'Hamilton', 'Hopper', 'Liskov', 'Lovelace', 'Ritchie', 'Thompson', 'Wirth']
const STATES = ['pending', 'paid', 'shipped', 'partially_refunded', 'returned', 'cancelled']
const NOTES = (
  'customer asked for a later delivery please leave the parcel with the neighbour refund was sent to the card ' +
  'address confirmed by phone fragile two boxes missing invoice carrier lost tracking number'
).split(' ')

/**
 * English, TypeScript, tool output, and the messages of a program in Chinese, Japanese and Korean.
 */
export const corpora: Corpora = {
  prose: corpus(
    ['{agents,ai,chat}/docs', '@mastra/core/dist/docs'].map((folder) =>
      files(`${folder}/**/*.{md,mdx}`).flatMap(paragraphs).join('\n\n'),
    ),
  ),
  code: corpus([files('zod/src/**/*.ts').join('\n'), files('ai/src/**/*.ts').join('\n')]),
  json: corpus([
    LOCKS.map((path) => readFileSync(path, 'utf8')).join('\n'),
    JSON.stringify(orders(randomFrom(1), 600), null, 2),
    JSON.stringify(orders(randomFrom(2), 600)),
  ]),
  cjk: corpus(
    ['zh-cn', 'zh-tw', 'ja', 'ko'].map((language) =>
      files(`typescript/lib/${language}/diagnosticMessages.generated.json`)
        .flatMap((text) => Object.values(JSON.parse(text)))
        .join('\n'),
    ),
  ),
}

/** The same share of bytes from each source, spread over the whole of it. */
function corpus(sources: readonly string[]): string[] {
  return sources.flatMap((source) => {
    const messages = messagesOf(source)
    const share = CORPUS / sources.length / Buffer.byteLength(source)
    return messages.filter(
      (_, index) => share >= 1 || Math.floor(index * share) < Math.floor((index + 1) * share),
    )
  })
}

/** Consecutive parts; no surrogate pair is parted. */
function messagesOf(text: string): string[] {
  const messages: string[] = []
  for (let at = 0, end: number; at < text.length; at = end) {
    end = at + MESSAGE
    const unit = text.charCodeAt(end - 1)
    if (unit >= 0xd800 && unit <= 0xdbff) end++
    messages.push(text.slice(at, end))
  }
  return messages
}

function files(pattern: string): string[] {
  const found = globSync(pattern, { cwd: MODULES }).sort()
  if (found.length === 0)
    throw new Error(`no file in bench/node_modules is ${pattern}: npm ci --prefix bench`)
  return found.map((file) => readFileSync(`${MODULES}${file}`, 'utf8'))
}

/** The plain paragraphs of a page in Markdown. */
function paragraphs(page: string): string[] {
  const parts = page.replaceAll(FENCED, '').split(/\n\s*\n/u)
  return parts
    .map((part) => part.trim())
    .filter((part) => part.length >= LEAST_PARAGRAPH && !MARKUP.test(part))
}

/** Rows as an API for orders gives them: ids, hashes, times, amounts, places, and a few words. */
function orders(random: () => number, count: number): object[] {
  const below = (limit: number) => Math.floor(random() * limit)
  const one = <T>(of: ArrayLike<T>) => of[below(of.length)] as T
  const some = (of: string, length: number) => Array.from({ length }, () => one(of)).join('')
  const several = <T>(most: number, make: () => T) => Array.from({ length: 1 + below(most) }, make)
  const uuid = () => `${some(HEX, 8)}-${some(HEX, 4)}-4${some(HEX, 3)}-a${some(HEX, 3)}-${some(HEX, 12)}`
  const time = () => new Date(1_700_000_000_000 + below(30_000_000_000))
  const customer = () => {
    const [first, last] = [one(FIRST_NAMES), one(LAST_NAMES)]
    const email = `${first}.${last}${below(100)}@example.com`.toLowerCase()
    return {
      id: `cus_${some(ALPHANUMERIC, 14)}`,
      name: `${first} ${last}`,
      email,
      phone: `+1555${below(1e7)}`,
    }
  }
  const item = () => ({
    sku: `${some(CAPITALS, 3)}-${below(100_000)}`,
    quantity: 1 + below(9),
    price: below(100_000) / 100,
    url: `https://api.example.com/v1/items/${below(100_000)}?rev=${some(HEX, 7)}`,
  })
  return Array.from({ length: count }, (_, index) => ({
    id: 1_000 + 7 * index,
    uuid: uuid(),
    object: 'order',
    created_at: time().toISOString(),
    updated: Math.floor(time().getTime() / 1_000),
    customer: customer(),
    amount: below(1_000_000) / 100,
    currency: one(['EUR', 'GBP', 'JPY', 'USD']),
    status: one(STATES),
    discount: random(),
    location: { lat: random() * 180 - 90, lon: random() * 360 - 180 },
    note: several(16, () => one(NOTES)).join(' '),
    checksum: some(HEX, 40),
    gift: random() < 0.5,
    parent: random() < 0.5 ? null : uuid(),
    items: several(3, item),
  }))
}
