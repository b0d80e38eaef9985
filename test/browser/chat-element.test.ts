import { afterEach, describe, expect, it, vi } from 'vitest'
import { page, server, userEvent } from 'vitest/browser'
import { clear, endMovements, frame, press, show, until, write } from './support/element.ts'
import { type FakeChat, FakePlimsollChat, said, session } from './support/fake-chat.ts'

afterEach(clear)

/** A conversation of which the end is in sight, and how many pixels are below what is seen. */
async function readAtEnd() {
  const shown = await show()
  shown.fake.add(
    ...Array.from({ length: 30 }, (_, place) => said('assistant', `Message ${place}\n\nwith two lines`)),
  )
  await frame()
  const scroller = shown.find('.scroller')
  const fromEnd = (): number => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight
  expect(fromEnd()).toBeLessThan(2)
  return { ...shown, scroller, fromEnd }
}

describe('opening', () => {
  it('takes no room on the page until it is opened, and opens nothing behind it', async () => {
    const before = document.body.getBoundingClientRect().height
    const element = document.createElement('plimsoll-chat') as FakePlimsollChat
    document.body.append(element)
    await frame()
    expect(document.body.getBoundingClientRect().height).toBe(before)
    expect(element.fake).toBeUndefined()
    const button = element.shadowRoot?.querySelector('button')
    expect(button?.ariaLabel).toBe('Open chat')
    expect(button?.ariaExpanded).toBe('false')
  })

  it('tells when it was opened and closed, reflects it, and gives the focus back', async () => {
    const heard: string[] = []
    for (const name of ['plimsoll-open', 'plimsoll-close']) {
      document.addEventListener(name, ({ type }) => heard.push(type))
    }
    const { element, root, find } = await show()
    expect(element.open).toBe(true)
    expect(root.activeElement).toBe(find('textarea'))
    await press('{Escape}')
    expect(element.open).toBe(false)
    expect(root.activeElement).toBe(find('.launcher'))
    expect(heard).toEqual(['plimsoll-open', 'plimsoll-close'])
  })

  // In Firefox nothing points.
  it.skipIf(server.browser === 'firefox')('keeps the colour of its button under the pointer', async () => {
    await page.viewport(1_000, 800)
    const { find } = await show()
    const colour = (): string => getComputedStyle(find('.launcher')).backgroundColor
    const before = colour()
    await userEvent.hover(find('.launcher'))
    await new Promise((done) => setTimeout(done, 300))
    expect(colour()).toBe(before)
    await page.viewport(414, 896)
  })

  it('takes properties that were set before it was defined', async () => {
    const element = document.createElement('plimsoll-late') as FakePlimsollChat
    Object.assign(element, { heading: 'Help desk', strings: { send: 'Off it goes' } })
    document.body.append(element)
    customElements.define('plimsoll-late', class extends FakePlimsollChat {})
    expect(element.getAttribute('heading')).toBe('Help desk')
    await element.show()
    await frame()
    const [send] = element.shadowRoot?.querySelectorAll<HTMLElement>('.go') ?? []
    expect(send?.ariaLabel).toBe('Off it goes')
    element.remove()
  })

  it('shows the conversation of its session, without one the newest, else an empty one', async () => {
    const sessions = [session('New'), session('Old')]
    const prepare = (fake: { setSessions: (of: typeof sessions) => void }): void => fake.setSessions(sessions)
    const named = await show({ attributes: { session: 'mine' }, prepare })
    expect(named.fake.calls).toEqual([['open', 'mine']])
    for (const attributes of [{}, { session: '' }]) {
      const newest = await show({ attributes, prepare })
      expect(newest.fake.calls).toEqual([['open', sessions[0]?.sessionId]])
    }
    const empty = await show()
    expect(empty.fake.calls).toEqual([['create']])
    expect(empty.text()).toContain('What can I do for you?')
  })

  it('has the choice of where a conversation is kept beside what a page shows first, not over it', async () => {
    const { element, find } = await show({ attributes: { placement: 'page', src: '' } })
    const first = document.createElement('div')
    first.slot = 'empty'
    first.style.blockSize = '3000px'
    element.append(first)
    await frame()
    const read = find('.scroller').getBoundingClientRect()
    expect(find('.scroller').scrollHeight).toBeGreaterThan(read.height)
    const choice = find('.homes').getBoundingClientRect()
    expect(choice.top).toBeGreaterThanOrEqual(read.bottom)
    expect(choice.bottom).toBeLessThanOrEqual(find('.composer').getBoundingClientRect().top)
    expect(find('.choice').textContent).toContain('Kept')
  })

  it('tells a guest when the service erases what it keeps, where a home is chosen, and among the data', async () => {
    const prepare = (fake: FakeChat): void => {
      fake.guestEnd = Date.UTC(2026, 11, 20, 12)
      fake.homes = ['edge']
    }
    const { fake, find, button, root, text } = await show({
      attributes: { src: 'https://edge.example' },
      prepare,
    })
    fake.become({ session: { ...session(''), home: 'edge' } })
    const told = 'You are a guest: what the service keeps of you is erased on Dec 20, 2026.'
    await until(() => find('.choice').textContent.includes(told))
    fake.become({ session: { ...session(''), home: 'local' } })
    await until(() => !find('.choice').textContent.includes(told))
    button('Memory').click()
    await until(() => root.querySelector('.side.memory .tabs') !== null)
    button('Your data').click()
    await until(() => find('.side.memory').textContent.includes(told))
    expect(text()).toContain(told)
  })

  it('says of a link that no conversation has its id, and offers the list', async () => {
    const prepare = (fake: FakeChat): void => {
      fake.setSessions([session('Turin')])
      fake.isMissing = true
    }
    const unlinked = await show({ attributes: { session: 'gone' }, prepare })
    expect(unlinked.text()).toContain('What can I do for you?')
    const { element, fake, find, text } = await show({
      attributes: { session: 'gone', linked: '' },
      prepare,
    })
    expect(text()).toContain('There is no conversation here')
    expect(find('.empty').role).toBe('status')
    element.lang = 'de'
    await expect.poll(text).toContain('wurde gelöscht oder gehört nicht Ihnen')
    find<HTMLElement>('.empty .primary').click()
    await expect.poll(() => find('.sessions').classList.contains('shown')).toBe(true)
    fake.isMissing = false
    find<HTMLElement>('.empty .outlined').click()
    await expect.poll(text).toContain('Was kann ich für Sie tun?')
  })

  it('says of a conversation that was deleted while it showed that it is gone, without a link too', async () => {
    const { fake, text } = await show()
    fake.add(said('user', 'Hello'))
    await frame()
    fake.become({ messages: [], isMissing: 'deleted' })
    await until(() => text().includes('It was deleted, or is not yours.'))
    fake.add(said('user', 'Once more'))
    await until(() => !text().includes('It was deleted'))
  })

  it('says there of no new messages, where one read above the end', async () => {
    const { fake, find, root, text } = await show({
      prepare: (prepared) => {
        prepared.setSessions([session('Long')])
        prepared.log = Array.from({ length: 60 }, (_, at) =>
          said(at % 2 ? 'assistant' : 'user', `Line ${at}`),
        )
      },
    })
    find('.scroller').scrollTop = 0
    await until(() => root.querySelector('.to-end') !== null)
    fake.become({ messages: [], hasOlder: false, isMissing: 'deleted' })
    await until(() => text().includes('There is no conversation here'))
    expect(root.querySelector('.to-end')).toBe(null)
  })

  it('lets one choose where the next one is kept there too, and begins others in the same home', async () => {
    const { fake, find, button } = await show({
      attributes: { session: 'gone', linked: '', src: '' },
      prepare: (fake) => {
        fake.isMissing = true
      },
    })
    fake.isMissing = false
    find<HTMLInputElement>('.homes input').click()
    expect(fake.state.session).toMatchObject({ sessionId: 'fresh', home: 'edge' })
    await frame()
    button('New conversation').click()
    expect(fake.state.session?.home).toBe('edge')
  })

  it('says that it opens where that takes a while, and not before', async () => {
    let open = (): void => {}
    const isAsked = new Promise<void>((resolve) => {
      open = resolve
    })
    class Slow extends FakePlimsollChat {
      protected override async openChat(settings: object) {
        await isAsked
        return super.openChat(settings)
      }
    }
    customElements.define('plimsoll-slow', Slow)
    const element = document.createElement('plimsoll-slow') as FakePlimsollChat
    document.body.append(element)
    const shown = element.show()
    const frame = element.shadowRoot?.querySelector('.frame')
    expect(frame?.textContent).toBe('')
    await until(() => frame?.textContent.includes('Opening') === true)
    open()
    await shown
    expect(frame?.querySelector('.wait')).toBeNull()
    element.remove()
  })

  it('says that it could not be opened, and tries again', async () => {
    let attempts = 0
    class Broken extends FakePlimsollChat {
      protected override async openChat(settings: object) {
        attempts++
        if (attempts === 1) throw new Error('No network')
        return super.openChat(settings)
      }
    }
    customElements.define('plimsoll-broken', Broken)
    const element = document.createElement('plimsoll-broken') as FakePlimsollChat
    const problems: unknown[] = []
    element.addEventListener('plimsoll-error', (event) =>
      problems.push((event as CustomEvent).detail.problem.code),
    )
    document.body.append(element)
    await element.show()
    expect(problems).toEqual(['ERR_INTERNAL'])
    const again = element.shadowRoot?.querySelector<HTMLElement>('.wait button')
    again?.click()
    await until(() => element.shadowRoot?.querySelector('textarea') !== null)
    element.remove()
  })

  it('closes what is behind it when it leaves the page, and not when it is moved', async () => {
    const { element, fake } = await show()
    const other = document.createElement('div')
    document.body.append(other)
    other.append(element)
    await frame()
    expect(fake.calls).not.toContainEqual(['close'])
    other.remove()
    await frame()
    expect(fake.calls).toContainEqual(['close'])
  })
})

