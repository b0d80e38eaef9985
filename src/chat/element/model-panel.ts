/** Which model answers. Loaded when it is first opened. */
import { html, nothing, type TemplateResult } from 'lit/html.js'
import type { ModelOption } from '../models/picker.ts'
import type { PanelTextKey } from '../strings/panels/catalogue.ts'
import { icon } from './icons.ts'
import { iconButton } from './message.ts'
import type { PanelScene } from './scene.ts'

const NAMES: Readonly<Record<ModelOption['kind'], PanelTextKey>> = {
  page: 'modelPage',
  browser: 'modelBrowser',
  demo: 'modelDemo',
  endpoint: 'endpointTitle',
}

/** The models that there are; for developers, one of their own. */
export function modelPanel(scene: PanelScene): TemplateResult {
  const { words, act, chat, settings } = scene
  const { chosen, options } = chat.models.getSnapshot()
  return html`<aside class="side memory model" aria-label=${words.text('model')}>
    <header class="head">
      ${iconButton(words.text('back'), 'back', () => act.show(undefined))}
      <div class="titles"><h2>${words.text('model')}</h2></div>
    </header>
    <div class="body cards">
      ${chosen === 'demo' ? html`<p class="muted">${words.text('demoHint')}</p>` : nothing}
      <ul class="cards">${options
        .filter(({ kind, state }) => kind !== 'endpoint' && state !== 'unavailable')
        .map((option) => html`<li>${optionView(scene, option, option.kind === chosen)}</li>`)}</ul>
      ${settings.isDeveloper ? endpointForm(scene) : nothing}
    </div>
  </aside>`
}

function optionView(
  { words, chat, attempt }: PanelScene,
  option: ModelOption,
  isChosen: boolean,
): TemplateResult {
  const { kind, state, progress = 0 } = option
  const note =
    state === 'downloading'
      ? words.text('modelDownloading', { percent: words.percent(progress) })
      : state === 'downloadable'
        ? words.text('modelDownload')
        : undefined
  return html`<button class="card choice" type="button" aria-pressed=${isChosen ? 'true' : 'false'} ?disabled=${state === 'downloading'}
    @click=${() => {
      // The promise of a download needs the click that it comes from.
      if (kind !== 'endpoint') attempt(chat.models.choose(kind))
    }}><span>${words.text(NAMES[kind])}</span>${isChosen ? icon('check') : nothing}${
      note ? html`<span class="muted small">${note}</span>` : nothing
    }</button>`
}

/**
 * A developer's own. What is typed here goes to the picker alone, and nowhere that outlives the
 * page.
 */
function endpointForm({ words, act, chat, attempt }: PanelScene): TemplateResult {
  return html`<form class="card" @submit=${(event: SubmitEvent) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const [url = '', model = '', key = ''] = [...form.querySelectorAll('input')].map(({ value }) =>
      value.trim(),
    )
    form.reset()
    attempt(chat.models.choose('endpoint', { url, model, key }).then(() => act.show(undefined)))
  }}>
    <h3>${words.text('endpointTitle')}</h3>
    <p class="muted small">${words.text('endpointText')}</p>
    <label>${words.text('endpointUrl')}<input class="field" type="url" required autocomplete="off" dir="ltr" /></label>
    <label>${words.text('model')}<input class="field" required autocomplete="off" dir="ltr" /></label>
    <label>${words.text('endpointKey')}<input class="field" type="password" autocomplete="off" dir="ltr" /></label>
    <div class="row"><button class="primary">${words.text('endpointUse')}</button></div>
  </form>`
}
