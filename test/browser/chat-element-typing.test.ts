import { Lexer, Tokenizer } from 'marked'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { page, server } from 'vitest/browser'
import { type HomeKind, PlimsollChat } from '../../src/chat/index.ts'
import { loadStrings } from '../../src/chat/strings/load.ts'
import { wordsOf } from '../../src/chat/strings/words.ts'
import { TestService } from '../unit/chat/test-service.ts'
import { clear, endMovements, fill, frame, press, type Shown, show, until } from './support/element.ts'
import { fact, said, session } from './support/fake-chat.ts'

afterEach(async () => {
  clear()
  vi.restoreAllMocks()
  document.documentElement.removeAttribute('style')
  await page.viewport(414, 896)
})

const field = ({ find }: Shown): HTMLTextAreaElement => find<HTMLTextAreaElement>('.composer textarea')

function paste(shown: Shown, text: string): boolean {
  const clipboardData = new DataTransfer()
  clipboardData.setData('text/plain', text)
  const event = new ClipboardEvent('paste', { bubbles: true, cancelable: true, composed: true })
  // An event that a page makes has an empty one in Firefox, whatever it is given.
  Object.defineProperty(event, 'clipboardData', { value: clipboardData })
  return field(shown).dispatchEvent(event)
}

describe('a long text that is pasted', () => {
  it('stands beside the field, may be left out, and is sent whole after what was typed', async () => {
    const shown = await show()
    const long = 'abc '.repeat(250_000)
    expect(paste(shown, long)).toBe(false)
    expect(paste(shown, 'another '.repeat(4_000))).toBe(false)
    expect(paste(shown, 'a short one')).toBe(true)
    await frame()
    expect(field(shown).value).toBe('')
    expect(shown.text()).toContain('Pasted text, 1,000,000 characters')
    shown.button('Leave out Pasted text, 32,000 characters').click()
    await frame()
    field(shown).value = 'What is this?'
    shown.button('Send').click()
    await until(() => shown.fake.calls.some(([name]) => name === 'send'))
    expect(shown.fake.calls.find(([name]) => name === 'send')?.[1]).toBe(`What is this?\n\n${long}`)
    await until(() => shown.root.querySelector('.files') === null)
  })

  it('stands above the field, and does not touch it', async () => {
    const shown = await show()
    paste(shown, 'abc '.repeat(10_000))
    await frame()
    endMovements(shown)
    const chip = shown.find('.files .chip').getBoundingClientRect()
    expect(shown.find('.composer').getBoundingClientRect().top - chip.bottom).toBeGreaterThanOrEqual(4)
  })

  it('comes back beside the field when it could not be kept', async () => {
    const shown = await show({
      prepare: (fake) => {
        fake.keeps = false
      },
    })
    paste(shown, 'abc '.repeat(10_000))
    await frame()
    shown.button('Send').click()
    await until(() => shown.root.querySelector('.files') !== null)
    expect(field(shown).value).toBe('')
    expect(shown.text()).toContain('Pasted text, 40,000 characters')
  })
})