describe('writing', () => {
  it('sends with Enter, begins a line with Shift and Enter, and leaves Enter to an input method', async () => {
    const { fake, find } = await show()
    await write(find<HTMLTextAreaElement>('textarea'), 'One{Shift>}{Enter}{/Shift}two')
    const composing = new KeyboardEvent('keydown', {
      key: 'Enter',
      isComposing: true,
      bubbles: true,
      cancelable: true,
    })
    find('textarea').dispatchEvent(composing)
    expect(composing.defaultPrevented).toBe(false)
    expect(fake.calls.map(([name]) => name)).not.toContain('send')
    await press('{Enter}')
    expect(fake.calls.at(-1)).toEqual(['send', 'One\ntwo'])
    expect(find<HTMLTextAreaElement>('textarea').value).toBe('')
  })

  it('lets one type while a reply comes, and sends that too', async () => {
    const { fake, find, button } = await show()
    fake.stream({ text: 'A long ' })
    await frame()
    expect(button('Stop the reply')).toBeDefined()
    await write(find<HTMLTextAreaElement>('textarea'), 'Wait')
    await frame()
    await press('{Enter}')
    expect(fake.calls.at(-1)).toEqual(['send', 'Wait'])
  })

  it('puts what could not be kept back where it was typed', async () => {
    const { fake, find } = await show()
    fake.keeps = false
    await write(find<HTMLTextAreaElement>('textarea'), 'Keep me{Enter}')
    await frame()
    expect(find<HTMLTextAreaElement>('textarea').value).toBe('Keep me')
  })

  it('stops with its button and with Escape, before Escape closes it', async () => {
    const { element, fake, button } = await show()
    fake.stream({ text: 'On and on' })
    await frame()
    button('Stop the reply').click()
    expect(fake.calls.at(-1)).toEqual(['stop'])
    fake.stream({ text: 'On and on' })
    await press('{Escape}')
    expect(fake.calls.at(-1)).toEqual(['stop'])
    expect(element.open).toBe(true)
    await press('{Escape}')
    expect(element.open).toBe(false)
  })
})

