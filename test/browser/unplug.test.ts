/** The two windows and their plug, before a service of which each answer is set by the test. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { unplugView } from '../../web/unplug/view.ts'
import { type UnplugWords, unplugWords } from '../../web/unplug/words.ts'
import { canForceColours, forceColours } from './support/forced-colours.ts'

let asked: string[] = []
let isThere = true

beforeEach(() => {
  asked = []
  isThere = true
  vi.stubGlobal('fetch', async (input: string | URL, { method = 'GET' }: RequestInit = {}) => {
    const line = `${method} ${new URL(input, location.href).pathname}`
    asked.push(line)
    if (line === 'POST /v1/guests')
      return Response.json({ token: 'of-a-guest', userId: 'guest', expiresAt: 0 })
    if (line.startsWith('POST /v1/sessions')) return Response.json({ sessionId: 'one' })
    if (line === 'DELETE /v1/me' && isThere) return Response.json({})
    // Final for a client, so that nobody waits for another attempt.
    return Response.json({ error: { code: 'ERR_FORBIDDEN', message: 'Not now' } }, { status: 403 })
  })
})

afterEach(() => {
  document.body.replaceChildren()
  document.documentElement.dir = ''
  vi.unstubAllGlobals()
})

interface Desk {
  readonly root: HTMLElement
  readonly words: UnplugWords
  button(name: string): HTMLButtonElement | undefined
  windows(): HTMLElement[]
  plug(): HTMLInputElement | null
}

function show(language: string): Desk {
  const root = unplugView(language, language)
  document.body.append(root)
  return {
    root,
    words: unplugWords(language),
    button: (name) => [...root.querySelectorAll('button')].find(({ textContent }) => textContent === name),
    windows: () => [...root.querySelectorAll<HTMLElement>('.window')],
    plug: () => root.querySelector('input[type=range]'),
  }
}

async function begin(language: string): Promise<Desk> {
  const desk = show(language)
  desk.button(desk.words.begin)?.focus()
  await userEvent.keyboard('{Enter}')
  await expect.poll(() => desk.plug()).not.toBeNull()
  return desk
}

for (const [language, direction] of [
  ['en', 'ltr'],
  ['ar', 'rtl'],
] as const)
  it(`cuts off the window that the plug leaves, where one writes ${direction}`, async () => {
    // Side by side.
    await page.viewport(1_000, 800)
    document.documentElement.dir = direction
    const { plug, windows, words } = await begin(language)
    /** What the windows look like, from the left. */
    const seen = (): boolean[] =>
      windows()
        .toSorted((one, other) => one.getBoundingClientRect().x - other.getBoundingClientRect().x)
        .map((each) => each.classList.contains('out'))
    plug()?.focus()
    await userEvent.keyboard('{ArrowLeft}')
    await expect.poll(seen).toEqual([false, true])
    await userEvent.keyboard('{ArrowRight}{ArrowRight}')
    await expect.poll(seen).toEqual([true, false])
    const cut = words.names[direction === 'ltr' ? 0 : 1]
    expect(plug()?.getAttribute('aria-valuetext')).toBe(words.out(cut))
  })

it('keeps the windows where erasing fails, says so, and erases when it is asked again', async () => {
  const { button, plug, root, windows, words } = await begin('en')
  isThere = false
  button(words.erase)?.click()
  // What a window sent meanwhile would be kept again.
  expect(plug()?.disabled).toBe(true)
  await expect.poll(() => root.querySelector('[role=alert]')?.textContent).toContain(words.notErased)
  expect(windows().map((each) => each.classList.contains('out'))).toEqual([false, false])
  await expect.poll(() => plug()?.disabled).toBe(false)
  expect(button(words.begin)).toBeUndefined()
  isThere = true
  button(words.erase)?.click()
  await expect.poll(() => root.textContent).toContain(words.erased)
  expect(root.querySelector('[role=alert]')).toBeNull()
  expect(windows()).toEqual([])
  expect(asked.filter((line) => line === 'DELETE /v1/me')).toHaveLength(2)
  expect(asked.filter((line) => line === 'POST /v1/guests')).toHaveLength(1)
})

it('keeps the focus of somebody who uses the keyboard', async () => {
  const { button, plug, words } = await begin('en')
  await expect.poll(() => document.activeElement).toBe(plug())
  isThere = false
  button(words.erase)?.focus()
  await userEvent.keyboard('{Enter}')
  await expect.poll(() => asked).toContain('DELETE /v1/me')
  await expect.poll(() => document.activeElement).toBe(button(words.erase))
  isThere = true
  await userEvent.keyboard('{Enter}')
  await expect.poll(() => button(words.begin)).toBeDefined()
  await expect.poll(() => document.activeElement).toBe(button(words.begin))
})

it('says in a window that is cut off when it is answered', async () => {
  const { plug, windows } = await begin('en')
  plug()?.focus()
  await userEvent.keyboard('{ArrowLeft}')
  await expect.poll(() => windows()[1]?.textContent).toContain('answered once it is plugged in')
  expect(windows()[0]?.textContent).not.toContain('answered once')
})

it('names each position of the plug, and shows both hashes beside it, on a phone', async () => {
  await page.viewport(360, 740)
  const { plug, root, words } = await begin('en')
  const [laptop, phone] = words.names
  const wire = plug()?.parentElement
  const positions = [...(wire?.querySelectorAll<HTMLElement>('.positions span') ?? [])]
  expect(positions.every((each) => each.checkVisibility())).toBe(true)
  expect(positions.map(({ textContent }) => textContent)).toEqual([
    words.out(phone),
    words.bothIn,
    words.out(laptop),
  ])
  plug()?.focus()
  await userEvent.keyboard('{ArrowRight}')
  await expect.poll(() => wire?.querySelector('.here')?.textContent).toBe(words.out(laptop))
  expect(plug()?.getAttribute('aria-valuetext')).toBe(words.out(laptop))
  expect(wire?.querySelectorAll('.hash')).toHaveLength(2)
  expect(wire?.textContent).toContain(words.empty)
  expect(root.querySelectorAll('.hash')).toHaveLength(2)
})

it('keeps the field in sight in which somebody writes, as the messages above it grow', async () => {
  await page.viewport(360, 740)
  const { root, windows, words } = await begin('en')
  // As that of the chat, which ends above its composer.
  const scroller = document.createElement('div')
  Object.assign(scroller.style, { blockSize: '20rem', overflow: 'auto', overflowAnchor: 'none' })
  document.body.append(scroller)
  scroller.append(root)
  const field = windows()[1]?.querySelector('input') as HTMLInputElement
  field.focus()
  // A key that is pressed would scroll to it.
  const said = 12
  for (let count = 1; count <= said; count++) {
    field.value = `Message ${count}.`
    field.form?.requestSubmit()
  }
  await expect.poll(() => windows()[1]?.querySelectorAll('li.user').length).toBe(said)
  await expect.poll(() => windows()[1]?.textContent).toContain(words.waiting(`${said}`))
  const below = (): number => scroller.getBoundingClientRect().bottom - field.getBoundingClientRect().bottom
  expect(below()).toBeGreaterThan(16)
})

it.skipIf(!canForceColours)('has a plug to be seen, where the page has few colours', async () => {
  await forceColours(true)
  const desk = await begin('en')
  expect(getComputedStyle(desk.plug() as Element).forcedColorAdjust).toBe('none')
  await forceColours(false)
})
