import { Directive, directive, type ElementPart } from 'lit/directive.js'
import { adopt } from '../adopt.ts'
import type { Blocks, ProseOptions } from './blocks.ts'

/** What would look different as Markdown. A text without any of it needs no parser. */
const MARKS = /[*_`#[\]|~<>&\\]|^[ \t]*(?:[-+]|\d+[.)])\s|https?:|www\.|-{3}|={3}|@/m
/**
 * Nested deeper than anybody writes: the parser calls itself for each level, until it gives up.
 */
const NESTED = /(?:(?:>|(?:[-*+]|\d{1,9}[.)])[ \t])[ \t]*){30}/
/** Longer texts stay as they are. In UTF-16 units. */
const LONGEST = 100_000

/** UTF-16 units of a plain text that are laid out as one. */
const CHUNK = 10_000

let renderer: typeof import('./blocks.ts') | undefined

/** Loads what shows Markdown, so that a text that is drawn later shows it at once. */
export async function loadMarkdown(): Promise<void> {
  renderer ??= await import('./blocks.ts')
}

/** Gives a root the look of Markdown ahead of the first text, where it is loaded. */
export function adoptMarkdown(root: ShadowRoot): void {
  if (renderer) adopt(root, renderer.proseStyle)
}

/**
 * Shows a text as Markdown in its element, once it has something to show and the parser is there;
 * before that, as it is.
 */
class ProseDirective extends Directive {
  #element: Element | undefined
  #text: string | undefined
  #options: ProseOptions = { copyLabel: '', isGrowing: false }
  #blocks: Blocks | undefined

  render(_text: string, _options: ProseOptions): void {}

  override update(part: ElementPart, [text, options]: [string, ProseOptions]): void {
    if (text === this.#text && options.isGrowing === this.#options.isGrowing) return
    this.#element = part.element
    this.#text = text
    this.#options = options
    this.#show(part.element, text)
  }

  #show(element: Element, text: string): void {
    const needsParser = text.length <= LONGEST && MARKS.test(text) && !NESTED.test(text)
    element.classList.toggle('plain', !needsParser || !renderer)
    if (needsParser && renderer) {
      this.#blocks ??= new renderer.Blocks(element)
      this.#blocks.show(text, this.#options)
      return
    }
    this.#blocks = undefined
    element.replaceChildren(...chunksOf(text))
    if (needsParser) void this.#load()
  }

  async #load(): Promise<void> {
    try {
      await loadMarkdown()
    } catch {
      // Offline, or a deploy took the file away: the text stays as it is.
      return
    }
    if (this.#element?.isConnected) this.#show(this.#element, this.#text ?? '')
  }
}

/**
 * A plain text, cut at ends of lines where it is long: browsers lay out only those of its parts
 * that are near.
 */
export function chunksOf(text: string): readonly (string | Element)[] {
  if (text.length <= 2 * CHUNK) return [text]
  const chunks: Element[] = []
  for (let from = 0; from < text.length; ) {
    const line = text.indexOf('\n', from + CHUNK)
    const to = line < 0 ? text.length : line
    const chunk = document.createElement('div')
    chunk.className = 'chunk'
    chunk.textContent = text.slice(from, to)
    chunks.push(chunk)
    from = to + 1
  }
  return chunks
}

/**
 * `<div class="prose" ${prose(text, options)}></div>`: the element must be empty, and stays the
 * directive's own.
 */
export const prose = directive(ProseDirective)
