import { createMemory, lease, type Message, type Model, mapStore, runAgent } from 'plimsoll'
import { httpTransport, sync } from 'plimsoll/sync'

const WORD_MS = 150
/** How often a window asks the home: what tells of changes is left out here. */
const POLL_MS = 200
const scope = { userId: 'ada', sessionId: crypto.randomUUID() }

/** A script, the same for both windows: it says how many messages it was shown. */
const model: Model = {
  id: 'script',
  async *complete({ context }) {
    const count = context.blocks.filter(({ section }) => section === 'window').length
    const words = `This is a script, and no model. Messages that it was shown: ${count}. The window that has the lease asked it.`
    for (const text of words.match(/\s*\S+/g) ?? []) {
      await new Promise((resolve) => setTimeout(resolve, WORD_MS))
      yield { type: 'text', text }
    }
    yield { type: 'finish', message: { role: 'assistant', content: words }, reason: 'stop' }
  },
}

/** A window: a store that follows the home, a session over it, and an agent that may answer. */
function open(id: string, name: string) {
  const pane = document.getElementById(id) as HTMLElement
  pane.append((document.getElementById('window') as HTMLTemplateElement).content.cloneNode(true))
  const find = <Part extends HTMLElement>(selector: string): Part => pane.querySelector(selector) as Part
  find('h2').textContent = name

  const transport = httpTransport({ url: location.origin, token: scope.userId })
  // Both windows are in one page here: each of them is to send by itself.
  const store = sync({
    store: mapStore(),
    transport,
    lock: false,
    channel: false,
    pollMs: POLL_MS,
    capMs: POLL_MS,
  })
  const session = createMemory({ store, budget: 16_000 }).session(scope)
  let coming = ''
  let holder = ''
  let isAnswering = false

  const answer = async (): Promise<void> => {
    const newest = (await session.history({ messages: 1 })).at(-1)
    if (isAnswering || newest?.role !== 'user') return
    isAnswering = true
    const run = runAgent({ session, model, lease: lease({ holder: name }) })
    for await (const event of run) {
      if (event.type === 'lease') holder = event.status === 'waiting' ? event.holder : event.status
      if (event.type === 'text') coming += event.text
      await show()
    }
    coming = ''
    holder = ''
    isAnswering = false
    await show()
    // Something may have been said meanwhile.
    await answer()
  }

  const show = async (): Promise<void> => {
    const messages = await session.history()
    const shown = messages.map((message) => item(message.role, textOf(message)))
    const isTold = messages.at(-1)?.role === 'assistant'
    if (coming !== '' && !isTold) shown.push(item('assistant coming', coming))
    find('.messages').replaceChildren(...shown)
    find('.waiting').textContent = String(store.status.waiting)
    // The context as the next call of a model would have it; nothing is written for that.
    const { hash } = await session.context({ preview: true })
    find('.hash').textContent = messages.length > 0 ? hash.slice(0, 16) : '–'
    const says = holder === 'held' ? 'has the lease and answers' : holder && `waits for ${holder}`
    const isIn = store.status.state !== 'offline'
    find('.state').textContent = [isIn ? 'plugged in' : 'unplugged', says].filter(Boolean).join(', ')
    pane.classList.toggle('out', !isIn)
    compare()
  }

  find('form').addEventListener('submit', async (event) => {
    event.preventDefault()
    const input = find<HTMLInputElement>('input')
    const content = input.value.trim()
    if (content === '') return
    input.value = ''
    await session.append({ role: 'user', content })
  })
  const look = (): void => void show().then(answer)
  session.subscribe(look)
  store.subscribe(() => void show())
  look()
  return store
}

function item(className: string, text: string): HTMLLIElement {
  const made = document.createElement('li')
  made.className = className
  made.textContent = text
  return made
}

function textOf({ content }: Message): string {
  return typeof content === 'string'
    ? content
    : content.flatMap((part) => (part.type === 'text' ? part.text : [])).join('')
}

/** Marks the two hashes where they are one. */
function compare(): void {
  const hashes = [...document.querySelectorAll('.hash')]
  const isOne = new Set(hashes.map(({ textContent }) => textContent)).size === 1
  for (const hash of hashes) hash.classList.toggle('same', isOne)
}

const windows = [
  { store: open('laptop', 'Laptop'), name: 'laptop', at: -1 },
  { store: open('phone', 'Phone'), name: 'phone', at: 1 },
]
const plug = document.getElementById('plug') as HTMLInputElement
const plugged = document.getElementById('plugged') as HTMLOutputElement

plug.addEventListener('input', () => {
  const at = Number(plug.value)
  const out = windows.find((one) => at !== 0 && one.at !== at)
  for (const one of windows) {
    if (one === out) one.store.pause()
    else one.store.resume()
  }
  plugged.textContent = out ? `The ${out.name} is unplugged.` : 'Both are plugged in.'
  plug.setAttribute('aria-valuetext', plugged.textContent)
})
