/** A text as blocks of Markdown. Loaded with the first text that needs it. */
import { adopt } from '../adopt.ts'
import { codeFigure } from './code-figure.ts'
import { type Block, blocksOf, colouredNodes } from './render.ts'
import { proseStyle } from './style.ts'

export { proseStyle }

export interface ProseOptions {
  /** Words on the button of a code block. */
  readonly copyLabel: string
  /** Whether the text goes on growing: then its last block is not coloured yet. */
  readonly isGrowing: boolean
}

/**
 * Milliseconds after which the rest of a text is left to a later task. The list that it stands in
 * keeps its place meanwhile.
 */
const SLICE_MS = 20
/** Elements after which it is, too: the browser lays them out at the end of the task. */
const SLICE_ELEMENTS = 500

/** Lines that say where the links of a text lead, which may be of any block. */
const ADDRESSES = /^ {0,3}\[[^\]\n]+\]:.*$/gm

/** What one element shows; of a text that grows, only the blocks that changed are rebuilt. */
export class Blocks {
  readonly #element: Element
  readonly #shown: { readonly key: string; readonly nodes: readonly ChildNode[] }[] = []
  /** The text that was shown last, and its blocks. */
  #text = ''
  #blocks: readonly Block[] = []
  #later: ReturnType<typeof setTimeout> | undefined

  /** @param element is emptied */
  constructor(element: Element) {
    this.#element = element
    element.replaceChildren()
    // Its template joins the page when it is whole.
    queueMicrotask(() => {
      const root = element.getRootNode()
      if (root instanceof ShadowRoot) adopt(root, proseStyle)
    })
  }

  show(given: string, { copyLabel, isGrowing }: ProseOptions): void {
    const text = given.replace(/\r\n?/g, '\n')
    const addresses = text.match(ADDRESSES)?.join('\n') ?? ''
    this.#blocks = isGrowing && addresses === '' ? this.#grown(text) : blocksOf(text)
    this.#text = text
    const blocks = this.#blocks.map(({ raw, render }, place, { length }) => {
      const isOpen = isGrowing && place === length - 1
      return { key: [isOpen ? 'open' : 'done', raw, addresses].join('\n'), isOpen, render }
    })
    const changed = blocks.findIndex(({ key }, place) => key !== this.#shown[place]?.key)
    const kept = changed < 0 ? blocks.length : changed
    for (const { nodes } of this.#shown.splice(kept)) for (const node of nodes) node.remove()
    const rest = blocks.slice(kept)
    const build = (): void => {
      const end = performance.now() + SLICE_MS
      let made = 0
      for (let next = rest.shift(); next; next = rest.shift()) {
        const fragment = next.render()
        for (const pre of fragment.querySelectorAll('pre')) {
          codeFigure(pre, copyLabel, next.isOpen ? undefined : colouredNodes)
        }
        this.#shown.push({ key: next.key, nodes: [...fragment.childNodes] })
        made += fragment.querySelectorAll('*').length
        this.#element.append(fragment)
        if (made > SLICE_ELEMENTS || performance.now() > end) break
      }
      if (rest.length > 0) this.#later = setTimeout(build)
    }
    clearTimeout(this.#later)
    build()
  }

  /** The blocks of a text that grew at its end: only its last one may be another now. */
  #grown(text: string): readonly Block[] {
    const last = this.#blocks.at(-1)?.from ?? 0
    if (last === 0 || !text.startsWith(this.#text.slice(0, last))) return blocksOf(text)
    const open = blocksOf(text.slice(last)).map((block) => ({ ...block, from: last + block.from }))
    return [...this.#blocks.slice(0, -1), ...open]
  }
}
