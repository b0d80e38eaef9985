import { describe, expect, it } from 'vitest'
import { drawCard } from '../../../web/race/picture.ts'
import { wordsFor } from '../../../web/words.ts'

/** What a canvas was asked to draw. */
function drawn(calls: number) {
  const texts: string[] = []
  let points = 0
  const context = {
    beginPath: () => {},
    fillRect: () => {},
    setLineDash: () => {},
    stroke: () => {},
    moveTo: () => {},
    lineTo: () => points++,
    fillText: (text: string) => texts.push(text),
  } as unknown as CanvasRenderingContext2D
  const course = Array.from({ length: calls }, () => ({ tokens: 100, cost: 1 }))
  drawCard(context, {
    bills: { budget: 1_000, calls: { plimsoll: course, full: course, optimum: course } },
    title: 'One conversation',
    line: 'the line',
    rows: [],
    assumed: 'Tokens are estimates.',
    source: 'A recording.',
    direction: 'ltr',
  })
  return { texts, points }
}

describe('the share picture of a race', () => {
  it('says that its figures are estimates, and where they are from', () => {
    expect(drawn(3).texts).toEqual([
      'Plimsoll',
      'One conversation',
      'the line',
      'Tokens are estimates.',
      'A recording.',
    ])
  })

  it('has a level line for a single call', () => {
    expect(drawn(1).points).toBe(3 * 2)
    expect(drawn(3).points).toBe(3 * 3)
  })
})

it('numbers are written as the reader of a language writes them', () => {
  expect(wordsFor(['tlh', 'de-CH', 'en'])).toMatchObject({ language: 'de', locale: 'de-CH' })
  expect(wordsFor([])).toMatchObject({ language: 'en', locale: 'en' })
})
