import { html, nothing, svg, type TemplateResult } from 'lit'
import type { CacheBreak } from '../../replay/figures.ts'
import type { Lane } from '../../replay/race.ts'
import { aroundView } from './diff-view.ts'
import { percentOf } from './drawing.ts'
import type { Words } from './words.ts'

/** Policies whose costs differ by less than this share did the same. */
const SAME = 0.02

/** Four policies on the same log, by what a call costs. */
export function raceView(lanes: readonly Lane[], conversations: number, words: Words): TemplateResult {
  const { strings } = words
  const most = Math.max(1, ...lanes.map(({ figures }) => figures.costPerCall))
  const full = lanes.find(({ racer }) => racer === 'full')?.figures.costPerCall ?? 0
  const own = lanes.find(({ racer }) => racer === 'plimsoll')?.figures
  const isSame = own !== undefined && own.calls > 0 && Math.abs(own.costPerCall - full) < full * SAME
  return html`
    <ol class="lanes">
      ${lanes.map((lane) => laneView(lane, { most, full, conversations }, words))}
    </ol>
    ${isSame ? html`<p class="small">${strings.raceSame}</p>` : nothing}
  `
}

function laneView(
  { racer, figures, breaks, firstBreak }: Lane,
  {
    most,
    full,
    conversations,
  }: { readonly most: number; readonly full: number; readonly conversations: number },
  words: Words,
): TemplateResult {
  const { strings, count, share, label } = words
  const { calls, overCap, refused, costPerCall, prefixShare } = figures
  const long = percentOf(costPerCall / most)
  const placeOf = ({ call, conversation, byte, path }: CacheBreak) =>
    strings.raceBreak(
      count(call + 1),
      conversations > 1 ? label(conversation, 40) : '',
      count(byte),
      label(path),
    )
  return html`
    <li class="lane">
      <h3>${strings.racers[racer]}</h3>
      <svg class="flip" height="20" aria-hidden="true">
        <rect class="track" width="100%" height="20" rx="2" />
        ${
          racer === 'plimsoll'
            ? svg`<rect class="own" width=${long} height="20" rx="2" />`
            : svg`<rect fill="url(#fill-other)" width=${long} height="20" rx="2" />`
        }
      </svg>
      <p class="lane-facts">
        <span><strong>${count(costPerCall)}</strong> ${strings.aCall(share(costPerCall, full))}</span>
        ${prefixShare === null ? nothing : html`<span>${strings.raceHit(share(prefixShare, 1))}</span>`}
        ${
          overCap > 0
            ? html`<span class="over">${strings.raceOver(count(overCap), count(calls))}</span>`
            : html`<span>${strings.raceUnder}</span>`
        }
        ${refused > 0 ? html`<span>${strings.raceRefused(count(refused))}</span>` : nothing}
        ${breaks > 0 ? html`<span>${strings.raceBreaks(count(breaks))}</span>` : nothing}
      </p>
      ${
        firstBreak
          ? html`<details>
              <summary>
                ${placeOf(firstBreak)}:
                ${strings.causes[firstBreak.cause]}
              </summary>
              ${aroundView(firstBreak.around, words)}
            </details>`
          : html`<p class="lane-note">${calls > 0 ? strings.raceNoBreak : nothing}</p>`
      }
    </li>
  `
}
