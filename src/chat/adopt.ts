const sheets = new Map<string, CSSStyleSheet>()

/**
 * The size of the reader's text, whatever the page makes of `rem`. It must be known as a length:
 * then it is the same at every depth.
 */
const UNIT = '--_unit'

/**
 * Gives a shadow root a style, once; its `rem` are `UNIT`. Constructed style sheets need no
 * exception of a content security policy.
 *
 * @param root undefined: it is made ahead
 */
export function adopt(root: ShadowRoot | undefined, style: string): void {
  let sheet = sheets.get(style)
  if (!sheet) {
    if (sheets.size === 0) registerUnit()
    sheet = new CSSStyleSheet()
    sheet.replaceSync(style.replace(/(-?[\d.]+)rem\b/g, `calc($1 * var(${UNIT}))`))
    sheets.set(style, sheet)
  }
  if (root && !root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet)
}

function registerUnit(): void {
  try {
    CSS.registerProperty({ name: UNIT, syntax: '<length>', inherits: true, initialValue: '16px' })
  } catch {
    // Another copy of the widget did.
  }
}
