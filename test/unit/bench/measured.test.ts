import { describe, expect, test } from 'vitest'
import { drawBars } from '../../../bench/picture/bars.ts'
import { drawLines } from '../../../bench/picture/lines.ts'
import { withRun } from '../../../bench/picture/page.ts'

const PAGE =
  '# B\n\nby hand\n\n<!-- measured: written by `npm run bench -- all` -->\n\nold\n<!-- /measured -->\nmore\n'
const run = { date: '2026-11-27', isQuick: true, load: 0.2, cores: 2 }
const suite = { name: 'size', about: 'what a browser downloads', seconds: 30 }

describe('the page of benchmarks', () => {
  test('keeps what is written by hand, and has the newest run alone', () => {
    const plots = [{ file: 'plots/size.svg', title: 'Sizes' }]
    const page = withRun(PAGE, { ...run, suites: [{ ...suite, text: 'core  30\n', plots }] })
    expect(page).toMatch(/^# B\n\nby hand\n/)
    expect(page).toMatch(/<!-- \/measured -->\nmore\n$/)
    expect(page).not.toContain('old')
    expect(page).toContain('`npm run bench -- all --quick`, 2026-11-27, 0.5 minutes.\n')
    expect(page).toContain('![Sizes](plots/size.svg)\n\n```text\ncore  30\n```\n')
    expect(withRun(page, { ...run, suites: [] })).not.toContain('core')
  })

  test('says what was not measured, and that the machine was busy', () => {
    const page = withRun(PAGE, { ...run, load: 9, suites: [{ ...suite, missing: 'cut off at 150 s' }] })
    expect(page).toContain('Not measured: cut off at 150 s.')
    expect(page).toContain('The machine was busy (9.0 processes for 2 cores')
  })

  test('is refused without a place for the run', () => {
    expect(() => withRun('# B\n', { ...run, suites: [] })).toThrow('has no <!-- measured')
    expect(() => withRun(PAGE.replace('<!-- /measured -->', ''), { ...run, suites: [] })).toThrow('has no')
  })
})

describe('bars', () => {
  const bars = [
    { name: 'ours <b>', value: 10, isOurs: true },
    { name: 'theirs', value: 40, isOurs: false },
  ]

  test('are as long as what they stand for, with names that stay text', () => {
    const svg = drawBars({ title: 'Sizes', unit: 'KiB', bars })
    const [ours = 0, theirs = 0] = [...svg.matchAll(/class="s\d" x="380" y="\d+" width="([\d.]+)"/g)].map(
      ([, width]) => Number(width),
    )
    expect(theirs / ours).toBeCloseTo(4, 1)
    expect(svg).toContain('40 KiB')
    expect(svg).not.toContain('<b>')
    expect(drawBars({ title: 'Sizes', unit: 'KiB', bars })).toBe(svg)
  })
})

describe('lines', () => {
  test('rise by one power of ten for ten times as much, on both axes', () => {
    const points = [10, 100, 1_000].map((x) => ({ x, y: x * 2 }))
    const svg = drawLines({ title: 'T', xUnit: 'x', yUnit: 'y', series: [{ name: 'ours', points }] })
    const [, data = ''] = /class="s0"><path d="([^"]+)"/.exec(svg) ?? []
    const numbers = (data.match(/-?\d*\.?\d+/g) ?? []).map(Number)
    const [, , run1 = 0, rise1 = 0, run2 = 0, rise2 = 0] = numbers
    expect(run1).toBeCloseTo(run2, 0)
    expect(rise1).toBeCloseTo(rise2, 0)
    expect(run1).toBeGreaterThan(0)
    expect(rise1).toBeLessThan(0)
  })
})
