import { html, type TemplateResult } from 'lit/html.js'

/** Strokes on a grid of 24. */
const STROKES = {
  back: 'M15 5l-7 7 7 7',
  forward: 'M9 5l7 7-7 7',
  close: 'M6 6l12 12M18 6L6 18',
  compose:
    'M12 5H7a3 3 0 0 0-3 3v9a3 3 0 0 0 3 3h9a3 3 0 0 0 3-3v-5M17.6 3.9a1.8 1.8 0 0 1 2.5 2.5L12.5 14 9 15l1-3.5z',
  sessions: 'M4 6h16M4 12h16M4 18h10',
  send: 'M12 19V5.5M6 11l6-6 6 6',
  down: 'M12 5v13.5M6 13l6 6 6-6',
  stop: 'M8 8h8v8H8z',
  copy: 'M9 9h8a2 2 0 0 1 2 2v7a2 2 0 0 1-2 2h-8a2 2 0 0 1-2-2v-7a2 2 0 0 1 2-2M5 15H4.5A1.5 1.5 0 0 1 3 13.5V6a2 2 0 0 1 2-2h7.5A1.5 1.5 0 0 1 14 5.5V6',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  edit: 'M4 20l1-4.5L16.3 4.2a2 2 0 0 1 2.8 0l.7.7a2 2 0 0 1 0 2.8L8.5 19zM14 6.5l3.5 3.5',
  again: 'M19.5 12a7.5 7.5 0 1 1-2.2-5.3L20 9M20 4.5V9h-4.5',
  remove: 'M4.5 7h15M9.5 7V4.5h5V7M6.5 7l.8 12.5h9.4L17.5 7M10.5 11v5M13.5 11v5',
  warning: 'M12 4.5L21 20H3zM12 10.5v4.2M12 17.2v.1',
  offline: 'M4 4l16 16M8.5 8.3A7 7 0 0 1 18 12a4 4 0 0 1 2.6 6.5M17 18H7.5A4.5 4.5 0 0 1 6.3 9.2',
  device: 'M5 5h14v10H5zM2.5 19h19',
  service: 'M7.5 18.5A4.5 4.5 0 0 1 7 9.6a5.5 5.5 0 0 1 10.6 1.1A4 4 0 0 1 17 18.5z',
  seen: 'M2.5 12s3.5-6.5 9.5-6.5 9.5 6.5 9.5 6.5-3.5 6.5-9.5 6.5S2.5 12 2.5 12M12 9a3 3 0 1 0 0 6 3 3 0 1 0 0-6',
  memory: 'M7 4h10a1.5 1.5 0 0 1 1.5 1.5V20L12 15.5 5.5 20V5.5A1.5 1.5 0 0 1 7 4',
  more: 'M5 12h.1M12 12h.1M19 12h.1',
  attach:
    'M19 11.5l-7.3 7.3a4.6 4.6 0 0 1-6.5-6.5l7.6-7.6a3 3 0 0 1 4.3 4.3l-7.5 7.5a1.5 1.5 0 0 1-2.1-2.1l6.9-6.9',
} as const

export type IconName = keyof typeof STROKES

/**
 * A picture that says nothing: what it stands for is said in words beside it, or by the button
 * around it.
 */
export function icon(name: IconName): TemplateResult {
  return drawn(name, STROKES[name])
}

/** One that is loaded later, with what has it. */
export function drawn(name: string, strokes: string): TemplateResult {
  return html`<svg class="icon icon-${name}" viewBox="0 0 24 24" aria-hidden="true"><path d=${strokes} /></svg>`
}

/**
 * The load line: a circle with a line through it, and water up to some height.
 * @param level 0 to 1: how much of the context is in use
 */
export function mark(level = 0.5): TemplateResult {
  const share = Math.min(0.999, Math.max(0.001, level))
  const top = 19 - 14 * share
  const half = Math.sqrt(49 - (top - 12) ** 2)
  const water = `M${12 - half} ${top}A7 7 0 ${share > 0.5 ? 1 : 0} 0 ${12 + half} ${top}z`
  return html`<svg class="mark" viewBox="0 0 24 24" aria-hidden="true"
    ><path class="water" d=${water} /><circle cx="12" cy="12" r="7" /><path d="M1.5 12h21"
  /></svg>`
}
