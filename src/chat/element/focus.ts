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
  // Another version is another message, in the place of that.
  const item = element.closest('li, .card, .chip, .message:has(.versions :focus)')
  const list = item?.parentElement ?? null
  const index = list && item ? [...list.children].indexOf(item) : 0
  return { element, item, list, index, panel: element.closest('.side') }
}

/**
 * What takes the focus at a place by now: of its item, of the one there, of the one before, of the
 * panel. There, what has the same name; or else the first, of versions the other one.
 */
export function firstFocusable({ element, item, list, index, panel }: FocusPlace): HTMLElement | undefined {
  const { title } = element as HTMLElement
  // What is gone by now is not visible.
  for (const within of [item, list?.children[index], list?.children[index - 1], panel]) {
    const found = [...(within?.querySelectorAll<HTMLElement>(FOCUSABLE) ?? [])]
    const seen = found.filter((each) => each.checkVisibility())
    const first =
      seen.find((each) => title && each.title === title) ??
      seen.find((each) => each.closest('.versions')) ??
      seen[0]
    if (first) return first
  }
  return undefined
}
