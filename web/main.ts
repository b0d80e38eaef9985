/** The browser process: wiring only. A chat over the browser's own store, with a script in the model's place. */
import { createMemory } from '../src/index.ts'
import { dexieStore } from '../src/stores/dexie.ts'
import { ContextPanel } from './context-panel.ts'
import { Conversation } from './conversation.ts'
import { element } from './dom.ts'
import { MessageList } from './message-list.ts'
import { showStatus } from './store-status.ts'

/** Small, so that a few messages reach the line. */
const BUDGET = { contextWindow: 2_000, maxOutputTokens: 250 }
const SYSTEM = 'You are a travel agent. Answer briefly, and ask when a date or a place is missing.'
const FILL = 50

const store = dexieStore({ name: 'plimsoll-page' })
// No model is called: what leaves the window is summarised by the extract.
const memory = createMemory({ store, system: SYSTEM, budget: BUDGET, compaction: {} })

const text = element('#text', HTMLTextAreaElement)
const fill = element('#fill', HTMLButtonElement)
const problem = element('#problem', HTMLElement)
const announcements = element('#announcements', HTMLElement)
const panel = new ContextPanel(element('#context', HTMLElement), BUDGET)
const list = new MessageList(element('#messages', HTMLElement), () => conversation.showOlder().catch(report))

const conversation = new Conversation(
  () => memory.session({ userId: 'local', sessionId: 'page' }),
  (shown) => {
    panel.show(shown)
    const news = list.show(shown)
    if (news !== '') announcements.textContent = news
  },
  report,
)

const status = (): void =>
  showStatus(element('#store-status', HTMLElement), store.status(), {
    reload: () => location.reload(),
    acceptLoss: () => {
      report()
      store.acceptLoss().then(() => conversation.reopen(), report)
    },
  })
store.onStatus(status)
status()

/** What was sent last, until it is acknowledged: sent again, it is the same op. */
let unsent: { readonly content: string; readonly opId: string } | undefined

async function send(): Promise<void> {
  const content = text.value.trim()
  if (content === '') return
  const message = unsent?.content === content ? unsent : { content, opId: crypto.randomUUID() }
  text.value = ''
  report()
  try {
    await conversation.send(message.content, message.opId)
    if (unsent === message) unsent = undefined
  } catch (error) {
    unsent = message
    if (text.value === '') text.value = content
    report(error)
  }
}

element('#composer', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault()
  void send()
})
text.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
  event.preventDefault()
  void send()
})
fill.addEventListener('click', async () => {
  // Not `disabled`, which would take the focus away.
  if (fill.ariaDisabled === 'true') return
  const label = fill.textContent
  fill.ariaDisabled = 'true'
  report()
  try {
    await conversation.fill(FILL, (added) => {
      fill.textContent = `Adding ${added} of ${FILL}`
    })
  } catch (error) {
    report(error)
  }
  fill.ariaDisabled = 'false'
  fill.textContent = label
})

/** Says what went wrong; without an error, that nothing is wrong. */
function report(error?: unknown): void {
  problem.textContent = error === undefined ? '' : error instanceof Error ? error.message : String(error)
}
