/** Labels as one path: none of them holds the `/` between them. */
export function pathOf(labels: readonly string[]): string {
  return labels.map((label) => label.replace(/[%/]/g, (found) => (found === '/' ? '%2F' : '%25'))).join('/')
}

/** The labels of such a path. */
export function labelsOf(path: string): string[] {
  return path.split('/').map((label) => label.replace(/%2F|%25/g, (found) => (found === '%2F' ? '/' : '%')))
}

/** The first place after all paths that begin with a path's labels and `/`. */
export function endOf(path: string): string {
  return `${path}0`
}

/**
 * A text that sorts before that of every smaller one, both in code unit order: the newest of ids
 * that grow with time comes first.
 */
export function descending(text: string): string {
  const units = Array.from({ length: text.length }, (_, at) => {
    const unit = text.charCodeAt(at)
    if (unit > 0x7e) return ` ${(0xffff - unit).toString(16).padStart(4, '0')}`
    return unit < 0x20
      ? `\u0080${(0x1f - unit).toString(16).padStart(2, '0')}`
      : String.fromCharCode(0x9f - unit)
  })
  return `${units.join('')}\u0081`
}