describe('a long text that is shown', () => {
  it('shows its beginning, and all of it when somebody asks', async () => {
    const shown = await show()
    const lines = Array.from({ length: 20_000 }, (_, line) => `line ${line}`)
    shown.fake.add(said('user', lines.join('\n')), said('assistant', lines.join('\n')))
    await frame()
    const shownText = (selector: string): string => shown.find(selector).textContent
    expect(shownText('.bubble').length).toBeLessThan(25_000)
    expect(shownText('.prose').length).toBeLessThan(25_000)
    for (const button of shown.root.querySelectorAll<HTMLElement>('.message .outlined')) button.click()
    await frame()
    expect(shownText('.bubble')).toContain('line 19999')
    expect(shownText('.prose')).toContain('line 19999')
    expect(shown.root.querySelectorAll('.bubble .chunk').length).toBeGreaterThan(10)
  })

  it.each([
    ['underlines', 'a_'.repeat(20_000)],
    ['addresses', `${'a.'.repeat(20_000)}@`],
    ['ends of lines', '\n'.repeat(99_000)],
    ['spaces', `${' '.repeat(40_000)}x`],
    ['rows', '| a |\n'.repeat(6_000)],
  ])('is not parsed for ever: %s', async (_, text) => {
    const shown = await show()
    const parsed = vi.spyOn(Lexer.prototype, 'inlineTokens')
    shown.fake.add(said('user', 'x'), said('assistant', `${text}\n\n**end**`))
    await frame()
    for (const button of shown.root.querySelectorAll<HTMLElement>('.message .outlined')) button.click()
    await until(() => shown.root.querySelector('.prose strong') !== null)
    expect(Math.max(...parsed.mock.calls.map(([source]) => source.length))).toBeLessThanOrEqual(5_000)
  })

  it('looks for the end of an address once, whatever stands behind it', async () => {
    const shown = await show()
    const looked = vi.spyOn(Tokenizer.prototype, 'url')
    shown.fake.add(said('assistant', `https://example.com/${'.”'.repeat(2_400)}`))
    await until(() => shown.root.querySelector('.prose a') !== null)
    expect(looked.mock.calls.length).toBeLessThan(50)
  })

  it('is parsed from its last block on while it grows, and whole where its links have addresses', async () => {
    const shown = await show()
    shown.fake.add(said('assistant', '**the parser is loaded**'))
    await until(() => shown.root.querySelector('strong') !== null)
    const parsed = vi.spyOn(Lexer.prototype, 'blockTokens')
    const paragraphs = Array.from({ length: 100 }, (_, place) => `Paragraph *${place}*.`)
    for (let count = 50; count <= 100; count += 10) {
      shown.fake.stream({ text: paragraphs.slice(0, count).join('\n\n') })
      await frame()
    }
    const [first, ...later] = parsed.mock.calls.map(([source]) => source.length)
    expect(first).toBeGreaterThan(800)
    expect(Math.max(...later)).toBeLessThan(300)
    expect(shown.root.querySelectorAll('.message.last .prose > p')).toHaveLength(100)
    shown.fake.stream({ text: `see [one]\n\n${paragraphs.join('\n\n')}\n\n[one]: https://example.com/` })
    await frame()
    expect(shown.find<HTMLAnchorElement>('.message.last .prose a').href).toBe('https://example.com/')
  })

  it('leads where an address leads, without the quote or the full stop behind it', async () => {
    const shown = await show()
    const around = ['“%”', '‘%’.', '«%»', '"%".', "('%'),", 'انظر %۔', '„%.“', '「%」。', '%?a=’b”۔”']
    shown.fake.add(
      said('assistant', around.map((one) => one.replace('%', 'https://example.com/a')).join(' ')),
    )
    await until(() => shown.root.querySelector('.prose a') !== null)
    const links = [...shown.root.querySelectorAll('.prose a')]
    expect(links.map(({ textContent }) => textContent)).toEqual([
      ...Array(8).fill('https://example.com/a'),
      'https://example.com/a?a=’b',
    ])
    expect(shown.find('.prose').textContent).toContain('”۔”')
  })
})

describe('links', () => {
  it('always have a name that shows, and are none within another link', async () => {
    const shown = await show()
    shown.fake.add(
      said(
        'assistant',
        '![ ](https://example.com/a.png) [![mark](https://example.com/b.png)](https://example.com/c) [\u200b\u2060](https://example.com/d)',
      ),
    )
    await until(() => shown.root.querySelectorAll('.prose a').length === 3)
    expect(
      [...shown.root.querySelectorAll<HTMLAnchorElement>('.prose a')].map(({ text, href }) => [text, href]),
    ).toEqual([
      ['https://example.com/a.png', 'https://example.com/a.png'],
      ['mark', 'https://example.com/c'],
      ['https://example.com/d', 'https://example.com/d'],
    ])
  })
})

describe('what is typed', () => {
  it('is no shortcut of the page', async () => {
    const shown = await show()
    const heard: string[] = []
    const hear = ({ type, key }: KeyboardEvent): void => void heard.push(`${type} ${key}`)
    for (const type of ['keydown', 'keypress', 'keyup'] as const) document.addEventListener(type, hear)
    field(shown).focus()
    await press('j', '{Enter}')
    shown.button('Memory').focus()
    await press('k')
    for (const type of ['keydown', 'keypress', 'keyup'] as const) document.removeEventListener(type, hear)
    expect(heard).toEqual(['keydown k', 'keypress k', 'keyup k'])
  })

  it('is there again after a reload, in its own conversation, until it is sent', async () => {
    const [turin, rome] = [session('Turin'), session('Rome')]
    const shown = await show({ prepare: (fake) => fake.setSessions([turin, rome]) })
    const { storage } = shown.fake
    const typeIn = async (text: string): Promise<void> => {
      field(shown).value = text
      field(shown).dispatchEvent(new InputEvent('input', { bubbles: true }))
      await frame()
    }
    await shown.fake.chat.conversation.create()
    await frame()
    await typeIn('of none')
    shown.fake.log = [said('user', 'Hello')]
    await shown.fake.chat.conversation.open(turin.sessionId)
    await frame()
    expect(field(shown).value).toBe('')
    await typeIn('to Turin')
    await shown.fake.chat.conversation.open(rome.sessionId)
    await frame()
    await typeIn('to Rome')
    clear()
    await frame()

    const again = await show({
      prepare: (fake) => {
        fake.storage = storage
        fake.setSessions([turin, rome])
        fake.log = [said('user', 'Hello')]
      },
    })
    const drafts: string[] = []
    for (const { sessionId } of [turin, rome]) {
      await again.fake.chat.conversation.open(sessionId)
      await frame()
      drafts.push(field(again).value)
    }
    await again.fake.chat.conversation.create()
    await frame()
    expect([...drafts, field(again).value]).toEqual(['to Turin', 'to Rome', 'of none'])
    again.button('Send').click()
    await until(() => again.fake.calls.some(([name]) => name === 'send'))
    await until(() => !storage.getItem('drafts')?.includes('of none'))
  })
})

