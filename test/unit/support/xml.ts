export interface XmlElement {
  readonly name: string
  readonly attributes: { readonly [name: string]: string }
  readonly children: readonly (XmlElement | string)[]
}

const NAME = String.raw`[A-Za-z_][\w.-]*`
const TAG = new RegExp(String.raw`<(/?)(${NAME})((?:\s+${NAME}="[^"<]*")*)\s*(/?)>|([^<]+)`, 'y')
const ATTRIBUTE = new RegExp(`(${NAME})="([^"]*)"`, 'g')
/** What XML 1.0 calls a Char. */
const ALLOWED = /^[\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]*$/u

/**
 * Parses the XML of pictures (elements, attributes in double quotes, text) and throws at all that
 * XML does not allow.
 */
export function parseXml(source: string): XmlElement {
  if (!ALLOWED.test(source)) throw new Error('a character that XML does not allow')
  const root = { name: '', attributes: {}, children: [] as (XmlElement | string)[] }
  const open = [root]
  TAG.lastIndex = 0
  while (TAG.lastIndex < source.length) {
    const at = TAG.lastIndex
    const match = TAG.exec(source)
    if (!match) throw new Error(`no XML: ${source.slice(at, at + 40)}`)
    const [, closing, name = '', list = '', empty, content] = match
    const parent = open.at(-1) as typeof root
    if (content !== undefined) parent.children.push(decode(content))
    else if (closing) {
      if (open.pop()?.name !== name) throw new Error(`</${name}> ends another element`)
    } else {
      const pairs = [...list.matchAll(ATTRIBUTE)].map(
        ([, key = '', value = '']) => [key, decode(value)] as const,
      )
      if (new Set(pairs.map(([key]) => key)).size < pairs.length)
        throw new Error(`<${name}> repeats an attribute`)
      const element = { name, attributes: Object.fromEntries(pairs), children: [] }
      parent.children.push(element)
      if (!empty) open.push(element)
    }
  }
  const [element, ...more] = root.children.filter((child) => typeof child !== 'string' || child.trim() !== '')
  if (open.length > 1) throw new Error(`<${open.at(-1)?.name}> does not end`)
  if (!element || typeof element === 'string' || more.length > 0) throw new Error('not one root element')
  return element
}

const ENTITIES: { readonly [name: string]: string } = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function decode(text: string): string {
  return text.replaceAll(/&([^;]*);?/g, (entity, name: string) => {
    const character = /^#\d+$/.test(name) ? String.fromCodePoint(Number(name.slice(1))) : ENTITIES[name]
    if (character === undefined || !entity.endsWith(';')) throw new Error(`no entity: ${entity}`)
    return character
  })
}

/** The element and all below it, in their order. */
export function elementsOf(element: XmlElement): readonly XmlElement[] {
  return [
    element,
    ...element.children.flatMap((child) => (typeof child === 'string' ? [] : elementsOf(child))),
  ]
}

export function textOf(element: XmlElement): string {
  return element.children.map((child) => (typeof child === 'string' ? child : textOf(child))).join('')
}
