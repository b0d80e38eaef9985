import { html, nothing, type TemplateResult } from 'lit'
import { shortIds } from '../../replay/causes.ts'
import type { Excerpts } from '../../replay/words.ts'
import type { Comparison } from '../model/compare.ts'
import type { Words } from './words.ts'

/** Parts of the common beginning that are shown: what stands in front of the difference. */
const SAME_SHOWN = 2

/** Where two requests part, why, what is paid for the second, and what became of each part. */
export function diffView(comparison: Comparison, words: Words): TemplateResult {
  const { strings, count } = words
  const { cause, divergence, lines } = comparison
  const paid = comparison.tokens ?? comparison.bytes
  const hidden = Math.max(0, lines.filter(({ change }) => change === 'same').length - SAME_SHOWN)
  const unit = comparison.tokens ? strings.tokens : strings.bytes
  return html`
    <p>
      <strong>${divergence ? strings.firstByte(count(divergence.byte)) : strings.noByte}</strong>
      ${divergence ? html`<span class="quiet"> ${strings.causes[cause]}</span>` : nothing}
    </p>
    ${divergence ? aroundView(divergence.around, words) : nothing}
    ${
      paid
        ? html`<p class="paid small">
            ${(['shared', 'rebilled', 'added'] as const).map(
              (part) => html`<span><strong>${unit(count(paid[part]))}</strong> ${strings.paid[part]}</span>`,
            )}
          </p>`
        : nothing
    }
    <ol class="changes" tabindex="0" role="list" aria-label=${strings.changesLabel}>
      ${hidden > 0 ? html`<li data-change="same"><span class="quiet rest">${strings.sameBefore(count(hidden))}</span></li>` : nothing}
      ${lines.slice(hidden).map(
        ({ change, where, records, text, cut }) => html`
          <li data-change=${change}>
            <strong>${strings.changes[change]}</strong>
            <span class="quiet">${words.label([where, shortIds(records)].join(' '), 40)}</span>
            <bdi class="mono">${words.label(text, 160)}${cut ? '…' : ''}</bdi>
          </li>
        `,
      )}
    </ol>
  `
}

/** The text on both sides of the first byte that differs. */
export function aroundView({ shared, before, after }: Excerpts, words: Words): TemplateResult {
  const { strings, body } = words
  const side = (name: string, text: string) =>
    html`<dt>${name}</dt><dd>${body(shared)}<mark>${body(text)}</mark></dd>`
  return html`<dl class="around">${side(strings.before, before)}${side(strings.after, after)}</dl>`
}
