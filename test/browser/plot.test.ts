import { expect, test } from 'vitest'
import { drawPlot } from '../../src/cli/plot.ts'
import type { Outcomes } from '../../src/replay/replay.ts'

const built = { tokens: 900, hit: 0, sections: [] }
const outcomes: Outcomes = {
  plimsoll: { ...built, cause: 'start' },
  full: { ...built, tokens: 9_000 },
  rounds: built,
  messages: built,
  tokens: { reason: 'ERR_BUDGET_TOO_SMALL' },
}
const conversation = `</title><script>alert('1')</script>&amp;\u0000\ud800`
const svg = drawPlot({
  settings: 'plimsoll',
  budget: 1_000,
  policy: 'plimsoll',
  conversations: [{ conversation, calls: [{ outcomes }, { outcomes }] }],
})

test('a browser reads the picture of a replay as XML, with any id as text', () => {
  const picture = new DOMParser().parseFromString(svg, 'image/svg+xml')
  expect(picture.querySelector('parsererror')).toBe(null)
  expect(picture.querySelector('script')).toBe(null)
  expect(picture.querySelector('title')?.textContent).toContain(
    `</title><script>alert('1')</script>&amp;\ufffd\ufffd`,
  )
})

test('a browser shows it as an image, with fewer words where it is small', async () => {
  const image = new Image()
  image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`
  await image.decode()
  expect([image.naturalWidth, image.naturalHeight]).toEqual([880, 640])

  const host = document.createElement('iframe')
  document.body.append(host)
  const inside = host.contentDocument as Document
  inside.body.innerHTML = svg
  const hint = inside.querySelector('.wide') as Element
  const shown = () => host.contentWindow?.getComputedStyle(hint).display
  host.width = '900'
  expect(shown()).toBe('inline')
  host.width = '400'
  expect(shown()).toBe('none')
  host.remove()
})
