import { html, nothing, type TemplateResult } from 'lit/html.js'
import type { Problem } from '../ports.ts'
import type { TextKey } from '../strings/catalogue.ts'
import { homeIcon, homeName } from './home.ts'
import { icon, mark } from './icons.ts'
import { iconButton } from './message.ts'
import { isCutOff, wordsFor } from './problems.ts'
import type { Scene, Side } from './scene.ts'

/** What this is, where it is kept, and what else there is. */
export function header(scene: Scene): TemplateResult {
  const { words, settings, state, act } = scene
  const home = state.session?.home
  const title = state.session?.title || (settings.heading ?? words.text('untitled'))
  return html`<header class="head" part="header">
    ${loadMark(scene)}
    <div class="titles">
      <h2 dir="auto" title=${title}>${title}</h2>
      <p class="home">
        ${home ? html`${state.online ? homeIcon(home) : icon('offline')}<span>${homeName(words, home)}</span>` : nothing}
        ${modelBadge(scene)}
      </p>
    </div>
    <div class="buttons">
      ${further(scene)}
      ${opener(scene, 'sessions', 'sessions', words.text('sessions'))}
      <span class="to-new">${iconButton(words.text('newSession'), 'compose', () => act.newSession())}</span>
      ${settings.isFloating ? iconButton(words.text('close'), 'close', () => act.hide()) : nothing}
    </div>
  </header>`
}

/** Memory and the page's own buttons: where there is little room, a menu. */
function further(scene: Scene): TemplateResult {
  const { words, settings, ui, update } = scene
  const label = words.text('more')
  const entries = html`<slot name="header"></slot>${opener(scene, 'memory', 'memory', words.text('memory'))}`
  if (!settings.hasButtons) return entries
  return html`<button class="to-more" type="button" aria-label=${label} title=${label} aria-expanded=${ui.isMore}
      @click=${() => update({ isMore: !ui.isMore })}>${icon('more')}</button>
    <div class="more ${ui.isMore ? 'shown' : ''}">${entries}</div>`
}

/** Says that nobody thinks behind a demo; a developer sees which model it is, too. */
function modelBadge(scene: Scene): TemplateResult | typeof nothing {
  const { words, settings, state, ui, act } = scene
  if (!state.model || !(state.model.isDemo || settings.isDeveloper)) return nothing
  const isOpen = ui.side === 'model'
  // Which model answers at a service, nobody chooses here.
  if (state.session?.home === 'edge')
    return html`<span class="badge" title=${words.text('demoHint')}>${words.text('demo')}</span>`
  return html`<button class="badge to-model" type="button" title=${words.text(state.model.isDemo ? 'demoHint' : 'model')}
    aria-expanded=${isOpen} @click=${() => act.show(isOpen ? undefined : 'model')}
  >${state.model.isDemo ? words.text('demo') : state.model.id}</button>`
}

/** The mark, with water as high as the newest request was full; a click shows the next one. */
function loadMark({ words, state: { receipt, messages }, ui, act }: Scene): TemplateResult {
  const label =
    words.text('seen') +
    (receipt?.cap
      ? `. ${words.text('contextUse', { used: words.number(receipt.used), cap: words.number(receipt.cap) })}`
      : '')
  const picture = mark(receipt?.cap ? receipt.used / receipt.cap : messages.length > 0 ? 0.5 : 0)
  const isOpen = ui.side === 'seen' && ui.sentFor === undefined
  return html`<button class="to-seen" type="button" aria-label=${label} title=${label} aria-expanded=${isOpen}
    @click=${() => (isOpen ? act.show(undefined) : act.showSeen(undefined))}>${picture}</button>`
}

function opener(scene: Scene, side: Side, name: Parameters<typeof icon>[0], label: string): TemplateResult {
  const isOpen = scene.ui.side === side
  return html`<button class="to-${side}" type="button" aria-label=${label} title=${label} aria-expanded=${isOpen}
    @click=${() => scene.act.show(isOpen ? undefined : side)}>${icon(name)}<span class="label">${label}</span></button>`
}

/** What stands in the way, in words, with what one can do. */
export function notices(scene: Scene): TemplateResult {
  return html`<div class="notices" role="status">${storageNotice(scene)}${offlineNotice(scene)}${problemNotice(scene)}</div>`
}

function storageNotice({ state, words, act }: Scene): TemplateResult | typeof nothing {
  const { storage } = state
  if (storage === 'ok' || (storage === 'away' && isCutOff(state))) return nothing
  const notices: {
    readonly [State in typeof storage]: readonly [TextKey, TextKey?, (() => void)?]
  } = {
    full: ['storageFull', 'manage', () => act.show('sessions')],
    memory: ['storageMemory'],
    lost: ['storageLost', 'newSession', () => act.newSession()],
    blocked: ['storageBlocked', 'reload', () => location.reload()],
    away: ['serviceAway'],
  }
  const [text, label, click] = notices[storage]
  return html`<div class="notice bad">${icon('warning')}<p>${words.text(text)}</p>${
    label ? html`<button type="button" @click=${click}>${words.text(label)}</button>` : nothing
  }</div>`
}

function offlineNotice({ state, words }: Scene): TemplateResult | typeof nothing {
  if (!isCutOff(state)) return nothing
  return html`<div class="notice">${icon('offline')}<p>${words.text('offline')}</p></div>`
}

/** Whether another notice says the same, and what one can do. */
function isSaid({ state }: Scene, code: Problem['code']): boolean {
  if (code === 'ERR_OFFLINE') return isCutOff(state) || state.storage === 'away'
  // A reply that broke off says so where it ends, and offers the same.
  if (/MODEL|INTERR|TIME/.test(code) && state.messages.at(-1)?.message.metadata?.stopped === 'error')
    return !isCutOff(state)
  // Full or lost.
  return code === `ERR_STORAGE_${state.storage.toUpperCase()}`
}

function problemNotice(scene: Scene): TemplateResult | typeof nothing {
  const { state, ui, words, settings, chat } = scene
  const problem = ui.problem ?? (state.problem === ui.dismissed ? undefined : state.problem)
  if (!problem || isSaid(scene, problem.code)) return nothing
  const said = [problem, ...(problem.others ?? [])].map((each) =>
    words.text(wordsFor(each, state.online), { name: each.id ?? '' }),
  )
  const retry = html`<button type="button" @click=${() => {
    scene.update({ problem: undefined })
    scene.attempt(chat.conversation.retry())
  }}>${words.text('tryAgain')}</button>`
  return html`<div class="notice bad">
    ${icon('warning')}
    <p>${said.join(' ')}${
      settings.isDeveloper
        ? html` <span class="muted" dir="auto">${problem.code}: ${problem.message}</span>`
        : nothing
    }</p>
    ${problem.retryable ? retry : nothing}
    ${iconButton(words.text('dismiss'), 'close', () => scene.update({ problem: undefined, dismissed: state.problem }))}
  </div>`
}
