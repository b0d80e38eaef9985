import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { pathData, runsOf, short, spread, ticks } from '../../../bench/picture/chart.ts'
import { drawPlot, type Plot } from '../../../bench/picture/plot.ts'
import type { EpochCause } from '../../../src/ports/op.ts'
import { RACERS, type Racer } from '../../../src/replay/race.ts'
import type { Outcome, Outcomes } from '../../../src/replay/replay.ts'
import { checkout } from '../support/recordings.ts'
import { runs } from '../support/runs.ts'
import { elementsOf, parseXml, textOf } from '../support/xml.ts'

const CAUSES = ['start', 'window', 'budget', 'head', 'late', 'rewind', 'forget', 'manual'] as const
const REFUSED: Outcome = { reason: 'ERR_BUDGET_TOO_SMALL', floor: 2_000 }

const built = (tokens: number, cause?: EpochCause): Outcome => ({
  tokens,
  hit: 0,
  sections: [],
  ...(cause && { cause }),
})

/** A call for which every policy has that many tokens, but for those that `others` name. */
function call(tokens: number, others: Partial<Outcomes<Racer>> = {}): { outcomes: Outcomes<Racer> } {
  const same = Object.fromEntries(RACERS.map((name) => [name, built(tokens)])) as unknown as Outcomes<Racer>
  return { outcomes: { ...same, ...others } }
}

/** The picture of a conversation with the line at 1 000 tokens. */
function draw(calls: Plot['calls'], more: Partial<Plot> = {}) {
  const settings = 'the line at 1,000 tokens, counted by chars/4'
  return read(drawPlot({ conversation: 'trip', settings, budget: 1_000, calls, ...more }))
}

/** What a reader sees in a picture. */
function read(svg: string) {
  const root = parseXml(svg)
  const elements = elementsOf(root)
  const styled = (style: string) => elements.filter(({ attributes }) => attributes.class === style)
  /** Data of the paths of that style, in the order in which they are drawn. */
  const paths = (style: string) =>
    styled(style).flatMap(({ name, attributes }) => (name === 'path' ? [attributes.d ?? ''] : []))
  const texts = elements.filter(({ name }) => name === 'text').map(textOf)
  const [, zero = 0] = marksOf(paths('grid')[0])[0] ?? []
  const [, line = 0] = marksOf(paths('line')[0])[0] ?? []
  const yOf = (tokens: number): number => zero - (tokens / 1_000) * (zero - line)
  const numbers = styled('muted middle').map((label) => [Number(label.attributes.x), Number(textOf(label))])
  const [[x0 = 0, first = 0] = [], [x1 = 0, second = 0] = []] = numbers
  const xOf = (index: number): number => x0 + ((index - first) / (second - first)) * (x1 - x0)
  return { root, elements, styled, paths, texts, xOf, yOf }
}

/** Where the marks of a path stand. */
function marksOf(data = ''): readonly (readonly [x: number, y: number])[] {
  return [...data.matchAll(/M(\S+) ([\d.]+)/g)].map(([, x, y]) => [Number(x), Number(y)])
}

/** The points of each line in the data of a path; a dot is one point. */
function linesOf(data = ''): readonly (readonly { x: number; y: number }[])[] {
  return data
    .replaceAll('h0', '')
    .split('M')
    .slice(1)
    .map((run) => {
      const numbers = (run.match(/-?\d*\.?\d+/g) ?? []).map(Number)
      let [x, y] = [0, 0]
      return Array.from({ length: numbers.length / 2 }, (_, index) => {
        x += numbers[2 * index] ?? 0
        y += numbers[2 * index + 1] ?? 0
        return { x, y }
      })
    })
}

