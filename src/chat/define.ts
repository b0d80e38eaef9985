/** Registers `<plimsoll-chat>`. Where the name is taken, it stays with who was first. */
import { PlimsollChat } from './index.ts'

if (globalThis.customElements && !customElements.get('plimsoll-chat')) {
  customElements.define('plimsoll-chat', PlimsollChat)
}

declare global {
  interface HTMLElementTagNameMap {
    'plimsoll-chat': PlimsollChat
  }
}
