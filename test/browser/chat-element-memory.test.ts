import { afterEach, describe, expect, it, vi } from 'vitest'
import { page } from 'vitest/browser'
import type { HomeKind, MemoryFact } from '../../src/chat/ports.ts'
import { LANGUAGES } from '../../src/chat/strings/load.ts'
import type { Certificate } from '../../src/ports/certificate.ts'
import { clear, fill, frame, press, type Shown, show, until } from './support/element.ts'
import { fact, said, session } from './support/fake-chat.ts'

afterEach(async () => {
  clear()
  await page.viewport(414, 896)
})

async function openPanel(
  attributes: Readonly<Record<string, string>> = {},
  homes: readonly HomeKind[] = ['local'],
  facts: readonly MemoryFact[] = [
    fact('Likes window seats', { kind: 'preference', confidence: 0.95 }),
    fact('Platform 7', { trust: 'web', confidence: 0.4 }),
  ],
): Promise<Shown> {
  const shown = await show({
    attributes,
    prepare: (fake) => {
      fake.homes = [...homes]
      fake.facts = [...facts]
    },
  })
  shown.button('Memory').click()
  await until(() => shown.root.querySelectorAll('.fact').length === facts.length)
  return shown
}

const EXPORT = '{"type":"export"}\n{"a":1}\n'

/** Chooses a file to import, as a person does in the dialog that no test sees. */
function chooseFile(root: ShadowRoot, text = EXPORT, place = 0): void {
  const input = [...root.querySelectorAll<HTMLInputElement>('.memory input[type=file]')].at(place)
  if (!input) throw new Error('No file can be chosen')
  const { items, files } = new DataTransfer()
  items.add(new File([text], 'memory.jsonl'))
  input.files = files
  input.dispatchEvent(new Event('change'))
}

const isBusy = (root: ShadowRoot): boolean =>
  root.querySelector('.memory .body')?.getAttribute('aria-busy') === 'true'

/** Until what the conversation told of by then was read again. */
async function settled(root: ShadowRoot): Promise<void> {
  await frame()
  await until(() => !isBusy(root))
  await frame()
}

