import type { PlimsollChat } from '../src/chat/index.ts'
import type { PlimsollInspector } from '../src/inspector/index.ts'

/** Stands for a session while the sample shows. */
const SAMPLE = 'sample'

/**
 * The inspector beside the chat: of the conversation that shows there. Loaded when it is first
 * opened.
 */
export class InspectorPanel {
  readonly #root: HTMLElement
  readonly #chat: PlimsollChat
  readonly #leave: HTMLElement
  readonly #locale: string
  readonly #onClose: () => void
  #inspector: PlimsollInspector | undefined
  /** Id of the session that is inspected. */
  #session: string | undefined

  /**
   * @param leave the button that closes it, for the inspector's header
   * @param locale how its numbers are written
   * @param onClose contract: called when it was closed from within
   */
  constructor(
    root: HTMLElement,
    chat: PlimsollChat,
    { leave, locale }: { readonly leave: HTMLElement; readonly locale: string },
    onClose: () => void,
  ) {
    this.#root = root
    this.#chat = chat
    this.#leave = leave
    this.#locale = locale
    this.#onClose = onClose
    const follow = (): void => void this.#follow()
    new MutationObserver(follow).observe(chat, { attributeFilter: ['session'] })
    // The first message of a session makes it.
    chat.addEventListener('plimsoll-message', follow)
    // What the chat does with the key, it keeps to itself.
    addEventListener('keydown', (event) => {
      if (event.key === 'Escape' && !event.isComposing && !root.hidden) this.close()
    })
    leave.addEventListener('click', () => this.close())
  }

  close(): void {
    this.#hide()
    this.#onClose()
  }

  /** @returns whether it is open now */
  async toggle(): Promise<boolean> {
    if (!this.#root.hidden) {
      this.#hide()
      return false
    }
    this.#root.hidden = false
    if (!this.#inspector) {
      const [{ loadStrings }] = await Promise.all([
        import('../src/inspector/index.ts'),
        import('../src/inspector/define.ts'),
      ])
      this.#inspector = document.createElement('plimsoll-inspector')
      this.#inspector.strings = {
        ...(await loadStrings(document.documentElement.lang)),
        locale: this.#locale,
      }
      this.#inspector.append(this.#leave)
      this.#root.append(this.#inspector)
    }
    await this.#follow()
    return !this.#root.hidden
  }

  /** Nobody sees what is written meanwhile: it follows nothing until it is opened again. */
  #hide(): void {
    this.#root.hidden = true
    if (this.#inspector) this.#inspector.source = undefined
    if (this.#session !== SAMPLE) this.#session = undefined
  }

  async #follow(): Promise<void> {
    const inspector = this.#inspector
    const { session } = this.#chat
    if (!inspector || this.#root.hidden || session === this.#session) return
    const [{ inspectedSource }, inspected] = await Promise.all([
      import('../src/chat/inspected-source.ts'),
      this.#chat.inspected().catch((error: unknown) => ({ error })),
    ])
    if (this.#chat.session !== session || this.#root.hidden) return
    if (inspected && 'error' in inspected) {
      // It says why, and looks again once something was said or sent.
      inspector.source = {
        name: '',
        calls: () => Promise.reject(inspected.error),
        context: () => Promise.reject(),
      }
      this.#session = undefined
      return
    }
    if (!inspected) {
      // Nothing was said yet: there is something to look at all the same.
      if (this.#session !== SAMPLE) void inspector.openSample()
      this.#session = SAMPLE
      return
    }
    this.#session = session
    inspector.source = inspectedSource(inspected)
  }
}