describe('what somebody wrote and did not send', () => {
  if (!customElements.get('real-chat')) customElements.define('real-chat', class extends PlimsollChat {})

  /** The element over a chat of this browser, or of a service, in which nothing is written yet. */
  async function opened(settings: Partial<PlimsollChat> = {}) {
    const element = document.createElement('real-chat') as PlimsollChat
    Object.assign(element, { lang: 'en', ...settings })
    document.body.append(element)
    onTestFinished(async () => {
      if (element.isConnected) await element.signOut({ erase: true, force: true })
      element.remove()
      localStorage.clear()
    })
    await element.show()
    await frame()
    const root = element.shadowRoot as ShadowRoot
    const at = <Kind extends HTMLElement>(selector: string): Kind =>
      root.querySelector<Kind>(selector) as Kind
    return {
      element,
      root,
      at,
      written: () => [
        at<HTMLTextAreaElement>('textarea').value,
        root.querySelectorAll('.files .chip').length,
      ],
    }
  }

  const kept = (key: string): string => localStorage.getItem(`plimsoll-chat/${key}`) ?? ''

  /** With what is chosen in it, not sent. */
  async function filled(...given: Parameters<typeof opened>) {
    const shown = await opened(...given)
    const { at } = shown
    const files = new DataTransfer()
    files.items.add(new File(['SWORDFISH'], 'secret.txt', { type: 'text/plain' }))
    const input = at<HTMLInputElement>('input[type=file]')
    input.files = files.files
    input.dispatchEvent(new Event('change'))
    fill(at('textarea'), 'SWORDFISH')
    await until(() => kept('drafts').includes('SWORDFISH') && kept('added') !== '')
    return shown
  }

  it('stays with a guest who signs in, and goes with the sign-out, files too', async () => {
    const { element, written, at } = await filled()
    await element.identify({ userId: 'ada' })
    await frame()
    expect(written()).toEqual(['SWORDFISH', 1])
    const lost = [{ waiting: 0, refused: 0, draft: true }]
    expect(await element.signOut()).toEqual({ done: false, lost })
    await frame()
    expect(written()).toEqual(['SWORDFISH', 1])
    await element.signOut({ force: true })
    await frame()
    expect(written()).toEqual(['', 0])
    expect(at('.empty').textContent).toContain('What can I do for you?')
    expect(at('.foot-bar [role=status]').textContent).toContain('What was not sent is erased')
    // As to a new visitor: where it is kept, what answers, and files.
    expect(at('.home').textContent).toContain('On this device')
    expect(at('.home .badge').textContent).toBe('Demo')
    expect(at('[aria-label^="Attach files"]')).not.toBeNull()
    dispatchEvent(new Event('pagehide'))
    await element.identify({ userId: 'bob' })
    await element.show()
    await element.newSession()
    await frame()
    expect(written()).toEqual(['', 0])
    expect(JSON.stringify(localStorage)).not.toContain('SWORDFISH')
    expect(kept('added')).toBe('')
  })

  it('is told of by a sign-out as soon as it is typed, and stays', async () => {
    const { element, at, written } = await opened()
    fill(at('textarea'), 'SWORDFISH')
    expect(await element.signOut()).toMatchObject({ done: false, lost: [{ draft: true }] })
    await frame()
    expect(written()).toEqual(['SWORDFISH', 0])
  })

  /** Files that are read once that is let happen. */
  function slowFiles(): () => void {
    const { arrayBuffer } = Blob.prototype
    let read = (): void => {}
    const isRead = new Promise<void>((resolve) => {
      read = resolve
    })
    Blob.prototype.arrayBuffer = async function (this: Blob) {
      await isRead
      return arrayBuffer.call(this)
    }
    onTestFinished(() => {
      Blob.prototype.arrayBuffer = arrayBuffer
    })
    return read
  }

  it('waits where it was written, files too, where another conversation is opened before they are read', async () => {
    const { element, root, at, written } = await filled()
    const first = element.session
    await element.send('Hello.')
    await until(() => root.querySelectorAll('.message').length >= 2)
    const read = slowFiles()
    at<HTMLFormElement>('form').requestSubmit()
    await element.newSession()
    await frame()
    read()
    await until(() => at('.foot-bar [role=status]')?.textContent?.includes('Not sent') === true)
    expect([root.querySelectorAll('.message').length, written()]).toEqual([0, ['', 0]])
    element.session = first
    await until(() => written()[1] === 1)
    expect(written()).toEqual(['SWORDFISH', 1])
  })

  it('is said by nobody who comes next, where its writer signs out before its files are read', async () => {
    const { element, root, at, written } = await filled()
    const read = slowFiles()
    at<HTMLFormElement>('form').requestSubmit()
    await element.signOut({ force: true })
    read()
    await frame()
    await frame()
    expect([root.querySelectorAll('.message').length, written()]).toEqual([0, ['', 0]])
    expect(JSON.stringify(localStorage)).not.toContain('SWORDFISH')
  })

  it('is there after a reload, files too, and is gone once it is sent', async () => {
    const before = await filled()
    before.element.remove()
    const { element, root, at, written } = await opened()
    await until(() => written()[1] === 1)
    expect(written()).toEqual(['SWORDFISH', 1])
    expect(at('.chip').textContent).toContain('secret.txt')
    at<HTMLFormElement>('form').requestSubmit()
    await until(() => root.querySelectorAll('.message').length >= 2 && kept('added') === '')
    expect(written()).toEqual(['', 0])
    expect(at('.message').textContent).toContain('secret.txt')
    await element.newSession()
    await frame()
    expect(written()).toEqual(['', 0])
  })

  it('says of files that they are not kept where there are too many of them', async () => {
    const { root, at, written } = await filled()
    const files = new DataTransfer()
    for (const name of ['a', 'b', 'c', 'd', 'e'])
      files.items.add(new File([new Uint8Array(8 * 1024 * 1024)], name))
    const input = at<HTMLInputElement>('input[type=file]')
    input.files = files.files
    input.dispatchEvent(new Event('change'))
    await until(() => root.querySelector('.files .muted') !== null)
    expect(at('.files .muted').textContent).toContain('is gone once you close or reload this page')
    expect(written()[1]).toBe(6)
    for (let files = 6; files > 0; files--) {
      at('.files button').click()
      await frame()
    }
    await until(() => root.querySelector('.files') === null)
  })

  it('comes back nowhere once it is sent from another tab that read it', async () => {
    const one = await opened()
    fill(one.at('textarea'), 'SWORDFISH')
    await until(() => kept('drafts').includes('SWORDFISH'))
    const two = await opened()
    two.element.session = one.element.session as string
    await until(() => two.written()[0] === 'SWORDFISH')
    one.at<HTMLFormElement>('form').requestSubmit()
    for (const { root } of [one, two]) await until(() => root.querySelectorAll('.message').length >= 2)
    dispatchEvent(new Event('pagehide'))
    await until(() => kept('drafts') === '')
  })

  it('stays though the field of another tab is empty, or has what stood there before', async () => {
    const idle = await opened()
    const closes = async (text: string): Promise<void> => {
      const other = await opened()
      fill(other.at('textarea'), text)
      await until(() => kept('drafts').includes(text))
      other.element.remove()
    }
    await closes('Half a SWORDFISH')
    dispatchEvent(new Event('pagehide'))
    expect(kept('drafts')).toContain('SWORDFISH')
    const lost = [{ waiting: 0, refused: 0, draft: true }]
    expect(await idle.element.signOut()).toEqual({ done: false, lost })
    expect(kept('drafts')).toContain('SWORDFISH')
    idle.element.remove()
    const reader = await opened()
    expect(reader.written()).toEqual(['Half a SWORDFISH', 0])
    await closes('A whole SWORDFISH')
    dispatchEvent(new Event('pagehide'))
    expect(kept('drafts')).toContain('A whole')
    // What is typed here is kept, also where nothing is left of it.
    fill(reader.at('textarea'), 'Typed last')
    dispatchEvent(new Event('pagehide'))
    expect(kept('drafts')).toContain('Typed last')
    fill(reader.at('textarea'), '')
    dispatchEvent(new Event('pagehide'))
    expect(kept('drafts')).toBe('')
    await closes('SWORDFISH')
    dispatchEvent(new Event('pagehide'))
    expect(kept('drafts')).toContain('SWORDFISH')
    for (const messages of [2, 4]) {
      fill(reader.at('textarea'), 'Hello.')
      await until(() => kept('drafts').includes('Hello.'))
      reader.at<HTMLFormElement>('form').requestSubmit()
      const isIdle = (): boolean => reader.root.querySelector('.go:not(:disabled)') === null
      await until(() => reader.root.querySelectorAll('.message').length >= messages && isIdle())
    }
    await closes('SWORDFISH')
    dispatchEvent(new Event('pagehide'))
    expect(kept('drafts')).toContain('SWORDFISH')
  })

  it('goes from every tab with the sign-out in one', async () => {
    const { element, written, at } = await filled()
    const key = 'plimsoll-chat/identity'
    const told = (newValue: string | null) =>
      dispatchEvent(new StorageEvent('storage', { key, newValue, storageArea: localStorage }))
    told('{}')
    await frame()
    expect(written()).toEqual(['SWORDFISH', 1])
    for (const each of ['drafts', 'added']) localStorage.removeItem(`plimsoll-chat/${each}`)
    told(null)
    await frame()
    expect(written()).toEqual(['', 0])
    await until(() => at('.empty')?.textContent.includes('What can I do for you?') ?? false)
    expect(at('.foot-bar [role=status]').textContent).toContain('What was not sent is erased')
    dispatchEvent(new Event('pagehide'))
    expect(JSON.stringify(localStorage)).not.toContain('SWORDFISH')
    await element.newSession()
    await frame()
    expect(written()[0]).toBe('')
  })

  it('is not for a user whose token comes in its place, and is there again for its own', async () => {
    const service = new TestService()
    vi.stubGlobal('fetch', service.fetch)
    vi.stubGlobal('WebSocket', undefined)
    onTestFinished(() => void vi.unstubAllGlobals())
    const tokenOf = (sub: string): string => `x.${btoa(JSON.stringify({ sub }))}.x`
    let token = tokenOf('ada')
    const { at, written } = await opened({ src: 'https://edge.test', getToken: () => token })
    fill(at('textarea'), 'SWORDFISH')
    await until(() => kept('drafts').includes('SWORDFISH'))
    token = tokenOf('bob')
    fill(at('textarea'), 'Of Ada, still.')
    // Its conversation asks what is new.
    dispatchEvent(new Event('online'))
    await until(() => written()[0] === '')
    fill(at('textarea'), 'Of Bob.')
    token = tokenOf('ada')
    dispatchEvent(new Event('online'))
    await until(() => written()[0] === 'Of Ada, still.')
  })

  it('belongs to who signs in late: a token that comes after the widget has begun shows the list', async () => {
    const service = new TestService()
    vi.stubGlobal('fetch', service.fetch)
    vi.stubGlobal('WebSocket', undefined)
    onTestFinished(() => void vi.unstubAllGlobals())
    await service.say('ada', 'trip', 'Two seats to Turin.')
    const { element, root } = await opened({ src: 'https://edge.test', synced: true })
    expect(element.session).not.toBe('trip')
    element.getToken = () => 'ada'
    await until(() => (root.textContent ?? '').includes('Two seats to Turin.'))
  })

  /** Shows conversations in which something was said. */
  const opens =
    (shown: Shown) =>
    async (id: string, home: HomeKind = 'local'): Promise<void> => {
      shown.fake.log = [said('user', 'Hello')]
      await shown.fake.chat.conversation.open(id, { home })
      await frame()
    }

  async function choose(shown: Shown, name: string): Promise<void> {
    const files = new DataTransfer()
    files.items.add(new File(['bytes'], name))
    const input = shown.find<HTMLInputElement>('input[type=file]')
    input.files = files.files
    input.dispatchEvent(new Event('change'))
    await frame()
  }

  /** In a conversation of which a message waits until a test ends it. */
  async function sending(keeps: boolean) {
    let end = (): void => {}
    const shown = await show({
      prepare: (fake) => {
        fake.keeps = keeps
        fake.sending = new Promise((done) => {
          end = done
        })
      },
    })
    const open = opens(shown)
    await open('s1')
    const shows = () => [field(shown).value, shown.root.querySelectorAll('.files .chip').length]
    const keptFiles = async () => (await (await shown.fake.chat.added()).read('local/s1')).files.length
    await choose(shown, 'one.txt')
    fill(field(shown), 'of s1')
    await frame()
    shown.button('Send').click()
    await frame()
    return { shown, open, shows, keptFiles, end: () => end() }
  }

  /** A file that was chosen in s1, and is looked at when a test lets it be. */
  async function choosing() {
    let look = (): void => {}
    const looked = new Promise<void>((done) => {
      look = done
    })
    let isLookedAt = false
    const { slice } = Blob.prototype
    Blob.prototype.slice = function (from, to) {
      const part = slice.call(this, from, to)
      // What is sent is longer.
      if (to === 12) {
        isLookedAt = true
        part.arrayBuffer = () => looked.then(() => new ArrayBuffer(5))
      }
      return part
    }
    onTestFinished(() => {
      Blob.prototype.slice = slice
    })
    const shown = await show()
    const open = opens(shown)
    await open('s1')
    await choose(shown, 'one.txt')
    return { shown, open, isLookedAt: () => isLookedAt, look: () => look() }
  }

  it('has its file where it is sent before that was looked at', async () => {
    const { shown, look } = await choosing()
    shown.button('Send').click()
    const sent = () => shown.fake.calls.find(([name]) => name === 'send')
    await until(() => sent() !== undefined)
    expect(sent()).toEqual(['send', '', 'one.txt'])
    look()
    await until(() => shown.root.querySelector('.files') === null)
  })

  it('keeps a file where it was chosen, though another conversation shows before that was looked at', async () => {
    const { shown, open, look, isLookedAt } = await choosing()
    await until(isLookedAt)
    await open('s2')
    look()
    await frame()
    await frame()
    expect(shown.root.querySelector('.files')).toBeNull()
    await open('s1')
    await until(() => shown.root.querySelectorAll('.files .chip').length === 1)
  })

  it('is kept while it is on its way, and no longer', async () => {
    const { shown, keptFiles, shows, end } = await sending(true)
    dispatchEvent(new Event('pagehide'))
    expect([shows(), shown.fake.drafts.read('local/s1'), await keptFiles()]).toEqual([['', 0], 'of s1', 1])
    end()
    await until(() => shown.fake.drafts.read('local/s1') === '')
    await until(() => !shown.fake.chat.hasAdded('local/s1'))
  })

  it('goes back to its own conversation where it could not be sent', async () => {
    const { shown, open, shows, end } = await sending(false)
    await open('s2')
    end()
    await frame()
    await frame()
    expect(shows()).toEqual(['', 0])
    await open('s1')
    await until(() => shows()[1] === 1)
    expect([shows(), shown.fake.drafts.read('local/s2')]).toEqual([['of s1', 1], ''])
  })

  it('does not go to the conversation of the same id in another home', async () => {
    const { shown, open, shows, end } = await sending(false)
    await open('s1', 'edge')
    end()
    await frame()
    await frame()
    expect(shows()).toEqual(['', 0])
    fill(field(shown), 'at the service')
    await open('s1')
    await until(() => shows()[1] === 1)
    expect(shows()).toEqual(['of s1', 1])
    await open('s1', 'edge')
    expect(shows()).toEqual(['at the service', 0])
  })

  it('comes back where its conversation could not be opened', async () => {
    const shown = await show({
      prepare: (fake) => {
        fake.keeps = false
        const session = { sessionId: 's9', title: '', home: 'edge', createdAt: 0 } as const
        const { chat } = fake
        const fail = async () => fake.become({ session, loaded: false, messages: [] })
        Object.assign(chat.conversation, { create: fail, open: fail })
        Object.defineProperty(fake, 'chat', { get: () => chat })
      },
    })
    fill(field(shown), 'Long and dear')
    await frame()
    shown.button('Send').click()
    await frame()
    await frame()
    expect(field(shown).value).toBe('Long and dear')
  })

  it('stays with its conversation until the page is left where it cannot be kept', async () => {
    const shown = await show()
    const open = opens(shown)
    await open('s1')
    paste(shown, 'x'.repeat(17 * 1024 * 1024))
    await until(() => shown.root.querySelector('.files .muted') !== null)
    await open('s2')
    expect(shown.root.querySelector('.files')).toBeNull()
    await open('s1')
    await until(() => shown.root.querySelector('.files .muted') !== null)
  })

  it('is not shown to who comes while it is read', async () => {
    let answer = (_: object): void => {}
    let isAsked = false
    const shown = await show({
      prepare: (fake) => {
        const { chat } = fake
        const read = (): Promise<object> => {
          isAsked = true
          return new Promise((done) => {
            answer = done
          })
        }
        const added = async () => ({ read, write: async () => {} })
        Object.assign(chat, { hasAdded: () => !isAsked, added })
        Object.defineProperty(fake, 'chat', { get: () => chat })
      },
    })
    await until(() => isAsked)
    shown.fake.drafts.tell('left')
    await frame()
    answer({ files: [new File(['x'], 'of-ada.txt')], pasted: [], isUnkept: false })
    await frame()
    await frame()
    expect(shown.root.querySelector('.files')).toBeNull()
  })

  it('does not come back after a sign-out where sending it fails only then', async () => {
    const shown = await show()
    let fail = (): void => {}
    shown.fake.sending = new Promise((_, reject) => {
      fail = () => reject(new Error('it failed'))
    })
    fill(field(shown), 'SWORDFISH')
    await frame()
    shown.button('Send').click()
    await until(() => shown.fake.calls.some(([name]) => name === 'send'))
    shown.fake.drafts.clear()
    fail()
    await frame()
    expect(field(shown).value).toBe('')
  })
})

