import { html, type TemplateResult } from 'lit/html.js'
import { editButton, textEditor } from './memory-facts.ts'
import type { MemoryActions, MemoryState } from './memory-panel.ts'
import { expandIcon } from './panel-icons.ts'
import type { PanelScene } from './scene.ts'

export function profileTab(
  { words }: PanelScene,
  { profile, editing }: MemoryState,
  actions: MemoryActions,
): TemplateResult {
  if (profile?.length === 0) return html`<p class="nothing">${words.text('noProfile')}</p>`
  return html`${profile?.map(
    ({ name, text }) => html`<article class="card" data-card=${name}>
      <h3 dir="auto">${name}</h3>
      ${
        editing === name
          ? textEditor(words, actions, {
              label: words.text('profileText', { name }),
              text,
              card: name,
              write: (memory, value) => memory.setProfile(name, value),
              written: () => name,
            })
          : html`<p class="plain" dir="auto">${text}</p>
              <div class="acts">${editButton(words, actions, `${words.text('edit')}: ${name}`, name)}</div>`
      }
    </article>`,
  )}`
}

export function skillsTab({ words }: PanelScene, { skills }: MemoryState): TemplateResult {
  if (skills?.length === 0) return html`<p class="nothing">${words.text('noSkills')}</p>`
  return html`${skills?.map(
    ({ name, description, text }) => html`<article class="card">
      <h3 dir="auto">${name}</h3>
      <p class="muted" dir="auto">${description}</p>
      <details><summary>${words.text('details')}${expandIcon}</summary><p class="plain" dir="auto">${text}</p></details>
    </article>`,
  )}`
}
