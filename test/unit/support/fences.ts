/** One fence of a text. */
export interface Fence {
  readonly label: string
  readonly body: string
}

/**
 * The fences that a text is made of, one after the other with nothing around them. Read strictly:
 * the tag stands nowhere else.
 *
 * @returns undefined: it is not made of them
 */
export function fencesIn(text: string, tag: string): readonly Fence[] | undefined {
  const fences: Fence[] = []
  let rest = text
  while (rest !== '') {
    const label = /^ ([\w-]+)>\n/.exec(rest.startsWith(`<${tag}`) ? rest.slice(tag.length + 1) : '')?.[1]
    if (label === undefined) return undefined
    const from = `<${tag} ${label}>\n`.length
    const close = `\n</${tag}>`
    const end = rest.indexOf(close, from - 1)
    if (end < 0 || rest.slice(from, end).includes(tag)) return undefined
    fences.push({ label, body: rest.slice(from, end) })
    rest = rest.slice(end + close.length)
    if (rest !== '' && !rest.startsWith('\n')) return undefined
    rest = rest.slice(1)
  }
  return fences
}