describe('a reply that is recorded as it comes', () => {
  const call = { callId: 'c', name: 'find', input: {}, status: 'running' } as const

  it('shows once after a reload in the middle of it, and each call where it is recorded', async () => {
    const shown = await show()
    shown.fake.add(
      said('user', 'Which trains?'),
      said('assistant', [
        { type: 'text', text: 'I will look them up.' },
        { type: 'tool-call', id: 'c', name: 'find', input: {} },
      ]),
    )
    const texts = (): readonly string[] =>
      [...shown.root.querySelectorAll('.prose')].map(({ textContent }) => textContent)
    for (const text of ['I will', 'I will look them up.']) {
      shown.fake.stream({ text, calls: [call] })
      await until(() => shown.root.querySelector('.step') !== null)
      expect(texts()).toEqual(['I will look them up.'])
      expect(shown.root.querySelectorAll('.step')).toHaveLength(1)
      expect(shown.text()).toContain('Running find')
    }
    shown.fake.stream({ text: 'I found two.', calls: [{ ...call, callId: 'd' }] })
    await frame()
    expect(texts()).toEqual(['I will look them up.', 'I found two.'])
    expect(shown.root.querySelectorAll('.step')).toHaveLength(2)
  })

  it('shows once in each frame, whether its end or its record comes first', async () => {
    const { fake, root } = await show()
    const copies: number[] = []
    const observer = new MutationObserver(() => {
      const texts = [...root.querySelectorAll('.assistant')].map(({ textContent }) => textContent)
      copies.push(texts.filter((text) => text.includes('The 9:40')).length)
      copies.push(texts.filter((text) => text.includes('By the timetable')).length)
    })
    observer.observe(root, { subtree: true, childList: true, characterData: true })
    for (const [text, isWhole] of [
      ['The 9:40 to', false],
      ['The 9:40 to Turin.', true],
    ] as const) {
      fake.become({ messages: [said('user', 'Which trains?')] })
      fake.stream({ text, reasoning: 'By the timetable' })
      await until(() => root.querySelector('.step') !== null)
      fake.add(
        said('assistant', [
          { type: 'reasoning', text: 'By the timetable.' },
          { type: 'text', text: 'The 9:40 to Turin.' },
        ]),
      )
      await frame()
      if (!isWhole) fake.stream({ text: 'The 9:40 to Turin.', reasoning: 'By the timetable.' })
      await frame()
      fake.become({ reply: undefined })
      await frame()
    }
    observer.disconnect()
    expect(Math.max(...copies)).toBe(1)
  })

  it('shows what a later step thinks, though an earlier one has spoken', async () => {
    const { fake, text } = await show()
    fake.add(said('user', 'Which trains?'), said('assistant', 'I will look them up.'))
    fake.stream({ reasoning: 'Two of them are full' })
    await until(() => text().includes('Reasoning'))
  })
})