describe('the memory panel', () => {
  it('opens the conversation of a fact at the message, and says where that is gone', async () => {
    const { fake, root, find, text } = await show({
      prepare: (chat) => {
        chat.facts = [fact('Likes window seats', { sources: ['said'] }), fact('Nobody said it')]
      },
    })
    const open = () => root.querySelector<HTMLElement>('[title="Show where it was said"]')
    find('.to-memory').click()
    await until(() => root.querySelectorAll('.fact').length === 2)
    expect(root.querySelectorAll('[title="Show where it was said"]').length).toBe(1)
    expect(open()?.getAttribute('aria-label')).toMatch(/^from you, .*\. Show where it was said$/)
    open()?.click()
    await expect.poll(text).toContain('Where it was said is gone')
    expect([open(), root.querySelector('.side.memory') !== null]).toEqual([null, true])
    find('.side.memory header button').click()
    await frame()
    find('.to-memory').click()
    await until(() => open() !== null)
    fake.log = [said('user', 'I like window seats'), said('assistant', 'Noted.')]
    const messageId = fake.log[0]?.message.id ?? ''
    fake.origin = { sessionId: 'trip', home: 'local', messageId }
    open()?.click()
    await until(() => root.querySelector('.message.sought') !== null)
    expect(fake.calls).toContainEqual(['open', 'trip'])
    expect(find('.sought').dataset.message).toBe(messageId)
    expect(root.querySelector('.side.memory')).toBe(null)
  })

  it('shows each fact with its kind, who says it, and when', async () => {
    const { text } = await openPanel()
    expect(text()).toContain('2 facts')
    expect(text()).toContain('Preference')
    expect(text()).toContain('from you')
    expect(text()).toContain('from the web')
    await until(() => /from the web, \w+/.test(text()))
    expect(text()).not.toContain('sure')
  })

  it('goes on in another language, and in the words that the app gives', async () => {
    const { element, root, text } = await openPanel()
    element.lang = 'ar'
    await until(() => text().includes('حقيقتان'))
    expect(root.querySelector('.memory h2')?.textContent).toBe('الذاكرة')
    element.strings = { factsCount: { other: '{count} things' }, kindPreference: 'Taste' }
    element.lang = 'en'
    await until(() => text().includes('2 things'))
    expect(text()).toContain('Taste')
    expect(text()).toContain('from the web')
  })

  it('reads again when it is opened again, and when a reply has ended', async () => {
    const shown = await show({ prepare: (fake) => (fake.facts = []) })
    const { fake, button, text, root } = shown
    const open = async (): Promise<void> => {
      button('Memory').click()
      await frame()
    }
    await open()
    await until(() => text().includes('Nothing is remembered. What'))
    fake.stream({ text: 'It is' })
    fake.facts = [fact('Likes window seats')]
    fake.add(said('assistant', 'It is remembered.'))
    await frame()
    fake.become({ reply: undefined })
    await until(() => root.querySelectorAll('.fact').length === 1)
    button('Back').click()
    await frame()
    fake.facts = [fact('Likes window seats'), fact('Platform 7')]
    await open()
    await until(() => root.querySelectorAll('.fact').length === 2)
  })

  it('tells a developer how sure it is too, and when it is looked at again', async () => {
    const { text } = await openPanel({ developer: '' })
    expect(text()).toContain('40% sure')
    expect(text()).toMatch(/To be reviewed on Dec 20, 2026/)
  })

  it('pins what the user said, and offers to confirm what others said instead', async () => {
    const { fake, button, find } = await openPanel()
    button('Pin: Likes window seats').click()
    await until(() => find('.fact').classList.contains('pinned'))
    button('Confirm as mine: Platform 7').click()
    await until(() => fake.facts.every(({ trust }) => trust === 'user'))
    expect(fake.calls.map(([name]) => name)).toEqual(['create', 'pin', 'promote'])
  })

  it('names in each button what it is for', async () => {
    const { root, button } = await openPanel()
    button('Profile').click()
    await until(() => root.querySelector('.card h3')?.textContent === 'preferences')
    button('Edit: preferences').click()
    await until(() => root.querySelector('.card textarea') !== null)
  })

  it('edits a fact in its place', async () => {
    const { fake, button, find } = await openPanel()
    button('Edit: Likes window seats').click()
    await frame()
    fill(find<HTMLTextAreaElement>('.fact textarea'), 'Likes aisle seats')
    button('Save').click()
    await until(() => find('.fact').textContent.includes('Likes aisle seats'))
    expect(fake.calls.at(-1)?.[0]).toBe('editFact')
  })

  it('is edited by keys: the focus goes to the field, and back to the button', async () => {
    const { fake, button, find, root } = await openPanel()
    const focused = (): string | null | undefined => root.activeElement?.ariaLabel
    const edit = async (): Promise<void> => {
      await press('{Enter}')
      await until(() => focused() === 'Text of the fact')
    }
    button('Edit: Likes window seats').focus()
    await edit()
    await press('{Escape}')
    expect(focused()).toBe('Edit: Likes window seats')
    await edit()
    button('Cancel').focus()
    await press('{Enter}')
    expect(focused()).toBe('Edit: Likes window seats')
    await edit()
    // The new text is a fact of its own, wherever it stands.
    fake.supersedes = true
    fill(find<HTMLTextAreaElement>('.fact textarea'), 'Likes aisle seats')
    button('Save').focus()
    await press('{Enter}')
    await until(() => root.querySelector('.editor') === null)
    await settled(root)
    expect(focused()).toBe('Edit: Likes aisle seats')
    fake.profile = [{ name: 'preferences', text: 'Brief answers' }]
    button('Back').click()
    await frame()
    button('Memory').click()
    await settled(root)
    button('Profile').click()
    await frame()
    button('Edit: preferences').focus()
    await press('{Enter}')
    await until(() => focused() === 'Text of preferences')
    button('Save').focus()
    await press('{Enter}')
    await until(() => focused() === 'Edit: preferences')
  })

  it('asks in the field of view of who goes by keys, and gives the focus back', async () => {
    const { button, root } = await openPanel({}, ['local'], [fact('A', { sources: ['m1'] })])
    button('Forget: A').focus()
    await press('{Enter}')
    await until(() => root.activeElement?.textContent === 'Cancel')
    await press('{Enter}')
    expect(root.activeElement?.ariaLabel).toBe('Forget: A')
  })

  it('says a fact as a person would: what, from whom, when, and how it goes', async () => {
    const { find } = await openPanel()
    const told = (): string => find('.fact').textContent.trim().replaceAll(/\s+/g, ' ')
    await until(() => /^Likes window seats ?from you, \w[\w ,]+ForgetPreference/.test(told()))
  })

  it('says which conversations know a fact, and what confirming it changes', async () => {
    const { root } = await show().then(async (shown) => {
      shown.fake.facts = [
        fact('A', { kind: 'preference', shared: true }),
        fact('B', { kind: 'preference', trust: 'assistant' }),
        fact('C', { kind: 'finding', trust: 'assistant' }),
      ]
      shown.button('Memory').click()
      await until(() => shown.root.querySelectorAll('.fact').length === 3)
      return shown
    })
    const told = [...root.querySelectorAll('.fact')].map(({ textContent }) => textContent)
    expect(told.map((text) => text.includes('In all conversations'))).toEqual([true, false, false])
    expect(told.map((text) => text.includes('In its own conversation only'))).toEqual([false, true, true])
    expect(told.map((text) => text.includes('Once confirmed, it is in all conversations.'))).toEqual([
      false,
      true,
      false,
    ])
    expect(told.map((text) => text.includes('from the conversation'))).toEqual([false, true, true])
  })

  it('forgets a fact after a question, and shows the certificate', async () => {
    const { root, button, text } = await openPanel()
    button('Forget: Likes window seats').focus()
    button('Forget: Likes window seats').click()
    await frame()
    expect(text()).toContain('Forget this fact? Messages that say it stay.')
    await until(() => root.activeElement?.textContent === 'Cancel')
    await press('{Escape}')
    expect(root.querySelector('.memory .confirm')).toBe(null)
    button('Forget: Likes window seats').click()
    await frame()
    root.querySelector<HTMLElement>('.confirm .danger')?.click()
    await until(() => root.querySelectorAll('.fact').length === 1)
    expect(text()).toContain('2 summaries and 1 fact')
    expect(text()).toContain('Gone: on this device.')
    expect(text()).toContain('Files that you saved stay: delete them yourself.')
    // The service has nothing of it.
    expect(text()).toContain('Files of this browser may have traces of it')
    expect(text()).not.toContain('Backups of the service')
  })

  it('says of what was forgotten without a network once the service has done it', async () => {
    const { fake, button, root, text } = await openPanel({ src: 'https://edge.example', synced: '' }, [
      'edge',
    ])
    let resolve = (_: boolean): void => {}
    fake.arrival = new Promise((done) => {
      resolve = done
    })
    button('Forget: Likes window seats').click()
    await frame()
    root.querySelector<HTMLElement>('.confirm .danger')?.click()
    await until(() => text().includes('The service does not know of it yet.'))
    expect(text()).toContain('Gone: on this device.')
    expect(text()).not.toContain('at the service.')
    resolve(true)
    await until(() => text().includes('Gone: on this device and at the service.'))
    expect(text()).not.toContain('The service does not know of it yet.')
  })

  it('says where else it may be by where it was kept', async () => {
    const { button, root, text } = await openPanel({ src: 'https://edge.example' }, ['edge'])
    button('Forget: Likes window seats').click()
    await frame()
    root.querySelector<HTMLElement>('.confirm .danger')?.click()
    await until(() => text().includes('Gone: at the service.'))
    expect(text()).toContain('Backups of the service may have it for a while')
  })

  it.each(['local', 'edge'] as const)('says of a fact where it was, and no other home: %s', async (home) => {
    const { fake, button, root, text } = await openPanel({ src: 'https://edge.example' }, ['local', 'edge'])
    fake.holders = { home }
    button('Forget: Likes window seats').click()
    await frame()
    root.querySelector<HTMLElement>('.confirm .danger')?.click()
    await until(() => root.querySelectorAll('.fact').length === 1)
    expect(text()).toContain(home === 'edge' ? 'Gone: at the service.' : 'Gone: on this device.')
    expect(text().includes('Backups of the service')).toBe(home === 'edge')
    expect(text().includes('Files of this browser')).toBe(home === 'local')
  })

  it.each([{ synced: '', homes: ['edge'] as const }, { homes: ['local', 'edge'] as const }])(
    'says what may be left of all that was in this browser and at the service: %j',
    async ({ homes, ...more }) => {
      const { button, find, text, root } = await openPanel({ src: 'https://edge.example', ...more }, homes)
      button('Your data').click()
      await frame()
      fill(find<HTMLInputElement>('input[name=confirm]'), 'erase')
      await until(() => !find<HTMLButtonElement>('.card .danger').disabled)
      button('Erase everything').click()
      await until(() => root.querySelector('.certificate') !== null)
      expect(text()).toContain('Gone: on this device and at the service.')
      expect(text()).toContain('Backups of the service may have it')
      expect(text()).toContain('Files of this browser may have traces of it')
    },
  )

  it('erases everything only once the word was typed', async () => {
    const { fake, find, button, root } = await openPanel()
    button('Your data').click()
    await frame()
    const erase = (): HTMLButtonElement => find<HTMLButtonElement>('.card .danger')
    // Where there is no service, none is named.
    expect(erase().form?.textContent).not.toMatch(/service|device/)
    expect(erase().disabled).toBe(true)
    erase().form?.requestSubmit()
    fill(find<HTMLInputElement>('input[name=confirm]'), 'eras')
    await frame()
    expect(erase().disabled).toBe(true)
    expect(fake.calls).not.toContainEqual(['eraseAll'])
    fill(find<HTMLInputElement>('input[name=confirm]'), 'Erase')
    await until(() => !erase().disabled)
    erase().click()
    await until(() => root.querySelector('.certificate') !== null)
    expect(fake.calls).toContainEqual(['eraseAll'])
    // Not what nobody counts: a conversation's steps, versions and summaries.
    expect(find('.certificate').textContent).toContain('3 conversations with all their messages and 1 fact')
  })

  it('keeps the focus where a button works, is disabled or goes, so that Escape closes it', async () => {
    const { fake, find, button, root } = await openPanel({ src: 'https://edge.example' }, ['edge'])
    button('Your data').click()
    await frame()
    const focused = (): Element | null => root.activeElement
    button('Save as a file').focus()
    await press('{Enter}')
    await settled(root)
    expect(focused()?.textContent).toBe('Save as a file')
    fake.become({ online: false })
    await frame()
    await frame()
    expect(focused()?.closest('.side.memory')).not.toBe(null)
    fake.become({ online: true })
    fill(find<HTMLInputElement>('input[name=confirm]'), 'Erase')
    await until(() => !find<HTMLButtonElement>('.card .danger').disabled)
    find('.card .danger').focus()
    await press('{Enter}')
    await until(() => root.querySelector('.certificate') !== null)
    await frame()
    // It was for that one time.
    expect(find<HTMLInputElement>('input[name=confirm]').value).toBe('')
    // What came of it is above, and is brought into sight.
    expect(focused()).toBe(find('.certificate'))
    const [told, body] = [find('.certificate'), find('.memory .body')].map((each) =>
      each.getBoundingClientRect(),
    )
    expect(told?.top).toBeGreaterThanOrEqual(body?.top ?? Number.NaN)
    expect(told?.bottom).toBeLessThanOrEqual(body?.bottom ?? Number.NaN)
    await press('{Escape}')
    await until(() => root.querySelector('.side.memory') === null)
  })

  it.each(['gone', 'left'] as const)('shows nothing of who is not here any more: %s', async (event) => {
    const { fake, find, root, text, button } = await openPanel()
    fill(find<HTMLInputElement>('.memory input[type=search]'), 'seats')
    button('Edit: Likes window seats').click()
    await until(() => root.querySelector('.fact textarea') !== null)
    await settled(root)
    fake.fails = 'ERR_OFFLINE'
    fake.drafts.tell(event)
    await frame()
    expect(text()).not.toContain('seats')
    fake.become({ messages: [...fake.state.messages] })
    await settled(root)
    await until(() => root.querySelector('.memory [role=alert]') !== null)
    expect(root.querySelectorAll('.fact')).toHaveLength(0)
    expect(find<HTMLInputElement>('.memory input[type=search]').value).toBe('')
  })

  it('reads nothing for somebody who is leaving, nor shows what was read', async () => {
    const { fake, root, text } = await openPanel()
    let read = (): void => {}
    const held = new Promise<void>((done) => (read = done))
    fake.reading = held
    fake.become({ messages: [...fake.state.messages] })
    await frame()
    fake.drafts.tell('gone')
    fake.become({ session: undefined, messages: [] })
    read()
    fake.reading = undefined
    await frame()
    await frame()
    expect([text().includes('window seats'), root.querySelectorAll('.fact').length]).toEqual([false, 0])
    fake.become({ session: fake.sessions[0] ?? session('next'), messages: [] })
    await until(() => root.querySelectorAll('.fact').length > 0)
  })

  it('names no other conversations where everything was erased', async () => {
    const { fake, find, root, text, button } = await openPanel({ src: 'https://edge.example' }, ['edge'])
    fake.holders = { pending: ['replicas', 'devices', 'recovery'] }
    button('Forget: Likes window seats').click()
    await frame()
    root.querySelector<HTMLElement>('.confirm .danger')?.click()
    await until(() => text().includes('Copies in your other conversations go soon, by themselves.'))
    button('Your data').click()
    await frame()
    const gone: Partial<Certificate> = { confirmed: ['store', 'replicas'], pending: ['recovery'] }
    for (const holders of [fake.holders, gone]) {
      fake.holders = holders
      fill(find<HTMLInputElement>('input[name=confirm]'), 'erase')
      await until(() => !find<HTMLButtonElement>('.card .danger').disabled)
      find('.card .danger').click()
      await until(() => text().includes('Erased on'))
      expect(text()).not.toContain('other conversations')
      button('Facts').click()
      button('Your data').click()
      await frame()
    }
  })

  it('says offline what of the service cannot be done, and offers what can', async () => {
    const { fake, button, text } = await openPanel()
    fake.homes = ['local', 'edge']
    fake.destinations = ['local', 'edge']
    fake.become({ online: false })
    button('Back').click()
    await frame()
    button('Memory').click()
    await frame()
    button('Your data').click()
    await until(() => text().includes('There is no connection.'))
    await until(() => button('Save what is on this device').matches(':enabled'))
    expect(button('Save what is at the service').matches(':disabled')).toBe(true)
    expect(button('Import to the service').matches(':disabled')).toBe(true)
    fake.become({ online: true })
    await until(() => button('Save what is at the service').matches(':enabled'))
    expect(text()).not.toContain('There is no connection')
  })

  it('imports a file, and says what came of it', async () => {
    const { fake, button, root, text } = await openPanel()
    button('Your data').click()
    await frame()
    chooseFile(root)
    await until(() => text().includes('3 messages were added. 1 fact was added.'))
    expect(fake.calls).toContainEqual(['import', EXPORT, 'local'])
  })

  it('says that a file was not taken in, and no more what came of the one before', async () => {
    const { fake, button, root, text } = await openPanel()
    button('Your data').click()
    await frame()
    chooseFile(root)
    await until(() => text().includes('3 messages were added.'))
    fake.refuses = 'ERR_CONFLICT'
    chooseFile(root)
    await until(() => !isBusy(root) && root.querySelector('.memory [role=alert]') !== null)
    await settled(root)
    expect(root.querySelectorAll('.memory [role=alert]')).toHaveLength(1)
    expect(text()).not.toContain('were added')
    fake.refuses = 'ERR_INVALID_ARGUMENT'
    chooseFile(root)
    await until(() => !isBusy(root) && text().includes('Not all was added: the file is no whole export.'))
    fake.refuses = undefined
    chooseFile(root)
    await until(() => text().includes('3 messages were added.'))
    expect(root.querySelector('.memory [role=alert]')).toBe(null)
  })

  it.each(['', '\n', 'A note.', '{"a":1}\n', 'null', '\u0000\u0001'])(
    'says of a file that is no export that nothing was added: %j',
    async (content) => {
      const { fake, button, root, text } = await openPanel()
      button('Your data').click()
      await frame()
      chooseFile(root, content)
      await until(() => text().includes('Nothing was added: this file is no export.'))
      expect(fake.calls.map(([name]) => name)).not.toContain('import')
    },
  )

  it('says of what was deleted at the service that it is not added, and where it can be', async () => {
    const { fake, button, root, text } = await openPanel({ src: 'https://edge.example' }, ['edge'])
    fake.destinations = ['local', 'edge']
    fake.refused = 1
    fake.become({ messages: [] })
    button('Your data').click()
    await until(() => text().includes('Import to the service'))
    const refused = 'Conversations that were deleted there, or continue differently there, were not added.'
    const here = 'They can be imported to this device.'
    chooseFile(root, EXPORT, 1)
    await until(() => text().includes(`1 fact was added. ${refused} ${here}`))
    // To the device: where else, nobody knows.
    chooseFile(root)
    await until(() => text().includes(refused) && !text().includes(here))
  })

  it('says before what is deleted or erased that a saved file does not bring it back', async () => {
    const { find, button } = await openPanel()
    button('Your data').click()
    await frame()
    expect(find('form.card').textContent).toContain(
      'This cannot be undone: no saved file brings the conversations back where they were.',
    )
  })

  it('says that a fact was not changed or confirmed, and keeps the new words', async () => {
    const { fake, button, find, root } = await openPanel()
    fake.refuses = 'ERR_CONFLICT'
    button('Edit: Likes window seats').click()
    await frame()
    fill(find<HTMLTextAreaElement>('.fact textarea'), 'Likes aisle seats')
    button('Save').click()
    await until(() => !isBusy(root) && root.querySelector('.memory [role=alert]') !== null)
    await settled(root)
    expect(root.querySelectorAll('.memory [role=alert]')).toHaveLength(1)
    expect(find<HTMLTextAreaElement>('.fact textarea').value).toBe('Likes aisle seats')
    button('Cancel').click()
    button('Profile').click()
    await frame()
    expect(root.querySelector('.memory [role=alert]')).toBe(null)
    button('Facts').click()
    await frame()
    button('Confirm as mine: Platform 7').click()
    await until(() => !isBusy(root) && root.querySelector('.memory [role=alert]') !== null)
    await settled(root)
    expect(root.querySelectorAll('.memory [role=alert]')).toHaveLength(1)
  })

  it('says no more that it could not be read once it is read again', async () => {
    const { fake, root, text } = await show({
      prepare: (fake) => {
        fake.fails = 'ERR_OFFLINE' as never
      },
    }).then(async (shown) => {
      shown.button('Memory').click()
      await until(() => shown.root.querySelector('.memory [role=alert]') !== null)
      return shown
    })
    fake.fails = undefined
    fake.add(said('user', 'Hello'))
    await until(() => text().includes('Nothing is remembered. What'))
    expect(root.querySelector('.memory [role=alert]')).toBe(null)
  })

  it('says no more under a certificate what an import came to', async () => {
    const { find, button, root, text } = await openPanel()
    button('Your data').click()
    await frame()
    chooseFile(root)
    await until(() => text().includes('3 messages were added.'))
    fill(find<HTMLInputElement>('input[name=confirm]'), 'erase')
    await until(() => !find<HTMLButtonElement>('.card .danger').disabled)
    button('Erase everything').click()
    await until(() => root.querySelector('.certificate') !== null)
    expect(text()).not.toContain('were added')
  })

  it('says of each home in use who can read what is there, and until when it is kept', async () => {
    let guestEnd: number | undefined
    const data = async (...given: Parameters<typeof openPanel>): Promise<readonly string[]> => {
      const { fake, button, root } = await openPanel(...given)
      fake.guestEnd = guestEnd
      button('Your data').click()
      await frame()
      const told = [...root.querySelectorAll('.memory .home-data')].map((each) => each.textContent ?? '')
      clear()
      return told.map((text) => text.replaceAll(/\s+/g, ' ').trim())
    }
    const local =
      'On this device Anyone who uses this browser can read your conversations here. The model that answers reads them, too. They are kept until you delete them, or the data of this browser is deleted.'
    const atEdge =
      'At the service The service can read your conversations there. The model that answers reads them, too.'
    const here = 'They are in this browser, too: anyone who uses it can read them.'
    const src = 'https://edge.example'
    expect(await data({ src }, ['edge'])).toEqual([`${atEdge} They are kept until you delete them.`])
    guestEnd = Date.UTC(2026, 11, 20, 12)
    const end = 'You are a guest: what the service keeps of you is erased on Dec 20, 2026.'
    expect(await data()).toEqual([local])
    expect(await data({ src }, ['edge'])).toEqual([`${atEdge} ${end}`])
    expect(await data({ src, synced: '' }, ['local', 'edge'])).toEqual([local, `${atEdge} ${here} ${end}`])
  })

  it('exports each home by itself, and imports where the person says', async () => {
    const { fake, button, root, text } = await openPanel()
    fake.homes = ['local', 'edge']
    fake.destinations = ['local', 'edge']
    button('Your data').click()
    await frame()
    button('Save as a file').click()
    await until(() => root.querySelectorAll('.memory input[type=file]').length === 2)
    expect(text()).toContain('Erase everything: On this device, At the service')
    button('Save what is at the service').click()
    await until(() => fake.calls.some(([name, home]) => name === 'export' && home === 'edge'))
    const input = root.querySelector('.memory input[type=file]')
    expect(button('Import to this device').nextElementSibling).toBe(input)
    chooseFile(root)
    await until(() => fake.calls.some(([name]) => name === 'import'))
    expect(fake.calls).toContainEqual(['import', EXPORT, 'local'])
  })

  it('says what failed, and stays usable', async () => {
    const shown = await show({
      prepare: (fake) => {
        fake.fails = 'ERR_STORAGE_FULL'
      },
    })
    shown.button('Memory').click()
    await until(() => shown.text().includes('There is no room left on this device.'))
    expect(shown.button('Your data')).toBeDefined()
  })

  it.each([414, 1_280])(
    'says once that the service does not answer, as the chat does: %s px',
    async (width) => {
      await page.viewport(width, 800)
      const { button, fake, root, text } = await show({
        attributes: { src: 'https://edge.example', placement: 'page' },
        prepare: (prepared) => {
          prepared.fails = 'ERR_OFFLINE'
          prepared.destinations = ['local', 'edge']
        },
      })
      fake.become({ problem: { code: 'ERR_OFFLINE', message: 'status 502', retryable: true } })
      button('Memory').click()
      await until(() => root.querySelector('.memory .notice') !== null)
      const seen = () =>
        [...root.querySelectorAll('.notice')].filter((one) =>
          one.checkVisibility({ visibilityProperty: true }),
        )
      expect(seen()).toHaveLength(1)
      expect(text()).toContain('The service cannot be reached.')
      expect(text()).not.toContain('There is no connection.')
      fake.become({ online: false })
      button('Your data').click()
      await until(() => text().includes('There is no connection.'))
      expect(root.querySelectorAll('.memory .notice')).toHaveLength(1)
    },
  )
})

