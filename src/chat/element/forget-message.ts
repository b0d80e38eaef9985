/** Forgetting one message: the question, and what came of it. Loaded when somebody wants that. */
import { html, nothing, type TemplateResult } from 'lit/html.js'
import type { Message } from '../../ports/message.ts'
import { together } from '../homes/together.ts'
import type { Chat } from '../open-chat.ts'
import type { ConversationState, HomeCertificate, HomeKind, ShownMessage } from '../ports.ts'
import { textIn, titleOf, titleWithout } from '../text.ts'
import { certificateView, followArrival } from './certificate.ts'
import { confirmation } from './confirm.ts'
import { icon } from './icons.ts'
import { iconButton, REMEMBERS } from './message.ts'
import { problemOf, wordsFor } from './problems.ts'
import { partsOf } from './rows.ts'
import type { Forgetting, PanelScene } from './scene.ts'

export interface ForgettingParts {
  readonly chat: Chat
  /** What the conversation is called where no other message gives it a title. */
  readonly untitled: string
  /** What had the focus when it was asked for. */
  readonly asker: Element | null
  /** Contract: shows another state of it; undefined: none. */
  readonly update: (shown: Forgetting | undefined) => void
  /** Contract: focuses what a selector names, soon. @param first what has it before that */
  readonly focus: (selector: string, first?: Element | null) => void
}

/** Asks whether a message is to be forgotten. */
export function forgetting(
  messageId: string,
  { chat, untitled, asker, update, focus }: ForgettingParts,
): Forgetting {
  const { conversation, sessions } = chat
  const { messages: asked } = conversation.getSnapshot()
  const isOfReply = goesWith(asked, messageId).some(
    (message) => message.role === 'assistant' && message.id !== messageId && isSeen(message),
  )
  /** Of all that is forgotten by now, were it in several attempts. */
  let certificate: HomeCertificate | undefined
  /** Messages of it that nobody saw, and steps of the reply that these were. */
  let unseen = 0
  let steps = 0
  const ask = (status: (scene: PanelScene) => unknown, isBusy = false): Forgetting => ({
    at: messageId,
    view: (scene) => html`<div class="forgetting" aria-busy=${isBusy ? 'true' : 'false'}>
      ${confirmation(scene.words, {
        ask: [scene.words.text('forgetMessageAsk'), isOfReply ? scene.words.text('forgetReplyAsk') : ''].join(
          ' ',
        ),
        label: scene.words.text('forget'),
        onCancel: () => end(messageId, opener),
        onConfirm: () => void forget(),
      })}
      <p role="status">${status(scene)}</p>
    </div>`,
  })
  const opener = asker?.closest('.message button')
  const end = (at: string | undefined, first?: Element | null): void => {
    update(undefined)
    if (at !== undefined) focus(selectorOf(at), first)
  }
  const forget = async (): Promise<void> => {
    const state = conversation.getSnapshot()
    const { session, messages } = state
    const title = titleWithout(messageId, state)
    const gone = goesWith(messages, messageId)
    const at = neighbourOf(messages, gone)
    const repeats = repliesTo(messages, gone)
    update(ask(() => nothing, true))
    try {
      if (session && title !== undefined) await sessions.rename(session.sessionId, title || untitled, session)
      for (const message of gone) {
        const next = await conversation.forgetMessage(message.id)
        if (!next) continue
        certificate = certificate ? together(certificate, next) : next
        if (isSeen(message)) continue
        unseen += next.removed.messages.count
        if (message.role === 'assistant') steps += next.removed.messages.count
      }
      // Where nothing was left of a version, another one shows by now.
      const called = title === undefined ? session?.title : title || untitled
      const shown = conversation.getSnapshot()
      const other = shown.session?.sessionId === session?.sessionId && titleBy(shown)
      if (session && called === untitled && other)
        void sessions.rename(session.sessionId, other, session).catch(() => {})
      if (!certificate) return end(at)
      const { messages: all } = certificate.removed
      let told: HomeCertificate = {
        ...certificate,
        removed: { ...certificate.removed, messages: { ...all, count: all.count - unseen } },
      }
      const homes = session ? [session.home] : []
      let redraw = (): void => {}
      void followArrival(told, (next) => {
        told = next
        redraw()
      })
      const view = (scene: PanelScene): TemplateResult => {
        redraw = () => scene.update({})
        return forgottenView(scene, { certificate: told, homes, steps, repeats }, () => end(at))
      }
      update({ at, view })
      focus('.forgetting')
    } catch (error) {
      const problem = problemOf(error)
      update(
        ask(({ words, state }) => html`${icon('warning')}${words.text(wordsFor(problem, state.online))}`),
      )
    }
  }
  return ask(() => nothing)
}