describe('the focus', () => {
  const held = ({ root }: Shown): string =>
    (root.activeElement?.ariaLabel ?? root.activeElement?.textContent ?? '').trim()

  it('goes to what stands in the place of what was removed', async () => {
    await page.viewport(1_000, 900)
    const shown = await show({
      attributes: { placement: 'page' },
      prepare: (fake) => fake.setSessions([session('Turin'), session('Rome'), session('Oslo')]),
    })
    await until(() => shown.root.querySelectorAll('.entry').length === 3)
    for (const left of ['Oslo', undefined]) {
      const title = left === undefined ? 'Oslo' : 'Rome'
      shown.root.querySelector<HTMLElement>(`[aria-label="Delete ${title}"]`)?.focus()
      await press('{Enter}')
      shown.root.querySelector<HTMLElement>('.confirm .danger')?.focus()
      await press('{Enter}')
      await until(() => !shown.find('.sessions').textContent.includes(title))
      expect(held(shown)).toContain(left ?? 'Turin')
    }
  })

  it('goes to what began it, or to the entry, when Escape ends an edit', async () => {
    await page.viewport(1_000, 900)
    const shown = await show({
      attributes: { placement: 'page' },
      prepare: (fake) => {
        fake.setSessions([session('Turin')])
        fake.log = [said('user', 'Hello')]
      },
    })
    await until(() => shown.root.querySelector('[aria-label="Rename Turin"]') !== null)
    shown.root.querySelector<HTMLElement>('[aria-label="Rename Turin"]')?.focus()
    await press('{Enter}')
    shown.find('.rename input').focus()
    await press('{Escape}')
    expect(held(shown)).toContain('Turin')
    shown.root.querySelector<HTMLElement>('[aria-label="Edit"]')?.click()
    await until(() => shown.root.activeElement?.closest('.editor') !== null)
    await press('{Escape}')
    expect(held(shown)).toBe('Edit')
  })
})

