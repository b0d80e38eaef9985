/** Files of messages: opening one that was sent. */
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { PlimsollError } from '../../src/ports/errors.ts'
import type { MediaPart } from '../../src/ports/message.ts'
import type { Attachment } from '../../src/ports/store.ts'
import { clear, frame, press, type Shown, show, until } from './support/element.ts'
import { said } from './support/fake-chat.ts'
import { violations } from './support/violations.ts'

afterEach(clear)

/** A message with a file, of which the chat has those bytes. */
async function sent(
  part: Omit<MediaPart, 'type'>,
  bytes: Attachment['bytes'] | undefined,
  options: Parameters<typeof show>[0] = {},
) {
  const shown = await show(options)
  const asked: string[] = []
  shown.fake.attachment = async (id): Promise<Attachment | undefined> => {
    asked.push(id)
    return bytes && { id, mediaType: part.mediaType, bytes }
  }
  shown.fake.add(said('user', [{ type: 'media', ...part }]))
  await frame()
  // What few messages need was asked for with it, and the style of panels.
  await Promise.all([
    import('../../src/chat/element/later.ts'),
    import('../../src/chat/element/panel-style.ts'),
  ])
  await frame()
  return { ...shown, asked, chip: shown.find('.message .chip'), addresses: addresses() }
}

/** The addresses that were made of files, and which of them hold. */
function addresses() {
  const made = vi.spyOn(URL, 'createObjectURL')
  const ended = vi.spyOn(URL, 'revokeObjectURL')
  const saved: { readonly name: string; readonly href: string }[] = []
  const click = vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (
    this: HTMLAnchorElement,
  ) {
    saved.push({ name: this.download, href: this.href })
  })
  onTestFinished(() => {
    for (const spy of [made, ended, click]) spy.mockRestore()
  })
  return {
    saved,
    types: () => made.mock.calls.map(([file]) => (file as Blob).type),
    held: () => {
      const gone = ended.mock.calls.map(([url]) => url)
      return made.mock.results.map(({ value }) => value as string).filter((url) => !gone.includes(url))
    },
  }
}

const dialog = ({ root }: Pick<Shown, 'root'>): HTMLDialogElement | null => root.querySelector('dialog[open]')

/** A picture that a browser shows. */
async function picture(): Promise<Attachment['bytes']> {
  const canvas = new OffscreenCanvas(40, 30)
  canvas.getContext('2d')?.fillRect(0, 0, 40, 30)
  return new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer())
}

const textOf = (text: string): Attachment['bytes'] => new TextEncoder().encode(text)

