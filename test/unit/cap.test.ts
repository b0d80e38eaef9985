import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { loadO200k } from '../../src/counters/o200k.ts'
import { identifiers } from '../../src/features/text/identifiers.ts'
import { capOutput } from '../../src/kernel/context/cap.ts'
import { charsPerToken } from '../../src/kernel/count.ts'
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