describe('the look', () => {
  // Where nothing points, as in Firefox here, these buttons take no room.
  it.skipIf(server.browser === 'firefox')(
    'leaves between two messages the room of what one can do with the first, and no more',
    async () => {
      const { fake, root } = await show()
      fake.add(said('user', 'Hello'), said('assistant', 'Hi'), said('user', 'Trains?'))
      await frame()
      const edges = [...root.querySelectorAll('.bubble, .prose')].map((each) => each.getBoundingClientRect())
      const gaps = edges.slice(1).map(({ top }, place) => top - (edges[place]?.bottom ?? 0))
      for (const gap of gaps) expect(gap).toBeLessThan(28)
      for (const gap of gaps) expect(gap).toBeGreaterThan(23)
    },
  )

  it.each(['en', 'ar'])('has no dot at the end of a line of a fact: %s', async (lang) => {
    await page.viewport(320, 720)
    const { find, root } = await show({
      attributes: { lang },
      prepare: (fake) => {
        fake.facts = [fact('Tea', { pinned: true, kind: 'preference' })]
      },
    })
    find('.to-memory').click()
    await until(() => root.querySelector('.fact') !== null)
    const labels = [...root.querySelectorAll<HTMLElement>('.fact .labels > *')]
    for (const each of labels) {
      expect(getComputedStyle(each, '::after').content).toBe('none')
      // Before what begins a line it is outside of the box, which is clipped.
      expect(getComputedStyle(each, '::before').insetInlineStart).toBe('-9px')
    }
    expect(getComputedStyle(find('.fact .labels')).overflow).toBe('clip')
    await page.viewport(414, 896)
  })

  it.each(
    [320, 360].flatMap((width) =>
      ['en', 'de', 'ar'].flatMap((lang) => ['page', 'bottom-right'].map((to) => [width, lang, to] as const)),
    ),
  )(
    'gives a title two lines in %s px, %s, %s, and one to where it is kept and to the demo',
    async (...at) => {
      const [width, lang, placement] = at
      await page.viewport(width, 720)
      const { fake, find } = await show({ attributes: { lang, placement } })
      const titles = {
        en: 'To Turin, and back in May',
        de: 'Nach Turin und im Mai zurück',
        ar: 'إلى تورينو والعودة',
      }
      fake.become({ session: session(titles[lang as 'en']) })
      await frame()
      const [home, demo] = ['.home span', '.home .badge'].map((each) => find(each).getBoundingClientRect())
      expect(demo?.top).toBeLessThan(home?.bottom ?? 0)
      for (const each of ['.main h2', '.home span', '.home .badge']) {
        const { scrollWidth, clientWidth, scrollHeight, clientHeight } = find(each)
        expect([each, scrollWidth, scrollHeight]).toEqual([each, clientWidth, clientHeight])
      }
      expect(find('.main h2').clientHeight).toBeLessThan(41)
      expect(find('.main > .head').offsetHeight).toBeLessThan(80)
      // A longer one ends in sight.
      fake.become({ session: session('A title of some more words than there is room for '.repeat(3)) })
      await frame()
      expect(find('.main h2').clientHeight).toBeLessThan(41)
      await page.viewport(414, 896)
    },
  )

  it('is as large as the reader wants text to be, whatever the page makes of its root', async () => {
    const shown = await show()
    const sizes = (): readonly string[] => [
      getComputedStyle(field(shown)).fontSize,
      getComputedStyle(shown.button('Send')).inlineSize,
      getComputedStyle(shown.find('.frame')).inlineSize,
    ]
    const before = sizes()
    document.documentElement.style.fontSize = '62.5%'
    await frame()
    expect(sizes()).toEqual(before)
  })

  it('shows numbers and times as the reader writes them', async () => {
    const evening = new Date(2026, 10, 20, 21, 30).getTime()
    const shown = async (language: string, ...readers: string[]) => {
      const words = wordsOf(await loadStrings(language), {}, readers)
      return [words.time(evening), words.number(1_234.5)].map((text) => text.replace(/\s/g, ' '))
    }
    expect(await shown('en', 'en-US')).toEqual(['9:30 PM', '1,234.5'])
    expect(await shown('en', 'en-GB')).toEqual(['21:30', '1,234.5'])
    expect(await shown('en', 'de-AT', 'en-US')).toEqual(['21:30', '1,234.5'])
    expect(await shown('de', 'fr', 'de-AT')).toEqual(['21:30', '1 234,5'])
    expect(await shown('en')).toEqual(['9:30 PM', '1,234.5'])
  })

  it('shows the others where one message cannot be shown', async () => {
    const shown = await show()
    const odd = said('user', 'odd')
    shown.fake.add(
      said('user', 'one'),
      { ...odd, message: { ...odd.message, createdAt: 2 ** 53 - 1 } },
      said('user', 'two'),
    )
    await frame()
    expect(
      [...shown.root.querySelectorAll('.bubble, .list > .state')].map(({ textContent }) =>
        textContent.trim(),
      ),
    ).toEqual(['one', 'This message cannot be shown.', 'two'])
  })

  it('says one fault once', async () => {
    const shown = await show()
    const problem = (code: 'ERR_OFFLINE' | 'ERR_STORAGE_FULL' | 'ERR_MODEL') => ({
      code,
      message: '',
      retryable: true,
    })
    const edge = { ...session('Turin'), home: 'edge' as const }
    shown.fake.become({ session: edge, online: false, problem: problem('ERR_OFFLINE') })
    await frame()
    expect(shown.root.querySelectorAll('.notice')).toHaveLength(1)
    shown.fake.become({ online: true, storage: 'full', problem: problem('ERR_STORAGE_FULL') })
    await frame()
    expect(shown.root.querySelectorAll('.notice')).toHaveLength(1)
    shown.fake.become({ problem: problem('ERR_MODEL') })
    await frame()
    expect(shown.root.querySelectorAll('.notice')).toHaveLength(2)
  })
})
