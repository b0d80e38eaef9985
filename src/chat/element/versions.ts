/** Going to and fro among the versions of a message. */
import { html, type TemplateResult } from 'lit/html.js'
import { iconButton } from './message.ts'
import type { Scene } from './scene.ts'

export function versions(
  scene: Scene,
  messageId: string,
  { index, count }: { readonly index: number; readonly count: number },
): TemplateResult {
  const { words, chat, state } = scene
  const isBusy = state.reply !== undefined
  const go = (to: number) => () => scene.attempt(chat.conversation.switchVersion(messageId, to))
  const label = words.text('versionOf', { index: words.number(index), count: words.number(count) })
  return html`<span class="versions" role="group" aria-label=${label}>
    ${iconButton(words.text('olderVersion'), 'back', go(index - 1), isBusy || index <= 1)}
    <span aria-hidden="true">${words.number(index)} / ${words.number(count)}</span>
    ${iconButton(words.text('newerVersion'), 'forward', go(index + 1), isBusy || index >= count)}
  </span>`
}
