import { repeat } from 'lit/directives/repeat.js'
import { html, nothing, type TemplateResult } from 'lit/html.js'
import type { HomeKind } from '../ports.ts'
import { midnight } from '../strings/words.ts'
import { homeIcon, homeName } from './home.ts'
import { icon, mark } from './icons.ts'
import { messageView, replyView } from './message.ts'
import type { Reader } from './reader.ts'
import { type Row, rowsOf, unrecorded } from './rows.ts'
import type { PanelScene, Scene } from './scene.ts'

/** The messages around where the reader is. */
export function messageList(scene: Scene, reader: Reader): TemplateResult {
  const { words, settings, state, ui } = scene
  const { from, to } = reader.range()
  const rows = rowsOf(state.messages, from, to, state.reply?.calls)
  const isToEnd = to === state.messages.length
  const isEmpty = state.loaded && state.messages.length === 0 && !state.reply && !state.hasOlder
  return html`<div class="reading">
    <div class="scroller" part="messages" tabindex="0" role="group" aria-label=${words.text('messages')} @scroll=${() => reader.scrolled()}>
      <div class="list">
        ${isEmpty ? emptyView(scene) : nothing}
        ${isEmpty || from > 0 ? nothing : topOf(scene, reader)}
        ${repeat(
          rows,
          ({ shown }) => shown.message.id,
          (row, place) =>
            rowView(scene, rows[place - 1], row, isToEnd && place === rows.length - 1 && !state.reply),
        )}
        ${ui.forgetting && !ui.forgetting.at ? ui.forgetting.view(scene as PanelScene) : nothing}
        ${isToEnd && state.reply ? replyView(scene, unrecorded(state.reply, state.messages)) : nothing}
      </div>
    </div>
    ${isEmpty || reader.isAtEnd ? nothing : toEnd(scene)}
    ${isEmpty && state.session && settings.hasEdge ? homeChoice(scene) : nothing}
  </div>`
}

/** One that cannot be drawn takes no other down with it. */
function rowView(scene: Scene, before: Row | undefined, row: Row, isLast: boolean): TemplateResult {
  try {
    return html`${dayBefore(scene, before, row)}${messageView(scene, row, isLast)}`
  } catch {
    return html`<p class="state bad" data-message=${row.shown.message.id}>${icon('warning')}${scene.words.text('unreadable')}</p>`
  }
}

function topOf({ words, state }: Scene, reader: Reader): TemplateResult | typeof nothing {
  if (reader.isReadingOlder) return html`<p class="edge" role="status">${words.text('loadingOlder')}</p>`
  return state.loaded && !state.hasOlder ? html`<p class="edge">${words.text('beginning')}</p>` : nothing
}

function dayBefore(
  { words, now }: Scene,
  before: Row | undefined,
  { shown }: Row,
): TemplateResult | typeof nothing {
  const { createdAt } = shown.message
  if (before && midnight(before.shown.message.createdAt) === midnight(createdAt)) return nothing
  return html`<p class="day">${words.day(createdAt, now)}</p>`
}

function toEnd({ words, ui, act }: Scene): TemplateResult {
  const label = words.text(ui.hasNews ? 'newMessages' : 'toEnd')
  return html`<div class="to-end"><button type="button" aria-label=${label} @click=${() => act.toEnd()}>
    ${icon('down')}${ui.hasNews ? label : nothing}
  </button></div>`
}

function emptyView(scene: Scene): TemplateResult {
  const { words } = scene
  if (isMissing(scene)) return missingView(scene)
  return html`<slot name="empty"><div class="empty">
    ${mark()}
    <h3>${words.text('emptyTitle')}</h3>
    <p>${words.text('emptyText')}</p>
  </div></slot>`
}

/** Whether a conversation was deleted, or the page's address names one that is not there. */
function isMissing({ settings, state }: Scene): boolean {
  return state.isMissing === 'deleted' || (settings.isLinked && state.isMissing)
}

/** What a link to nothing shows: why, and where the other conversations are. */
function missingView({ words, act }: Scene): TemplateResult {
  return html`<div class="empty" role="status">
    ${mark(0)}
    <h3>${words.text('missingTitle')}</h3>
    <p>${words.text('missingText')}</p>
    <div class="row">
      <button class="primary" type="button" @click=${() => act.show('sessions')}>${words.text('manage')}</button>
      <button class="outlined" type="button" @click=${() => act.newSession()}>${words.text('newSession')}</button>
    </div>
  </div>`
}

/** The home of a conversation, which is fixed with its first message, and who can read it there. */
function homeChoice({ words, state, act, settings, chat }: Scene): TemplateResult {
  const option = (home: HomeKind): TemplateResult => html`<label>
    <input type="radio" name="home" .checked=${state.session?.home === home} @change=${() => act.newSession(home)} />
    ${homeIcon(home)}<span>${homeName(words, home)}</span>
  </label>`
  const isAtEdge = state.session?.home === 'edge'
  const atEdge = settings.isSynced ? 'homeSyncedText' : 'homeEdgeText'
  const end = isAtEdge && !words.isHasty && chat.guestEnd()
  return html`<div class="choice">
    <fieldset class="homes">
      <legend class="unseen">${words.text('homeChoice')}</legend>
      ${option('edge')}${option('local')}
    </fieldset>
    <p class="muted" role="status">${words.text(isAtEdge ? atEdge : 'homeLocalText')} ${end ? words.text('guestEnd', { date: words.date(end) }) : nothing}</p>
  </div>`
}