describe('a file that was sent', () => {
  it('shows as a picture by its name, with the keyboard alone, and its address is released', async () => {
    const part = { mediaType: 'image/png', name: 'seat.png', ref: 'a' }
    const shown = await sent(part, await picture())
    const { addresses, asked, chip, element, root, find } = shown
    expect(asked).toEqual([])
    chip.focus()
    await press('{Enter}')
    await until(() => dialog(shown) !== null)
    const image = find<HTMLImageElement>('dialog img')
    await until(() => image.naturalWidth === 40)
    expect([image.alt, asked]).toEqual(['seat.png', ['a']])
    expect(await violations(find('dialog'))).toEqual([])
    expect(image.src).toMatch(/^blob:/)
    await until(() => addresses.held().length === 0)
    expect([root.activeElement?.textContent, addresses.saved]).toEqual(['Back', []])
    await press('{Escape}')
    await until(() => root.querySelector('dialog') === null)
    expect([element.open, root.activeElement]).toEqual([true, chip])
    expect(chip.ariaBusy).toBe(null)
  })

  it('is saved from where it shows', async () => {
    const part = { mediaType: 'image/png', name: 'seat.png', ref: 'a' }
    const shown = await sent(part, await picture())
    shown.chip.click()
    await until(() => dialog(shown) !== null)
    shown.button('Save').click()
    expect(shown.addresses.saved.map(({ name }) => name)).toEqual(['seat.png'])
    expect(shown.addresses.types()).toEqual(['image/png', 'application/octet-stream'])
  })

  it.each([
    ['text/html', 'page.html', '<script>alert(1)</script>'],
    ['image/svg+xml', 'drawing.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
    ['application/pdf', 'ticket.pdf', 'A ticket'],
    // Of no such type that a browser reads it as.
    ['image/png', 'dot.png', '<script>alert(1)</script>'],
  ])('is saved by its name, and shown as no page: %s', async (mediaType, name, text) => {
    const shown = await sent({ mediaType, name, ref: 'a' }, textOf(text))
    shown.chip.click()
    await until(() => shown.addresses.saved.length === 1)
    const [saved] = shown.addresses.saved
    expect(saved?.name).toBe(name)
    expect(saved?.href).toMatch(/^blob:/)
    expect(shown.addresses.types().at(-1)).toBe('application/octet-stream')
    await until(() => shown.root.querySelector('dialog') === null)
    await until(() => shown.chip.ariaBusy === null)
  })

  it('is said to be gone, or out of reach', async () => {
    const part = { mediaType: 'text/plain', name: 'notes.txt', ref: 'a' }
    const shown = await sent(part, undefined)
    const { button, chip, fake, root, text } = shown
    chip.click()
    await until(() => dialog(shown) !== null)
    expect(dialog(shown)?.textContent).toContain('“notes.txt” is no longer kept.')
    expect(await violations(shown.find('dialog'))).toEqual([])
    button('Back').click()
    await until(() => root.querySelector('dialog') === null)
    fake.attachment = async () => {
      throw new PlimsollError('ERR_OFFLINE', 'chat: no answer')
    }
    chip.click()
    await until(() => dialog(shown) !== null)
    expect(dialog(shown)?.textContent).toContain('“notes.txt” is not on this device')
    button('Back').click()
    fake.attachment = async () => {
      throw new PlimsollError('ERR_UNAUTHENTICATED', 'chat: nobody')
    }
    await until(() => chip.ariaBusy === null)
    chip.click()
    await until(() => text().includes('You are not signed in'))
    expect(dialog(shown)).toBe(null)
  })

  it('shows no more once its message is forgotten, or somebody else reads', async () => {
    const part = { mediaType: 'image/png', name: 'seat.png', ref: 'a' }
    const shown = await sent(part, await picture())
    shown.chip.click()
    await until(() => dialog(shown) !== null)
    shown.fake.become({ messages: [] })
    await until(() => shown.root.querySelector('dialog') === null)
  })

  it('is not shown where its message went while it was on its way', async () => {
    const shown = await sent({ mediaType: 'image/png', name: 'seat.png', ref: 'a' }, undefined)
    let arrive = (_: Attachment): void => {}
    shown.fake.attachment = () => new Promise((done) => (arrive = done))
    shown.chip.click()
    await until(() => shown.chip.ariaBusy === 'true')
    await frame()
    shown.fake.become({ messages: [] })
    await frame()
    arrive({ id: 'a', mediaType: 'image/png', bytes: await picture() })
    await until(() => shown.chip.ariaBusy === null)
    expect(shown.root.querySelector('dialog')).toBe(null)
    expect(shown.addresses.held()).toEqual([])
  })

  it('that is at an address is opened there, without this page, or saved', async () => {
    const opened = vi.spyOn(window, 'open').mockReturnValue(null)
    onTestFinished(() => opened.mockRestore())
    const url = 'https://files.example.com/a.png'
    const there = await sent({ mediaType: 'image/png', name: 'a.png', url }, undefined)
    there.chip.click()
    await until(() => opened.mock.calls.length === 1)
    expect(opened.mock.calls).toEqual([[url, '_blank', 'noopener,noreferrer']])
    clear()
    const data = 'data:text/html,<script>alert(1)</script>'
    const inside = await sent({ mediaType: 'text/html', name: 'a.html', url: data }, undefined)
    inside.chip.click()
    await until(() => inside.addresses.saved.length === 1)
    expect(inside.addresses.saved[0]?.name).toBe('a.html')
    expect([there.asked, inside.asked]).toEqual([[], []])
    clear()
    const script = await sent({ mediaType: 'text/html', name: 'b', url: 'javascript:alert(1)' }, undefined)
    script.chip.click()
    await until(() => dialog(script) !== null)
    expect([opened.mock.calls.length, script.addresses.saved]).toEqual([1, []])
  })

  it.each([
    ['de', '„seat.png“ ist nicht mehr gespeichert.'],
    ['fr', '« seat.png » n’est plus conservé.'],
    ['es', '«seat.png» ya no se conserva.'],
    ['ar', 'لم يعد «seat.png» محفوظًا.'],
    ['ja', '「seat.png」はもう保存されていません。'],
  ])('says it in the language of the chat: %s', async (lang, text) => {
    const part = { mediaType: 'image/png', name: 'seat.png', ref: 'a' }
    const shown = await sent(part, undefined, { attributes: { lang } })
    shown.chip.click()
    await until(() => dialog(shown) !== null)
    expect(dialog(shown)?.textContent).toContain(text)
    const { direction } = getComputedStyle(shown.find('dialog'))
    expect(direction).toBe(lang === 'ar' ? 'rtl' : 'ltr')
  })
})