describe('the list of conversations', () => {
  it.each(LANGUAGES)('says whole what its search is for beside the messages: %s', async (lang) => {
    await page.viewport(1_280, 800)
    const { root } = await show({ attributes: { placement: 'page', lang } })
    await until(() => root.querySelector('.sessions input') !== null)
    const input = root.querySelector('.sessions input') as HTMLInputElement
    const { paddingInlineStart, paddingInlineEnd, font } = getComputedStyle(input)
    const context = document.createElement('canvas').getContext('2d') as CanvasRenderingContext2D
    context.font = font
    const room =
      input.clientWidth - Number.parseFloat(paddingInlineStart) - Number.parseFloat(paddingInlineEnd)
    expect(context.measureText(input.placeholder).width).toBeLessThan(room)
  })

  it('keeps a title that was typed where it is not kept, and says why', async () => {
    const { fake, root, button, find, text } = await show({
      prepare: (chat) => chat.setSessions([session('Turin')]),
    })
    button('Conversations').click()
    await until(() => root.querySelector('.entry') !== null)
    const field = (): HTMLInputElement => find<HTMLInputElement>('.rename input')
    const name = async (title: string): Promise<void> => {
      fill(field(), title)
      await press('{Enter}')
    }
    button('Rename Turin').click()
    await until(() => root.querySelector('.rename') !== null)
    // As many as the log takes; keys and what is pasted are cut off there.
    expect(field().maxLength).toBe(200)
    await name('x'.repeat(201))
    await until(() => text().includes('A title has at most 200 characters.'))
    expect(fake.calls.map(([called]) => called)).not.toContain('rename')
    expect(root.activeElement).toBe(field())
    fake.refuses = 'ERR_OFFLINE'
    fake.become({ online: false })
    await frame()
    await name('Rome')
    await until(() => find('.rename').textContent.includes('There is no connection.'))
    expect(field().value).toBe('Rome')
    expect(text()).not.toContain('A title has')
    fake.refuses = undefined
    await name('Rome')
    await until(() => root.querySelector('.rename') === null)
    expect(find('.entry').textContent).toContain('Rome')
  })

  it('is searched, renamed in and deleted from, the last after a question', async () => {
    const sessions = [session('Trip to Turin'), session('Dinner')]
    const { fake, button, find, root, text } = await show({
      prepare: (fake) => fake.setSessions(sessions),
    })
    button('Conversations').click()
    await until(() => root.querySelector('.sessions input') !== null)
    fill(find<HTMLInputElement>('.sessions input'), 'dinner')
    await until(() => root.querySelectorAll('.entry').length === 1)
    expect(text()).toContain('… dinner …')
    fill(find<HTMLInputElement>('.sessions input'), '')
    await until(() => root.querySelectorAll('.entry').length === 2)
    find('[aria-label="Rename Dinner"]').click()
    await frame()
    fill(find<HTMLInputElement>('.rename input'), 'Supper')
    button('Save').click()
    await until(() => text().includes('Supper'))
    find('[aria-label="Delete Supper"]').focus()
    find('[aria-label="Delete Supper"]').click()
    await frame()
    expect(fake.calls.map(([name]) => name)).not.toContain('delete')
    // Enter, pressed twice, deletes nothing; Escape takes the question back, and closes nothing.
    await until(() => root.activeElement?.textContent === 'Cancel')
    await press('{Escape}')
    expect(root.querySelector('.confirm')).toBe(null)
    expect(root.activeElement?.closest('.entry')?.textContent).toContain('Supper')
    find('[aria-label="Delete Supper"]').click()
    await frame()
    expect(find('.confirm p').textContent?.replaceAll(/[\u2068\u2069]/g, '')).toBe(
      'Delete “Supper” and what was remembered in it? This cannot be undone: no saved file brings it back where it was.',
    )
    root.querySelector<HTMLElement>('.confirm .danger')?.click()
    await until(() => root.querySelectorAll('.entry').length === 1)
    await until(() => find('[aria-live]').textContent === '“Supper” is deleted.')
  })
})