describe('messages', () => {
  it('offers no other reply without a network where the service makes it', async () => {
    const { fake, button } = await show()
    fake.add(said('user', 'Hello'), said('assistant', 'Hi'))
    for (const [home, online, isOff] of [
      ['edge', true, false],
      ['edge', false, true],
      ['local', false, false],
    ] as const) {
      fake.become({ online, session: { sessionId: 'fresh', title: '', createdAt: 0, home } })
      await frame()
      expect(button('Try another reply').matches(':disabled'), `${home}, ${online}`).toBe(isOff)
    }
  })

  it('says of a message that has no reply that it was read with the next one, once that is answered', async () => {
    const { fake, text } = await show()
    const passed = 'No reply of its own: the model read it with the next message.'
    fake.add(said('user', 'Hello?'))
    fake.add(said('user', 'Are you there?'))
    await until(() => text().includes('Are you there?'))
    expect(text()).not.toContain(passed)
    fake.add(said('assistant', 'Yes.'))
    await until(() => text().includes(passed))
    expect(text().split(passed)).toHaveLength(2)
  })

  it('says of a reply that it was stopped', async () => {
    const { fake, text } = await show()
    const reply = said('assistant', 'Half of')
    fake.add(reply)
    await frame()
    expect(text()).not.toContain('Stopped')
    const { message } = said('assistant', 'Half of')
    fake.add({ ...reply, message: { ...message, metadata: { stopped: true } } })
    await until(() => text().includes('Stopped'))
  })

  it('copies a message, and says so', async () => {
    const copied: string[] = []
    navigator.clipboard.writeText = async (text) => void copied.push(text)
    const { fake, button } = await show()
    fake.add(said('assistant', '**Bold**'))
    await frame()
    button('Copy').click()
    await frame()
    expect(copied).toEqual(['**Bold**'])
    expect(button('Copied')).toBeDefined()
  })

  it('copies a code block, without its colours and its button', async () => {
    const copied: string[] = []
    navigator.clipboard.writeText = async (text) => void copied.push(text)
    const { fake, root, find, button } = await show()
    fake.add(said('assistant', '```ts\nconst a = 1\n```'))
    await until(() => root.querySelector('.hljs-keyword') !== null)
    button('Copy the code').click()
    await frame()
    expect(copied).toEqual(['const a = 1'])
    expect(find('.code button').textContent).toBe('Copied')
  })

  it('edits a past message in its place, and switches between its versions', async () => {
    const { fake, find, button, root } = await show()
    fake.add(said('user', 'First', { version: { index: 2, count: 3 } }), said('assistant', 'Reply'))
    await until(() => root.querySelector('.versions')?.ariaLabel === 'Version 2 of 3')
    const id = fake.state.messages[0]?.message.id
    button('The version before').click()
    expect(fake.calls.at(-1)).toEqual(['switchVersion', id, 1])
    button('Edit').click()
    await until(() => root.querySelector('.editor') !== null)
    await write(find<HTMLTextAreaElement>('.editor textarea'), 'Second')
    await press('{Enter}')
    expect(fake.calls.at(-1)).toEqual(['edit', id, 'Second'])
    button('Try another reply').click()
    expect(fake.calls.at(-1)).toEqual(['regenerate', fake.state.messages[1]?.message.id])
  })

  it('keeps the editor open with its text when the edit could not be kept', async () => {
    const { fake, find, button, root } = await show()
    fake.add(said('user', 'First'))
    await frame()
    button('Edit').click()
    await until(() => root.querySelector('.editor') !== null)
    fake.keeps = false
    await write(find<HTMLTextAreaElement>('.editor textarea'), 'Second')
    await press('{Enter}')
    expect(find<HTMLTextAreaElement>('.editor textarea').value).toBe('Second')
  })

  it('keeps what was written where another tab has put another message there, and nowhere else', async () => {
    const { fake, find, button, root } = await show()
    const begin = async (text: string): Promise<void> => {
      fake.become({ messages: [said('user', 'First')] })
      await frame()
      button('Edit').click()
      await until(() => root.querySelector('.editor') !== null)
      await write(find<HTMLTextAreaElement>('.editor textarea'), text)
    }
    const draft = (): string => find<HTMLTextAreaElement>('.composer textarea').value
    const gone = async (): Promise<void> => {
      fake.become({ messages: [said('user', 'Of another tab')] })
      await until(() => root.querySelector('.editor') === null)
      await frame()
    }
    await begin('Second')
    await gone()
    expect(draft()).toBe('Second')
    expect(find<HTMLButtonElement>('.go').disabled).toBe(false)
    await begin('Third')
    await gone()
    expect(draft()).toBe('Second\nThird')
    await begin('Left out')
    await press('{Escape}')
    await gone()
    await begin('Sent')
    await press('{Enter}')
    await gone()
    await begin('Of who was here before')
    fake.become({ session: session('Another'), messages: [] })
    await until(() => root.querySelector('.editor') === null)
    await frame()
    expect(draft()).not.toMatch(/Left out|Sent|before/)
  })

  it('folds tool calls, and shows what they were given and gave', async () => {
    const { fake, find, text } = await show()
    fake.add(
      said('assistant', [{ type: 'tool-call', id: 'c1', name: 'find_trains', input: { to: 'Turin' } }]),
      said('tool', [{ type: 'tool-result', callId: 'c1', output: 'Two trains', isError: false }]),
    )
    await until(() => text().includes('Ran find_trains'))
    expect(text()).not.toContain('Two trains')
    find('details summary').click()
    await frame()
    expect(text()).toContain('Two trains')
    expect(text()).toContain('"to": "Turin"')
  })

  it('shows one thing that was remembered once, and to a developer its call too', async () => {
    const messages = [
      said(
        'assistant',
        [
          { type: 'tool-call', id: 'c1', name: 'memory_preference', input: { text: 'Likes trains' } },
          { type: 'tool-call', id: 'c2', name: 'memory_recall', input: { query: 'trains' } },
        ],
        { remembered: [{ factId: 'f1', text: 'Likes trains', trust: 'user', said: 'm' }] },
      ),
      said('tool', [
        { type: 'tool-result', callId: 'c1', output: 'Remembered', isError: false },
        { type: 'tool-result', callId: 'c2', output: 'Nothing', isError: false },
      ]),
    ]
    for (const [attributes, steps] of [
      [{}, ['Ran memory_recall']],
      [{ developer: '' }, ['Ran memory_preference', 'Ran memory_recall']],
    ] as const) {
      const { element, fake, root } = await show({ attributes })
      fake.add(...messages)
      await until(() => root.querySelector('.step') !== null)
      const [chip, ...others] = [...root.querySelectorAll('.chip')].map(({ textContent }) => textContent)
      expect(chip).toContain('Remembered: Likes trains · ')
      expect(others).toEqual([])
      expect([...root.querySelectorAll('summary')].map((step) => step.textContent.trim())).toEqual(steps)
      element.remove()
    }
  })

  it('shows nothing of what was remembered where the person has changed or forgotten it since', async () => {
    const { fake, find, text } = await show()
    fake.add(
      said('user', 'I like trains'),
      said('assistant', [{ type: 'tool-call', id: 'c1', name: 'memory_preference', input: {} }]),
      said('tool', [{ type: 'tool-result', callId: 'c1', output: 'Remembered', isError: false }]),
    )
    await frame()
    expect(text()).not.toContain('memory_preference')
    expect(find('.message.assistant').checkVisibility()).toBe(false)
  })

  it('puts the buttons of the page into a menu where there is little room', async () => {
    const { element, fake, find, button } = await show()
    expect(() => button('More')).toThrow()
    const own = document.createElement('button')
    own.slot = 'header'
    own.textContent = 'Inspector'
    let clicks = 0
    own.addEventListener('click', () => clicks++)
    element.append(own)
    fake.add(said('user', 'Hello'))
    await frame()
    expect(own.checkVisibility()).toBe(false)
    expect(() => button('Memory')).toThrow()
    button('More').click()
    await frame()
    expect([own.checkVisibility(), find('.to-more').ariaExpanded]).toEqual([true, 'true'])
    expect(button('Memory').querySelector('.label')?.checkVisibility()).toBe(true)
    // Beside the page's own, it looks as usable as they do.
    const colour = (element: Element): string => getComputedStyle(element).color
    expect(colour(button('Memory'))).toBe(colour(find('.main h2')))
    await press('{Escape}')
    expect([own.checkVisibility(), find('.to-more').ariaExpanded]).toEqual([false, 'false'])
    button('More').click()
    await frame()
    own.click()
    await frame()
    expect([clicks, own.checkVisibility()]).toEqual([1, false])
  })

  it('puts them there too while a panel stands beside, and keeps its header of one height', async () => {
    await page.viewport(1_280, 800)
    const { element, fake, find, button, root } = await show({ attributes: { placement: 'page' } })
    const own = document.createElement('button')
    own.slot = 'header'
    own.textContent = 'Keep when the disk is full'
    element.append(own)
    fake.become({ session: session('Remember the hotel is Adlon in Berlin '.repeat(5)) })
    await frame()
    const height = find('.main .head').offsetHeight
    expect([own.checkVisibility(), find('.to-more').checkVisibility()]).toEqual([true, false])
    button('Memory').click()
    await until(() => root.querySelector('.side.memory') !== null)
    expect([own.checkVisibility(), find('.to-more').checkVisibility()]).toEqual([false, true])
    expect(find('.main .head').offsetHeight).toBe(height)
    expect(find('.titles h2').offsetHeight).toBeLessThan(24)
    button('More').click()
    await frame()
    const [menu, main] = [find('.more'), find('.main')].map((each) => each.getBoundingClientRect())
    expect(own.checkVisibility()).toBe(true)
    expect(menu?.right).toBeLessThan(main?.right ?? 0)
    await page.viewport(414, 896)
  })

  it('undoes what was remembered by one click, and says on the chip how far that is', async () => {
    const { fake, button, find, root, text } = await show()
    const chip = { factId: 'f1', text: 'Likes trains', trust: 'user', said: 'm9' } as const
    const message = said('user', 'I like trains', { remembered: [chip] })
    fake.add(message)
    await frame()
    await until(() => /Remembered: Likes trains · from you, \w[\w ,]+\s*Undo/.test(text()))
    button('Undo: Likes trains').focus()
    button('Undo: Likes trains').click()
    expect(fake.calls.at(-1)).toEqual(['forget', 'f1'])
    fake.become({ messages: [{ ...message, remembered: [{ ...chip, undo: 'begun' }] }] })
    await frame()
    // One that is disabled would lose the focus to the page.
    expect(root.activeElement).toBe(find('.chip button'))
    fake.become({ messages: [{ ...message, remembered: [{ ...chip, text: '', undo: 'done' }] }] })
    await frame()
    expect(find('.chip span').textContent).toBe(
      'The fact is forgotten. What was said stays, and the model still reads it.',
    )
    expect(find('.chip button').textContent).toBe('Forget this message')
    expect(root.activeElement).toBe(find('.chip button'))
  })

  it('says below a reply that it reached its length limit, and goes on where nothing came after it', async () => {
    const { fake, button, text, root } = await show()
    const cut = said('assistant', 'Two trains ')
    fake.add(said('user', 'Which trains?'), {
      ...cut,
      message: { ...cut.message, metadata: { finishReason: 'length' } },
    })
    await until(() => text().includes('The reply reached its maximum length.'))
    button('Go on').click()
    expect(fake.calls.at(-1)).toEqual(['send', 'Go on'])
    fake.add(said('user', 'Go on'))
    await frame()
    expect(text()).toContain('The reply reached its maximum length.')
    expect(root.querySelector('.state button')).toBe(null)
  })

  it('says below a reply that it was cut off, and tries again where nothing came after it', async () => {
    const { fake, button, text, root } = await show()
    const cut = said('assistant', 'Two trains ')
    const message = { ...cut.message, metadata: { stopped: 'error' } }
    fake.add(said('user', 'Which trains?'), { ...cut, message })
    await until(() => text().includes('The reply was cut off.'))
    // Once: nothing above the messages says the same.
    fake.become({ problem: { code: 'ERR_MODEL', message: 'it broke off', retryable: true } })
    await frame()
    expect(root.querySelector('.notice')).toBe(null)
    // What else went wrong is said.
    fake.become({ problem: { code: 'ERR_INTERNAL', message: 'it failed', retryable: false } })
    await frame()
    expect(text()).toContain('Something went wrong.')
    fake.become({ problem: { code: 'ERR_MODEL', message: 'it broke off', retryable: true } })
    await frame()
    expect(button('Try again').className).toBe('outlined')
    button('Try again').click()
    expect(fake.calls.at(-1)).toEqual(['retry', undefined])
    fake.add(said('user', 'Go on'))
    await frame()
    expect(text()).toContain('The reply was cut off.')
    expect(root.querySelector('.state button')).toBe(null)
    expect(text()).toContain('The model could not answer.')
  })

  it('says of what another version of a message left that it is remembered, and undoes it', async () => {
    const { fake, button, find, root, text } = await show()
    const chip = { factId: 'f1', text: 'Likes window seats', trust: 'user' } as const
    const message = said('user', 'Aisle seats', { version: { index: 2, count: 2 }, remembered: [chip] })
    fake.add(message)
    await until(() => text().includes('Remembered from another version: Likes window seats'))
    button('Undo: Likes window seats').click()
    expect(fake.calls.at(-1)).toEqual(['forget', 'f1'])
    fake.become({ messages: [{ ...message, remembered: [{ ...chip, text: '', undo: 'done' }] }] })
    await until(() => text().includes('The fact is forgotten.'))
    expect(find('.chip').textContent).not.toContain('the model still reads it')
    expect(root.querySelector('.chip button')).toBe(null)
  })

  it('forgets a message that is a file alone', async () => {
    const { fake, button, root, text } = await show()
    const file = said('user', [{ type: 'media', mediaType: 'text/plain', name: 'notes.txt', ref: 'a' }])
    fake.add(file)
    await frame()
    button('Forget this message').click()
    await until(() => root.querySelector('.forgetting .danger') !== null)
    button('Forget').click()
    await until(() => text().includes('Forgotten on'))
    expect(fake.calls).toContainEqual(['forgetMessage', file.message.id])
  })

  it('forgets a message after a question, with the call that noted it, and says what went', async () => {
    const { fake, button, find, root, text } = await show()
    const call = {
      type: 'tool-call',
      id: 'c',
      name: 'memory_preference',
      input: { text: 'Windows' },
    } as const
    const result = { type: 'tool-result', callId: 'c', name: call.name, output: 'Remembered.' } as const
    const messages = [
      said('user', 'Hello'),
      said('user', 'I like windows', {
        remembered: [{ factId: 'f1', text: '', trust: 'user', said: 'm', undo: 'done' }],
      }),
      said('assistant', [call]),
      said('tool', [result as never]),
      said('assistant', 'I will look for one.'),
    ]
    const [, said_, noted, told] = messages.map(({ message: { id } }) => id)
    fake.add(...messages)
    await frame()
    const forget = () =>
      find(`[data-message=${said_}] .foot`).querySelector<HTMLElement>('[aria-label="Forget this message"]')
    forget()?.click()
    await until(() => text().includes('Other messages stay'))
    await until(() => root.activeElement === button('Cancel'))
    await press('{Escape}')
    expect(root.querySelector('.forgetting')).toBe(null)
    expect(root.activeElement).toBe(find(`[data-message=${said_}]`))
    // Back to what asked. In Firefox nothing points, so that it shows at a message that is touched.
    if (server.browser !== 'firefox') {
      forget()?.focus()
      forget()?.click()
      await until(() => root.activeElement?.matches('.forgetting .outlined') === true)
      await press('{Escape}')
      await until(() => root.activeElement === forget())
    }
    forget()?.click()
    await until(() => root.querySelector('.forgetting .danger') !== null)
    fake.refuses = 'ERR_OFFLINE'
    button('Forget').click()
    await until(() => find('.forgetting').textContent.includes('The service cannot be reached.'))
    fake.refuses = undefined
    button('Forget').click()
    await until(() => text().includes('Gone: on this device.'))
    // Two of the three were never seen: a call and its result, one step.
    expect(text()).toMatch(/\b1 message, .*\b1 step of the reply/)
    const asked = fake.calls.flatMap(([name, id]) => (name === 'forgetMessage' ? [id] : []))
    expect(asked.slice(1)).toEqual([noted, told, said_])
    expect(text()).not.toContain('I like windows')
    expect(text()).toContain('I will look for one.')
    // Where it stood, and where a reader goes on.
    await until(() => root.activeElement === find('.forgetting'))
    expect(find('.forgetting').parentElement?.textContent).toContain('Hello')
    await press('{Escape}')
    expect(root.querySelector('.forgetting')).toBe(null)
    await until(() => root.activeElement?.textContent?.includes('Hello') === true)
  })

  it('says that replies may repeat what was forgotten, and offers to forget the reply to it', async () => {
    const { fake, button, find, root, text } = await show()
    const messages = [
      said('user', 'Hello'),
      said('user', 'My secret is xylophone.'),
      said('assistant', 'You said: “My secret is xylophone.”'),
      said('user', 'Thanks'),
      said('assistant', 'Not at all.'),
    ]
    const [, secret, repeats, , last] = messages.map(({ message: { id } }) => id)
    fake.add(...messages)
    await frame()
    const forget = async (id = '') => {
      find(`[data-message=${id}] [aria-label="Forget this message"]`).click()
      await until(() => root.querySelector('.forgetting .danger') !== null)
    }
    await forget(secret)
    expect(text()).toContain('also replies that repeat it')
    button('Forget').click()
    await until(() => text().includes('Replies may repeat it, and the model still reads them.'))
    button('Forget the reply to it').click()
    await until(() => root.querySelector(`[data-message=${repeats}] .forgetting .danger`) !== null)
    button('Forget').click()
    await until(() => !text().includes('xylophone'))
    await until(() => text().includes('Forgotten on'))
    expect(text()).not.toContain('Replies may repeat it')
    await forget(last)
    button('Forget').click()
    await until(() => !text().includes('Not at all'))
    expect(text()).not.toContain('Replies may repeat it')
  })

  it.each([
    [true, 'Gone: on this device'],
    [false, 'Perhaps not all is gone on this device.'],
  ])('says at a message once what did not hear of it has done it, %s', async (isDone, says) => {
    const { fake, button, find, root, text } = await show()
    let resolve = (_: boolean): void => {}
    fake.arrival = new Promise((done) => {
      resolve = done
    })
    const messages = [said('user', 'Hello'), said('assistant', 'Hi.')]
    fake.add(...messages)
    await frame()
    find(`[data-message=${messages[0]?.message.id}] [aria-label="Forget this message"]`).click()
    await until(() => root.querySelector('.forgetting .danger') !== null)
    button('Forget').click()
    await until(() => text().includes('Perhaps not all is gone on this device.'))
    resolve(isDone)
    await frame()
    await until(() => text().includes(says))
  })

  it('forgets with a message what a reply says in the step that noted it, and says so before', async () => {
    const { fake, button, find, root, text } = await show()
    const call = (id: string, name: string) =>
      ({ type: 'tool-call', id, name, input: { text: 'Windows' } }) as const
    const result = (callId: string, name: string) =>
      ({ type: 'tool-result', callId, name, output: 'Windows' }) as never
    const messages = [
      said('user', 'I like windows'),
      said('assistant', [
        { type: 'text', text: 'Noted: windows.' },
        call('c', 'memory_preference'),
        call('d', 'find_seats'),
      ]),
      said('tool', [result('c', 'memory_preference')]),
      said('tool', [result('d', 'find_seats')]),
      said('assistant', 'There are two seats.'),
    ]
    const [said_, noted, one, other] = messages.map(({ message: { id } }) => id)
    fake.add(...messages)
    await frame()
    find(`[data-message=${said_}] [aria-label="Forget this message"]`).click()
    await until(() => text().includes('The part of the reply in which it was remembered goes too.'))
    await until(() => root.querySelector('.forgetting .danger') !== null)
    button('Forget').click()
    await until(() => text().includes('Forgotten on'))
    expect(fake.calls.flatMap(([name, id]) => (name === 'forgetMessage' ? [id] : []))).toEqual([
      ...[noted, one, other],
      said_,
    ])
    expect(text()).toMatch(/\b2 messages, /)
    expect(text()).not.toContain('step of the reply')
    expect(text()).toContain('There are two seats.')
  })

  it('keeps a file that was sent alone where the reply to it is forgotten', async () => {
    const { fake, button, find, root, text } = await show()
    const file = said('user', [{ type: 'media', mediaType: 'text/plain', name: 'notes.txt', ref: 'a' }])
    const reply = said('assistant', 'Three notes.')
    fake.add(file, reply)
    await frame()
    find(`[data-message=${reply.message.id}] [aria-label="Forget this message"]`).click()
    await until(() => root.querySelector('.forgetting .danger') !== null)
    expect(text()).not.toContain('The part of the reply')
    button('Forget').click()
    await until(() => text().includes('Forgotten on'))
    expect(fake.calls.filter(([name]) => name === 'forgetMessage')).toEqual([
      ['forgetMessage', reply.message.id],
    ])
  })

  it('says that the only message is forgotten, and a title made of it, though none is left to say it at', async () => {
    const { fake, button, root, text } = await show()
    fake.add(said('user', 'My name is Ada'))
    const named = session('My name is Ada')
    fake.setSessions([named])
    fake.become({ session: named })
    await frame()
    button('Forget this message').click()
    await until(() => root.querySelector('.forgetting .danger') !== null)
    button('Forget').click()
    await until(() => text().includes('Forgotten on'))
    expect(root.querySelector('.bubble')).toBe(null)
    expect(fake.calls).toContainEqual(['rename', named.sessionId, 'New conversation'])
  })

  it('calls a conversation after what shows once nothing is left of a version, unless it has a name', async () => {
    const renamed = async (title: string): Promise<unknown> => {
      const { fake, button, root, text } = await show()
      fake.otherVersion = [said('user', 'Four five'), said('assistant', 'Nine')]
      fake.add(said('assistant', 'Six'))
      const named = session(title)
      fake.setSessions([named])
      fake.become({ session: named })
      await frame()
      button('Forget this message').click()
      await until(() => root.querySelector('.forgetting .danger') !== null)
      button('Forget').click()
      await until(() => text().includes('Nine'))
      await until(() => fake.calls.some(([name]) => name === 'forgetMessage'))
      await frame()
      return fake.calls.find(([name]) => name === 'rename')?.[2]
    }
    expect(await renamed('New conversation')).toBe('Four five')
    expect(await renamed('My sums')).toBe(undefined)
  })

  it('shows all of a long fact on a phone, and its undo on one line', async () => {
    const text = 'Likes trains along the lake, two seats by the window, and no hurry at all on the way'
    await page.viewport(360, 800)
    const { fake, find, root } = await show()
    const chip = { factId: 'f1', text, trust: 'assistant', said: 'm9' } as const
    fake.add(said('user', 'I like trains', { remembered: [chip] }))
    await until(() => root.querySelector('.chip button') !== null)
    const undo = find('.chip button')
    expect(undo.offsetHeight).toBeLessThan(2 * Number.parseFloat(getComputedStyle(undo).lineHeight))
    const told = find('.chip span')
    expect([told.scrollWidth, told.scrollHeight]).toEqual([told.clientWidth, told.clientHeight])
    await page.viewport(414, 896)
  })

  it('is called what it is about, the whole of it at a long title', async () => {
    const long = 'A weekend in Turin with the slow train, two seats by the window and a hotel by the station'
    const { find, fake, button, root } = await show()
    expect(find('.main h2').textContent).toBe('New conversation')
    fake.become({ session: session(long) })
    await frame()
    expect(find('.main h2').title).toBe(long)
    fake.setSessions([session(long)])
    button('Conversations').click()
    await until(() => root.querySelector('.entry') !== null)
    expect(find('.entry .open span').title).toBe(long)
  })

  it('says of a message that it waits or failed, and what one can do', async () => {
    const { fake, root, find, text, button } = await show()
    fake.add(said('user', 'A', { delivery: 'queued' }))
    await frame()
    const isSeen = (): boolean => find('.state').checkVisibility({ visibilityProperty: true })
    // With a network most are sent before that.
    expect([find('.state').textContent.includes('Waiting for a connection'), isSeen()]).toEqual([true, false])
    // It is an animation that keeps it back, also for who wants none.
    const calm = root.adoptedStyleSheets
      .flatMap(({ cssRules }) => [...cssRules])
      .flatMap((rule) =>
        rule instanceof CSSMediaRule && /reduced-motion/.test(rule.conditionText) ? rule : [],
      )
    const stops = calm
      .flatMap(({ cssRules }) => [...cssRules])
      .flatMap((rule) => (rule instanceof CSSStyleRule && rule.style.animationName === 'none' ? rule : []))
    expect(stops.map(({ selectorText }) => find('.state').matches(selectorText))).toEqual([false])
    expect(stops.map(({ selectorText }) => find('.chat').matches(selectorText))).toEqual([true])
    await until(isSeen)
    // Nobody waits for a connection who is to sign in.
    const auth = { code: 'ERR_UNAUTHENTICATED', message: 'm', retryable: true } as const
    fake.become({ problem: auth })
    await frame()
    expect([find('.state').textContent.includes('Not sent'), isSeen()]).toEqual([true, true])
    fake.become({ online: false, problem: undefined })
    fake.add(said('user', 'A again', { delivery: 'queued' }))
    await frame()
    expect(
      [...root.querySelectorAll('.state')].map((each) => each.checkVisibility({ visibilityProperty: true })),
    ).toEqual([true, true])
    const problem = { code: 'ERR_RATE_LIMIT' as const, message: 'secret detail', retryable: true }
    fake.add(said('user', 'B', { delivery: 'failed', problem }))
    await frame()
    expect(text()).toContain('Not sent: That was a lot at once. Wait a little.')
    expect(text()).not.toContain('secret detail')
    button('Try again').click()
    expect(fake.calls.at(-1)).toEqual(['retry', fake.state.messages[2]?.message.id])
  })

  it('names the file that it refuses', async () => {
    const { fake, text } = await show()
    const problem = { code: 'ERR_UNSUPPORTED_MEDIA_TYPE' as const, message: 'm', retryable: false }
    fake.become({ problem: { ...problem, id: 'dot.png' } })
    await frame()
    expect(text()).toContain('Not of the type in the name: dot.png.')
  })

  it('refuses a file when it is added, and not only when it is sent', async () => {
    const { button, fake, find, root, text } = await show()
    expect(button('Attach files, up to 8 MiB each').title).toBe('Attach files, up to 8 MiB each')
    const add = (...files: readonly File[]): void => {
      const all = new DataTransfer()
      for (const file of files) all.items.add(file)
      const input = find<HTMLInputElement>('input[type=file]')
      input.files = all.files
      input.dispatchEvent(new Event('change'))
    }
    const chips = (): string[] =>
      [...root.querySelectorAll('.files .chip span')].map(({ textContent }) => textContent ?? '')
    add(new File([new Uint8Array(8 * 1024 * 1024 + 1)], 'film.mov'), new File(['Seats'], 'notes.txt'))
    await until(() => text().includes('Larger than 8 MiB: film.mov.'))
    expect(chips()).toEqual(['notes.txt'])
    add(new File(['no picture'], 'dot.png', { type: 'image/png' }))
    await until(() => text().includes('Not of the type in the name: dot.png.'))
    expect(chips()).toEqual(['notes.txt'])
    add(new File([new Uint8Array(8 * 1024 * 1024)], 'song.mp3'))
    await until(() => chips().length === 2)
    await frame()
    expect(text()).not.toContain('dot.png')
    expect(fake.calls.some(([name]) => name === 'send')).toBe(false)
  })

  it('says offline, full, lost, memory, blocked and away in words', async () => {
    const { fake, root, text } = await show()
    const said = async (change: Parameters<typeof fake.become>[0]): Promise<string> => {
      fake.become(change)
      await frame()
      return text()
    }
    expect(await said({ storage: 'full' })).toContain('no room left')
    expect(await said({ storage: 'memory' })).toContain('keeps nothing')
    expect(await said({ storage: 'lost' })).toContain('is gone')
    // What comes of it is said once.
    const problem = { code: 'ERR_STORAGE_LOST', message: 'm', retryable: false } as const
    expect((await said({ problem })).split('is gone')).toHaveLength(2)
    expect(await said({ storage: 'ok' })).toContain('is gone')
    expect(await said({ storage: 'blocked' })).toContain('Reload')
    const home = { sessionId: 'e', title: '', home: 'edge' as const, createdAt: 0 }
    expect(await said({ storage: 'ok', online: false, session: home })).toContain('You are offline')
    // In one bar, whichever told of it, and only where the browser is online.
    const unreached = { code: 'ERR_OFFLINE', message: 'no answer', retryable: true } as const
    expect(await said({ storage: 'away', problem: unreached })).not.toContain('cannot be reached')
    expect(await said({ online: true })).toContain('The service cannot be reached.')
    expect(root.querySelectorAll('.notice')).toHaveLength(1)
    expect(await said({ storage: 'ok' })).toContain('The service cannot be reached.')
    expect(root.querySelectorAll('.notice')).toHaveLength(1)
    expect(await said({ problem: undefined })).not.toContain('cannot be reached')
    expect(text()).toContain('At the service')
  })

  it('shows a file that was sent by its name, and one without by its type', async () => {
    const { fake, root } = await show()
    fake.add(
      said('user', [
        { type: 'media', mediaType: 'text/plain', name: '<b>notes</b>.txt', ref: 'a' },
        { type: 'media', mediaType: 'image/png', ref: 'b' },
      ]),
    )
    await frame()
    const files = [...root.querySelectorAll('.message.user .chip')].map(({ textContent }) =>
      textContent.trim(),
    )
    expect(files).toEqual(['<b>notes</b>.txt', 'Attachment, image/png'])
  })

  it('names the scripted demo as what it is', async () => {
    const { text, fake, find } = await show()
    expect(text()).toContain('Demo')
    // Where a service answers there is nothing to choose.
    expect(find('.badge').tagName).toBe('BUTTON')
    const session = { sessionId: 'e', title: '', home: 'edge', createdAt: 0 } as const
    fake.become({ session })
    await frame()
    expect([find('.badge').tagName, find('.badge').textContent]).toEqual(['SPAN', 'Demo'])
    // Its word stands in the middle of its pill.
    const word = document.createRange()
    word.selectNodeContents(find('.badge'))
    const [pill = 0, inside = 0] = [find('.badge'), word].map((one) => {
      const { top, bottom } = one.getBoundingClientRect()
      return (top + bottom) / 2
    })
    expect(Math.abs(pill - inside)).toBeLessThanOrEqual(1)
    fake.become({ model: { id: 'real', isDemo: false } })
    await frame()
    expect(text()).not.toContain('Demo')
  })
})

