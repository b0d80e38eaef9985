/**
 * Markdown to nodes, made of the parser's tokens. No HTML is written or read, so that no text can
 * become any. Loaded with the first message that needs it.
 */
import { getDefaults, Lexer, type MarkedToken, type Token, Tokenizer, type Tokens } from 'marked'

/** Ends what was said before it, and no address: a closing quote, an Arabic full stop. */
const ENDS = /^(?:[?!.,:;*_'"~]|(?![ -~])\p{P})$/u
/** What a link may lead to. */
const ADDRESS = /^(?:https?:\/\/|mailto:)/i
/** Levels of nodes in each other: what is deeper shows as it was written. */
const DEEPEST = 100

/**
 * The parser fills up rows that are shorter than the header, so that a short text makes any number
 * of cells: with more than this in a text, a table shows as it was written.
 */
const MOST_CELLS = 3_000
/** Items of a list that are made as one: a longer list is one of several parts. */
const MOST_ITEMS = 100
const ITEM = /^( {0,3})(?:[-+*]|\d{1,9}[.)])\s/gm

/**
 * The parser leaves out what ends a sentence in ASCII alone, and makes tables and lists of any size
 * at once.
 */
class Bounded extends Tokenizer {
  #cells = 0
  /** What follows a part of a numbered list, and its number. */
  #rest = ''
  #number = 1

  override table(src: string): Tokens.Table | undefined {
    const [raw = '', , columns = '', rows = ''] = this.rules.block.table.exec(src) ?? []
    if (!/[:|]/.test(columns)) return undefined
    const cells = this.#cells + (columns.match(/-+/g)?.length ?? 0) * rows.split('\n').length
    if (cells > MOST_CELLS) {
      const text = raw.trimEnd()
      return {
        type: 'paragraph',
        raw,
        text,
        tokens: this.lexer.inline(text),
      } as Tokens.Generic as Tokens.Table
    }
    const table = super.table(src)
    if (table) this.#cells = cells
    return table
  }

  override list(src: string): Tokens.List | undefined {
    const indent = /^ {0,3}(?=(?:[-+*]|\d{1,9}[.)])\s)/.exec(src)?.[0]
    if (indent === undefined) return super.list(src)
    let items = 0
    let end = src.length
    for (const { 1: before, index } of src.matchAll(ITEM)) {
      if (before === indent) items++
      if (items <= MOST_ITEMS) continue
      end = index
      break
    }
    const number = src === this.#rest ? this.#number : undefined
    const list = super.list(src.slice(0, end))
    if (!list) return list
    if (list.ordered) list.start = number ?? list.start
    this.#rest = src.slice(end)
    this.#number = Number(list.start) + list.items.length
    return list
  }

  override url(src: string): Tokens.Link | undefined {
    const link = super.url(src)
    if (!link) return link
    let end = link.raw.length
    while (ENDS.test(link.raw[end - 1] ?? '')) end--
    return end === link.raw.length ? link : super.url(src.slice(0, end))
  }
}

/**
 * The parser takes a time that grows with the square of a paragraph: a longer one shows as it is,
 * in UTF-16 units.
 */
const LONGEST_PARAGRAPH = 5_000

/** A paragraph, list, table … of a text. */
export interface Block {
  /** Its source: of one text, blocks with the same source look the same. */
  readonly raw: string
  /** Where it begins in the text, in UTF-16 units. */
  readonly from: number
  render(): DocumentFragment
}

/**
 * The blocks of a text in their order. What stands in a block is parsed when it is rendered.
 *
 * @param text with `\n` as its only end of lines
 */
export function blocksOf(text: string): readonly Block[] {
  const lexer = new Lexer({ ...getDefaults(), breaks: true, tokenizer: new Bounded() })
  const tokens = lexer.blockTokens(text, lexer.tokens)
  const sources = new Map(lexer.inlineQueue.map(({ src, tokens }) => [tokens, src]))
  const parse = (token: Token | Nested): void => {
    const { tokens = [], items = [], header = [], rows = [] } = token as Nested
    const source = sources.get(tokens)
    if (source === undefined) for (const each of [...tokens, ...items, ...header, ...rows.flat()]) parse(each)
    else if (source.length <= LONGEST_PARAGRAPH) lexer.inlineTokens(source, tokens)
    else tokens.push({ type: 'text', raw: source, text: source })
    sources.delete(tokens)
  }
  let end = 0
  return tokens.flatMap((token) => {
    const from = end
    end += token.raw.length
    if (token.type === 'space' || token.type === 'def') return []
    const render = (): DocumentFragment => {
      parse(token)
      const fragment = new DocumentFragment()
      fragment.append(...nodesOf([token], 0))
      return fragment
    }
    return [{ raw: token.raw, from, render }]
  })
}

/** What may be in a token: of a quote, a list, a table. */
interface Nested {
  readonly tokens?: Token[]
  readonly items?: readonly Nested[]
  readonly header?: readonly Nested[]
  readonly rows?: readonly (readonly Nested[])[]
}

type Child = Node | string
type Within = (tokens: readonly Token[]) => readonly Child[]

function nodesOf(tokens: readonly Token[], depth: number): readonly Child[] {
  return tokens.flatMap((token) =>
    depth < DEEPEST ? nodesOfOne(token as MarkedToken, depth + 1) : token.raw,
  )
}

