/** `plimsoll/inspector/define`: registers `<plimsoll-inspector>`, once. */
import { PlimsollInspector } from './view/inspector-element.ts'

declare global {
  interface HTMLElementTagNameMap {
    'plimsoll-inspector': PlimsollInspector
  }
}

if (!customElements.get('plimsoll-inspector')) customElements.define('plimsoll-inspector', PlimsollInspector)
