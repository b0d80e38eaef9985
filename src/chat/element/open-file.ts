/** Opening a file of a message. Loaded with the first click on one. */
import { html, nothing, render, type TemplateResult } from 'lit/html.js'
import { isPlimsollError, isUnreachable } from '../../ports/errors.ts'
import type { MediaPart } from '../../ports/message.ts'
import { adopt } from '../adopt.ts'
import { loaded } from '../homes/load.ts'
import type { Conversation } from '../ports.ts'
import { loadPanelWords } from '../strings/panels/load.ts'
import type { PanelWords } from '../strings/panels/words.ts'
import { saveFile, saveFrom } from './save-file.ts'
import type { Scene } from './scene.ts'

const fileStyle = `
.chip[aria-busy] { opacity: 0.5; cursor: progress }
dialog { max-inline-size: min(100vi - 2rem, 60rem); padding: 1rem; border: 1px solid var(--line); border-radius: 1rem; background: var(--surface); color: var(--text); overflow-wrap: anywhere }
dialog[open] { display: grid; gap: 0.75rem }
dialog::backdrop { background: rgb(0 0 0 / 0.6) }
dialog img { max-inline-size: 100%; max-block-size: calc(100dvb - 11rem); margin-inline: auto }
dialog .row { justify-content: end }
`

/** Types of pictures in which nothing runs, whatever the bytes are. */
const PICTURE = /^image\/(?:jpeg|png|gif|webp)$/i

interface Opened {
  readonly words: PanelWords
  readonly conversation: Conversation
  /** What was clicked. */
  readonly chip: HTMLElement
  readonly messageId: string | undefined
  readonly name: string
}

/**
 * Shows a picture of a type that runs nothing, and saves all else: opened by a `blob:` address, a
 * page would run as one of this origin.
 */
export async function openFile(
  scene: Scene,
  { mediaType, name = scene.words.text('attachment', { type: mediaType }), ref, url = '' }: MediaPart,
  chip: HTMLElement,
): Promise<void> {
  if (/^https?:/i.test(url)) open(url, '_blank', 'noopener,noreferrer')
  else if (/^data:/i.test(url)) saveFrom(name, url)
  else if (!chip.ariaBusy) {
    const { message: messageId } = (chip.closest('[data-message]') as HTMLElement).dataset
    adopt(chip.getRootNode() as ShadowRoot, fileStyle)
    chip.ariaBusy = 'true'
    try {
      const words = await loaded(() => loadPanelWords(scene.words))
      await openKept({ words, conversation: scene.chat.conversation, chip, messageId, name }, ref)
    } finally {
      chip.ariaBusy = null
    }
  }
}

async function openKept(opened: Opened, ref: string | undefined): Promise<void> {
  const { words, conversation, name } = opened
  const tell = (key: 'fileGone' | 'fileAway'): void => {
    const text = words.text(key, { name })
    show(opened, text, () => html`<p>${text}</p>`)
  }
  try {
    const found = ref === undefined ? ref : await conversation.attachment(ref)
    if (!isThere(opened)) return
    if (!found) return tell('fileGone')
    const { mediaType, bytes } = found
    // Of no type that a browser would show.
    const save = (): void => saveFile(name, new Blob([bytes], { type: 'application/octet-stream' }))
    if (PICTURE.test(mediaType)) showPicture(opened, new Blob([bytes], { type: mediaType }), save)
    else save()
  } catch (error) {
    // Nor does what fetches it come, which is loaded then.
    if (isPlimsollError(error) && !isUnreachable(error)) throw error
    if (isThere(opened)) tell('fileAway')
  }
}

/** Whether its message shows: it is of who reads that, and forgotten with it. */
function isThere({ conversation, chip, messageId }: Opened): boolean {
  const { messages } = conversation.getSnapshot()
  return chip.isConnected && messages.some(({ message }) => message.id === messageId)
}

function showPicture(opened: Opened, picture: Blob, save: () => void): void {
  const url = URL.createObjectURL(picture)
  // Once it shows it needs its address no more.
  const release = (): void => URL.revokeObjectURL(url)
  const failed = (close: () => void) => () => {
    // The policy of the page allows no such pictures, or it is broken.
    release()
    close()
    save()
  }
  show(
    opened,
    opened.name,
    (close) => html`<img src=${url} alt=${opened.name} @load=${release} @error=${failed(close)} />`,
    html`<button class="outlined" type="button" @click=${save}>${opened.words.text('save')}</button>`,
  )
}

function show(
  opened: Opened,
  label: string,
  content: (close: () => void) => TemplateResult,
  button: TemplateResult | typeof nothing = nothing,
): void {
  const { words, conversation, chip } = opened
  const dialog = document.createElement('dialog')
  const close = (): void => dialog.close()
  const end = conversation.subscribe(() => {
    if (!isThere(opened)) close()
  })
  dialog.ariaLabel = label
  dialog.addEventListener('close', () => {
    end()
    dialog.remove()
  })
  // Its keys are its own: Escape ends it, and not the reply or the chat.
  dialog.addEventListener('keydown', (event) => event.stopPropagation())
  render(
    html`${content(close)}<div class="row">${button}<button class="primary" type="button" autofocus @click=${close}>${words.text('back')}</button></div>`,
    dialog,
  )
  chip.closest('.chat')?.append(dialog)
  dialog.showModal()
}