describe('the picture', () => {
  test.each([
    '<a>',
    '<a/><b/>',
    '<a></b></a>',
    '<a b="1" b="2"/>',
    '<a b="<"/>',
    '<a b=1/>',
    '<a>&nbsp;</a>',
    '<a>&</a>',
    '<a>\u0001</a>',
    'a',
  ])('is read by a parser that refuses %j', (source) => expect(() => parseXml(source)).toThrow())

  test('is well-formed and stands alone: no script, no link, no id, nothing to load', () => {
    const { root, elements } = draw([call(500, { plimsoll: REFUSED }), call(9_000), call(400)])
    expect(root).toMatchObject({
      name: 'svg',
      attributes: { xmlns: 'http://www.w3.org/2000/svg', role: 'img' },
    })
    expect([...new Set(elements.map(({ name }) => name))].sort()).toEqual(
      ['desc', 'path', 'rect', 'style', 'svg', 'text', 'title', 'tspan'].sort(),
    )
    const attributes = new Set(elements.flatMap((element) => Object.keys(element.attributes)))
    for (const name of ['id', 'href', 'style', 'onload']) expect(attributes).not.toContain(name)
    const style = elements.find(({ name }) => name === 'style')
    expect(style && textOf(style)).not.toMatch(/url\(|@import|@font-face/)
  })

  test('keeps any id and any settings from breaking out of their text, and shows what they say', () => {
    const id = `<script>alert("1")</script>]]>&amp;'\u0000\ud800\u202e\ufffe`
    const shown = `<script>alert("1")</script>]]>&amp;'\ufffd\ufffd\ufffd\ufffd`
    const { elements, texts, styled } = draw([call(5)], { conversation: id, settings: '<b>&' })
    expect(elements.some(({ name }) => name === 'script' || name === 'b')).toBe(false)
    expect(elements[1] && textOf(elements[1])).toBe(`${shown}, 1 model calls: <b>&`)
    expect(styled('title').map(textOf)).toEqual([
      expect.stringContaining('<script>alert("1")</script>]]>&amp;'),
    ])
    expect(texts).toContain('<b>&')
  })

  test('shows the end of a long id, which tells more than its beginning, and has all of it in words', () => {
    const conversation = `${'folder/'.repeat(20)}talk.jsonl`
    const { texts, elements } = draw([call(5)], { conversation })
    expect(texts[0]).toMatch(/^….{32}\/talk\.jsonl, 1 model calls$/)
    expect(elements[1] && textOf(elements[1])).toContain(conversation)
  })

  test('names the conversation, the calls and the settings, in words too', () => {
    const { texts, elements } = draw([
      call(500, { full: built(1_001) }),
      call(10, { plimsoll: built(700, 'window') }),
    ])
    expect(texts.slice(0, 2)).toEqual(['trip, 2 model calls', 'the line at 1,000 tokens, counted by chars/4'])
    const described = elements.find(({ name }) => name === 'desc')
    const words = described ? textOf(described) : ''
    expect(words).toContain('the line at 1,000')
    expect(words).toContain(
      'plimsoll: at most 700 tokens, calls over the line: 0, refused: 0, cost: 1,500, epochs by window: 1.',
    )
    expect(words).toContain('full: at most 1,001 tokens, calls over the line: 1')
  })

  test('paints its own page, has colours for light and dark, and fewer and larger words where it is small', () => {
    const { elements, styled } = draw([call(5)])
    expect(styled('page').map(({ attributes }) => [attributes.width, attributes.height])).toEqual([
      ['880', '640'],
    ])
    const style = elements.find(({ name }) => name === 'style')
    const [always = '', dark = '', small = ''] = (style ? textOf(style) : '').split('@media')
    for (const name of RACERS) {
      const colour = new RegExp(`\\.${name}\\{color:(#\\w{6})\\}`)
      expect(colour.exec(dark)?.[1]).not.toBe(colour.exec(always)?.[1])
    }
    expect(dark).toContain('(prefers-color-scheme:dark)')
    expect(small).toMatch(/^\(max-width:600px\).*\.wide\{display:none\}/)
  })

  test('has the same bytes for the same calls', () => {
    const calls = [call(300), call(300, { plimsoll: REFUSED })]
    const plot = { conversation: 'trip', settings: '', budget: 1_000, calls }
    expect(drawPlot(plot)).toBe(drawPlot(plot))
  })

  test('of the benchmarks has the style that is drawn now, and its line', () => {
    const styleOf = ({ elements }: ReturnType<typeof read>) =>
      elements.flatMap((element) => (element.name === 'style' ? [textOf(element)] : []))
    const shown = read(checkout('docs/coding-session.svg'))
    expect(styleOf(shown)).toEqual(styleOf(draw([call(5)])))
    expect(shown.texts).toContain('the line16,000')
  })
})

describe('tokens', () => {
  test('are drawn call by call against round numbers, the line at its height and with its number', () => {
    const { paths, texts, xOf, yOf, styled } = draw([call(250), call(1_200), call(0)])
    const [, points] = paths('front plimsoll').map((data) => linesOf(data)[0] ?? [])
    const wanted = [250, 1_200, 0].map((tokens, index) => ({ x: xOf(index), y: yOf(tokens) }))
    for (const [index, { x, y }] of wanted.entries()) {
      expect(points?.[index]?.x).toBeCloseTo(x, 0)
      expect(points?.[index]?.y).toBeCloseTo(y, 0)
    }
    expect(points).toHaveLength(3)
    expect(texts).toContain('the line1,000')
    const labels = styled('muted end').map(textOf)
    expect(labels.slice(0, 3)).toEqual(['0', '500', '1k'])
    expect(texts).toContain('tokens a call')
  })

  test('of Plimsoll are in front, those of the others behind it, and the legend shows which is which', () => {
    const { paths, texts } = draw([call(250), call(1_200)])
    // A sample in the legend, the tokens, the cost.
    for (const name of RACERS)
      expect(paths(`${name === 'plimsoll' ? 'front' : 'behind'} ${name}`)).toHaveLength(3)
    expect(paths('area plimsoll')).toHaveLength(1)
    for (const name of RACERS) expect(texts.some((words) => words.startsWith(`${name} `))).toBe(true)
  })

  test('that are far above the line leave the picture at an arrow that says how high they get', () => {
    const tokens = [100, 900, 2_900, 90_000, 5_000, 900, 1_200, 3_000]
    const calls = tokens.map((many) => call(500, { full: built(many), messages: built(many) }))
    const { paths, texts, xOf, yOf } = draw(calls)
    const arrows = marksOf(paths('exit full')[0])
    // It is cut off at 2 250: between the calls 1 and 2, and between 6 and 7.
    expect(arrows.map(([x]) => x)).toEqual([
      expect.closeTo(xOf(1 + 1_350 / 2_000), 0),
      expect.closeTo(xOf(6 + 1_050 / 1_800), 0),
    ])
    for (const [, y] of arrows) expect(y).toBeCloseTo(yOf(2_250), 0)
    expect(texts).toEqual(
      expect.arrayContaining([
        'full, messages 90k',
        'tokens a call; ▲ a line leaves the picture, with its peak',
      ]),
    )
    expect(paths('exit messages')).toEqual([])
    // The lines go on to the next point outside, and no further.
    expect(linesOf(paths('behind full')[1]).map((line) => line.length)).toEqual([3, 4])
  })

  test('that begin above the picture have their arrow at the first call', () => {
    const { paths, xOf } = draw([
      call(500, { full: built(8_000) }),
      call(500, { full: built(9_000) }),
      call(1),
    ])
    expect(marksOf(paths('exit full')[0]).map(([x]) => x)).toEqual([expect.closeTo(xOf(0), 0)])
  })

  test('leave labels out where there is no room for them, those of lower peaks first, and keep them in the picture', () => {
    const calls = Array.from({ length: 200 }, (_, index) =>
      call(index === 199 ? 9_999_999 : 1, {
        full: built(index % 2 ? 10 : 3_000 + index),
        plimsoll: built(5),
      }),
    )
    const { styled, paths } = draw(calls)
    const labels = styled('full').filter((label) => label.name === 'text' && textOf(label) !== 'full 0')
    expect(marksOf(paths('exit full')[0])).toHaveLength(100)
    const [top] = styled('messages').filter((label) => textOf(label) === 'messages, tokens 10M')
    expect(Number(top?.attributes.x)).toBeLessThan(880 - 20 * 7)
    const places = labels.map((label) => Number(label.attributes.x)).sort((one, other) => one - other)
    expect(places.length).toBeGreaterThan(3)
    for (const [index, x] of places.slice(1).entries()) expect(x - (places[index] ?? 0)).toBeGreaterThan(50)
  })

  test('with nothing above the line leave a little room above it', () => {
    const { yOf, styled } = draw([call(100), call(200)])
    const [over] = styled('over')
    expect(Number(over?.attributes.y)).toBeCloseTo(yOf(1_250), 0)
  })
})

describe('marks', () => {
  test('show each epoch of the policy in front at its call, in a shape for its cause that the legend explains', () => {
    const calls = CAUSES.flatMap((cause, index) => [
      call(1, { plimsoll: built(100 + 50 * index, cause) }),
      call(900),
    ])
    const { paths, texts, xOf, yOf } = draw(calls)
    const marks = paths('epoch plimsoll')
    const [inLegend, inPanel] = [marks.slice(0, 8), marks.slice(8)]
    const shape = (data: string) => data.replace(/^M\S+ [\d.]+/, '')
    expect(new Set(inPanel.map(shape)).size).toBe(8)
    expect(inLegend.map(shape)).toEqual(inPanel.map(shape))
    for (const [index, data] of inPanel.entries()) {
      expect(marksOf(data)).toEqual([
        [expect.closeTo(xOf(2 * index), 0), expect.closeTo(yOf(100 + 50 * index), 0)],
      ])
    }
    for (const cause of CAUSES) expect(texts).toContain(`${cause} (1)`)
  })

  test('show each refused call on the line, part what is before from what is after it, and cost nothing', () => {
    const calls = [
      call(300),
      call(300),
      call(300, { plimsoll: REFUSED }),
      call(300),
      call(300, { plimsoll: REFUSED }),
    ]
    const { paths, texts, xOf, yOf } = draw(calls)
    const [inLegend, inPanel] = paths('refused')
    expect(inLegend).toBeDefined()
    expect(marksOf(inPanel)).toEqual(
      [2, 4].map((index) => [expect.closeTo(xOf(index), 0), expect.closeTo(yOf(1_000), 0)]),
    )
    expect(texts).toContain('refused (2)')
    const [, tokens, cost] = paths('front plimsoll').map(linesOf)
    expect(tokens?.map((line) => line.length)).toEqual([2, 1])
    expect(cost?.[0]?.[2]?.y).toBe(cost?.[0]?.[1]?.y)
    expect(texts).toEqual(expect.arrayContaining(['plimsoll 1.13k', 'full 1.88k']))
  })
})

describe('cost', () => {
  test('adds up over all calls at the prices of the figures, and ends at a name for each policy', () => {
    const half = { ...built(1_000), hit: 500 } as Outcome
    const { texts, paths } = draw([call(1_000), call(1_000, { tokens: half }), call(0)])
    const ends = texts.filter((words) => /^\w+ [\d.]+k$/.test(words))
    expect(ends.sort()).toEqual(['full 2.5k', 'messages 2.5k', 'plimsoll 2.5k', 'tokens 1.93k'])
    const heights = (name: string) => linesOf(paths(name)[2])[0]?.map(({ y }) => y) ?? []
    const [first = 0, second = 0, third = 0] = heights('front plimsoll')
    expect(first).toBeGreaterThan(second)
    expect(second).toBe(third)
    expect(heights('behind tokens')[0]).toBe(first)
    expect(heights('behind tokens')[1]).toBeGreaterThan(second)
  })

  test('has its names apart from each other, in the order of the lines, also where lines end together', () => {
    const { elements } = draw([call(1_000, { full: built(1_001), tokens: built(5) })])
    const places = ['full', 'messages', 'bold plimsoll', 'tokens'].map((style) => {
      const [label] = elements.filter(({ name, attributes }) => name === 'text' && attributes.class === style)
      return Number(label?.attributes.y)
    })
    for (const [index, y] of places.slice(1).entries()) expect(y - (places[index] ?? 0)).toBeGreaterThan(19)
    expect(places.at(-1)).toBeLessThan(590)
  })
})

describe('many calls', () => {
  test('are thinned to their extremes, whatever they are', () => {
    const value = fc.option(fc.nat(9), { nil: undefined, freq: 4 })
    fc.assert(
      fc.property(fc.array(value, { maxLength: 200 }), fc.integer({ min: 2, max: 60 }), (values, most) => {
        const runs = runsOf(values, most)
        const points = runs.flat()
        const there = values.filter((one) => one !== undefined)
        if (values.length <= most) expect(points.length).toBe(there.length)
        expect(points.length).toBeLessThanOrEqual(most + 2)
        for (const { x, y } of points) expect(values[x]).toBe(y)
        const indices = points.map(({ x }) => x)
        expect(indices).toEqual([...new Set(indices)].sort((one, other) => one - other))
        if (there.length > 0) {
          const heights = points.map(({ y }) => y)
          expect([Math.min(...heights), Math.max(...heights)]).toEqual([
            Math.min(...there),
            Math.max(...there),
          ])
        }
        // A gap is where nothing was built between two points, and only there.
        for (const [index, one] of runs.entries()) {
          const next = runs[index + 1]?.[0]
          const last = one.at(-1)
          if (next && last)
            expect(values.slice(last.x + 1, next.x).some((there) => there !== undefined)).toBe(false)
          for (const [place, { x }] of one.slice(1).entries()) {
            const between = values.slice((one[place]?.x ?? 0) + 1, x)
            expect(between.length > 0 && between.every((there) => there === undefined)).toBe(false)
          }
        }
      }),
      runs(100),
    )
  })
})

describe('scales and paths', () => {
  test('ticks are multiples of 1, 2 or 5 times a power of ten, and whole', () => {
    expect(ticks(36_000, 5)).toEqual([0, 10_000, 20_000, 30_000])
    expect(ticks(9_400_000, 5)).toEqual([0, 2e6, 4e6, 6e6, 8e6])
    expect(ticks(217, 8)).toEqual([0, 50, 100, 150, 200])
    expect(ticks(2.25, 5)).toEqual([0, 1, 2])
    expect(ticks(0, 5)).toEqual([0])
  })

  test('numbers are short', () => {
    expect([0, 950, 999.6, 1_500, 15_995, 169_204, 999_950, 8_987_654].map(short)).toEqual([
      '0',
      '950',
      '1k',
      '1.5k',
      '16k',
      '169k',
      '1M',
      '8.99M',
    ])
  })

  test('labels are moved apart as little as possible and stay above the bottom', () => {
    expect(spread([10, 50], 20, 100)).toEqual([10, 50])
    expect(spread([50, 45, 10], 20, 100)).toEqual([65, 45, 10])
    expect(spread([100, 100, 95], 20, 100)).toEqual([80, 100, 60])
  })

  test('path data are relative, to a tenth, and gather no error', () => {
    const points = Array.from({ length: 100 }, (_, index) => ({ x: index / 3, y: 10 - index / 7 }))
    const last = linesOf(pathData([points]))[0]?.at(-1)
    expect(last?.x).toBeCloseTo(33, 1)
    expect(last?.y).toBeCloseTo(10 - 99 / 7, 1)
    expect(
      pathData([
        [
          { x: 1, y: 2 },
          { x: 1.5, y: 1.25 },
        ],
        [{ x: 10.5, y: 20 }],
      ]),
    ).toBe('M1 2l.5-.7M10.5 20h0')
  })
})