function nodesOfOne(token: MarkedToken, depth: number): Child | readonly Child[] {
  const within: Within = (tokens) => nodesOf(tokens, depth)
  switch (token.type) {
    case 'space':
    case 'def':
      return []
    case 'br':
    case 'hr':
      return element(token.type)
    case 'paragraph':
      return element('p', within(token.tokens))
    case 'heading':
      return element(`h${token.depth}`, within(token.tokens))
    case 'blockquote':
    case 'strong':
    case 'em':
    case 'del':
      return element(token.type, within(token.tokens))
    case 'codespan':
      return element('code', [token.text])
    case 'code': {
      const code = element('code', [token.text])
      code.dataset.language = token.lang?.split(/\s/, 1)[0] ?? ''
      return element('pre', [code])
    }
    case 'list': {
      const items = token.items.map((item) => itemOf(item, within))
      const list = element(token.ordered ? 'ol' : 'ul', items)
      if (token.ordered && token.start !== 1) list.setAttribute('start', `${token.start}`)
      return list
    }
    case 'checkbox':
      return boxOf(token.checked)
    case 'table':
      return tableOf(token, within)
    case 'link': {
      // Within another link a picture can be none: its words are those of the link.
      const words = token.tokens.flatMap((each) => (each.type === 'image' ? each.text : within([each])))
      return linkTo(token.href, words)
    }
    // It would tell its server who reads, and when: it is a link, to be followed by choice.
    case 'image':
      return linkTo(token.href, [token.text])
    case 'text':
      return token.tokens ? within(token.tokens) : decoded(token.text)
    // HTML in a message is text like any other.
    case 'html':
    case 'escape':
      return token.text
    default:
      return token.raw
  }
}

const boxOf = (isChecked: boolean | undefined): string => (isChecked ? '☑ ' : '☐ ')

/** Parsers before marked 17 make no token of a box, and of a paragraph in a loose item a text. */
function itemOf({ task, checked, loose, tokens }: Tokens.ListItem, within: Within): Node {
  const made = loose
    ? tokens.map((each) => (each.type === 'text' ? { ...each, type: 'paragraph' } : each))
    : tokens
  const [first] = made as Tokens.Generic[]
  const hasBox = [first, first?.tokens?.[0]].some((each) => each?.type === 'checkbox')
  return element('li', [...(task && !hasBox ? [boxOf(checked)] : []), ...within(made)])
}

function tableOf({ header, rows }: Tokens.Table, within: Within): Node {
  const row = (cells: readonly Tokens.TableCell[]): Node =>
    element(
      'tr',
      cells.map(({ header, align, tokens }) => {
        const cell = element(header ? 'th' : 'td', within(tokens))
        if (align) cell.setAttribute('align', align)
        return cell
      }),
    )
  const body = rows.length > 0 ? [element('tbody', rows.map(row))] : []
  const frame = element('div', [element('table', [element('thead', [row(header)]), ...body])])
  frame.className = 'table'
  // Wider than its frame it scrolls, so the keyboard must reach it.
  frame.tabIndex = 0
  frame.role = 'group'
  return frame
}

/** @param words what it says; where that is nothing to see, where it leads */
function linkTo(href: string, words: readonly Child[]): Node {
  const link = element('a', words)
  if (!/[^\s\p{Cf}]/u.test(link.textContent)) link.textContent = href
  link.target = '_blank'
  link.rel = 'noopener noreferrer'
  if (ADDRESS.test(href)) link.href = href
  return link
}

function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  children?: readonly Child[],
): HTMLElementTagNameMap[Name]
function element(name: string, children?: readonly Child[]): HTMLElement
function element(name: string, children: readonly Child[] = []): HTMLElement {
  const made = document.createElement(name)
  made.append(...children)
  return made
}

const NAMED: Readonly<Record<string, string>> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' },
  ...{ ndash: '–', mdash: '—', hellip: '…', bull: '•', middot: '·', deg: '°', times: '×' },
  ...{ larr: '←', rarr: '→', copy: '©', reg: '®', trade: '™', euro: '€' },
}

/** With characters in place of their references in HTML; one of another name stays as it is. */
function decoded(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w+));/gi, (reference, decimal, hex, name) => {
    if (name !== undefined) return Object.hasOwn(NAMED, name) ? (NAMED[name] as string) : reference
    const code = Number.parseInt(decimal ?? hex, decimal === undefined ? 16 : 10)
    const isCharacter = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
    return isCharacter ? String.fromCodePoint(code) : '\ufffd'
  })
}

/**
 * Coloured code as nodes. @param html of spans with a class, as the colourer writes it; of anything
 * else only the text stays
 */
export function colouredNodes(html: string): DocumentFragment {
  const fragment = new DocumentFragment()
  let within: Node & ParentNode = fragment
  for (const piece of html.split(/(<[^>]*>)/)) {
    const [, name] = /^<span class="([^"]*)">$/.exec(piece) ?? []
    if (name !== undefined) {
      const span = element('span')
      span.className = name
      within = within.appendChild(span)
    } else if (piece === '</span>') within = within.parentElement ?? fragment
    else if (!piece.startsWith('<')) within.append(decoded(piece))
  }
  return fragment
}
