const sheets = new Map<string, CSSStyleSheet>()

/**
 * Gives a shadow root a style, once. Constructed style sheets need no exception of a content
 * security policy.
 */
export function adopt(root: ShadowRoot, style: string): void {
  const sheet = sheets.get(style) ?? new CSSStyleSheet()
  if (!sheets.has(style)) sheet.replaceSync(style)
  sheets.set(style, sheet)
  if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet)
}
