import { guard } from 'lit/directives/guard.js'
import { html, nothing, type TemplateResult } from 'lit/html.js'
import { chunksOf, prose } from '../markdown/prose.ts'
import type { RunningReply, ShownCall, ShownMessage } from '../ports.ts'
import { icon } from './icons.ts'
import { isCutOff, wordsFor } from './problems.ts'
import type { Row } from './rows.ts'
import type { PanelScene, Scene } from './scene.ts'

/** One message with all that belongs to it. */
export function messageView(scene: Scene, row: Row, isLast: boolean): TemplateResult {
  const { words, ui } = scene
  const { message } = row.shown
  const isUser = message.role === 'user'
  return html`<article
    class="message ${isUser ? 'user' : 'assistant'} ${isLast ? 'last' : ''} ${ui.sought === message.id ? 'sought' : ''}"
    part="message"
    data-message=${message.id}
    tabindex="-1"
    aria-label=${words.text(isUser ? 'you' : 'assistant')}
  >
    ${message.name ? html`<p class="name" dir="auto">${message.name}</p>` : nothing}
    ${
      isUser && ui.editing === message.id
        ? later(scene)?.editor(scene, row)
        : html`${bodyOf(scene, row, isUser, isLast)}${delivery(scene, row.shown)}${row.shown.remembered.length ? later(scene)?.chips(scene, row.shown) : nothing}${row.text || row.media.length || row.shown.version ? foot(scene, row, isUser, isLast) : nothing}`
    }
    ${ui.forgetting?.at === message.id ? ui.forgetting.view(scene as PanelScene) : nothing}
  </article>`
}

/** The reply that is being made. */
export function replyView(scene: Scene, reply: RunningReply): TemplateResult {
  const { words } = scene
  return html`<article class="message assistant last" part="message" aria-label=${words.text('assistant')} aria-busy="true">
    ${reasoningOf(scene, reply.reasoning)}
    ${reply.text ? html`<div class="prose" dir="auto" ${prose(reply.text, { copyLabel: words.text('copyCode'), isGrowing: true })}></div>` : nothing}
    ${stepsOf(scene, reply.calls)}
    ${
      reply.text === '' || reply.status !== 'streaming'
        ? html`<p class="busy" role="img" aria-label=${words.text('thinking')}><i></i><i></i><i></i></p>`
        : nothing
    }
  </article>`
}

function bodyOf(
  scene: Scene,
  { shown, text, reasoning, calls, media }: Row,
  isUser: boolean,
  isLast: boolean,
): TemplateResult {
  const { words } = scene
  const files = media.map(
    (part) =>
      html`<button class="chip" type="button" @click=${later(scene)?.opener(scene, part)}>${icon('attach')}<span dir="auto" title=${part.mediaType}>${part.name ?? words.text('attachment', { type: part.mediaType })}</span></button>`,
  )
  const read = beginningOf(scene, shown.message.id, text)
  const more =
    read === text
      ? nothing
      : html`<p><button class="outlined" type="button" @click=${() => scene.act.showAll(shown.message.id)}>${words.text('showAll')}</button></p>`
  if (isUser)
    return html`${text ? html`<div class="bubble" dir="auto">${guard([read], () => chunksOf(read))}</div>${more}` : nothing}${files.length ? html`<div class="chips">${files}</div>` : nothing}`
  return html`${reasoningOf(scene, reasoning)}
  ${text ? html`<div class="prose" dir="auto" ${prose(read, { copyLabel: words.text('copyCode'), isGrowing: false })}></div>${more}` : nothing}
  ${files}${stepsOf(scene, toldCalls(scene, calls))}
  ${endView(scene, shown, isLast)}`
}

/** Of a reply that is not whole: why, and how to go on. */
function endView(
  { words, chat: { conversation }, state, attempt }: Scene,
  { message: { metadata: { stopped, finishReason } = {} } }: ShownMessage,
  isLast: boolean,
): TemplateResult | typeof nothing {
  if (!stopped && finishReason !== 'length') return nothing
  const again = words.text(stopped ? 'tryAgain' : 'goOn')
  const why = stopped ? (stopped === true ? 'stopped' : 'problemInterrupted') : 'problemLength'
  return html`<p class="state">${words.text(why)} ${
    stopped !== true && isLast && !isCutOff(state)
      ? html`<button class="outlined" type="button" @click=${() => attempt(stopped ? conversation.retry() : conversation.send(again))}>${again}</button>`
      : nothing
  }</p>`
}

/** What was remembered its chip says, and the panel once somebody has changed it. */
function toldCalls({ settings }: Scene, calls: readonly ShownCall[]): readonly ShownCall[] {
  return calls.filter(({ name, status }) => settings.isDeveloper || status !== 'ok' || !REMEMBERS.test(name))
}

