/** What was remembered from a message. */
import { html, nothing, type TemplateResult } from 'lit/html.js'
import type { Trust } from '../../ports/message.ts'
import type { ShownMessage } from '../ports.ts'
import type { TextKey } from '../strings/catalogue.ts'
import { icon, mark } from './icons.ts'
import type { Scene } from './scene.ts'

export function chips(scene: Scene, { message: { createdAt }, remembered }: ShownMessage): TemplateResult {
  const { words, chat, now, act } = scene
  return html`<div class="chips">${remembered.map(({ factId, text, trust, said, undo }) => {
    // The text alone is of its own direction, with what it ends in.
    const [before, after] = words.text(said ? 'remembered' : 'versionRemembered', { text: '\n' }).split('\n')
    return undo === 'done'
      ? html`<p class="chip" role="status">${icon('check')}<span>${words.text('factForgotten')} ${said ? words.text('saidStays') : nothing}</span>
          ${said ? html`<button type="button" @click=${() => act.forget(said)}>${words.text('forgetMessage')}</button>` : nothing}</p>`
      : html`<p class="chip">
          ${mark(0.7)}<span>${before}<bdi>${text}</bdi>${after} · ${words.text(TRUST[trust])}${words.text('comma')}${words.day(createdAt, now)}</span>
          <button type="button" aria-label="${words.text('undo')}: ${text}"
            @click=${() => scene.attempt(chat.conversation.forget(factId))}>${words.text('undo')}</button>
        </p>`
  })}</div>`
}

/** From whom something is. */
export const TRUST = {
  system: 'trustSystem',
  user: 'trustUser',
  assistant: 'trustAssistant',
  import: 'trustImport',
  tool: 'trustTool',
  web: 'trustWeb',
} as const satisfies Readonly<Record<Trust, TextKey>>
