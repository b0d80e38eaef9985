/** Markdown to nodes. Loaded with the first message that needs it. */
import createPurifier from 'dompurify'
import { Lexer, Marked, type Token, Tokenizer } from 'marked'
import { isSince, needPeer } from '../../ports/peer.ts'

const purifier = createPurifier(window)
needPeer('plimsoll/chat', '`dompurify` 3', isSince(purifier.version, 3), purifier.version)

/** Nothing that loads by itself, and nothing that runs. */
const PROSE = {
  ALLOWED_TAGS: [
    ...['p', 'br', 'hr', 'strong', 'em', 'del', 'code', 'pre', 'blockquote', 'a', 'ul', 'ol', 'li'],
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'table', 'thead', 'tbody', 'tr', 'th', 'td'],
  ],
  ALLOWED_ATTR: ['href', 'align', 'start', 'data-language'],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  ALLOWED_URI_REGEXP: /^(?:https?:\/\/|mailto:)/i,
  ADD_URI_SAFE_ATTR: ['align', 'start', 'data-language'],
  RETURN_DOM_FRAGMENT: true as const,
}

const COLOURED = {
  ALLOWED_TAGS: ['span'],
  ALLOWED_ATTR: ['class'],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true as const,
}

/** Ends what was said before it, and no address: a closing quote, an Arabic full stop. */
const ENDS = /^(?:[?!.,:;*_'"~]|(?![ -~])\p{P})$/u

const marked = new Marked({
  gfm: true,
  breaks: true,
  tokenizer: {
    // The parser leaves out what ends a sentence in ASCII alone.
    url(src) {
      const link = Tokenizer.prototype.url.call(this, src)
      if (!link) return link
      let end = link.raw.length
      while (ENDS.test(link.raw[end - 1] ?? '')) end--
      return end === link.raw.length ? link : Tokenizer.prototype.url.call(this, src.slice(0, end))
    },
  },
  renderer: {
    // HTML in a message is text like any other.
    html: ({ text }) => escaped(text),
    // A picture would tell its server who reads, and when: it is a link, to be followed by choice.
    image: ({ href, text }) => `<a href="${escaped(href)}">${escaped(text.trim() || href)}</a>`,
    // Within another link it can be none: its words are those of the link.
    link({ href, tokens }) {
      const words = tokens.map((token) =>
        token.type === 'image' ? escaped(token.text) : this.parser.parseInline([token]),
      )
      return `<a href="${escaped(href)}">${words.join('').trim() || escaped(href)}</a>`
    },
    checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
    code: ({ text, lang = '' }) =>
      `<pre><code data-language="${escaped(lang.split(/\s/, 1)[0] ?? '')}">${escaped(text)}</code></pre>`,
  },
})

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
  const lexer = new Lexer(marked.defaults)
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
      return nodesOf(token)
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

/**
 * Coloured code as nodes. @param html of spans with a class; of anything else only the text stays
 */
export function colouredNodes(html: string): DocumentFragment {
  return purifier.sanitize(html, COLOURED)
}

function nodesOf(token: Token): DocumentFragment {
  const nodes = purifier.sanitize(marked.parser([token]), PROSE)
  for (const link of nodes.querySelectorAll('a')) {
    link.target = '_blank'
    link.rel = 'noopener noreferrer'
  }
  for (const table of nodes.querySelectorAll('table')) {
    const frame = document.createElement('div')
    frame.className = 'table'
    // Wider than its frame it scrolls, so the keyboard must reach it.
    frame.tabIndex = 0
    frame.role = 'group'
    table.replaceWith(frame)
    frame.append(table)
  }
  return nodes
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
