import { html, nothing, type SVGTemplateResult, svg, type TemplateResult } from 'lit'
import type { Outcome } from '../../replay/replay.ts'
import type { InspectedCall } from '../model/inspection.ts'
import { fillOf, percentOf } from './drawing.ts'

/**
 * Columns that are drawn at most; of more calls, the fullest of a few neighbours stands for them.
 */
const MOST_COLUMNS = 160
const HEIGHT = 176
/** Of a column that there is, so that it can be seen. */
const LEAST_HEIGHT = 3
/** Room above the line, as a share of it. */
const ABOVE = 0.22
/** Arrows that are drawn at most, so that none touches the next on a phone. */
const MOST_ARROWS = 36
/** What is left between two columns, as a share of one. */
const GAP = 0.18

export interface TimelineParts {
  readonly calls: readonly InspectedCall[]
  readonly cap: number | undefined
  readonly chosen: number
  readonly compared: number | undefined
  readonly pick: (call: number) => void
}

/**
 * Every call as a column of its sections, the line across them, and what everything would have
 * been. For the eye: the scrubber says it in words.
 */
export function timelineView({ calls, cap, chosen, compared, pick }: TimelineParts): TemplateResult {
  const group = Math.max(1, Math.ceil(calls.length / MOST_COLUMNS))
  const columns = Array.from({ length: Math.ceil(calls.length / group) }, (_, index) =>
    calls.slice(index * group, (index + 1) * group),
  )
  const top = topOf(calls, cap)
  const step = Math.ceil(columns.length / MOST_ARROWS)
  const heightOf = (tokens: number): number => (Math.min(tokens, top) / top) * HEIGHT
  const width = 1 / Math.max(1, columns.length)
  const lineAt = cap === undefined ? undefined : HEIGHT - heightOf(cap)
  const at = (event: MouseEvent): void => {
    const box = (event.currentTarget as Element).getBoundingClientRect()
    const share = (event.clientX - box.left) / box.width
    const rtl = getComputedStyle(event.currentTarget as Element).direction === 'rtl'
    const place = Math.floor((rtl ? 1 - share : share) * columns.length)
    pick(Math.max(0, Math.min(calls.length - 1, place * group)))
  }
  const frame = (call: number | undefined, name: string) =>
    call === undefined
      ? nothing
      : svg`<rect class=${name} x=${percentOf(Math.floor(call / group) * width)} y="0" width=${percentOf(width)} height=${HEIGHT} rx="2" />`
  return html`
    <div class="scope">
      <svg class="timeline flip" height=${HEIGHT} aria-hidden="true" @click=${at}>
        ${lineAt === undefined ? nothing : svg`<rect class="water" y=${lineAt} width="100%" height=${HEIGHT - lineAt} />`}
        ${columns.map((column, index) => columnView(column, { from: index * width, width, top, heightOf, hasArrow: index % step === 0 }))}
        ${frame(compared, 'compared')} ${frame(chosen, 'chosen')}
        ${
          lineAt === undefined
            ? nothing
            : svg`
              <svg overflow="visible">
                <line class="load-line" x1="-20" x2="0" y1=${lineAt} y2=${lineAt} />
                <circle class="plimsoll" cx="-10" cy=${lineAt} r="6.5" />
                <line class="load-line" x1="0" x2="100%" y1=${lineAt} y2=${lineAt} />
              </svg>`
        }
      </svg>
    </div>
  `
}

/** Tokens at the top of the drawing. */
function topOf(calls: readonly InspectedCall[], cap = 0): number {
  return (
    calls.reduce((top, { outcomes }) => Math.max(top, tokensOf(outcomes.plimsoll)), cap || 1) * (1 + ABOVE)
  )
}

/** The most that "everything" is anywhere, where that is above the drawing. */
export function mostAbove(calls: readonly InspectedCall[], cap: number | undefined): number | undefined {
  const most = calls.reduce((most, { outcomes }) => Math.max(most, tokensOf(outcomes.full)), 0)
  return most > topOf(calls, cap) ? most : undefined
}

interface Place {
  readonly from: number
  readonly width: number
  readonly top: number
  readonly heightOf: (tokens: number) => number
  /** Whether an arrow stands here where "everything" is above the drawing. */
  readonly hasArrow: boolean
}

function columnView(
  column: readonly InspectedCall[],
  { from, width, top, heightOf, hasArrow }: Place,
): SVGTemplateResult {
  const fullest = column.reduce((one, other) =>
    tokensOf(other.outcomes.plimsoll) > tokensOf(one.outcomes.plimsoll) ? other : one,
  )
  const { plimsoll, full } = fullest.outcomes
  const gap = (width * GAP) / 2
  const x = percentOf(from + gap)
  const wide = percentOf(width - 2 * gap)
  const middle = percentOf(from + width / 2)
  const begins = column.some(({ outcomes }) => isBuilt(outcomes.plimsoll) && outcomes.plimsoll.cause)
  const refused = column.some(({ outcomes }) => outcomes.plimsoll && !isBuilt(outcomes.plimsoll))
  const everything = tokensOf(full)
  const sections = isBuilt(plimsoll) ? plimsoll.sections : []
  const whole = sections.reduce((sum, { tokens }) => sum + heightOf(tokens), 0)
  const enlarged = whole > 0 ? Math.max(1, LEAST_HEIGHT / whole) : 1
  let y = HEIGHT
  const parts = sections.map(({ name, tokens }) => {
    const height = heightOf(tokens) * enlarged
    y -= height
    return svg`<rect x=${x} y=${y} width=${wide} height=${height} fill=${fillOf(name)} />`
  })
  const isAbove = everything > top
  return svg`
    ${parts}
    ${everything > tokensOf(plimsoll) && !isAbove ? svg`<rect class="beyond" x=${x} y=${HEIGHT - heightOf(everything)} width=${wide} height="2" />` : nothing}
    ${isAbove && hasArrow ? svg`<svg x=${middle} overflow="visible"><path class="above" d="M0 8v-9M-3 2l3 -3l3 3" /></svg>` : nothing}
    ${begins ? svg`<svg x=${middle} y=${HEIGHT + 3} overflow="visible"><path class="epoch-mark" d="M0 0l4 6h-8z" /></svg>` : nothing}
    ${refused ? svg`<svg x=${middle} y=${HEIGHT - 10} overflow="visible"><path class="refused" d="M-4 -4l8 8M4 -4l-8 8" /></svg>` : nothing}
  `
}

export function isBuilt(
  outcome: Outcome | undefined,
): outcome is Extract<Outcome, { readonly tokens: number }> {
  return outcome !== undefined && 'tokens' in outcome
}

function tokensOf(outcome: Outcome | undefined): number {
  return isBuilt(outcome) ? outcome.tokens : 0
}
