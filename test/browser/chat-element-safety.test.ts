import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { clear, frame, type Shown, show, until } from './support/element.ts'
import { fact, said, session } from './support/fake-chat.ts'
import { CANARY, HOSTILE } from './support/hostile.ts'

declare global {
  var plimsollPwned: string | undefined
}

const reports: string[] = []
addEventListener('securitypolicyviolation', ({ violatedDirective }) => reports.push(violatedDirective))

afterEach(() => {
  clear()
  expect(globalThis.plimsollPwned).toBeUndefined()
  expect(requests()).toEqual([])
  expect(reports).toEqual([])
})

/** What the page has asked the canary's host for. */
function requests(): readonly string[] {
  return performance
    .getEntriesByType('resource')
    .map(({ name }) => name)
    .filter((name) => name.includes(CANARY))
}

/** Nothing in the widget can run or load anything. */
function expectHarmless({ root, element }: Shown): void {
  for (const each of root.querySelectorAll('*')) {
    expect([
      'SCRIPT',
      'IFRAME',
      'OBJECT',
      'EMBED',
      'IMG',
      'VIDEO',
      'AUDIO',
      'LINK',
      'STYLE',
      'BASE',
      'META',
      'MATH',
    ]).not.toContain(each.tagName)
    for (const { name, value } of each.attributes) {
      expect(name.startsWith('on'), `${name}="${value}"`).toBe(false)
      expect(['style', 'srcdoc', 'formaction', 'action', 'xlink:href'], value).not.toContain(name)
    }
    if (each instanceof HTMLAnchorElement) {
      expect(each.getAttribute('href') ?? 'https:').toMatch(/^(?:https?:|mailto:)/i)
      if (each.hasAttribute('href')) expect(each.rel).toBe('noopener noreferrer')
      expect(each.target).toBe('_blank')
    }
  }
  expect(document.querySelectorAll(`[id="${CANARY}"]`)).toHaveLength(0)
  expect(element.isConnected).toBe(true)
}

/** Long enough for a picture's error handler. */
const settled = async (): Promise<void> => {
  await frame()
  await new Promise((done) => setTimeout(done, 100))
}

describe('what is stored is text, no matter who wrote it', () => {
  it('in messages, while they stream and after', async () => {
    const shown = await show()
    shown.fake.add(said('assistant', '**the parser is loaded**'))
    await until(() => shown.root.querySelector('strong') !== null)
    for (const text of HOSTILE) {
      shown.fake.stream({ text, reasoning: text })
      await frame()
      expectHarmless(shown)
      shown.fake.become({ reply: undefined })
      shown.fake.add(said('assistant', text), said('user', text))
    }
    await settled()
    expectHarmless(shown)
    // Of a long list only those near its end are drawn.
    const drawn = [...shown.root.querySelectorAll('.user .bubble')].map(({ textContent }) => textContent)
    expect(drawn).toEqual(HOSTILE.slice(-drawn.length))
  })

  it('in names, tool calls, their output, chips and errors', async () => {
    const shown = await show({ attributes: { developer: '' } })
    for (const text of HOSTILE) {
      const call = said('assistant', [
        { type: 'tool-call', id: text, name: text, input: { [text]: text } },
        { type: 'media', mediaType: text, name: text, url: `https://${CANARY}/pixel` },
      ])
      shown.fake.add(
        { ...call, message: { ...call.message, name: text } },
        said('tool', [{ type: 'tool-result', callId: text, output: { html: text }, isError: true }]),
        said('user', 'Hello', {
          remembered: [{ factId: text, text, trust: 'user', said: 'm' }],
          delivery: 'failed',
          problem: { code: 'ERR_MODEL', message: text, retryable: true },
        }),
      )
      shown.fake.become({ problem: { code: 'ERR_MODEL', message: text, retryable: true } })
      await frame()
      for (const details of shown.root.querySelectorAll('details')) details.open = true
    }
    await settled()
    expectHarmless(shown)
    expect(shown.find('.notice').textContent).toContain(HOSTILE.at(-1))
  })

  it('in titles of sessions, excerpts, facts, profile and skills', async () => {
    const shown = await show({
      prepare: (fake) => {
        fake.setSessions(HOSTILE.map((title) => session(title)))
        fake.facts = HOSTILE.map((text) => fact(text, { title: `Title: ${text}` }))
        fake.profile = HOSTILE.map((text) => ({ name: text, text }))
        fake.skills = HOSTILE.map((text) => ({ name: text, description: text, text }))
      },
    })
    shown.button('Conversations').click()
    await until(() => shown.root.querySelectorAll('.entry').length === HOSTILE.length)
    expectHarmless(shown)
    shown.button('Back').click()
    await frame()
    shown.button('Memory').click()
    await until(() => shown.root.querySelectorAll('.fact').length === HOSTILE.length)
    for (const tab of ['Facts', 'Profile', 'Skills']) {
      shown.button(tab).click()
      await frame()
      expectHarmless(shown)
    }
    await settled()
  })
})

