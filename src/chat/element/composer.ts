import { html, nothing, type TemplateResult } from 'lit/html.js'
import { icon } from './icons.ts'
import type { Scene } from './scene.ts'

/** Where one writes. It is never disabled: what is typed while a reply comes waits for its end. */
export function composer(scene: Scene): TemplateResult {
  const { words, settings, state, ui, act } = scene
  const label = settings.placeholder ?? words.text('placeholder')
  const canSend = ui.hasDraft || ui.files.length + ui.pasted.length > 0
  const isStopping = state.reply !== undefined && !canSend
  const name = isStopping ? 'stop' : 'send'
  return html`<div class="foot-bar">
    ${filesOf(scene)}
    ${ui.isLeft ? html`<p class="muted" role="status">${words.text('leftUnsent')}</p>` : nothing}
    ${ui.isEmptied && !canSend ? html`<p class="muted" role="status">${words.text('emptied')}</p>` : nothing}
    <form class="composer" part="composer" @submit=${(event: Event) => {
      event.preventDefault()
      act.send()
    }}>
      <textarea rows="1" dir="auto" enterkeyhint="send" aria-label=${label} placeholder=${label}
        @input=${() => act.typed()}
        @paste=${(event: ClipboardEvent) => {
          if (act.paste(event.clipboardData?.getData('text/plain') ?? '')) event.preventDefault()
        }}
        @keydown=${(event: KeyboardEvent) => {
          // While an input method composes, Enter takes its suggestion.
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing || event.keyCode === 229) return
          event.preventDefault()
          act.send()
        }}></textarea>
      <div class="row">
        ${state.takesUploads ? attach(scene) : nothing}
        <button class="go" part="send" type=${isStopping ? 'button' : 'submit'} aria-label=${words.text(name)} title=${words.text(name)}
          ?disabled=${!isStopping && !canSend} @click=${isStopping ? act.stop : nothing}>${icon(name)}</button>
      </div>
    </form>
    <p class="hint">${words.text('composerHint')}</p>
    <slot name="footer"></slot>
  </div>`
}

function attach(scene: Scene): TemplateResult {
  const { words } = scene
  return html`<button class="quiet" type="button" aria-label=${words.text('attach')} title=${words.text('attach')}
      @click=${({ currentTarget }: Event) => {
        const input = (currentTarget as HTMLElement).nextElementSibling
        if (input instanceof HTMLInputElement) input.click()
      }}>${icon('attach')}</button>
    <input type="file" multiple hidden @change=${({ currentTarget }: Event) => {
      const input = currentTarget as HTMLInputElement
      scene.act.addFiles([...(input.files ?? [])])
      input.value = ''
    }} />`
}

function filesOf(scene: Scene): TemplateResult | typeof nothing {
  const { words, ui, act } = scene
  if (ui.files.length + ui.pasted.length === 0) return nothing
  const chip = (name: string, leaveOut: () => void): TemplateResult => html`<p class="chip">
    ${icon('attach')}<span dir="auto">${name}</span>
    <button type="button" aria-label=${words.text('detach', { name })} @click=${leaveOut}>${icon('close')}</button>
  </p>`
  return html`<div class="chips files">
    ${ui.files.map((file) => chip(file.name, () => act.add({ files: scene.ui.files.filter((each) => each !== file) })))}
    ${ui.pasted.map((text) =>
      chip(words.text('pasted', { count: words.number(text.length) }), () =>
        act.add({ pasted: scene.ui.pasted.filter((each) => each !== text) }),
      ),
    )}
    ${ui.isUnkept ? html`<p class="muted" role="status">${words.text('filesNotKept')}</p>` : nothing}
  </div>`
}