describe('streaming', () => {
  it('draws at most once a frame, and says whole sentences aloud', async () => {
    const { fake, root } = await show()
    let drawn = 0
    const drawing = new MutationObserver((records) => {
      drawn += records.length
    })
    drawing.observe(root.querySelector('.list') as Node, {
      subtree: true,
      childList: true,
      characterData: true,
    })
    let text = ''
    for (let piece = 0; piece < 200; piece++) {
      text += `word${piece} `
      fake.stream({ text })
    }
    await frame()
    // One for each piece would be 200 and more.
    expect(drawn).toBeLessThanOrEqual(20)
    expect(root.querySelector('[aria-live]')?.textContent).toBe('A reply is being written.')
    fake.stream({ text: 'A sentence that is whole. And one that' })
    await frame()
    expect(root.querySelector('[aria-live]')?.textContent).toBe('A reply is being written.')
    fake.become({ reply: undefined })
    await frame()
    // Whether all of it came, nobody knows here.
    expect(root.querySelector('[aria-live]')?.textContent).toContain('The reply has ended.')
    // Nor does it stay there for who comes next.
    fake.drafts.tell('gone')
    expect(root.querySelector('[aria-live]')?.textContent).toBe('')
    fake.stream({ text: 'Of Ada. And' })
    await frame()
    fake.drafts.tell('left')
    fake.become({ reply: undefined })
    await frame()
    expect(root.querySelector('[aria-live]')?.textContent).not.toContain('Of Ada')
  })

  it('says no more what is to be forgotten, or was said in another conversation', async () => {
    const { fake, root, button } = await show()
    for (const name of ['Forget this message', 'New conversation']) {
      fake.become({ messages: [said('user', 'Which one?'), said('assistant', 'The walrus.')] })
      fake.stream({ text: 'The walrus.' })
      await frame()
      fake.stream({ text: 'The walrus.' })
      await frame()
      fake.become({ reply: undefined })
      await frame()
      const live = (): string => root.querySelector('[aria-live]')?.textContent ?? ''
      expect(live()).toContain('walrus')
      button(name).click()
      await frame()
      expect(live()).not.toContain('walrus')
    }
  })

  it('stays at the end where a message grows before the browser tells that it was scrolled there', async () => {
    const { root, scroller, fromEnd } = await readAtEnd()
    const newest = [...root.querySelectorAll<HTMLElement>('[data-message]')].at(-1)
    if (newest) newest.style.paddingBlockEnd = '200px'
    expect(fromEnd()).toBeGreaterThan(100)
    scroller.dispatchEvent(new Event('scroll'))
    await frame()
    expect(fromEnd()).toBeLessThan(2)
  })

  it('stays at the end while one reads there, and where one is when one has scrolled up', async () => {
    const { fake, button, scroller, fromEnd } = await readAtEnd()
    scroller.scrollTop = 300
    await frame()
    const before = scroller.scrollTop
    fake.add(said('assistant', 'News'))
    await frame()
    expect(Math.abs(scroller.scrollTop - before)).toBeLessThan(2)
    button('New messages').click()
    await frame()
    expect(fromEnd()).toBeLessThan(2)
  })
})

