import { nothing, type SVGTemplateResult, svg } from 'lit'
import type { Section } from '../model/shown.ts'

/** Fills by section: a colour and a pattern each, so that none is known by its colour alone. */
export function fills(): SVGTemplateResult {
  return svg`
    <defs>
      ${pattern('tools', svg`<path d="M0 3h6" stroke="var(--surface)" stroke-width="2" />`)}
      ${pattern('system', nothing)}
      ${pattern('memory', svg`<circle cx="3" cy="3" r="1.3" fill="var(--surface)" />`)}
      ${pattern('window', svg`<path d="M-1 1l2-2M-1 7L7-1M5 7l2-2" stroke="var(--surface)" stroke-width="0.8" />`)}
      ${pattern('tail', svg`<path d="M3 0v6M0 3h6" stroke="var(--surface)" stroke-width="1" />`)}
      ${pattern('request', svg`<path d="M0 0v6" stroke="var(--surface)" stroke-width="3" />`)}
      <pattern id="fill-other" width="6" height="6" patternUnits="userSpaceOnUse">
        <rect width="6" height="6" fill="var(--firm)" />
        <path d="M-1 1l2-2M-1 7L7-1M5 7l2-2" stroke="var(--surface)" stroke-width="1.4" />
      </pattern>
    </defs>
  `
}

function pattern(section: Section, drawn: unknown): SVGTemplateResult {
  return svg`
    <pattern id="fill-${section}" width="6" height="6" patternUnits="userSpaceOnUse">
      <rect width="6" height="6" fill="var(--${section})" />
      ${drawn}
    </pattern>
  `
}

export function fillOf(section: Section): string {
  return `url(#fill-${section})`
}

/** Plimsoll's mark: a circle, crossed by the line to which a ship may be loaded. */
export function mark(size: number): SVGTemplateResult {
  return svg`
    <svg class="mark" width=${size} height=${size} viewBox="0 0 32 32" aria-hidden="true">
      <circle cx="16" cy="16" r="9.5" fill="none" stroke="currentColor" stroke-width="2.6" />
      <path d="M1 16h30" stroke="currentColor" stroke-width="2.6" />
    </svg>
  `
}

/** A share as SVG takes it. */
export function percentOf(share: number): string {
  return `${(Math.max(0, Math.min(1, share)) * 100).toFixed(3)}%`
}
