/** T39: texts that want to be more than text; and that nothing leaves the page. */
import { afterEach, expect, test, vi } from 'vitest'
import '../../src/inspector/define.ts'
import type { PlimsollInspector } from '../../src/inspector/index.ts'

declare global {
  var attacked: number
}

const HOST = 'canary.invalid'
const attacks = [
  `<img src=x onerror="globalThis.attacked++">`,
  `<script>globalThis.attacked++</script>`,
  `<svg onload="globalThis.attacked++"><image href="https://${HOST}/a.png" /></svg>`,
  `"><iframe srcdoc="<script>parent.attacked++</script>"></iframe>`,
  `javascript:globalThis.attacked++`,
  `![x](https://${HOST}/b.png) [y](javascript:attacked++)`,
  `<style>@import url(https://${HOST}/c.css)</style><link rel=stylesheet href=https://${HOST}/d.css>`,
  `\${globalThis.attacked++} {{attacked++}} \u202Eedoc\u0000\u200b`,
  `<plimsoll-inspector></plimsoll-inspector><base href="https://${HOST}/">`,
]

const inspector = () => document.querySelector('plimsoll-inspector') as PlimsollInspector
afterEach(() => document.body.replaceChildren())

/** All that this page has asked a network for so far. */
const requested = () => performance.getEntriesByType('resource').map(({ name }) => name)

test('hostile texts stay texts, wherever they stand, and nothing is sent', async () => {
  globalThis.attacked = 0
  const send = [
    vi.spyOn(globalThis, 'fetch'),
    vi.spyOn(XMLHttpRequest.prototype, 'open'),
    vi.spyOn(navigator, 'sendBeacon'),
    vi.spyOn(globalThis, 'WebSocket'),
  ]
  document.body.append(document.createElement('plimsoll-inspector'))
  const before = requested()
  const lines = attacks.flatMap((attack, index) => [
    { role: 'user', content: attack.replaceAll('\u0000', '') },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        {
          id: `c${index}`,
          type: 'function',
          function: { name: attack, arguments: JSON.stringify({ [attack]: attack }) },
        },
      ],
    },
    { role: 'tool', tool_call_id: `c${index}`, content: attack },
    { role: 'assistant', content: attack },
  ])
  const conversation = {
    id: attacks[0],
    format: 'openai',
    messages: [{ role: 'system', content: attacks[1] }, ...lines],
  }
  const text = `${JSON.stringify(conversation)}\n${JSON.stringify({ ...conversation, id: attacks[3] })}\n${attacks[1]}\n{"${attacks[0]}"\n`
  inspector().budget = 700
  await inspector().open(new File([text], `${attacks[0]}.jsonl`))
  const root = inspector().shadowRoot as ShadowRoot
  await vi.waitFor(() => expect(root.querySelectorAll('.stretch').length).toBeGreaterThan(1))
  const range = root.querySelector<HTMLInputElement>('input[type=range]')
  if (!range) throw new Error('no scrubber')
  range.value = range.max
  range.dispatchEvent(new Event('input'))
  for (const tab of ['left', 'diff', 'request']) {
    root.querySelector<HTMLElement>(`#tab-${tab}`)?.click()
    await new Promise((resolve) => setTimeout(resolve, 100))
    const names = [...root.querySelectorAll('*')].map(({ localName }) => localName)
    for (const name of [
      'img',
      'script',
      'iframe',
      'image',
      'style',
      'link',
      'base',
      'a',
      'plimsoll-inspector',
    ])
      expect(names).not.toContain(name)
    const attributes = [...root.querySelectorAll('*')].flatMap((element) => element.getAttributeNames())
    expect(attributes.filter((name) => name.startsWith('on') || name === 'style')).toEqual([])
  }
  // They are there to be read, with nothing that hides or turns them.
  const said = root.querySelector('.frame')?.textContent ?? ''
  expect(said).toContain('onerror=')
  expect(said).not.toMatch(/[\u202a-\u202e\u200b]/)
  expect(globalThis.attacked).toBe(0)
  for (const spy of send) expect(spy).not.toHaveBeenCalled()
  expect(requested().filter((name) => !before.includes(name) && !name.startsWith(location.origin))).toEqual(
    [],
  )
  expect(requested().filter((name) => name.includes(HOST))).toEqual([])
  for (const spy of send) spy.mockRestore()
})

test('it works where a page allows no inline style, no script but its own, and no HTML from text', async () => {
  const told = new Promise<MessageEvent>((resolve) => addEventListener('message', resolve, { once: true }))
  const frame = document.createElement('iframe')
  frame.src = new URL('./inspector-strict.html', import.meta.url).href
  document.body.append(frame)
  const { violations, stretches } = (await told).data
  expect(violations).toEqual([])
  expect(stretches).toBeGreaterThan(1)
})
