/** Forgetting, shown as two worlds that become equal. Loaded after the page shows. */
import { html, render, type TemplateResult } from 'lit/html.js'
import '../exhibit.css'
import './worlds.css'
import { worldWords } from './words.ts'
import { CODES, type Compared, playWorlds } from './worlds.ts'

const STEPS = ['said', 'known', 'forgotten'] as const
/** What leads on from each step. */
const NEXT = { said: 'remember', known: 'forget', forgotten: 'again' } as const

/** @param locale how its numbers are written */
export async function worldsView(language: string, locale: string): Promise<HTMLElement> {
  const section = document.createElement('section')
  section.className = 'exhibit worlds'
  const words = worldWords(language)
  const number = new Intl.NumberFormat(locale)
  const played = await playWorlds()
  const show = (step: number): void => {
    render(view(step), section)
  }
  const view = (step: number): TemplateResult => {
    const name = STEPS[step] ?? 'said'
    const { bytes, differing, readable } = played[step] as Compared
    return html`
      <h3>${words.title}</h3>
      <div class="pair">
        ${CODES.map(
          (code, place) => html`<div class="world">
            <p>${words.says(code)}</p>
            <p>${words.bytes(number.format(bytes[place] ?? 0))}</p>
            <p class=${readable[place] ? 'held' : ''}>${readable[place] ? words.readable : words.gone}</p>
          </div>`,
        )}
      </div>
      <p role="status"><strong class="differing">${words.differ(number.format(differing))}</strong> ${words[name]}</p>
      <div class="exhibit-buttons">
        <button type="button" @click=${() => show((step + 1) % STEPS.length)}>${words[NEXT[name]]}</button>
      </div>
      <p>${words.note}</p>
    `
  }
  show(0)
  return section
}
