/** Forgetting one message: the question, and what came of it. Loaded when somebody wants that. */
import { html, nothing, type TemplateResult } from 'lit/html.js'
import type { Certificate } from '../../ports/certificate.ts'
import type { Part } from '../../ports/message.ts'
import { together } from '../homes/together.ts'
import type { Chat } from '../open-chat.ts'
import type { ShownMessage } from '../ports.ts'
import { textIn, titleWithout } from '../text.ts'
import { certificateView } from './certificate.ts'
import { confirmation } from './confirm.ts'
import { icon } from './icons.ts'
import { iconButton, REMEMBERS } from './message.ts'
import { problemOf, wordsFor } from './problems.ts'
import type { Forgetting, PanelScene } from './scene.ts'

/**
 * Asks whether a message is to be forgotten.
 *
 * @param untitled what the conversation is called where no other message gives it a title
 * @param update contract: shows another state of it; undefined: none
 * @param focus contract: focuses what a selector names, soon
 */
export function forgetting(
  chat: Chat,
  messageId: string,
  untitled: string,
  update: (shown: Forgetting | undefined) => void,
  focus: (selector: string) => void,
): Forgetting {
  const { conversation, sessions } = chat
  const ask = (status: (scene: PanelScene) => unknown, isBusy = false): Forgetting => ({
    at: messageId,
    view: (scene) => html`<div class="forgetting" aria-busy=${isBusy ? 'true' : 'false'}>
      ${confirmation(scene.words, {
        ask: scene.words.text('forgetMessageAsk'),
        label: scene.words.text('forget'),
        onCancel: () => end(messageId),
        onConfirm: () => void forget(),
      })}
      <p role="status">${status(scene)}</p>
    </div>`,
  })
  const end = (at: string | undefined): void => {
    update(undefined)
    if (at !== undefined) focus(selectorOf(at))
  }
  const forget = async (): Promise<void> => {
    const state = conversation.getSnapshot()
    const { session, messages } = state
    const title = titleWithout(messageId, state)
    const at = neighbourOf(messages, messageId)
    update(ask(() => nothing, true))
    try {
      if (session && title !== undefined) await sessions.rename(session.sessionId, title || untitled, session)
      let certificate: Certificate | undefined
      for (const id of alike(messages, messageId)) {
        const next = await conversation.forgetMessage(id)
        certificate = certificate && next ? together(certificate, next) : next
      }
      const told = certificate
      if (!told) return end(at)
      update({ at, view: (scene) => forgottenView(scene, told, () => end(at)) })
      focus('.forgetting')
    } catch (error) {
      const problem = problemOf(error)
      update(ask(({ words }) => html`${icon('warning')}${words.text(wordsFor(problem))}`))
    }
  }
  return ask(() => nothing)
}

function forgottenView({ words }: PanelScene, certificate: Certificate, onClose: () => void): TemplateResult {
  return html`<div class="forgetting" role="group" tabindex="-1" aria-label=${words.text('forgotten')}>
    ${certificateView(words, certificate)}
    ${iconButton(words.text('dismiss'), 'close', onClose)}
  </div>`
}

/**
 * What goes with a message, and it last: the steps before a reply that say nothing, and after what
 * somebody said, those that did nothing but remember it.
 */
function alike(messages: readonly ShownMessage[], messageId: string): readonly string[] {
  const place = messages.findIndex(({ message }) => message.id === messageId)
  if (messages[place]?.message.role !== 'user') {
    const before = messages.slice(0, Math.max(0, place))
    const said = before.findLastIndex(({ message }) => textIn(message).trim() !== '')
    return [...before.slice(said + 1).map(({ message }) => message.id), messageId]
  }
  const end = messages.findIndex(({ message }, index) => index > place && message.role === 'user')
  const reply = messages.slice(place + 1, end < 0 ? undefined : end).map(({ message }) => message)
  const noted = reply.filter(({ role, content }) => {
    const calls = partsOf(content).flatMap((part) => (part.type === 'tool-call' ? part.name : []))
    return role === 'assistant' && calls.length > 0 && calls.every((name) => REMEMBERS.test(name))
  })
  const silent = noted.filter((message) => textIn(message).trim() === '')
  const calls = new Set(
    silent.flatMap(({ content }) =>
      partsOf(content).flatMap((part) => (part.type === 'tool-call' ? part.id : [])),
    ),
  )
  const results = reply.filter(({ content }) =>
    partsOf(content).some((part) => part.type === 'tool-result' && calls.has(part.callId)),
  )
  return [...silent, ...results].map(({ id }) => id).concat(messageId)
}

function partsOf(content: string | readonly Part[]): readonly Part[] {
  return typeof content === 'string' ? [] : content
}

/** The message beside which it is told what became of it: the one before, or else the one after. */
function neighbourOf(messages: readonly ShownMessage[], messageId: string): string | undefined {
  const place = messages.findIndex(({ message }) => message.id === messageId)
  const isShown = ({ message }: ShownMessage): boolean => textIn(message).trim() !== ''
  const found = messages.slice(0, place).findLast(isShown) ?? messages.slice(place + 1).find(isShown)
  return found?.message.id
}

function selectorOf(messageId: string): string {
  return `[data-message="${CSS.escape(messageId)}"]`
}
