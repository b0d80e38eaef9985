import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Finding, Found } from '../../../src/features/recall/find.ts'
import { passagesOf } from '../../../src/features/recall/passages.ts'
import type { Ranked } from '../../../src/features/recall/rank.ts'
import { showPassages } from '../../../src/features/recall/show-passages.ts'
import { createMemory, facts, mapStore, readSource, recall } from '../../../src/index.ts'
import { codePoint } from '../../everywhere/code-point.ts'
import { runs } from '../support/runs.ts'

const LONGEST = 320
const textsOf = (text: string): string[] => passagesOf(text).map(([from, to]) => text.slice(from, to).trim())
const sentence = (word: string, count = 12): string => `${`${word} `.repeat(count).trim()}.`

const isWhole = (text: string): boolean => new TextDecoder().decode(new TextEncoder().encode(text)) === text

/** Lines of all kinds that passages are made by. */
const texts = fc
  .array(
    fc.oneof(
      fc.constantFrom('', '# Plan', '- one item', '2. second', '| a | b |', '```', 'plain words', '…'),
      fc.nat(60).map((count) => sentence('rain', count)),
      fc.nat(900).map((length) => 'x'.repeat(length)),
      fc.string({ unit: codePoint, maxLength: 400 }),
    ),
    { maxLength: 30 },
  )
  .map((lines) => lines.join('\n'))

describe('passages', () => {
  it('hold all of a text but blanks, once, in its order, none too long, and part no character', () => {
    fc.assert(
      fc.property(texts, (text) => {
        let end = 0
        let left = ''
        for (const [from, to] of passagesOf(text)) {
          expect(from).toBeGreaterThanOrEqual(end)
          expect(to - from).toBeGreaterThan(0)
          expect(to - from).toBeLessThanOrEqual(LONGEST)
          // Half of a character is encoded as another one.
          if (isWhole(text)) expect(isWhole(text.slice(from, to))).toBe(true)
          left += text.slice(end, from)
          end = to
        }
        expect((left + text.slice(end)).trim()).toBe('')
      }),
      runs(300),
    )
  })

  it('are paragraphs, list items and blocks of code, a heading with what it is about', () => {
    const [one, two] = [sentence('rain', 40), sentence('snow', 40)]
    expect(textsOf(`${one}\n\n${two}`)).toEqual([one, two])
    const items = ['wind', 'hail', 'fog'].map((word) => `- ${sentence(word, 30)}`)
    expect(textsOf(items.join('\n'))).toEqual(items)
    const code = `\`\`\`ts\nconst first = 1\n\n- ${'second '.repeat(20)}\n\`\`\``
    expect(textsOf(`${one}\n${code}\n${two}`)).toEqual([one, code, two])
    expect(textsOf(`${one}\n\n## Snow\n\n${two}`)).toEqual([one, `## Snow\n\n${two}`])
  })

  it('are parted at the end of a line, else of a sentence, else of a word', () => {
    const line = 'a line of code without an end '.repeat(7).trim()
    expect(textsOf([line, line, line].join('\n'))).toEqual([line, line, line])
    const long = `${sentence('rain', 50)} ${sentence('snow', 50)}`
    expect(textsOf(long)).toEqual([sentence('rain', 50), sentence('snow', 50)])
    expect(textsOf('word '.repeat(100)).every((text) => /^(word ?)+$/.test(text))).toBe(true)
  })

  it('end with no stump of a text that is little too long', () => {
    for (const count of [65, 66, 70]) {
      const parts = textsOf(sentence('rain', count))
      expect(parts).toHaveLength(2)
      expect(parts[1]?.length).toBeGreaterThan(35)
    }
  })

  it('are the beginning and the end of a text beyond 256 Ki units', () => {
    const found = textsOf(`first ${'amid '.repeat(60_000)} last`)
    expect(found.at(0)).toMatch(/^first/)
    expect(found.at(-1)).toMatch(/last$/)
    expect(found.join('').length).toBeLessThanOrEqual(256 * 1024)
  })

  it('part no character where such a text is cut', () => {
    for (const before of ['', 'x']) {
      const text = `${before}${'👍'.repeat(160_000)}`
      for (const [from, to] of passagesOf(text)) expect(isWhole(text.slice(from, to))).toBe(true)
    }
  })
})

const foundOf = (text: string, ordinal: number, more: Partial<Found> = {}): Found => ({
  id: `m${ordinal}`,
  type: 'message',
  role: 'user',
  text,
  trust: 'user',
  createdAt: Date.UTC(2026, 4, ordinal),
  ordinal,
  score: 1,
  passages: passagesOf(text).map(() => 1),
  isOther: false,
  ...more,
})

const findingOf = (all: readonly Found[]): Finding => {
  const ranked = all.map(({ id, score, passages }): Ranked => ({ index: 0, id, score, passages }))
  return {
    ranked,
    read: async (some) => some.map((one) => all[ranked.indexOf(one)]),
    others: { searched: 0, missing: 0 },
  }
}

const count = (text: string): number => text.length
const shown = async (all: readonly Found[], size = 10_000): Promise<string> =>
  (await showPassages(findingOf(all), { size, count })).text

