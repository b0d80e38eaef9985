/** The element of the page that the selector names. */
export function element<Kind extends Element>(selector: string, kind: new () => Kind): Kind {
  const found = document.querySelector(selector)
  if (!(found instanceof kind)) throw new Error(`The page has no ${kind.name} at ${selector}`)
  return found
}

/** A new element. Text is set as text, never as markup. */
export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  className: string,
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name)
  made.className = className
  made.append(...children)
  return made
}

export function button(label: string, run: () => void): HTMLButtonElement {
  const made = make('button', '', label)
  made.type = 'button'
  made.addEventListener('click', run)
  return made
}

const figures = new Intl.NumberFormat('en')

export function figure(value: number): string {
  return figures.format(value)
}

/** `1 message`, `2 messages`. */
export function counted(count: number, noun: string): string {
  return `${figure(count)} ${noun}${count === 1 ? '' : 's'}`
}