describe('what was found', () => {
  it('is looked for again once a message is forgotten beside it', async () => {
    const { button, fake, find, root, text } = await show({
      prepare: (fake) => fake.setSessions([session('Dinner')]),
    })
    fake.add(said('user', 'Dinner at eight.'))
    button('Conversations').click()
    await until(() => root.querySelector('.sessions input') !== null)
    fill(find<HTMLInputElement>('.sessions input'), 'dinner')
    await until(() => text().includes('… dinner …'))
    fake.sessions = []
    fake.become({ messages: [] })
    await until(() => root.querySelectorAll('.entry').length === 0)
  })
})

describe('what is deleted without a network', () => {
  it('is said to wait for one, until the service has done it', async () => {
    const { button, fake, find, root, text } = await show({
      prepare: (fake) => fake.setSessions([session('Oslo'), session('Rome', { home: 'edge' })]),
    })
    button('Conversations').click()
    await until(() => root.querySelector('.entry') !== null)
    const remove = async (title: string): Promise<void> => {
      find(`[aria-label="Delete ${title}"]`).click()
      await frame()
      find('.confirm .danger').click()
      await until(() => root.querySelector(`[aria-label="Delete ${title}"]`) === null)
      await frame()
    }
    fake.become({ online: false })
    let arrive = (_: boolean): void => {}
    fake.arrival = new Promise((done) => {
      arrive = done
    })
    await remove('Rome')
    await until(() => text().includes('Delete Rome: Waiting for a connection'))
    fake.become({ online: true })
    await frame()
    await frame()
    expect(text()).toContain('Delete Rome')
    expect(find('[aria-live]').textContent).not.toContain('is deleted')
    arrive(true)
    await until(() => !text().includes('Delete Rome'))
    await until(() => find('[aria-live]').textContent === '“Rome” is deleted.')
    fake.arrival = undefined
    await remove('Oslo')
    expect(find('.sessions [role=status]').textContent).toBe('')
  })
})

