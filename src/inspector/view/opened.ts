import { Directive, directive, type ElementPart } from 'lit/directive.js'
import { render } from 'lit/html.js'

/** Makes what stands in a `<details>` while that is open: closed ones may hold any number. */
class OpenedDirective extends Directive {
  #content: (() => unknown) | undefined

  render(_content: () => unknown): void {}

  override update({ element }: ElementPart, [content]: [() => unknown]): void {
    const details = element.parentElement as HTMLDetailsElement
    const draw = (): void => {
      render(details.open ? this.#content?.() : undefined, element as HTMLElement)
    }
    if (!this.#content) details.addEventListener('toggle', draw)
    this.#content = content
    draw()
  }
}

/**
 * `<details><summary>…</summary><div ${opened(content)}></div></details>`: the element must be
 * empty, and stays the directive's own.
 */
export const opened = directive(OpenedDirective)
