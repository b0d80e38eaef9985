import type { EpochCause } from '../../src/ports/op.ts'
import { MESSAGES } from '../../src/replay/baselines.ts'
import { RACERS, type Racer } from '../../src/replay/race.ts'

interface LineStyle {
  readonly light: string
  readonly dark: string
  readonly dash: string
  /** What the policy shows, for readers who do not know its name. */
  readonly hint: string
}

/**
 * Hues after Okabe and Ito, at 4.5 : 1 or more against the page. With a simulated colour blindness
 * (Machado 2009) any two are 15 or more apart in CIELAB; dashes and names tell them apart as well.
 */
export const LINES: { readonly [Name in Racer]: LineStyle } = {
  plimsoll: { light: '#0065bd', dark: '#58a6ff', dash: 'none', hint: '' },
  full: { light: '#c24e00', dark: '#f0883e', dash: 'none', hint: '(everything)' },
  messages: { light: '#9c2682', dark: '#ffadda', dash: '7 4', hint: `(last ${MESSAGES})` },
  tokens: { light: '#006b4f', dark: '#3ecf9b', dash: '9 4 0 4', hint: '(what fits)' },
}

/** A shape for each cause of an epoch, drawn around the point where the path stands. */
export const SHAPES: { readonly [Cause in EpochCause]: string } = {
  start: 'm-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z',
  window: 'm0-6 5 6-5 6-5-6z',
  budget: 'm-4-4h8v8h-8z',
  head: 'm0-5 5 9h-10z',
  late: 'm0 5 5-9h-10z',
  sync: 'm-6-2h12v4h-12z',
  rewind: 'm-5 0 9-5v10z',
  forget: 'm5 0-9-5v10z',
  manual: 'm-2-6h4v12h-4z',
}
export const CAUSES = Object.keys(SHAPES) as readonly EpochCause[]
export const CROSS = 'm-4-4 8 8m0-8-8 8'
export const ARROW = 'm-5 0h10l-5-8z'

const colours = (scheme: 'light' | 'dark'): string =>
  RACERS.map((name) => `.${name}{color:${LINES[name][scheme]}}`).join('')

/**
 * Light and dark follow the reader's system; the page is painted, since what is around the picture
 * may not. Media queries are answered by the size at which a picture is shown, so a small one gets
 * larger words, and fewer.
 */
export const STYLE = `
svg{color:#1f2328}.page{fill:#fff}
text{font:13px system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;fill:currentColor}
.title{font-size:18px;font-weight:600}.bold{font-weight:600}.muted{color:#59636e}
.end{text-anchor:end}.middle{text-anchor:middle}
path{fill:none;stroke:currentColor;stroke-width:1.5;stroke-linecap:round;stroke-linejoin:round}
.grid{color:#e4e8ec}.line{stroke-width:2.6}.front{stroke-width:2.4}
.over{fill:#cf222e;opacity:.06}.area{fill:currentColor;stroke:none;opacity:.13}.exit{fill:currentColor;stroke:none}
.epoch{fill:currentColor;stroke:#fff}.refused{color:#cf222e;stroke-width:2.2}
${colours('light')}
${RACERS.map((name) => `.behind.${name}{stroke-dasharray:${LINES[name].dash}}`).join('')}
@media(prefers-color-scheme:dark){svg{color:#f0f6fc}.page{fill:#0d1117}.muted{color:#a5adb6}
.grid{color:#262c36}.over{fill:#ff7b72;opacity:.1}.area{opacity:.2}
.epoch{stroke:#0d1117}.refused{color:#ff7b72}
${colours('dark')}}
@media(max-width:600px){text{font-size:20px}.title{font-size:24px}.wide{display:none}}
`