describe('an entry of the list', () => {
  const openList = async (attributes: Readonly<Record<string, string>>) => {
    const { button, root } = await show({
      attributes,
      prepare: (fake) => fake.setSessions([session('Oslo'), session('Rome', { home: 'edge' })]),
    })
    button('Conversations').click()
    await until(() => root.querySelector('.entry') !== null)
    return [...root.querySelectorAll('.entry .open')].map((entry) =>
      [...entry.querySelectorAll('[role=img]')].map(({ ariaLabel }) => ariaLabel),
    )
  }

  it('says in which home it is, where there are two', async () => {
    expect(await openList({ src: 'https://edge.example' })).toEqual([['On this device'], ['At the service']])
  })

  it('says nothing of it where there is one', async () => {
    expect(await openList({})).toEqual([[], []])
  })
})

describe('two homes with a conversation of one id, as after an import', () => {
  it('list it twice, each row with its own home, title and question', async () => {
    const titles = ['Oslo', 'Rome', 'Turin', 'Vienna', 'Porto', 'Lyon']
    const at = (home: 'edge' | 'local') =>
      titles.map((title, place) => session(title, { sessionId: `same-${place}`, home }))
    const { button, fake, find, root } = await show({
      attributes: { src: 'https://edge.example', session: 'same-0' },
      prepare: (prepared) => prepared.setSessions(at('edge')),
    })
    button('Conversations').click()
    await until(() => root.querySelectorAll('.entry').length === 6)
    const rows = () =>
      [...root.querySelectorAll('.entry .open')].map((row) => [
        row.querySelector('[dir=auto]')?.textContent,
        row.querySelector('[role=img]')?.ariaLabel,
      ])
    const [inEdge, inLocal] = [at('edge'), at('local')]
    // As an import goes on.
    for (const taken of [
      [1, 2, 5],
      [0, 1, 2, 3, 4, 5],
    ]) {
      const isTaken = (place: number): boolean => taken.includes(place)
      const both = inEdge.flatMap((edge, place) => [
        edge,
        ...inLocal.filter((_, at) => at === place && isTaken(at)),
      ])
      fake.setSessions(both)
      await frame()
      expect(rows()).toEqual(
        both.map(({ title, home }) => [title, home === 'edge' ? 'At the service' : 'On this device']),
      )
    }
    fake.become({ session: { ...at('edge')[0], sessionId: 'same-0', home: 'edge' } as never })
    await frame()
    const current = root.querySelectorAll('.entry[aria-current]')
    expect([...current].map((row) => row.querySelector('[role=img]')?.ariaLabel)).toEqual(['At the service'])
    find('.entry [aria-label="Delete Rome"]').click()
    await frame()
    expect(root.querySelectorAll('.sessions .confirm')).toHaveLength(1)
    find('.entry [aria-label="Rename Turin"]').click()
    await frame()
    expect(root.querySelectorAll('.sessions .rename')).toHaveLength(1)
    expect(root.querySelectorAll('.sessions .confirm')).toHaveLength(1)
  })
})

