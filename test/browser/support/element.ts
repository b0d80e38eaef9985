import { userEvent } from 'vitest/browser'
import { type FakeChat, FakePlimsollChat } from './fake-chat.ts'

if (!customElements.get('plimsoll-chat')) customElements.define('plimsoll-chat', FakePlimsollChat)

/** An element on the page, open, with its parts by hand. */
export interface Shown {
  readonly element: FakePlimsollChat
  readonly fake: FakeChat
  readonly root: ShadowRoot
  /** The first element of the view that a selector names. */
  find<Kind extends HTMLElement = HTMLElement>(selector: string): Kind
  /** The visible button of that name. */
  button(name: string): HTMLElement
  text(): string
}

export interface ShowOptions {
  readonly attributes?: Readonly<Record<string, string>>
  readonly prepare?: (fake: FakeChat) => void
}

export async function show({ attributes = {}, prepare = () => {} }: ShowOptions = {}): Promise<Shown> {
  FakePlimsollChat.prepare = prepare
  const element = document.createElement('plimsoll-chat') as FakePlimsollChat
  for (const [name, value] of Object.entries({ lang: 'en', ...attributes })) element.setAttribute(name, value)
  document.body.append(element)
  await element.show()
  // What stands beside the messages comes right after them.
  await new Promise((done) => setTimeout(done, 100))
  await frame()
  const { fake, shadowRoot: root } = element
  if (!fake || !root) throw new Error('The element did not open')
  return {
    element,
    fake,
    root,
    find: <Kind extends HTMLElement>(selector: string) => {
      const found = root.querySelector<Kind>(selector)
      if (!found) throw new Error(`Nothing at ${selector}`)
      return found
    },
    button: (name) => {
      const found = [...root.querySelectorAll<HTMLElement>('button')].find(
        (each) => (each.ariaLabel ?? each.textContent).trim() === name && each.checkVisibility(),
      )
      if (!found) throw new Error(`No button ${name}`)
      return found
    },
    // What is hidden or folded is no text of it.
    // biome-ignore lint/performance/useDomNodeTextContent: layout is what is asked for.
    text: () => root.querySelector<HTMLElement>('.chat')?.innerText ?? '',
  }
}

/** Until what was asked for is drawn. */
export async function frame(): Promise<void> {
  await new Promise(requestAnimationFrame)
  await new Promise(requestAnimationFrame)
  await new Promise((done) => setTimeout(done))
}

/** Places and colours are judged where nothing moves any more. */
export function endMovements({ element }: Pick<Shown, 'element'>): void {
  for (const animation of element.shadowRoot?.getAnimations() ?? [])
    if (animation.effect?.getTiming().iterations === 1) animation.finish()
}

export async function until(holds: () => boolean, what = String(holds)): Promise<void> {
  const end = Date.now() + 30_000
  while (!holds()) {
    if (Date.now() > end) throw new Error(`It never came to: ${what}`)
    await new Promise((done) => setTimeout(done, 10))
  }
}

/** Types a text into a field, whatever drives the browser. */
export function fill(field: HTMLInputElement | HTMLTextAreaElement, text: string): void {
  field.focus()
  field.value = text
  field.dispatchEvent(new InputEvent('input', { bubbles: true, composed: true }))
}

export async function press(...keys: readonly string[]): Promise<void> {
  for (const key of keys) await userEvent.keyboard(key)
  await frame()
}

/** Writes by keys in place of what stands in a field. */
export async function write(field: HTMLInputElement | HTMLTextAreaElement, keys: string): Promise<void> {
  field.focus()
  field.select()
  await userEvent.keyboard(keys)
}

export function clear(): void {
  for (const element of document.querySelectorAll('plimsoll-chat')) element.remove()
}
