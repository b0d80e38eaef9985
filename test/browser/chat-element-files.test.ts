/** Files of messages: opening one that was sent, and dropping one that is to be. */
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
  await rest()
  return { ...shown, asked, chip: shown.find('.message .chip'), addresses: addresses() }
}

/** Until what few messages need is here. */
async function rest(): Promise<void> {
  await Promise.all([
    import('../../src/chat/element/later.ts'),
    import('../../src/chat/element/panel-style.ts'),
  ])
  await frame()
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

/**
 * What is dragged, as events of a browser tell it.
 *
 * @returns whether the browser does nothing of its own
 */
function drag(at: Element, type: string, ...files: readonly File[]): boolean {
  const dataTransfer = new DataTransfer()
  for (const file of files) dataTransfer.items.add(file)
  if (files.length === 0) dataTransfer.setData('text/plain', 'Two seats')
  const options = { bubbles: true, cancelable: true, composed: true, dataTransfer }
  return !at.dispatchEvent(new DragEvent(type, options))
}

describe('a file that is dropped', () => {
  const notes = new File(['Seats'], 'notes.txt', { type: 'text/plain' })

  /** The chat, with what few messages need. */
  async function ready() {
    const shown = await show()
    shown.fake.add(said('assistant', [{ type: 'reasoning', text: 'Hm' }]))
    await frame()
    await rest()
    const names = (): readonly string[] =>
      [...shown.root.querySelectorAll('.files .chip span')].map(({ textContent }) => textContent ?? '')
    return { ...shown, names }
  }

  it.each(['.composer textarea', '.scroller', '.head'])(
    'is added as one that is chosen: at %s',
    async (at) => {
      const { find, names, fake } = await ready()
      expect(drag(find(at), 'dragover', notes)).toBe(true)
      expect(drag(find(at), 'drop', notes)).toBe(true)
      await until(() => names().length === 1)
      expect(names()).toEqual(['notes.txt'])
      expect(fake.calls.some(([name]) => name === 'send')).toBe(false)
    },
  )

  it('is refused with the reason, as one that is chosen', async () => {
    const { find, names, text } = await ready()
    const picture = new File(['no picture'], 'dot.png', { type: 'image/png' })
    drag(find('.scroller'), 'drop', picture, notes)
    await until(() => text().includes('Not of the type in the name: dot.png.'))
    expect(names()).toEqual(['notes.txt'])
  })

  it('is refused where it cannot be read, as a folder', async () => {
    const { find, names, text } = await ready()
    const read = vi
      .spyOn(Blob.prototype, 'arrayBuffer')
      .mockRejectedValue(new DOMException('', 'NotFoundError'))
    onTestFinished(() => read.mockRestore())
    drag(find('.scroller'), 'drop', new File([], 'folder'))
    await until(() => text().includes('Cannot be read: folder.'))
    expect(names()).toEqual([])
  })

  it('is refused with all others that are, by name', async () => {
    const { find, names, text } = await ready()
    const picture = (name: string): File => new File(['no picture'], name, { type: 'image/png' })
    const large = new File([new Uint8Array(8 * 1024 * 1024 + 1)], 'film.mov')
    drag(find('.scroller'), 'drop', picture('dot.png'), large, notes, picture('line.png'))
    await until(() => text().includes('Larger than 8 MiB: film.mov.'))
    expect(text()).toContain('Not of the type in the name: dot.png, line.png.')
    expect(names()).toEqual(['notes.txt'])
  })

  it('shows where it may be dropped while it is over it', async () => {
    const { find } = await ready()
    const sign = (): string => getComputedStyle(find('.main'), '::after').borderStyle
    const before = sign()
    drag(find('.scroller'), 'dragenter', notes)
    expect([before, sign()]).toEqual(['none', 'dashed'])
    expect(await violations(find('.chat'))).toEqual([])
    drag(find('.scroller'), 'dragleave', notes)
    expect(sign()).toBe('none')
    drag(find('.scroller'), 'dragover', notes)
    drag(find('.scroller'), 'drop', notes)
    expect(sign()).toBe('none')
  })

  it('is not taken where no files are, and the page stays', async () => {
    const { fake, find, names } = await ready()
    fake.become({ takesUploads: false })
    expect(drag(find('textarea'), 'dragover', notes)).toBe(true)
    expect(drag(find('textarea'), 'drop', notes)).toBe(true)
    await frame()
    expect([names(), getComputedStyle(find('.main'), '::after').borderStyle]).toEqual([[], 'none'])
  })

  it('is a file: a text goes where it is dropped', async () => {
    const { find } = await ready()
    expect(drag(find('textarea'), 'dragover')).toBe(false)
    expect(drag(find('textarea'), 'drop')).toBe(false)
  })
})