describe('the first drawing', () => {
  it('leaves out times, days and buttons, which come right after it with the list of conversations', async () => {
    await page.viewport(1_000, 800)
    const formats = vi.spyOn(Intl, 'DateTimeFormat')
    FakePlimsollChat.prepare = (fake) => {
      fake.setSessions([session('Long')])
      fake.log = [said('user', 'Hello'), said('assistant', 'Good day.')]
    }
    const element = document.createElement('plimsoll-chat') as FakePlimsollChat
    element.placement = 'page'
    document.body.append(element)
    const root = element.shadowRoot as ShadowRoot
    const dates = (): string[] =>
      [...root.querySelectorAll('.day, time')].map(({ textContent }) => textContent.trim())
    const rows = (): number => root.querySelectorAll('.sessions li, .foot button').length
    const height = (): number => root.querySelector('.list')?.clientHeight ?? 0
    // As it stands at the end of the task that drew it.
    const first = await new Promise((resolve) => {
      new MutationObserver((_, observer) => {
        if (!root.querySelector('article')) return
        observer.disconnect()
        resolve({ dates: dates(), rows: rows(), height: height(), formats: formats.mock.calls.length })
      }).observe(root, { childList: true, subtree: true })
    })
    await until(() => dates().length === 3 && dates().every(Boolean) && rows() > 0)
    // Nothing moves.
    expect(first).toEqual({ dates: [''], rows: 0, height: height(), formats: 0 })
    formats.mockRestore()
    await page.viewport(414, 896)
  })
})

