/** How a reply was come to: what it thought, and what it called. */
import { html, type TemplateResult } from 'lit/html.js'
import type { ShownCall } from '../ports.ts'
import { icon } from './icons.ts'
import { expandIcon, stepIcon } from './panel-icons.ts'
import type { Scene } from './scene.ts'

export function reasoningView({ words }: Scene, reasoning: string): TemplateResult {
  return html`<details class="step">
    <summary>${words.text('reasoning')}${expandIcon}</summary>
    <p class="plain muted" dir="auto">${reasoning}</p>
  </details>`
}

const STEP_WORDS = {
  waiting: 'toolWaiting',
  running: 'toolRunning',
  ok: 'toolOk',
  failed: 'toolFailed',
} as const

export function stepsView({ words }: Scene, calls: readonly ShownCall[]): TemplateResult {
  return html`<div class="steps">${calls.map(
    ({ name, status, input, output }) => html`<details class="step ${status}">
      <summary>
        ${status === 'running' ? html`<span class="busy"><i></i><i></i><i></i></span>` : status === 'failed' ? icon('warning') : stepIcon}
        <span>${words.text(STEP_WORDS[status], { name })}</span>${expandIcon}
      </summary>
      <dl>
        <dt>${words.text('toolInput')}</dt>
        <dd><pre tabindex="0">${asText(input)}</pre></dd>
        <dt>${words.text('toolOutput')}</dt>
        <dd>${output === undefined ? words.text('toolNoOutput') : html`<pre tabindex="0">${asText(output)}</pre>`}</dd>
      </dl>
    </details>`,
  )}</div>`
}

/** A value as people read it, at most 4 000 characters of it. */
function asText(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value, undefined, 2)
  return text.length > 4_000 ? `${text.slice(0, 4_000)} …` : text
}
