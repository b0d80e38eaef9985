const FOCUSABLE =
  'a[href], button:not(:disabled), input:not(:disabled, [hidden]), textarea, summary, [tabindex="0"]'

/** From the last thing that takes the focus Tab leads to the first, and back. */
export function keepFocusIn(frame: HTMLElement, event: KeyboardEvent): void {
  const within = [...frame.querySelectorAll<HTMLElement>(FOCUSABLE)].filter((each) =>
    each.checkVisibility({ visibilityProperty: true }),
  )
  const active = (frame.getRootNode() as ShadowRoot).activeElement
  const [from, to] = event.shiftKey ? [within[0], within.at(-1)] : [within.at(-1), within[0]]
  if (active !== from || !to) return
  event.preventDefault()
  to.focus()
}

/** Where the focus is: in which item of a list, of which panel. */
export interface FocusPlace {
  readonly element: Element
  readonly item: Element | null
  readonly list: Element | null
  /** Place of the item in its list. */
  readonly index: number
  readonly panel: Element | null
}

export function placeOf(frame: HTMLElement): FocusPlace | undefined {
  const element = (frame.getRootNode() as ShadowRoot).activeElement
  if (!element || !frame.contains(element)) return undefined
  const item = element.closest('li, .card, .chip')
  const list = item?.parentElement ?? null
  const index = list && item ? [...list.children].indexOf(item) : 0
  return { element, item, list, index, panel: element.closest('.side') }
}

/**
 * What takes the focus at a place by now: of its item, of the one there, of the one before, of the
 * panel.
 */
export function firstFocusable({ item, list, index, panel }: FocusPlace): HTMLElement | undefined {
  // What is gone by now is not visible.
  for (const within of [item, list?.children[index], list?.children[index - 1], panel]) {
    const found = [...(within?.querySelectorAll<HTMLElement>(FOCUSABLE) ?? [])]
    const first = found.find((each) => each.checkVisibility())
    if (first) return first
  }
  return undefined
}
