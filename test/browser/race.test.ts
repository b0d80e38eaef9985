/** The race of the first screen, by hand. */
import { afterEach, expect, it } from 'vitest'
import { page } from 'vitest/browser'
import '../../web/page.css'
import { raceView } from '../../web/race/race.ts'
import { raceWords } from '../../web/race/words.ts'
import { canForceColours, forceColours } from './support/forced-colours.ts'

afterEach(async () => {
  document.body.replaceChildren()
  document.documentElement.dir = 'ltr'
  await page.viewport(414, 896)
  await forceColours(false)
})

const frame = (): Promise<unknown> => new Promise(requestAnimationFrame)

const box = (element: Element | null): DOMRect => {
  if (!element) throw new Error('It is not there')
  return element.getBoundingClientRect()
}

it.each([
  ['en', 'ltr', 1_280],
  ['en', 'ltr', 360],
  ['ar', 'rtl', 360],
] as const)(
  'its slider stays where it is while it is dragged, under the place that shows: %s, %s, %i',
  async (language, direction, width) => {
    await page.viewport(width, 800)
    document.documentElement.dir = direction
    const race = raceView(language, language)
    const first = document.createElement('div')
    first.className = 'first'
    first.append(race)
    document.body.append(first)
    await frame()
    const slider = race.querySelector<HTMLInputElement>('input[type=range]')
    if (!slider) throw new Error('There is no slider')
    const stood = box(slider)
    for (const share of [0, 0.05, 0.5, 0.99, 1]) {
      slider.value = String(Math.round(Number(slider.max) * share))
      slider.dispatchEvent(new Event('input'))
      await frame()
      const { left, width: long } = box(slider)
      expect([left, long]).toEqual([stood.left, stood.width])
      // A thumb stays within its slider: its middle is half of it from the ends.
      const thumb = long - box(race.querySelector('svg')).width
      const along = (Number(slider.value) / Number(slider.max)) * (long - thumb)
      const middle = direction === 'rtl' ? left + long - thumb / 2 - along : left + thumb / 2 + along
      const place = box(race.querySelector('.place'))
      expect(Math.abs(place.left + place.width / 2 - middle)).toBeLessThan(2)
    }
  },
)

it.skipIf(!canForceColours)(
  'its table keeps the colours that name the lines, where the page has few',
  async () => {
    await forceColours(true)
    const race = raceView('en', 'en')
    document.body.append(race)
    await frame()
    const colours = [...race.querySelectorAll('th i')].map((each) => getComputedStyle(each).backgroundColor)
    expect(new Set(colours).size).toBe(3)
  },
)

it.skipIf(!canForceColours)(
  'shows which of its buttons has opened something, where the page has few colours',
  async () => {
    await forceColours(true)
    const [closed, open] = ['false', 'true'].map((expanded) => {
      const button = document.createElement('button')
      button.ariaExpanded = expanded
      document.body.append(button)
      return getComputedStyle(button).borderColor
    })
    expect(open).not.toBe(closed)
  },
)

it.each(['en', 'de', 'fr', 'es', 'ar', 'ja'])('says that replies are in no bill, in %s', (language) => {
  const race = raceView(language, language)
  document.body.append(race)
  expect(race.querySelector('.race-note')?.textContent).toContain(raceWords(language).uncounted)
})

it('says of a call in which a message does not fit that it was refused, and counts it as no bill', async () => {
  const race = raceView('en', 'en')
  document.body.append(race)
  const drop = async (...said: readonly string[]) => {
    const messages = said.flatMap((content) => [
      { role: 'user', content },
      { role: 'assistant', content: 'Yes.' },
    ])
    const data = new DataTransfer()
    data.items.add(new File([`${JSON.stringify({ id: 'c', messages })}\n`], 'mine.jsonl'))
    race.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true }))
    await expect.poll(() => race.textContent).toContain(`mine.jsonl, ${messages.length} messages.`)
    return (name: string) => race.querySelector(`tr.${name}`)?.textContent?.replace(/\s+/g, ' ').trim()
  }
  const big = 'word '.repeat(30_000)
  const one = await drop(big)
  expect(one('plimsoll')).toBe('Plimsoll Refused –1 call refused: nothing was sent')
  expect(one('full')).toMatch(/^Send everything [\d,]+ \$0\.09.*1 call over the line$/)
  expect(one('optimum')).toContain('Refused')
  expect(race.textContent).toContain('A message that does not fit under the line is refused')
  expect(race.querySelector('h3')?.textContent).toBe('Your conversation, sent three ways')
  const more = await drop('Hello', big, 'And now?')
  expect(more('plimsoll')).toMatch(/^Plimsoll \d+ \$0\.0\d+ ?1 call refused: nothing was sent$/)
  expect(more('full')).toContain('2 calls over the line')
  // A line has no point where nothing was sent.
  expect(race.querySelector('path.plimsoll:not(.ahead)')?.getAttribute('d')?.match(/[ML]/g)).toEqual([
    'M',
    'M',
  ])
})
