import { coloured } from './highlight.ts'

/**
 * Puts a frame around a code block: its language, and a button with `data-copy` whose clicks
 * somebody above handles.
 * @param nodesOf makes nodes of coloured code; without it the code stays plain
 */
export function codeFigure(
  pre: HTMLElement,
  copyLabel: string,
  nodesOf: ((html: string) => DocumentFragment) | undefined,
): void {
  const code = pre.querySelector('code') ?? pre
  const language = code.dataset.language ?? ''
  const figure = document.createElement('figure')
  figure.className = 'code'
  // Whatever is written around it, and so that it does not say how that is written.
  figure.dir = 'ltr'
  const caption = document.createElement('figcaption')
  const name = document.createElement('span')
  name.textContent = language
  const button = document.createElement('button')
  button.type = 'button'
  button.dataset.copy = ''
  button.textContent = copyLabel
  caption.append(name, button)
  pre.replaceWith(figure)
  pre.tabIndex = 0
  figure.append(caption, pre)
  if (nodesOf) void colour(code, language, nodesOf)
}

/** Colours are made when the words have stood on the screen for some frames. */
const AFTER_MS = 100

/** Resolves when the browser has shown what there is, and nobody waits for it. */
function idle(): Promise<unknown> {
  const { requestIdleCallback = setTimeout } = globalThis as Partial<typeof globalThis>
  return new Promise((resolve) => setTimeout(() => requestIdleCallback(resolve), AFTER_MS))
}

async function colour(
  code: HTMLElement,
  language: string,
  nodesOf: (html: string) => DocumentFragment,
): Promise<void> {
  try {
    await idle()
    const html = await coloured(code.textContent, language)
    if (html !== undefined) code.replaceChildren(nodesOf(html))
  } catch {
    // Without its colours the code is as good.
  }
}
