/** A text as blocks of Markdown. Loaded with the first text that needs it. */
import { adopt } from '../adopt.ts'
import { codeFigure } from './code-figure.ts'
import { blocksOf, colouredNodes } from './render.ts'
import { proseStyle } from './style.ts'

export interface ProseOptions {
  /** Words on the button of a code block. */
  readonly copyLabel: string
  /** Whether the text goes on growing: then its last block is not coloured yet. */
  readonly isGrowing: boolean
}

/** What one element shows; of a text that grows, only the blocks that changed are rebuilt. */
export class Blocks {
  readonly #element: Element
  readonly #shown: { readonly key: string; readonly nodes: readonly ChildNode[] }[] = []

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

  show(text: string, { copyLabel, isGrowing }: ProseOptions): void {
    const blocks = blocksOf(text).map(({ raw, render }, place, { length }) => {
      const isOpen = isGrowing && place === length - 1
      return { key: `${isOpen ? 'open' : 'done'} ${raw}`, isOpen, render }
    })
    const changed = blocks.findIndex(({ key }, place) => key !== this.#shown[place]?.key)
    const kept = changed < 0 ? blocks.length : changed
    for (const { nodes } of this.#shown.splice(kept)) for (const node of nodes) node.remove()
    for (const { key, isOpen, render } of blocks.slice(kept)) {
      const fragment = render()
      for (const pre of fragment.querySelectorAll('pre')) {
        codeFigure(pre, copyLabel, isOpen ? undefined : colouredNodes)
      }
      this.#shown.push({ key, nodes: [...fragment.childNodes] })
      this.#element.append(fragment)
    }
  }
}