describe('Markdown', () => {
  it('shows HTML as text, pictures as links, and no link but to the web and to mail', async () => {
    const shown = await show()
    shown.fake.add(
      said(
        'assistant',
        `<b>no</b> ![see](https://${CANARY}/a.png) [js](javascript:alert(1)) [data](data:text/html,x) [ok](https://example.com) [me](mailto:a@example.com)`,
      ),
    )
    await until(() => shown.root.querySelector('.prose p') !== null)
    const prose = shown.find('.prose')
    expect(prose.textContent.trim()).toBe('<b>no</b> see js data ok me')
    expect([...prose.querySelectorAll('a[href]')].map((link) => link.getAttribute('href'))).toEqual([
      `https://${CANARY}/a.png`,
      'https://example.com',
      'mailto:a@example.com',
    ])
  })

  it('loses no word of a page that is shown as text', async () => {
    const shown = await show()
    shown.fake.add(
      said('assistant', 'It is:\n<div>\n\nso <pre><code class="x">a &amp;&#38; b</code></pre> there'),
    )
    await until(() => shown.root.querySelector('.prose p') !== null)
    expect(shown.find('.prose').textContent).toContain('<pre><code class="x">a && b</code></pre> there')
  })

  it('shows a character in place of its name or number, but in code', async () => {
    const shown = await show()
    shown.fake.add(said('assistant', '**A** &lt;b&gt; &#65;&#x42; &rarr; &nothing; &#0; `&lt;` \\&lt;'))
    await until(() => shown.root.querySelector('.prose code') !== null)
    expect(shown.find('.prose').textContent.trim()).toBe('A <b> AB → &nothing; \ufffd &lt; &lt;')
    expect(shown.root.querySelector('.prose b')).toBeNull()
  })

  it('shows tables, lists and tasks as what they are', async () => {
    const shown = await show()
    const table = '| a | b |\n|:-|-:|\n| **c** | d |'
    shown.fake.add(said('assistant', `${table}\n\n3. three\n4. four\n\n- [x] done\n- [ ] to do\n\n---`))
    await until(() => shown.root.querySelector('.prose hr') !== null)
    expect(shown.find('.prose').innerHTML).toBe(
      '<div class="table" tabindex="0" role="group"><table><thead><tr><th align="left">a</th><th align="right">b</th></tr></thead>' +
        '<tbody><tr><td align="left"><strong>c</strong></td><td align="right">d</td></tr></tbody></table></div>' +
        '<ol start="3"><li>three</li><li>four</li></ol><ul><li>☑ done</li><li>☐ to do</li></ul><hr>',
    )
  })

  it('scrolls a table of many columns, and cuts no word of it', async () => {
    const shown = await show()
    const row = (cell: string): string => `|${` ${cell} |`.repeat(8)}`
    shown.fake.add(said('assistant', [row('Departure'), row('---'), row('Alessandria')].join('\n')))
    await until(() => shown.root.querySelector('.prose td') !== null)
    const frame = shown.find('.prose .table')
    expect(frame.scrollWidth).toBeGreaterThan(frame.clientWidth)
    const cell = shown.find('.prose td')
    const word = document.createRange()
    word.selectNodeContents(cell)
    expect(word.getClientRects()).toHaveLength(1)
    expect(shown.find('.scroller').scrollWidth).toBe(shown.find('.scroller').clientWidth)
  })

  it('rebuilds only what changed while a text grows', async () => {
    const shown = await show()
    shown.fake.stream({ text: '# One\n\nTwo *th' })
    await until(() => shown.root.querySelector('h1') !== null)
    const heading = shown.find('h1')
    shown.fake.stream({ text: '# One\n\nTwo *three*\n\n- four' })
    await frame()
    expect(shown.find('h1')).toBe(heading)
    expect(shown.find('em').textContent).toBe('three')
    expect(shown.find('li').textContent).toBe('four')
  })

  it('colours code of a known language, and leaves other code as it is', async () => {
    const shown = await show()
    const waiting: (() => unknown)[] = []
    vi.stubGlobal('requestIdleCallback', (resolve: () => unknown) => waiting.push(resolve))
    onTestFinished(() => void vi.unstubAllGlobals())
    const code = (language: string): string => `\`\`\`${language}\nconst a = "<b>"\n\`\`\``
    shown.fake.add(said('assistant', `${code('ts')}\n\n${code('klingon')}`))
    await until(() => waiting.length === 2)
    // What a reader looks at comes first.
    await frame()
    expect(shown.root.querySelector('.hljs-keyword')).toBeNull()
    for (const colour of waiting) colour()
    await until(() => shown.root.querySelector('.hljs-keyword') !== null)
    const [known, unknown] = shown.root.querySelectorAll('pre code')
    expect(known?.textContent).toBe('const a = "<b>"')
    expect(unknown?.textContent).toBe('const a = "<b>"')
    expect(unknown?.children).toHaveLength(0)
  })

  it('makes no more cells of a short text than a page can take', async () => {
    const shown = await show()
    const wide = (rows: number) => `|${'a|'.repeat(50)}\n|${'-|'.repeat(50)}\n${'x\n'.repeat(rows)}`
    shown.fake.add(said('assistant', `${wide(500)}\n${Array(20).fill(wide(50)).join('\n')}\n# end`))
    await until(() => shown.root.querySelector('.prose h1') !== null)
    const cells = shown.root.querySelectorAll('.prose td').length
    expect(cells).toBeGreaterThan(2_000)
    expect(cells).toBeLessThan(3_000)
    // A table that is too large stays in sight as it was written.
    expect(shown.find('.prose p').textContent.match(/x/g)).toHaveLength(500)
  })

  it('makes a long list in parts, and counts on in the next one', async () => {
    const shown = await show()
    const list = (mark: string) => `${mark} a\n   ${mark} b\n`.repeat(250)
    shown.fake.add(said('assistant', `${list('1.')}\n# then\n${list('-')}\n# end`))
    await until(() => shown.root.querySelectorAll('.prose h1').length === 2)
    const parts = (name: string) =>
      [...shown.root.querySelectorAll(`.prose > ${name}`)].map((one) => [
        one.getAttribute('start'),
        one.children.length,
      ])
    expect(parts('ol')).toEqual([
      [null, 100],
      ['101', 100],
      ['201', 50],
    ])
    expect(parts('ul').map(([, items]) => items)).toEqual([100, 100, 50])
    expect(shown.root.querySelectorAll('.prose li li')).toHaveLength(500)
  })

  it('takes hostile nesting in its stride', async () => {
    const shown = await show()
    const indented = Array.from({ length: 300 }, (_, depth) => `${'  '.repeat(depth)}- level ${depth}`)
    for (const text of [
      ...['['.repeat(20_000), '*a '.repeat(20_000), '> '.repeat(5_000), '`a '.repeat(20_000)],
      ...['1. '.repeat(5_000), '1) - '.repeat(5_000), '> - '.repeat(5_000), indented.join('\n')],
    ]) {
      shown.fake.add(said('assistant', text))
      await frame()
      const read = shown.root.querySelector('.last .prose')?.textContent ?? ''
      expect(read.length, `${text.slice(0, 8)} became ${read.slice(0, 40)}`).toBeGreaterThan(1_000)
    }
  })
})
