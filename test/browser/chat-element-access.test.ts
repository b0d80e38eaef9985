import { afterEach, describe, expect, it } from 'vitest'
import { page, server, userEvent } from 'vitest/browser'
import { clear, fill, frame, press, show, until } from './support/element.ts'
import { fact, said, session } from './support/fake-chat.ts'
import { canForceColours, forceColours } from './support/forced-colours.ts'

afterEach(async () => {
  clear()
  await page.viewport(414, 896)
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

  it.each(['What was sent for this reply', 'What the model will see'])(
    'goes back to what opened a panel: %s',
    async (name) => {
      const { button, root } = await show({
        prepare: (chat) => {
          chat.setSessions([session('Oslo')])
          chat.log = [
            said('user', 'Hello'),
            said('assistant', 'Hi'),
            said('user', 'And'),
            said('assistant', 'Yes'),
          ]
        },
      })
      const opener = button(name)
      opener.focus()
      await press('{Enter}')
      await until(() => root.activeElement?.closest('.seen') instanceof HTMLElement)
      await press('{Escape}')
      await until(() => root.querySelector('.seen') === null)
      await frame()
      expect(root.activeElement).toBe(opener)
    },
  )

  it('stays at the versions of a message, whose message is another one then', async () => {
    const { fake, root, button } = await show()
    const at = (index: number) => said('user', `Text ${index}`, { version: { index, count: 3 } })
    const turn = async (name: string, index: number): Promise<string | null | undefined> => {
      button(name).focus()
      await press('{Enter}')
      // As a home does it: the conversation is read again.
      const [first] = fake.state.messages
      fake.become({ messages: [...(first ? [first] : []), at(index), said('assistant', 'Reply')] })
      await frame()
      return root.activeElement?.ariaLabel
    }
    fake.add(said('assistant', '```ts\nconst a = 1\n```'), at(3), said('assistant', 'Reply'))
    await until(() => root.querySelector('.versions') !== null)
    expect(await turn('The version before', 2)).toBe('The version before')
    // Where that is disabled, beside it.
    expect(await turn('The version before', 1)).toBe('The version after')
    expect(await turn('The version after', 2)).toBe('The version after')
    expect(await turn('The version after', 3)).toBe('The version before')
  })

  // Where nothing points, a tap at the message shows it.
  it.skipIf(server.browser === 'firefox').each(['{Escape}', 'Cancel'])(
    'goes back to the button that edits a message: %s',
    async (how) => {
      const { fake, root, button } = await show()
      fake.add(said('user', 'First'), said('assistant', 'Reply'))
      await until(() => root.querySelector('[aria-label="Edit"]') !== null)
      button('Edit').focus()
      await press('{Enter}')
      await until(() => root.activeElement?.ariaLabel === 'Edit your message')
      if (how === 'Cancel') button('Cancel').focus()
      await press(how === 'Cancel' ? '{Enter}' : how)
      expect(root.activeElement?.ariaLabel).toBe('Edit')
    },
  )

  it('goes back to the menu of the header from what stands in it', async () => {
    await page.viewport(390, 800)
    const { element, find, root } = await show()
    const own = document.createElement('button')
    own.slot = 'header'
    element.append(own)
    await until(() => root.querySelector('.to-more') !== null)
    find('.to-more').focus()
    await press('{Enter}')
    find('.to-memory').focus()
    await press('{Enter}')
    await until(() => root.activeElement?.closest('.memory') instanceof HTMLElement)
    await press('{Escape}')
    await until(() => root.querySelector('.memory') === null)
    await frame()
    expect(root.activeElement).toBe(find('.to-more'))
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
    // An empty field is of the language, one with a text is of its text.
    const direction = (): string => getComputedStyle(find('textarea')).direction
    expect(direction()).toBe('rtl')
    fill(find<HTMLTextAreaElement>('textarea'), 'Two seats')
    expect(direction()).toBe('ltr')
    fill(find<HTMLTextAreaElement>('textarea'), '')
    element.strings = { placeholder: 'My own words' }
    await until(() => find('textarea').ariaLabel === 'My own words')
    document.documentElement.removeAttribute('lang')
  })

  it('name the widget by its heading, by another one as soon as it is set', async () => {
    const { element, find } = await show({ attributes: { heading: 'Help' } })
    expect(find('[part=frame]').ariaLabel).toBe('Help')
    element.heading = 'Advice'
    await until(() => find('.main h2').textContent === 'Advice')
    expect(find('[part=frame]').ariaLabel).toBe('Advice')
  })
})

describe('what was remembered, in letters of the other direction', () => {
  it('ends with its own stop', async () => {
    const remembered = [{ factId: 'f', text: 'You prefer window seats.', trust: 'user' as const }]
    const { fake, root } = await show({ attributes: { lang: 'ar' } })
    fake.add(said('user', 'Window seats', { remembered }))
    await until(() => root.querySelector('.message .chip bdi') !== null)
    expect(root.querySelector('.message .chip bdi')?.textContent).toBe('You prefer window seats.')
  })
})

describe('a title in letters of the other direction', () => {
  it('begins where the language begins', async () => {
    await page.viewport(1_280, 800)
    const { find, root } = await show({
      attributes: { lang: 'ar', placement: 'inline' },
      prepare: (fake) => fake.setSessions([session('Oslo')]),
    })
    await until(() => root.querySelector('.entry') !== null)
    for (const selector of ['.main h2', '.entry .open > span']) {
      const { direction, textAlign } = getComputedStyle(find(selector))
      expect([direction, textAlign], selector).toEqual(['ltr', 'right'])
    }
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

describe('forced colours', () => {
  afterEach(() => forceColours(false))

  it.skipIf(!canForceColours)(
    'tell what is chosen by its edge, since they take its ground away',
    async () => {
      await forceColours(true)
      await page.viewport(1_280, 800)
      const { fake, root, find } = await show({
        attributes: { src: 'https://edge.example', placement: 'inline' },
        prepare: (chat) => {
          chat.facts = [fact('Tea')]
          chat.setSessions([session('Oslo'), session('Rome')])
        },
      })
      await until(() => root.querySelector('.entry') !== null)
      const differ = (chosen: string, other: string): void =>
        expect(edgeOf(find(chosen)), chosen).not.toBe(edgeOf(find(other)))
      differ('.homes label:has(:checked)', '.homes label:not(:has(:checked))')
      find('.entry .open').click()
      fake.add(said('user', 'Hello'))
      await frame()
      find('.message [aria-label="Forget this message"]').click()
      await until(() => root.querySelector('.message .confirm') !== null)
      for (const framed of ['.message .confirm', '.confirm .outlined'])
        expect(getComputedStyle(find(framed)).borderBlockEndWidth, framed).toBe('1px')
      differ('.entry[aria-current]', '.entry:not([aria-current])')
      find('.to-memory').click()
      await until(() => root.querySelector('.tabs') !== null)
      differ('.tabs [aria-selected=true]', '.tabs [aria-selected=false]')
      find('.to-model').click()
      await until(() => root.querySelector('.card.choice') !== null)
      differ('.card.choice[aria-pressed=true]', '.card.choice[aria-pressed=false]')
      fake.stream({ status: 'waiting' })
      await frame()
      // A ground of the page's own colour would be none.
      expect(getComputedStyle(find('.busy i')).backgroundColor).toBe(getComputedStyle(find('.chat')).color)
    },
  )
})

function edgeOf(element: HTMLElement): string {
  const { borderBlockEndColor, borderBlockEndWidth } = getComputedStyle(element)
  return `${borderBlockEndWidth} ${borderBlockEndColor}`
}
