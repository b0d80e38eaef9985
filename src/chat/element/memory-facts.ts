import { repeat } from 'lit/directives/repeat.js'
import { html, nothing, type TemplateResult } from 'lit/html.js'
import type { Trust } from '../../ports/message.ts'
import { messagesOf } from '../homes/panel-facts.ts'
import type { MemoryFact, MemoryPanelModel } from '../ports.ts'
import type { PanelTextKey } from '../strings/panels/catalogue.ts'
import { TRUST } from './chips.ts'
import { confirmation } from './confirm.ts'
import { icon } from './icons.ts'
import type { MemoryActions, MemoryState } from './memory-panel.ts'
import { pinIcon, searchIcon } from './panel-icons.ts'
import type { PanelScene } from './scene.ts'

const KINDS: Readonly<Record<MemoryFact['kind'], PanelTextKey>> = {
  finding: 'kindFinding',
  blocker: 'kindBlocker',
  correction: 'kindCorrection',
  preference: 'kindPreference',
  constraint: 'kindConstraint',
}

export function factsTab(scene: PanelScene, state: MemoryState, actions: MemoryActions): TemplateResult {
  const { words } = scene
  const { facts } = state
  return html`<div class="search">
      ${searchIcon}
      <input class="field" type="search" dir="auto" aria-label=${words.text('searchFacts')} placeholder=${words.text('searchFacts')}
        @input=${({ currentTarget }: Event) => actions.search((currentTarget as HTMLInputElement).value)} />
    </div>
    ${facts?.length ? html`<p class="muted small" role="status">${words.counted('factsCount', facts.length)}</p>` : nothing}
    ${repeat(
      facts ?? [],
      ({ id }) => id,
      (fact) => factView(scene, state, actions, fact),
    )}
    ${facts?.length === 0 ? html`<p class="nothing">${state.query.trim() ? words.text('noSessionFound', { query: state.query.trim() }) : words.text('noFacts')}</p>` : nothing}`
}

function factView(
  { words, settings, now, act }: PanelScene,
  { editing, forgetting, lost }: MemoryState,
  actions: MemoryActions,
  fact: MemoryFact,
): TemplateResult {
  const { id, kind, title, text, pinned, confidence, trust, createdAt, reviewAt, shared } = fact
  const origin = `${words.text(TRUST[trust])}${words.text('comma')}${words.day(createdAt, now)}`
  const open = (): void =>
    actions.change(
      (memory) => memory.origin(id),
      (found) => {
        if (found) act.openSession(found.sessionId, found.home, found.messageId)
        return { lost: found ? undefined : id }
      },
    )
  const named = (key: PanelTextKey): string => `${words.text(key)}: ${title || text}`
  return html`<article class="card fact ${pinned ? 'pinned' : ''}">
    ${title && title !== text ? html`<h3 dir="auto">${title}</h3>` : nothing}
    ${
      editing === id
        ? textEditor(
            words.text('factText'),
            text,
            words.text('save'),
            words.text('cancel'),
            actions,
            (memory, value) => memory.edit(id, { text: value }),
          )
        : html`<p dir="auto">${text}</p>`
    }
    <p class="labels">${
      messagesOf(fact).length === 0 || lost === id
        ? html`<span>${origin}</span>`
        : html`<button type="button" title=${words.text('factOrigin')} aria-label="${origin}. ${words.text('factOrigin')}" @click=${open}>${origin}</button>`
    }${
      forgetting === id
        ? nothing
        : html`<button type="button" aria-label=${named('forget')}
            @click=${() => actions.update({ forgetting: id, certificate: undefined })}>${words.text('forget')}</button>`
    }<span>${words.text(KINDS[kind])}</span>${
      pinned ? html`<span>${words.text('pinned')}</span>` : nothing
    }<span>${words.text(shared ? 'shared' : 'ownSession')}</span></p>
    ${lost === id ? html`<p class="muted small" role="status">${words.text('factOriginGone')}</p>` : nothing}
    ${isOwn(trust) || shared || (kind !== 'preference' && kind !== 'constraint') ? nothing : html`<p class="muted small">${words.text('promoteHint')}</p>`}
    ${
      settings.isDeveloper
        ? html`<p class="labels"><span>${words.text('confidence', { percent: words.percent(confidence) })}</span>
            <span>${words.text('review', { date: words.date(reviewAt) })}</span></p>`
        : nothing
    }
    ${
      forgetting === id
        ? confirmation(words, {
            ask: words.text('forgetAsk'),
            label: words.text('forget'),
            onCancel: () => actions.update({ forgetting: undefined }),
            onConfirm: () =>
              actions.change(
                (memory) => memory.forget(id),
                (certificate) => ({ certificate, forgetting: undefined }),
              ),
          })
        : html`<div class="acts">
            <button type="button" aria-label=${named('edit')} @click=${() => actions.update({ editing: id })}>${icon('edit')}${words.text('edit')}</button>
            ${
              isOwn(trust)
                ? html`<button type="button" aria-label=${named(pinned ? 'unpin' : 'pin')} aria-pressed=${pinned ? 'true' : 'false'}
                    @click=${() => actions.change((memory) => memory.pin(id, !pinned))}>${pinIcon}${words.text(pinned ? 'unpin' : 'pin')}</button>`
                : html`<button type="button" aria-label=${named('promote')} @click=${() => actions.change((memory) => memory.promote(id))}>${icon('check')}${words.text('promote')}</button>`
            }
          </div>`
    }
  </article>`
}

/** Only what the user said, or took for their own word, may be pinned. */
function isOwn(trust: Trust): boolean {
  return trust === 'user' || trust === 'system'
}

/** A text that is changed in its place. */
export function textEditor(
  label: string,
  text: string,
  save: string,
  cancel: string,
  actions: MemoryActions,
  write: (memory: MemoryPanelModel, text: string) => Promise<void>,
): TemplateResult {
  return html`<form class="editor" @submit=${(event: Event) => {
    event.preventDefault()
    const value = (event.currentTarget as HTMLFormElement).querySelector('textarea')?.value.trim()
    if (!value) return
    actions.change(
      (memory) => write(memory, value),
      () => ({ editing: undefined }),
    )
  }} @keydown=${(event: KeyboardEvent) => {
    if (event.key !== 'Escape' || event.isComposing) return
    event.stopPropagation()
    actions.update({ editing: undefined })
  }}>
    <textarea rows="2" dir="auto" aria-label=${label} .defaultValue=${text}></textarea>
    <div class="row">
      <button class="outlined" type="button" @click=${() => actions.update({ editing: undefined })}>${cancel}</button>
      <button class="primary">${save}</button>
    </div>
  </form>`
}