describe('100 000 messages', () => {
  it.each([800, 3_000])(
    'draws at its end what fills a screen of %i pixels twice, and little more',
    async (height) => {
      await page.viewport(414, height)
      const { fake, root, find } = await show({
        attributes: { placement: 'page' },
        prepare: (fake) => {
          fake.setSessions([session('Long')])
          fake.log = Array.from({ length: 500 }, (_, place) => said('user', `Message number ${place}`))
        },
      })
      const drawn = (): number => root.querySelectorAll('[data-message]').length
      const seen = (): number => find('.scroller').scrollHeight / find('.scroller').clientHeight
      await until(() => seen() >= 2 || (seen() > 1 && drawn() === fake.state.messages.length))
      // A reader must scroll a little to leave the end: that much more is drawn.
      expect((seen() * (drawn() - 10)) / drawn()).toBeLessThan(2.1)
      await page.viewport(414, 896)
    },
  )

  it('keeps the DOM bounded all the way up, and what one reads in its place', async () => {
    const { element, fake, root, find } = await show({
      prepare: (fake) => {
        fake.setSessions([session('Long')])
        fake.log = Array.from({ length: 100_000 }, (_, place) => said('assistant', `Message number ${place}`))
      },
    })
    const scroller = find('.scroller')
    expect(root.textContent).toContain('Message number 99999')
    await until(() => find('.day').textContent?.trim() !== '')
    let most = 0
    const topOf = (id: string | undefined): number | undefined => {
      const row = root.querySelector(`[data-message="${id}"]`)
      return row ? row.getBoundingClientRect().top - scroller.getBoundingClientRect().top : undefined
    }
    endMovements({ element })
    for (let step = 0; step < 60; step++) {
      scroller.scrollTop = 1
      // As the reader sees it before anything is redrawn.
      const { message } = find('[data-message]').dataset
      const before = topOf(message)
      await frame()
      most = Math.max(most, root.querySelectorAll('[data-message]').length)
      expect(Math.abs((topOf(message) ?? Infinity) - (before ?? 0))).toBeLessThan(1)
    }
    expect(most).toBeLessThanOrEqual(120)
    expect(root.querySelectorAll('*').length).toBeLessThan(3_000)
    expect(fake.state.messages.length).toBeGreaterThan(1_000)
    find('.to-end button').click()
    await until(() => fake.calls.some(([name]) => name === 'releaseOlder'))
    expect(fake.state.messages.length).toBeLessThanOrEqual(200)
  })
})
