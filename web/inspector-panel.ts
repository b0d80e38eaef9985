import type { PlimsollChat } from '../src/chat/index.ts'
import type { PlimsollInspector } from '../src/inspector/index.ts'

/**
 * The inspector beside the chat: of the conversation that shows there. Loaded when it is first
 * opened.
 */
export class InspectorPanel {
  readonly #root: HTMLElement
  readonly #chat: PlimsollChat
  #inspector: PlimsollInspector | undefined
  /** Id of the session that is inspected. */
  #session: string | undefined

  constructor(root: HTMLElement, chat: PlimsollChat) {
    this.#root = root
    this.#chat = chat
    const follow = (): void => void this.#follow()
    new MutationObserver(follow).observe(chat, { attributeFilter: ['session'] })
    // The first message of a session makes it.
    chat.addEventListener('plimsoll-message', follow)
  }

  /** @returns whether it is open now */
  async toggle(): Promise<boolean> {
    this.#root.hidden = !this.#root.hidden
    if (this.#root.hidden) return false
    if (!this.#inspector) {
      await import('../src/inspector/define.ts')
      this.#inspector = document.createElement('plimsoll-inspector')
      this.#root.append(this.#inspector)
    }
    await this.#follow()
    return true
  }

  async #follow(): Promise<void> {
    const inspector = this.#inspector
    const { session } = this.#chat
    if (!inspector || this.#root.hidden || session === this.#session) return
    const [{ clientSource, sessionSource }, inspected] = await Promise.all([
      import('../src/inspector/index.ts'),
      this.#chat.inspected(),
    ])
    if (!inspected || this.#chat.session !== session) return
    this.#session = session
    inspector.source =
      inspected.home === 'local'
        ? sessionSource(inspected.session, { tools: inspected.tools })
        : clientSource(inspected.session)
  }
}
