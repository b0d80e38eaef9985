import type { Context, Message, Part, Role } from '../src/index.ts'
import type { Shown } from './conversation.ts'
import { button, counted, make } from './dom.ts'

/** Pixels from the end within which the reader counts as being at the end. */
const NEAR = 80

const SPEAKERS: { readonly [Name in Role]: string } = {
  user: 'You',
  assistant: 'Scripted reply',
  tool: 'Tool',
  system: 'System',
}

/** The messages on the page, with a line where a model's view begins. */
export class MessageList {
  readonly #root: HTMLElement
  readonly #older: HTMLElement
  readonly #list = make('ol', '')
  readonly #line = make('li', 'divider', 'Left out above this line. A model would be given what is below.')
  readonly #empty = make(
    'p',
    'note',
    'Nothing yet. Write something, or add 50 messages to see the line at work.',
  )
  readonly #replying = make('p', 'note', 'A scripted reply is being made.')
  readonly #items = new Map<string, HTMLElement>()

  constructor(root: HTMLElement, showOlder: () => void) {
    this.#root = root
    this.#older = button('Load older messages', showOlder)
    this.#older.classList.add('older')
    root.append(this.#older, this.#empty, this.#list, this.#replying)
  }

  /** @returns what a reader who does not see the page should be told */
  show({ messages, older, replying, context }: Shown): string {
    const fromEnd = this.#root.scrollHeight - this.#root.scrollTop
    const atEnd = fromEnd - this.#root.clientHeight < NEAR
    const wasEmpty = this.#items.size === 0
    const oldestBefore = this.#list.querySelector<HTMLElement>('[data-id]')?.dataset.id
    const added = this.#place(messages)
    this.#mark(messages, context)
    this.#older.hidden = !older
    this.#empty.hidden = messages.length > 0
    this.#replying.hidden = !replying
    // What was put in front must not move what is being read.
    if (atEnd) this.#root.scrollTop = this.#root.scrollHeight
    else if (messages[0]?.id !== oldestBefore) this.#root.scrollTop = this.#root.scrollHeight - fromEnd
    return wasEmpty ? '' : told(added)
  }

  /** Adds, removes and moves no more than what changed. @returns the messages that are new at the end */
  #place(messages: readonly Message[]): readonly Message[] {
    const last = messages.findLastIndex(({ id }) => this.#items.has(id))
    const wanted = new Set(messages.map(({ id }) => id))
    for (const [id, item] of this.#items) {
      if (wanted.has(id)) continue
      item.remove()
      this.#items.delete(id)
    }
    this.#line.remove()
    let next = this.#list.firstElementChild
    for (const message of messages) {
      const known = this.#items.get(message.id)
      const item = known ?? draw(message)
      if (item === next) next = next.nextElementSibling
      else this.#list.insertBefore(item, next)
      if (!known) this.#items.set(message.id, item)
    }
    return messages.slice(last + 1)
  }

  /** Draws the line in front of the first message that the context shows, and says what it shows shorter. */
  #mark(messages: readonly Message[], context: Shown['context']): void {
    const rules = context && 'blocks' in context ? rulesIn(context) : new Map<string, string>()
    const first = messages.findIndex(({ id }) => rules.has(id))
    const item = this.#items.get(messages[first]?.id ?? '')
    if (first > 0 && item) item.before(this.#line)
    for (const [id, item] of this.#items) item.classList.toggle('capped', rules.get(id) === 'capped')
  }
}

function rulesIn({ blocks }: Context): Map<string, string> {
  return new Map(blocks.flatMap(({ from, rule }) => from.map((id) => [id, rule] as const)))
}

function told(added: readonly Message[]): string {
  const last = added.at(-1)
  if (!last || (added.length === 1 && last.role === 'user')) return ''
  if (added.length > 2) return `${counted(added.length, 'new message')}`
  return `${SPEAKERS[last.role]}: ${[...textsIn(last)].join(' ')}`
}

function draw(message: Message): HTMLElement {
  const { id, role, content, createdAt } = message
  const time = make('time', '', new Date(createdAt).toLocaleTimeString([], { timeStyle: 'short' }))
  time.dateTime = new Date(createdAt).toISOString()
  const item = make('li', `message ${role}`, make('p', 'speaker', SPEAKERS[role], ' ', time))
  item.dataset.id = id
  if (typeof content === 'string') item.append(make('p', 'text', content))
  else item.append(...content.map((part) => make(part.type === 'text' ? 'p' : 'pre', 'text', textOf(part))))
  return item
}

function* textsIn({ content }: Message): Generator<string> {
  if (typeof content === 'string') yield content
  else for (const part of content) yield textOf(part)
}

function textOf(part: Part): string {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return part.text
    case 'tool-call':
      return `${part.name}(${JSON.stringify(part.input)})`
    case 'tool-result':
      return typeof part.output === 'string' ? part.output : JSON.stringify(part.output)
    default:
      return `[${part.type}]`
  }
}
