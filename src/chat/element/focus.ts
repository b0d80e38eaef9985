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
