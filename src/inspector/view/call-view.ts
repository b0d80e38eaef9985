import { html, nothing, svg, type TemplateResult } from 'lit'
import { costOf } from '../../replay/cost.ts'
import type { InspectedCall } from '../model/inspection.ts'
import { type Detail, NEXT } from '../model/inspection.ts'
import { SECTIONS, type Shown } from '../model/shown.ts'
import { fillOf, mark, percentOf } from './drawing.ts'
import { isBuilt } from './timeline-view.ts'
import type { Words } from './words.ts'

const BAR = 52
/** Room for the line to be seen where a call comes near it. */
const BEYOND = 1.04

/**
 * One call as a bar against the line; below it, how much of its beginning the provider's cache
 * holds.
 */
export function callBar(
  { segments, used, cap, floor: least = used }: Shown,
  hit: number,
  words: Words,
): TemplateResult {
  const { strings, count, share } = words
  const whole = Math.max(cap ?? 0, used, 1) * BEYOND
  let from = 0
  const parts = segments.map(({ section, tokens }) => {
    const x = from / whole
    from += tokens
    return svg`<rect x=${percentOf(x)} y="6" width=${percentOf(tokens / whole)} height=${BAR - 12} fill=${fillOf(section)}><title>${strings.sections[section]} ${count(tokens)}</title></rect>`
  })
  const floor = least < used ? percentOf(least / whole) : undefined
  const said = segments.map(({ section, tokens }) => `${strings.sections[section]} ${count(tokens)}`)
  const sum =
    cap === undefined
      ? strings.usedAlone(count(used))
      : strings.used(count(used), count(cap), share(used, cap))
  return html`
    <svg class="call-bar flip" height=${BAR} role="img" aria-label="${sum}. ${said.join(' · ')}">
      <rect class="water" y="6" width="100%" height=${BAR - 12} />
      ${parts}
      <rect class="cached" y=${BAR - 3} width=${percentOf(hit / whole)} height="3" />
      ${floor === undefined ? nothing : svg`<line x1=${floor} x2=${floor} y1="6" y2=${BAR - 6} stroke="var(--ink)" stroke-dasharray="2 3" />`}
      ${cap === undefined ? nothing : svg`<line class="load-line" x1=${percentOf(cap / whole)} x2=${percentOf(cap / whole)} y1="0" y2=${BAR} />`}
    </svg>
  `
}

/** What the fills mean, with the tokens of this call. */
export function legend(
  shown: Shown | undefined,
  {
    hit,
    hasOthers,
    above,
  }: { readonly hit: number; readonly hasOthers: boolean; readonly above: number | undefined },
  words: Words,
): TemplateResult {
  const { strings, count } = words
  const tokens = new Map(shown?.segments.map((segment) => [segment.section, segment.tokens]))
  const sections = SECTIONS.filter((section) => tokens.has(section))
  return html`
    <ul class="legend" aria-label=${strings.legend}>
      ${sections.map(
        (section) => html`
          <li>
            <svg aria-hidden="true"><rect width="100%" height="100%" fill=${fillOf(section)} /></svg>
            ${strings.sections[section]} <b>${count(tokens.get(section) ?? 0)}</b>
          </li>
        `,
      )}
      ${shown?.cap === undefined ? nothing : html`<li>${mark(18)} ${strings.line} <b>${count(shown.cap)}</b></li>`}
      ${
        shown?.floor === undefined
          ? nothing
          : html`<li>
              <svg aria-hidden="true"><path d="M9 0v14" stroke="currentColor" stroke-dasharray="2 3" /></svg>
              ${strings.floor} <b>${count(shown.floor)}</b> ${shown.floor < shown.used ? nothing : strings.floorAll}
            </li>`
      }
      ${
        shown?.receipt?.margin
          ? html`<li>
              <svg aria-hidden="true"><path d="M0 7h18" stroke="currentColor" stroke-dasharray="1 3" /></svg>
              ${strings.margin} <b>${count(shown.receipt.margin)}</b>
            </li>`
          : nothing
      }
      <li>
        <svg aria-hidden="true"><rect class="cached" y="5" width="100%" height="3" /></svg>
        ${strings.prefix} <b>${count(hit)}</b>
      </li>
      <li>
        <svg aria-hidden="true"><path class="epoch-mark" d="M9 4l4 6h-8z" /></svg>
        ${strings.newEpoch}
      </li>
      ${
        hasOthers
          ? html`<li>
              <svg aria-hidden="true"><rect class="beyond" y="6" width="100%" height="2" /></svg>
              ${strings.overLine}
            </li>`
          : nothing
      }
      ${
        above === undefined
          ? nothing
          : html`<li>
              <svg aria-hidden="true"><path class="above" d="M9 12v-9M6 6l3 -3l3 3" /></svg>
              ${strings.above} <b>${count(above)}</b>
            </li>`
      }
    </ul>
    <details class="small">
      <summary>${strings.explain}</summary>
      <dl class="explained">
        ${sections.map((section) => meaning(strings.sections[section], strings.explained[section]))}
        ${meaning(strings.line, strings.explained.line)} ${meaning(strings.floor, strings.explained.floor)}
        ${meaning(strings.margin, strings.explained.margin)} ${meaning(strings.epoch, strings.explained.epoch)}
      </dl>
    </details>
  `
}

function meaning(word: string, text: string): TemplateResult {
  return html`<dt>${word}</dt><dd class="quiet">${text}</dd>`
}

/** Epoch and cause, what the cache gives, and the cost beside the other policies'. */
export function facts(call: InspectedCall, detail: Detail | undefined, words: Words): TemplateResult {
  const { strings, count, share, label } = words
  const { plimsoll, ...others } = call.outcomes
  const built = isBuilt(plimsoll) ? plimsoll : undefined
  const cost = built && costOf(built.tokens, built.hit)
  const state = detail?.shown.receipt?.epoch
  const epoch =
    detail?.epoch !== undefined
      ? strings.epochValue(count(detail.epoch.place), strings.epochCauses[detail.epoch.cause] ?? '')
      : typeof state === 'string'
        ? strings.epochCauses[state]
        : undefined
  return html`
    <dl class="facts">
      ${fact(strings.answers, call.answers === NEXT ? strings.nextCall : label(call.answers, 140), 'wide')}
      ${epoch === undefined ? nothing : fact(strings.epoch, epoch)}
      ${
        built
          ? fact(
              strings.prefix,
              html`<strong>${share(built.hit, built.tokens)}</strong> · ${strings.tokens(count(built.hit))}`,
            )
          : nothing
      }
      ${
        cost === undefined
          ? nothing
          : fact(strings.cost, html`<strong>${count(cost)}</strong> ${strings.costUnit}`)
      }
      ${(['full', 'messages'] as const).map((racer) => {
        const other = others[racer]
        if (cost === undefined || !isBuilt(other)) return nothing
        const theirs = costOf(other.tokens, other.hit)
        return fact(
          strings.against[racer],
          cost > theirs
            ? html`<strong>${count(cost - theirs)}</strong> ${strings.moreThanCost(count(theirs))}`
            : html`<strong>${share(cost, theirs)}</strong> ${strings.ofCost(count(theirs))}`,
        )
      })}
    </dl>
  `
}

function fact(term: string, value: unknown, name = ''): TemplateResult {
  return html`<div class=${name}><dt>${term}</dt><dd><bdi>${value}</bdi></dd></div>`
}