describe('what was found', () => {
  /** Four pages and a part of one, and how one of their messages is found. */
  const search = async (place: number) => {
    const shown = await show({
      prepare: (fake) => {
        fake.setSessions([session('Trip to Turin'), session('Dinner')])
        fake.log = Array.from({ length: 220 }, (_, at) =>
          at === 31 ? said('tool', 'Two rooms') : said(at % 2 ? 'assistant' : 'user', `Line ${at}`),
        )
        fake.found = fake.log[place]?.message.id
      },
    })
    const { button, find, root } = shown
    button('Conversations').click()
    await until(() => root.querySelector('.sessions input') !== null)
    fill(find<HTMLInputElement>('.sessions input'), 'trip')
    await until(() => root.querySelectorAll('.entry').length === 1)
    find('.entry .open').click()
    return shown
  }
  const isInSight = ({ root, find }: Shown, text: string): boolean => {
    const frame = find('.scroller').getBoundingClientRect()
    const row = [...root.querySelectorAll<HTMLElement>('[data-message]')].find(({ textContent }) =>
      (textContent ?? '').includes(text),
    )
    const { top, bottom } = row?.getBoundingClientRect() ?? { top: 0, bottom: 0 }
    return row !== undefined && top >= frame.top && bottom <= frame.bottom
  }

  it('shows where it was said, in pages that were not read yet, marked for a while, with the focus', async () => {
    const shown = await search(40)
    const { fake, root, find } = shown
    await until(() => root.querySelector('.sought') !== null)
    await frame()
    expect(find('.sought').textContent).toContain('Line 40')
    expect(root.activeElement).toBe(find('.sought'))
    expect(isInSight(shown, 'Line 40')).toBe(true)
    expect(fake.calls.filter(([name]) => name === 'showOlder')).toHaveLength(3)
    // Its frame is around its buttons, too, cuts through nothing, and moves nothing.
    const mark = getComputedStyle(find('.sought'), '::after')
    expect(mark.position).toBe('absolute')
    const rectOf = (selector: string): DOMRect => find(selector).getBoundingClientRect()
    const bottom = rectOf('.sought').bottom - Number.parseFloat(mark.bottom)
    expect(bottom).toBeGreaterThan(rectOf('.sought .foot .icon').bottom)
    const end = bottom + Number.parseFloat(mark.outlineWidth)
    expect(end).toBeLessThanOrEqual(rectOf('.sought + [data-message]').top)
    // The mark goes; where one reads, stays.
    await until(() => root.querySelector('.sought') === null)
    expect(isInSight(shown, 'Line 40')).toBe(true)
    expect(root.querySelector('.to-end')).not.toBe(null)
  })

  it('shows on a page that draws later than it is found', async () => {
    const { button, find, root } = await show({
      prepare: (prepared) => prepared.setSessions([session('Trip to Turin'), session('Home')]),
    })
    button('Conversations').click()
    await until(() => root.querySelector('.sessions input') !== null)
    const frames = vi.spyOn(globalThis, 'requestAnimationFrame')
    frames.mockImplementation((draw) => Number(setTimeout(draw, 600)))
    fill(find<HTMLInputElement>('.sessions input'), 'trip')
    await new Promise((done) => setTimeout(done, 500))
    frames.mockRestore()
    await until(() => root.querySelectorAll('.entry').length === 1)
    expect(find('.entry').textContent).toContain('… trip …')
  })

  it('is looked for again where another tab deletes or names some of it', async () => {
    const { button, fake, find, root } = await show({
      prepare: (prepared) => prepared.setSessions([session('Trip to Turin'), session('Trip to Rome')]),
    })
    button('Conversations').click()
    await until(() => root.querySelector('.sessions input') !== null)
    fill(find<HTMLInputElement>('.sessions input'), 'trip')
    await until(() => root.querySelector('.sessions')?.textContent?.includes('… trip …') === true)
    fake.setSessions([session('Trip to Lyon')])
    await until(() => root.querySelectorAll('.entry').length === 1)
    expect(find('.entry').textContent).toContain('Trip to Lyon')
  })

  it('shows what called a tool, where its answer was found', async () => {
    const { find, root } = await search(31)
    await until(() => root.querySelector('.sought') !== null)
    expect(find('.sought').textContent).toContain('Line 30')
  })

  it('shows at the end what is there', async () => {
    const shown = await search(219)
    await until(() => shown.root.querySelector('.sought') !== null)
    await frame()
    expect(isInSight(shown, 'Line 219')).toBe(true)
    expect(shown.fake.calls.some(([name]) => name === 'showOlder')).toBe(false)
  })

  it('is looked for no longer once another conversation is opened', async () => {
    const { fake, root, button } = await search(40)
    button('New conversation').click()
    await until(() => root.querySelector('.empty') !== null)
    await new Promise((done) => setTimeout(done, 100))
    expect(root.querySelector('.sought')).toBe(null)
    expect(fake.state.session?.sessionId).toBe('fresh')
  })
})