/** The memory tools that write a fact. */
export const REMEMBERS = /^memory_(?:finding|blocker|correction|preference|constraint)$/

/** UTF-16 units of a longer text that show at first. */
const AT_FIRST = 20_000

/** The text, or as much of a long one as shows before somebody asks for all of it. */
function beginningOf({ ui }: Scene, messageId: string, text: string): string {
  if (text.length <= 2 * AT_FIRST || ui.whole.has(messageId)) return text
  return `${text.slice(0, AT_FIRST).replace(/[\ud800-\udbff]$/, '')} …`
}

function reasoningOf(scene: Scene, reasoning: string): unknown {
  return reasoning ? later(scene)?.reasoningView(scene, reasoning) : nothing
}

function stepsOf(scene: Scene, calls: readonly ShownCall[]): unknown {
  return calls.length > 0 ? later(scene)?.stepsView(scene, calls) : nothing
}

/** What is loaded after the view, if it is there; it is asked for. */
function later({ ui, act }: Scene): Scene['ui']['later'] {
  if (!ui.later) act.loadLater()
  return ui.later
}

const isUsers = (shown: ShownMessage | undefined): boolean => shown?.message.role === 'user'

function delivery(scene: Scene, shown: ShownMessage): TemplateResult | typeof nothing {
  const { words, chat, state } = scene
  const { message, delivery, problem } = shown
  if (delivery === 'sent') {
    const { messages } = state
    const place = messages.indexOf(shown)
    const isPassed =
      isUsers(shown) && isUsers(messages[place + 1]) && !messages.slice(place).every((one) => isUsers(one))
    return isPassed ? html`<p class="state">${words.text('passed')}</p>` : nothing
  }
  const isHeld = state.online && state.problem && state.problem.code !== 'ERR_OFFLINE'
  const drop = html`<button type="button" @click=${() => scene.attempt(chat.conversation.drop(message.id))}>${words.text('drop')}</button>`
  if (delivery === 'queued')
    // With a network most are sent before anybody could read it, unless something keeps them back.
    return html`<p class=${state.online && !state.problem ? 'state soon' : 'state'}>${icon('offline')}${words.text(isHeld ? 'failed' : 'queued')}
      ${drop}</p>`
  return html`<div class="state bad">
    ${icon('warning')}<span>${words.text('failed')}${problem ? html`: ${words.text(wordsFor(problem))}` : nothing}</span>
    ${
      problem && !problem.retryable
        ? nothing
        : html`<button type="button" @click=${() => scene.attempt(chat.conversation.retry(message.id))}>${words.text('tryAgain')}</button>`
    }
    ${drop}
  </div>`
}

function foot(scene: Scene, { shown, text }: Row, isUser: boolean, isLast: boolean): TemplateResult {
  const { words, state, ui, act, chat } = scene
  const { message, version } = shown
  // Beside what was said, and as high without its buttons.
  if (words.isHasty && !version) return html`<div class="foot"></div>`
  const isCopied = ui.copied === message.id
  const isBusy = state.reply !== undefined
  // What the model was asked with, the message before being the newest.
  const asked = isUser ? undefined : state.messages[state.messages.indexOf(shown) - 1]
  return html`<div class="foot ${version || isCopied ? 'kept' : ''}">
    ${version ? later(scene)?.versions(scene, message.id, version) : nothing}
    ${text ? iconButton(words.text(isCopied ? 'copied' : 'copy'), isCopied ? 'check' : 'copy', () => act.copy(text, message.id)) : nothing}
    ${isUser && shown.delivery === 'sent' ? iconButton(words.text('edit'), 'edit', () => act.edit(message.id), isBusy) : nothing}
    ${
      isUser || !isLast
        ? nothing
        : iconButton(
            words.text('regenerate'),
            'again',
            () => scene.attempt(chat.conversation.regenerate(message.id)),
            isBusy || isCutOff(state),
          )
    }
    ${shown.delivery === 'sent' ? iconButton(words.text('forgetMessage'), 'remove', () => act.forget(message.id), isBusy) : nothing}
    ${asked ? iconButton(words.text('sent'), 'seen', () => act.showSeen(asked.message.id)) : nothing}
    <time datetime=${new Date(message.createdAt).toISOString()}>${words.time(message.createdAt)}</time>
  </div>`
}

/** A button that is a picture, named by its words. */
export function iconButton(
  label: string,
  name: Parameters<typeof icon>[0],
  click: () => void,
  disabled = false,
): TemplateResult {
  return html`<button type="button" aria-label=${label} title=${label} ?disabled=${disabled} @click=${click}>${icon(name)}</button>`
}