describe('what shows of passages', () => {
  it('of other sessions stand under their day, session by session, without numbers', async () => {
    const day = Date.UTC(2026, 4, 1)
    const other = (sessionId: string, ordinal: number, text: string, passages: readonly number[] = [1]) =>
      foundOf(text, ordinal, { id: 'm', sessionId, isOther: true, createdAt: day, passages })
    const long = ['One', 'Two', 'Three'].map((word) => `- ${`${word} is long. `.repeat(20)}`).join('\n')
    const text = await shown([
      other('two', 1, 'In the second.'),
      other('one', 2, 'In the first.'),
      other('one', 3, long, [0, 1, 0]),
      foundOf(long.replaceAll('Two', 'Four'), 4, {
        id: 'm',
        sessionId: 'trip',
        createdAt: day,
        passages: [0, 1, 0],
      }),
    ])
    expect(text.replaceAll(/(Two|Four)( is long\.)(?: \1\2)+/g, '$1.')).toBe(
      [
        '2026-05-01',
        '- #4 user [user]: … - Four. …',
        '2026-05-01, in another session',
        '- user [user]: In the first.',
        '- user [user]: … - Two. …',
        '- user [user]: In the second.',
      ].join('\n'),
    )
  })

  it('never takes more than its room, by any counter, and counts what it leaves out', async () => {
    const one = fc.record({
      text: texts,
      scores: fc.array(fc.nat(9), { minLength: 1, maxLength: 40 }),
      trust: fc.constantFrom('user' as const, 'tool' as const, 'web' as const),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(one, { maxLength: 8 }), fc.nat(900), fc.nat(4), async (list, size, odd) => {
        const all = list.map(({ text, scores, trust }, at) =>
          foundOf(text, at + 1, {
            trust,
            passages: passagesOf(text).map((_, part) => scores[part % scores.length] as number),
          }),
        )
        const counter = (text: string) => (text === '' ? 0 : text.length + odd)
        const { text, tokens, items, left, leftTokens, trust } = await showPassages(findingOf(all), {
          size,
          count: counter,
        })
        expect(tokens).toBe(counter(text))
        expect(tokens).toBeLessThanOrEqual(size)
        // What shows in the same words is not left out.
        expect(items + left.length).toBeLessThanOrEqual(all.length)
        const parts = all.flatMap((found) => textsOf(found.text.toLowerCase()))
        if (new Set(parts).size === parts.length) expect(items + left.length).toBe(all.length)
        expect(left.length > 0 || leftTokens === 0).toBe(true)
        const showing = all.filter(({ id }) => !left.includes(id))
        expect(trust === 'user').toBe(showing.every((found) => found.trust === 'user'))
        // A head stands at the beginning of a line, which no text does.
        for (const line of text.split(/[\n\u2028\u2029]/))
          expect(line).toMatch(/^(?: {2}|\d{4}-\d\d-\d\d$|- (?:#\d+ )?user \[(?:user|tool|web)\]: |$)/)
      }),
      runs(200),
    )
  })

  it('joins what stands side by side, and marks gaps and what is left out', async () => {
    const parts = ['rain', 'snow', 'hail', 'wind', 'fog'].map((word) => sentence(word, 50))
    const text = parts.join('\n\n')
    expect(await shown([foundOf(text, 3, { passages: [0, 1, 1, 0, 1] })])).toBe(
      `2026-05-03\n- #3 user [user]: … ${parts[1]}\n  ${parts[2]} … ${parts[4]}`,
    )
  })

  it('shows what contradicts each other, the newest first, and what is said again once', async () => {
    const all = [
      foundOf('The gate is A4.', 1),
      foundOf('The gate is B7.', 9),
      foundOf('the gate is b7', 5),
      foundOf('Who says so?', 2),
    ]
    expect(await shown(all)).toBe(
      '2026-05-09\n- user [user]: The gate is B7.\n2026-05-02\n- user [user]: Who says so?\n2026-05-01\n- user [user]: The gate is A4.',
    )
  })

  it.each([
    ['It was -5 degrees.', 'It was 5 degrees.'],
    ['She writes C++.', 'She writes C#.'],
    ['Refuse where x > 5', 'Refuse where x < 5'],
    ['👍', '👎'],
    ['Il parle de la pêche.', 'Il parle de la péché.'],
    ['The gate is B7.', 'The gate is B7?'],
    ['An area of 5 m²', 'An area of 5 m2'],
  ])('shows %s and %s, which are not the same', async (...texts) => {
    const text = await shown(texts.map((one, at) => foundOf(one, at + 1)))
    for (const one of texts) expect(text).toContain(`: ${one}`)
  })

  it('shows once what differs in case, in blanks and in how it ends', async () => {
    const all = ['The gate\n is B7', 'the gate is b7!', 'The  Gate is B7.']
    expect(await shown(all.map((text, at) => foundOf(text, at + 1)))).toBe(
      '2026-05-03\n- user [user]: The  Gate is B7.',
    )
  })

  it('shows of what was said again the newest, so that what holds is seen first', async () => {
    const [old, other, again] = [
      foundOf('The gate is A4.', 1),
      foundOf('The gate is B7.', 2),
      foundOf('The gate is A4.', 3),
    ]
    const lines = '2026-05-03\n- user [user]: The gate is A4.\n2026-05-02\n- user [user]: The gate is B7.'
    for (const all of [
      [old, other, again],
      [again, other, old],
    ])
      expect(await shown(all)).toBe(lines)
  })

  it('never shows in place of what somebody said the same words of somebody less trusted', async () => {
    const [said, copied] = [foundOf('The gate is A4.', 1), foundOf('The gate is A4.', 3, { trust: 'web' })]
    const lines = '2026-05-01\n- user [user]: The gate is A4.'
    for (const all of [
      [said, copied],
      [copied, said],
    ])
      expect(await shown(all)).toBe(lines)
  })

  it('shows all that differs once, at its highest trust and there the last, in whatever order it is found', async () => {
    const trusts = ['web', 'tool', 'assistant', 'user'] as const
    const one = fc.record({
      text: fc.constantFrom('It is -5.', 'It is 5.', 'it is  5', 'It is 5!', 'Is it 5?'),
      trust: fc.constantFrom(...trusts),
    })
    const evened = (text: string) => text.toLowerCase().replace('  ', ' ').replace(/[.!]$/, '')
    const place = ({ trust, ordinal = 0 }: Found) => 100 * trusts.indexOf(trust as 'web') + ordinal
    await fc.assert(
      fc.asyncProperty(fc.array(one, { maxLength: 20 }), fc.infiniteStream(fc.nat()), async (list, order) => {
        const all = list.map(({ text, trust }, at) => foundOf(text, at + 1, { trust }))
        const mixed = all
          .map((found) => [order.next().value as number, found] as const)
          .sort(([a], [b]) => a - b)
          .map(([, found]) => found)
        const { text, items, left } = await showPassages(findingOf(mixed), { size: 10_000, count })
        const best = all.filter((found) =>
          all.every((other) => evened(other.text) !== evened(found.text) || place(other) <= place(found)),
        )
        const lines = best
          .sort((a, b) => (b.ordinal ?? 0) - (a.ordinal ?? 0))
          .map(
            (found) =>
              `2026-05-${String(found.ordinal).padStart(2, '0')}\n- user [${found.trust}]: ${found.text}`,
          )
        expect(text).toBe(lines.join('\n'))
        expect({ items, left }).toEqual({ items: best.length, left: [] })
      }),
      runs(200),
    )
  })

  it('takes no more than its room for what was said again later, under a day of its own', async () => {
    const all = [foundOf('The gate is A4.', 1), foundOf('Is it raining?', 1), foundOf('The gate is A4.', 3)]
    const { tokens, items, left } = await showPassages(findingOf(all), { size: 72, count })
    expect(tokens).toBeLessThanOrEqual(72)
    expect(items + left.length).toBe(2)
  })

  it('counts nothing as without room that shows in the same words', async () => {
    const all = [1, 2, 3].map((day) => foundOf('The gate is A4.', day))
    const { items, left } = await showPassages(findingOf(all), { size: 10_000, count })
    expect({ items, left }).toEqual({ items: 1, left: [] })
  })

  it('keeps what was said one after the other in its order', async () => {
    const createdAt = Date.UTC(2026, 4, 1)
    const all = ['first', 'second', 'third'].map((text, at) =>
      foundOf(text, [1, 2, 7][at] as number, { createdAt }),
    )
    expect(await shown([...all].reverse())).toBe(
      '2026-05-01\n- user [user]: third\n- user [user]: first\n- user [user]: second',
    )
  })

  it('is the beginning of the best where no passage has room', async () => {
    const text = sentence('rain', 60)
    expect(await shown([foundOf(text, 1)], 60)).toMatch(/^2026-05-01\n- #1 user \[user\]: rain rain.* …$/)
  })

  it('finds a passage in the middle of a long message, and its number reads the rest', async () => {
    const memory = createMemory({
      store: mapStore(),
      budget: 8_000,
      window: { max: { messages: 2 } },
      use: [facts(), recall({ tokens: 200 })],
    })
    const session = memory.session({ userId: 'ada', sessionId: 'trip' })
    const filler = Array.from({ length: 400 }, (_, at) => sentence(`talk${at}`, 30))
    const text = [...filler.slice(0, 200), 'The locker opens with 4711.', ...filler.slice(200)].join('\n\n')
    await session.append([
      { role: 'user', content: 'Tell me all.' },
      { role: 'assistant', content: text },
    ])
    for (let at = 0; at < 4; at++) await session.append({ role: 'user', content: `And ${at}?` })
    const { blocks } = await session.context({ recall: 'the code of the locker' })
    const tail = JSON.stringify(blocks.at(-1))
    expect(tail).toMatch(/- #2 assistant \[assistant\]: … .*The locker opens with 4711\./)
    expect((await readSource(session, '#2', { length: 200_000 })).text).toContain(filler.at(-1))
  })
})