interface Forgotten {
  readonly certificate: HomeCertificate
  readonly homes: readonly HomeKind[]
  readonly steps: number
  readonly repeats: Replies
}

function forgottenView(
  scene: PanelScene,
  { certificate, homes, steps, repeats: { isAny, own } }: Forgotten,
  onClose: () => void,
): TemplateResult {
  const { words, act } = scene
  return html`<div class="forgetting" role="group" tabindex="-1" aria-label=${words.text('forgotten')} @keydown=${(
    event: KeyboardEvent,
  ) => {
    if (event.key !== 'Escape') return
    event.stopPropagation()
    onClose()
  }}>
    ${certificateView(scene, certificate, homes, steps)}
    ${
      isAny
        ? html`<p>${words.text('repliesStay')} ${own ? html`<button class="outlined" type="button" @click=${() => act.forget(own)}>${words.text('forgetReply')}</button>` : nothing}</p>`
        : nothing
    }
    ${iconButton(words.text('dismiss'), 'close', onClose)}
  </div>`
}

/** What was said first gives the title, where that shows. */
function titleBy({ messages, hasOlder }: ConversationState): string {
  const first = hasOlder ? undefined : messages.find(({ message }) => message.role === 'user')
  return first ? titleOf(textIn(first.message)) : ''
}

/**
 * What is forgotten with a message, and it last: the steps before a reply that show nothing; after
 * what somebody said, the steps that noted it, with what they say, since they repeat it; and the
 * results of all their calls.
 */
function goesWith(messages: readonly ShownMessage[], messageId: string): readonly Message[] {
  const place = messages.findIndex(({ message }) => message.id === messageId)
  const own = messages[place]?.message
  if (!own) return []
  const isUser = own.role === 'user'
  const isBegun = ({ message }: ShownMessage, index: number): boolean =>
    index < place && (message.role === 'user' || isSeen(message))
  const before = isUser ? place : messages.findLastIndex(isBegun)
  const end = messages.findIndex(({ message }, index) => index > place && message.role === 'user')
  const round = messages.slice(before + 1, end < 0 ? undefined : end).map(({ message }) => message)
  const steps = isUser ? round.filter(isNoting) : round.slice(0, place - before - 1)
  const calls = new Set(
    [...steps, own].flatMap(({ content }) =>
      partsOf(content).flatMap((part) => (part.type === 'tool-call' ? part.id : [])),
    ),
  )
  const results = round.filter(({ content }) =>
    partsOf(content).some((part) => part.type === 'tool-result' && calls.has(part.callId)),
  )
  return [...new Set([...steps, ...results, own])]
}

function isNoting({ content }: Message): boolean {
  return partsOf(content).some((part) => part.type === 'tool-call' && REMEMBERS.test(part.name))
}

/** Whether it shows: it is addressed to a reader, and has words or files. */
function isSeen({ role, content }: Message): boolean {
  if (role !== 'user' && role !== 'assistant') return false
  return textIn({ content }).trim() !== '' || partsOf(content).some(({ type }) => type === 'media')
}

/** Replies that were made with a message, and stay. */
interface Replies {
  readonly isAny: boolean
  /** Id of the one to it. */
  readonly own: string | undefined
}

/** Of what somebody said, which a reply may repeat. @param gone it is the last of these */
function repliesTo(messages: readonly ShownMessage[], gone: readonly Message[]): Replies {
  const place = messages.findIndex(({ message }) => message === gone.at(-1))
  const after = gone.at(-1)?.role === 'user' ? messages.slice(place + 1) : []
  const isReply = ({ message }: ShownMessage): boolean =>
    message.role === 'assistant' && isSeen(message) && !gone.includes(message)
  const next = after.findIndex(({ message }) => message.role === 'user')
  const own = after.slice(0, next < 0 ? undefined : next).findLast(isReply)
  return { isAny: after.some(isReply), own: own?.message.id }
}

/** The message beside which it is told what became of others: the one before, or else after. */
function neighbourOf(messages: readonly ShownMessage[], gone: readonly Message[]): string | undefined {
  const place = messages.findIndex(({ message }) => message === gone.at(-1))
  const isLeft = ({ message }: ShownMessage): boolean => isSeen(message) && !gone.includes(message)
  const found = messages.slice(0, place).findLast(isLeft) ?? messages.slice(place + 1).find(isLeft)
  return found?.message.id
}

function selectorOf(messageId: string): string {
  return `[data-message="${CSS.escape(messageId)}"]`
}
