/**
 * The page around the chat: its address, its versions, installing it, and the inspector beside it.
 * Wiring only.
 */
import '../src/chat/define.ts'
import type { PlimsollChat } from '../src/chat/index.ts'
import { linkedSession, linkTo, onLink } from './deep-link.ts'
import { firstScreen } from './first-screen.ts'
import { InspectorPanel } from './inspector-panel.ts'
import { offerInstall } from './install.ts'
import { offerPersistence } from './persistence.ts'
import { signOut } from './sign-out.ts'
import { watchUpdates } from './updates.ts'
import { wordsFor } from './words.ts'

const { language, locale, direction, words } = wordsFor(navigator.languages)
document.documentElement.lang = language
document.documentElement.dir = direction

const find = <Found extends Element>(selector: string): Found => document.querySelector(selector) as Found
const button = (id: string, text: string): HTMLButtonElement => {
  const found = find<HTMLButtonElement>(`#${id}`)
  const label = found.querySelector('span') ?? found
  label.textContent = text
  return found
}

const chat = document.createElement('plimsoll-chat') as PlimsollChat
chat.placement = 'page'
chat.session = linkedSession()
chat.linked = true
// A static build has no edge behind it.
if (import.meta.env.MODE !== 'static') {
  chat.src = ''
  chat.synced = true
}
chat.append(find<HTMLTemplateElement>('#tools').content)
find('#chat').append(chat)
new MutationObserver(() => linkTo(chat.session)).observe(chat, {
  attributeFilter: ['session'],
})
onLink((sessionId) => {
  chat.session = sessionId
})

const inspect = button('inspect', words.inspector)
const leave = button('leave', words.closeInspector)
leave.title = words.closeInspector
const panel = new InspectorPanel(find('#inspector'), chat, { leave, locale }, () => {
  inspect.ariaExpanded = 'false'
  // In a closed menu nothing takes the focus: that is for what opens it.
  const more = chat.shadowRoot?.querySelector<HTMLElement>('.to-more')
  const opener = [inspect, more].find((each) => each?.checkVisibility())
  if (opener) opener.focus()
  else void chat.show()
})
const toggle = async (): Promise<void> => {
  const isOpen = await panel.toggle()
  inspect.ariaExpanded = String(isOpen)
  // Beside the inspector there may be too little room for the button that opened it.
  if (isOpen && document.activeElement === document.body) leave.focus()
}
inspect.addEventListener('click', toggle)

/** Does what takes away the button that has the focus: who goes by keys writes on. */
const goOn = (task: () => void): void => {
  const isByKeys = document.activeElement?.matches(':focus-visible')
  task()
  if (isByKeys) void chat.show()
}
const say = (text: string): void => goOn(() => void chat.send(text))
chat.append(firstScreen(words, locale, { say, inspect: () => void toggle() }))

const box = find<HTMLElement>('#notice')
let goes: ReturnType<typeof setTimeout> | undefined
/** @param ms after which it goes by itself; without it, it stays until it is dismissed */
const notice = (text: string, ms?: number): void => {
  box.hidden = false
  find('#notice p').textContent = text
  clearTimeout(goes)
  if (ms !== undefined)
    goes = setTimeout(() => {
      box.hidden = true
    }, ms)
}
button('dismiss', words.dismiss).addEventListener('click', () =>
  goOn(() => {
    box.hidden = true
  }),
)

const ask = find<HTMLDialogElement>('#ask')
find('#ask-title').textContent = words.signOutAsk
find('#ask .here').textContent = words.goesHere
find('#ask .lost p').textContent = words.lost
button('stay', words.stay).addEventListener('click', () => ask.close())
button('go', words.signOut).addEventListener('click', () => ask.close('go'))
// It is the dialog alone that Escape closes.
ask.addEventListener('keydown', (event) => event.stopPropagation())
const end = button('sign-out', words.signOut)
const onWait = (isLong: boolean): void => {
  // What says that there is a new version stays.
  if (!update.hidden) return
  if (isLong) notice(words.wait)
  else box.hidden = true
}
let isLeaving = false
end.addEventListener('click', async () => {
  if (isLeaving) return
  isLeaving = true
  try {
    // What the page itself still knows of them goes with it.
    if (await signOut({ dialog: ask, chat, words, locale, onWait })) return location.reload()
  } catch (error) {
    console.warn('Not all is gone from this browser:', error)
    notice(words.notSignedOut)
  } finally {
    isLeaving = false
  }
  // In a closed menu nothing takes the focus.
  if (!end.checkVisibility()) void chat.show()
})

offerInstall(button('install', words.install))
void offerPersistence(button('keep', words.keep), (isKept) => notice(isKept ? words.kept : words.notKept))

const update = button('update', words.reload)
watchUpdates({
  ready(takeOver) {
    notice(words.update)
    update.hidden = false
    update.addEventListener('click', takeOver, { once: true })
  },
  offline: () => notice(words.offlineReady, 5_000),
}).catch((error: unknown) => console.warn('The page cannot be stored for use without a network:', error))
