import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { loadO200k } from '../../src/counters/o200k.ts'
import { charsPerToken } from '../../src/counters/simple.ts'
import { identifiers } from '../../src/features/text/identifiers.ts'
import { capOutput } from '../../src/text/cap.ts'
import { hashText } from '../../src/text/hash.ts'
import { texts } from './support/histories.ts'
import { runs } from './support/runs.ts'

const { count } = await loadO200k()
const lines = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, line) => `line ${from + line} of the log says nothing new`).join('\n')

describe('a capped output', () => {
  it('is the output itself where that fits', () => {
    expect(capOutput('short', 10, count, '#1')).toBe('short')
  })

  it('shows head and tail, its size, where the rest is, and the names that are only in the cut part', () => {
    const text = `first words\n${lines(0, 300)}\nsrc/core/plan.ts calls cutBack_42\n${lines(300, 600)}\nlast words`
    const shown = capOutput(text, 300, count, '#17')
    expect(shown.startsWith('first words')).toBe(true)
    expect(shown.endsWith('last words')).toBe(true)
    expect(shown).toContain(`[cut from ${count(text)} tokens, see #17]`)
    expect(shown).toContain('src/core/plan.ts')
    expect(shown).toContain('cutBack_42')
  })

  it('keeps the shape of JSON', () => {
    const value = { rows: Array.from({ length: 500 }, (_, id) => ({ id, note: 'n'.repeat(80) })), total: 500 }
    const shown = capOutput(JSON.stringify(value, null, 2), 300, count, '#2')
    const shape = JSON.parse(shown.split('\n')[0] ?? '') as { rows: unknown[]; total: number }
    expect(shape.total).toBe(500)
    expect(shape.rows[0]).toMatchObject({ id: 0 })
    expect(shape.rows.at(-1)).toMatchObject({ id: 499 })
    expect(shape.rows.some((row) => typeof row === 'string' && row.includes('more'))).toBe(true)
  })

  it('is cut to a marker of at most 45 tokens, where there is no room for more', () => {
    const shown = capOutput('word '.repeat(2_000_000 / 5), 0, charsPerToken(4).count, '#123456.12')
    expect(shown).toBe('[cut from 500000 tokens, see #123456.12]')
    expect(new TextEncoder().encode(shown).length).toBeLessThanOrEqual(45)
  })

  it('never holds more than it may, never grows, is well-formed, and is the same every time', () => {
    const longer = fc.oneof(
      fc.array(texts, { minLength: 5, maxLength: 60 }).map((list) => list.join('\n')),
      fc.json({ maxDepth: 4 }).map((json) => json.repeat(1)),
    )
    fc.assert(
      fc.property(longer, fc.integer({ min: 0, max: 400 }), (text, max) => {
        const shown = capOutput(text, max, count, '#1')
        const marker = count(`[cut from ${count(text)} tokens, see #1]`)
        expect(count(shown)).toBeLessThanOrEqual(Math.max(max, marker))
        expect(count(shown)).toBeLessThanOrEqual(Math.max(count(text), 0))
        expect(/\p{Surrogate}/u.test(shown)).toBe(false)
        expect(capOutput(text, max, count, '#1')).toBe(shown)
      }),
      runs(300),
    )
  })

  it('is, for JSON, the widest of seven shapes that fits: longest strings and lists first', () => {
    const words = (length: number): string => 'word '.repeat(length / 5)
    const value = {
      list: Array.from({ length: 50 }, (_, id) => id),
      text: words(4_000),
      none: null,
      deep: [words(100)],
    }
    const shapes = [2_000, 800, 400, 200, 120, 60, 24].map((characters, index) => {
      const { text } = value
      const half = characters / 2
      const items = [40, 20, 12, 8, 5, 3, 2][index] as number
      const tail = Math.floor(items / 2)
      const shorter = (all: string, most: number): string =>
        all.length > most ? `${all.slice(0, half)}…${all.slice(-half)}` : all
      return JSON.stringify({
        list: [
          ...value.list.slice(0, items - tail),
          `… ${50 - items} more …`,
          ...value.list.slice(50 - tail),
        ],
        text: shorter(text, characters),
        none: null,
        deep: [shorter(value.deep[0] as string, characters)],
      })
    })
    const length = (text: string): number => text.length
    const whole = JSON.stringify(value)
    for (const [index, shape] of shapes.entries()) {
      // Beside the shape stand its marker, and room for names, of which this text has none.
      const note = `[cut from ${whole.length} tokens, see #2]`
      const room = [shape.length, shape.length - 1].map((most) => {
        let max = most
        while (max - note.length - 2 - Math.floor((max - note.length - 2) * 0.3) < most) max++
        return max
      })
      expect(capOutput(whole, room[0] as number, length, '#2')).toBe(`${shape}\n${note}`)
      const narrower = shapes[index + 1]
      if (narrower !== undefined)
        expect(capOutput(whole, room[1] as number, length, '#2')).toBe(`${narrower}\n${note}`)
    }
  })

  it('has a list whole that is just as long as its shape allows', () => {
    const list = Array.from({ length: 40 }, (_, id) => `${id} ${'n'.repeat(60)}`)
    const text = JSON.stringify({ list, text: 'word '.repeat(2_000) })
    const shown = capOutput(text, 8_000, (all) => all.length, '#2')
    expect((JSON.parse(shown.split('\n')[0] ?? '') as { list: unknown }).list).toEqual(list)
  })

  it('is what it always was: what contexts hold must not change without a new version of how they are shown', () => {
    const table = Array.from({ length: 60 }, (_, id) => ({
      id,
      at: `src/part-${id % 7}/file_${id}.ts`,
      note: 'n'.repeat(id * 9),
    }))
    const outputs = [
      lines(0, 400),
      lines(0, 40).replaceAll('log', 'src/core/plan.ts'),
      `${lines(0, 90)}\n${[1, 2, 2, 3, 3, 3].map((id) => `see order_${id}4711 in https://example.org/${id}`).join('\n')}\n${lines(90, 200)}`,
      'word '.repeat(3_000),
      'ünïcödé 👩‍🚀 '.repeat(400),
      JSON.stringify(table),
      ` \n${JSON.stringify({ rows: table, total: 60, none: null, deep: { list: [[1, 2, 3, 4, 5, 6, 7, 8, 9]] } }, null, 2)}`,
      `${JSON.stringify(table)} and more`,
      JSON.stringify(lines(0, 200)),
      JSON.stringify(Object.fromEntries(table.map(({ at, id }) => [at, id]))),
      JSON.stringify(['x'.repeat(5_000)]),
      'short',
      'a text that is about as long as what would stand in its place',
    ]
    const limits = [
      0, 1, 10, 14, 15, 16, 17, 18, 19, 20, 21, 22, 24, 30, 60, 120, 134, 135, 136, 137, 138, 139, 140, 141,
      142, 150, 300, 700, 1_500, 3_000,
    ]
    const shown = (count: (text: string) => number): string =>
      hashText(JSON.stringify(outputs.map((text) => limits.map((max) => capOutput(text, max, count, '#17')))))
    expect([count, charsPerToken(4).count, (text: string) => text.length].map(shown)).toEqual([
      '79f5e9a5d07dc4b661f50bdd2772a9d9ce76ceab119efaccc4f68544beca6904',
      '5763b82edc1e877a281e17c236ad5094ad5cbfc3c0a1c5a9535f245b9b4a2ece',
      'b37d66883af8142b3dd7ce86aa3806fbe6260595ca59f24e7b87c83a70240742',
    ])
  })

  it('is found in little time for a text without any break', () => {
    expect(count(capOutput('a'.repeat(2 ** 20), 500, count, '#1'))).toBeLessThanOrEqual(500)
  })
})

describe('identifiers', () => {
  it('are addresses, paths, ids, names of programs and long numbers, and no plain words', () => {
    const text =
      'See https://example.org/a/b?c=1, edit src/core/plan.ts: cutBack and MAX_ROWS (order 48213, id ab12cd). Plain words stay out.'
    expect(identifiers(text)).toEqual([
      'https://example.org/a/b?c=1',
      'src/core/plan.ts',
      'cutBack',
      'MAX_ROWS',
      '48213',
      'ab12cd',
    ])
  })

  it('are found in linear time', () => {
    for (const unit of ['-', 'a', '/', 'a/', '.', 'a_'])
      expect(identifiers(unit.repeat(2 ** 20)).length).toBeLessThanOrEqual(1)
  })
})
