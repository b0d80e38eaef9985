import axe from 'axe-core'
import { afterEach, describe, expect, it } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { isWhole } from '../everywhere/runs.ts'
import { clear, endMovements, frame, press, type Shown, show, until } from './support/element.ts'
import { fact, said, session } from './support/fake-chat.ts'

afterEach(async () => {
  clear()
  await page.viewport(414, 896)
})

const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

async function violations({ element }: Shown): Promise<readonly string[]> {
  const { violations } = await axe.run(element, {
    runOnly: { type: 'tag', values: rules },
    // The page around it is not the widget's.
    rules: {
      region: { enabled: false },
      'heading-order': { enabled: false },
      'page-has-heading-one': { enabled: false },
    },
  })
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary}`),
  )
}

async function showAll(lang: string, width: number, scheme = 'light'): Promise<Shown> {
  await page.viewport(width, 900)
  const shown = await show({
    attributes: { lang, developer: '', style: `color-scheme: ${scheme}` },
    prepare: (fake) => {
      fake.setSessions([session('Turin'), session('')])
      fake.facts = [
        fact('Likes trains', { pinned: true }),
        fact('Platform 7', { trust: 'web', title: 'Platform' }),
      ]
      fake.log = [
        said('user', 'Hello', {
          version: { index: 1, count: 2 },
          remembered: [{ factId: 'f', text: 'Greets' }],
        }),
        said('assistant', [
          {
            type: 'text',
            text: '# Title\n\n| a | b |\n| - | - |\n| 1 | `2` |\n\n```ts\nconst a = "b" // c\n```\n\n[link](https://example.com)',
          },
          { type: 'tool-call', id: 'c', name: 'find', input: {} },
        ]),
        said('user', 'Again', {
          delivery: 'failed',
          problem: { code: 'ERR_MODEL', message: '', retryable: true },
        }),
      ]
    },
  })
  shown.fake.become({
    online: false,
    storage: 'full',
    problem: { code: 'ERR_MODEL', message: 'x', retryable: true },
  })
  shown.fake.stream({ text: 'And', calls: [{ callId: 'd', name: 'book', input: {}, status: 'running' }] })
  await until(() => shown.root.querySelector('.hljs-keyword') !== null)
  endMovements(shown)
  return shown
}

describe('axe finds nothing', () => {
  for (const scheme of ['light', 'dark']) {
    for (const lang of ['en', 'de', 'ar']) {
      // A push has each scheme once, and each direction.
      const isRun = isWhole || `${lang} ${scheme}` === 'en light' || `${lang} ${scheme}` === 'ar dark'
      it.runIf(isRun)(`in ${lang}, ${scheme}`, async () => {
        const shown = await showAll(lang, 414, scheme)
        expect(await violations(shown)).toEqual([])
        for (const side of ['memory', 'sessions', 'model']) {
          shown.find(`.to-${side}`).click()
          await until(() => shown.root.querySelector(`.side.${side}`)?.checkVisibility() === true)
          endMovements(shown)
          expect(await violations(shown)).toEqual([])
          shown.find(`.side.${side} .head button`).click()
          await frame()
        }
      })
    }
  }

  it('with everything side by side', async () => {
    await page.viewport(1_400, 900)
    const shown = await showAll('en', 1_400)
    shown.element.placement = 'page'
    shown.find('.to-memory').click()
    await until(() => shown.root.querySelectorAll('.fact').length === 2)
    endMovements(shown)
    expect(await violations(shown)).toEqual([])
  })
})

describe('the keyboard', () => {
  it('opens, writes, sends, looks at the memory and closes', async () => {
    const { element, fake, root } = await show()
    element.hide()
    await frame()
    element.shadowRoot?.querySelector<HTMLElement>('.launcher')?.focus()
    await press('{Enter}')
    await until(() => root.activeElement?.tagName === 'TEXTAREA')
    await userEvent.keyboard('Hello{Enter}')
    await frame()
    expect(fake.calls.at(-1)).toEqual(['send', 'Hello'])
    root.querySelector<HTMLElement>('.to-memory')?.focus()
    await press('{Enter}')
    await until(() => root.activeElement?.closest('.memory') instanceof HTMLElement)
    await press('{Escape}')
    await until(() => root.activeElement?.classList.contains('to-memory') === true)
    await press('{Escape}')
    expect(element.open).toBe(false)
  })

  it('gives the focus back where a panel is closed before it has loaded', async () => {
    const { root } = await show()
    const opener = root.querySelector<HTMLElement>('.to-memory')
    opener?.focus()
    opener?.click()
    opener?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true, composed: true }))
    await until(() => opener?.ariaExpanded === 'false')
    await new Promise((done) => setTimeout(done, 300))
    await frame()
    expect(root.activeElement).toBe(opener)
    expect(root.querySelector('.side.memory')).toBeNull()
  })

  it('stays inside while the widget covers a narrow page, and not beside a wide one', async () => {
    await page.viewport(390, 800)
    const narrow = await show()
    expect(narrow.root.querySelector('[role=dialog]')?.ariaModal).toBe('true')
    for (let tab = 0; tab < 12; tab++) {
      await press('{Tab}')
      expect(document.activeElement).toBe(narrow.element)
    }
    clear()
    await page.viewport(1_000, 800)
    const wide = await show()
    expect(wide.root.querySelector('[role=dialog]')?.ariaModal).not.toBe('true')
  })

  it('reaches targets of at least 24 pixels', async () => {
    const { root } = await showAll('en', 414)
    for (const button of root.querySelectorAll<HTMLElement>('button, summary, [role=tab]')) {
      if (!button.checkVisibility()) continue
      const { width, height } = button.getBoundingClientRect()
      expect(Math.min(width, height), button.outerHTML).toBeGreaterThanOrEqual(24)
    }
  })
})

describe('languages', () => {
  it('are those of the element, else of the document, and change with them', async () => {
    document.documentElement.lang = 'fr'
    const { element, root, find } = await show({ attributes: { lang: '' } })
    element.removeAttribute('lang')
    await until(() => find('textarea').ariaLabel === 'Écrivez un message')
    document.documentElement.lang = 'ja'
    await until(() => find('textarea').ariaLabel === 'メッセージを入力')
    element.lang = 'ar'
    await until(() => find('textarea').ariaLabel === 'اكتب رسالة')
    expect(root.querySelector<HTMLElement>('.frame')?.dir).toBe('rtl')
    element.strings = { placeholder: 'My own words' }
    await until(() => find('textarea').ariaLabel === 'My own words')
    document.documentElement.removeAttribute('lang')
  })
})

describe('the words', () => {
  it('are those of the language that was asked for last', async () => {
    const { element, find } = await show()
    // Spanish has yet to be loaded, English is there.
    element.lang = 'es'
    element.lang = 'en'
    await new Promise((done) => setTimeout(done, 200))
    expect(find('textarea').ariaLabel).toBe('Write a message')
  })
})