describe('the choice of a model', () => {
  it('stands behind the label of the demo, and begins a download in the click', async () => {
    const { fake, button, root, text } = await show()
    button('Demo').click()
    await until(() => text().includes('Has to be downloaded first'))
    expect(root.querySelectorAll('.model form')).toHaveLength(0)
    root.querySelector<HTMLElement>('.choice')?.click()
    expect(fake.calls.at(-1)).toEqual(['choose', 'browser'])
  })

  it('takes an endpoint from developers, and keeps nothing of it in the form', async () => {
    const { fake, button, root } = await show({ attributes: { developer: '' } })
    button('Demo').click()
    await until(() => root.querySelector('.model form') !== null)
    const fields = [...root.querySelectorAll<HTMLInputElement>('.model input')]
    for (const [place, text] of ['https://llm.example.com/v1', 'small', 'sk-secret'].entries()) {
      const field = fields[place]
      if (field) fill(field, text)
    }
    button('Use this model').click()
    const endpoint = { url: 'https://llm.example.com/v1', model: 'small', key: 'sk-secret' }
    expect(fake.calls.at(-1)).toEqual(['choose', 'endpoint', endpoint])
    expect(fields.map(({ value }) => value)).toEqual(['', '', ''])
    await until(() => root.querySelector('.model') === null)
    expect(root.innerHTML).not.toContain('sk-secret')
  })
})
