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
      <input class="field" type="search" dir="auto" aria-label=${words.text('searchFacts')} placeholder=${words.text('searchFacts')} .value=${state.query}
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
  return html`<article class="card fact ${pinned ? 'pinned' : ''}" data-card=${id}>
    ${title && title !== text ? html`<h3 dir="auto">${title}</h3>` : nothing}
    ${
      editing === id
        ? textEditor(words, actions, {
            label: words.text('factText'),
            text,
            card: id,
            write: (memory, value) => memory.edit(id, { text: value }),
            // By another id, the new text is a fact of its own.
            written: ({ facts }, value) => facts?.find((each) => each.text === value)?.id,
          })
        : html`<p dir="auto">${text}</p>`
    }
    <p class="labels">${
      messagesOf(fact).length === 0 || lost === id
        ? html`<span>${origin}</span>`
        : html`<button type="button" title=${words.text('factOrigin')} aria-label="${origin}. ${words.text('factOrigin')}" @click=${open}>${origin}</button>`
    }${
      forgetting === id
        ? nothing
        : html`<button class="to-forget" type="button" aria-label=${named('forget')}
            @click=${() => actions.update({ forgetting: id, certificate: undefined }, inCard(id, '.confirm button'))}>${words.text('forget')}</button>`
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
            onCancel: () => actions.update({ forgetting: undefined }, inCard(id, '.to-forget')),
            onConfirm: () =>
              actions.change(
                (memory) => memory.forget(id),
                (certificate) => ({ certificate, forgetting: undefined }),
              ),
          })
        : html`<div class="acts">
            ${editButton(words, actions, named('edit'), id)}
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

/** Selects something in the card of a fact or of a document of the profile. */
function inCard(card: string, selector: string): string {
  return `[data-card="${CSS.escape(card)}"] ${selector}`
}

export function editButton(
  words: PanelScene['words'],
  actions: MemoryActions,
  label: string,
  card: string,
): TemplateResult {
  return html`<button class="to-edit" type="button" aria-label=${label}
    @click=${() => actions.update({ editing: card }, inCard(card, 'textarea'))}>${icon('edit')}${words.text('edit')}</button>`
}

interface EditedText {
  readonly label: string
  readonly text: string
  /** Id of the fact, or name of the document. */
  readonly card: string
  readonly write: (memory: MemoryPanelModel, text: string) => Promise<void>
  /** Which card has the text once it is written. */
  readonly written: (state: MemoryState, text: string) => string | undefined
}

/** A text that is changed in its place. */
export function textEditor(
  words: PanelScene['words'],
  actions: MemoryActions,
  { label, text, card, write, written }: EditedText,
): TemplateResult {
  const stop = (): void => actions.update({ editing: undefined }, inCard(card, '.to-edit'))
  return html`<form class="editor" @submit=${(event: Event) => {
    event.preventDefault()
    const value = (event.currentTarget as HTMLFormElement).querySelector('textarea')?.value.trim()
    if (!value) return
    actions.change(
      (memory) => write(memory, value),
      () => ({ editing: undefined }),
      (state) => {
        const at = written(state, value)
        return at && inCard(at, '.to-edit')
      },
    )
  }} @keydown=${(event: KeyboardEvent) => {
    if (event.key !== 'Escape' || event.isComposing) return
    event.stopPropagation()
    stop()
  }}>
    <textarea rows="2" dir="auto" aria-label=${label} .defaultValue=${text}></textarea>
    <div class="row">
      <button class="outlined" type="button" @click=${stop}>${words.text('cancel')}</button>
      <button class="primary">${words.text('save')}</button>
    </div>
  </form>`
}
