import { html, type TemplateResult } from 'lit/html.js'
import type { Words } from '../strings/words.ts'

/** A question before something is removed, and what is done by its answers. */
export interface Confirmation {
  readonly ask: string
  readonly label: string
  readonly onCancel: () => void
  readonly onConfirm: () => void
}

/** Its first button is given the focus: that which removes nothing. */
export function confirmation(
  words: Words,
  { ask, label, onCancel, onConfirm }: Confirmation,
): TemplateResult {
  return html`<div class="confirm" role="group" aria-label=${ask} @keydown=${(event: KeyboardEvent) => {
    if (event.key !== 'Escape') return
    event.stopPropagation()
    onCancel()
  }}>
    <p>${ask}</p>
    <div class="row">
      <button class="outlined" type="button" @click=${onCancel}>${words.text('cancel')}</button>
      <button class="danger" type="button" @click=${onConfirm}>${label}</button>
    </div>
  </div>`
}
