/** Markdown to nodes. Loaded with the first message that needs it. */
import createPurifier from 'dompurify'
import { Marked, type Token } from 'marked'
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

const marked = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    // HTML in a message is text like any other.
    html: ({ text }) => escaped(text),
    // A picture would tell its server who reads, and when: it is a link, to be followed by choice.
    image: ({ href, text }) => `<a href="${escaped(href)}">${escaped(text || href)}</a>`,
    checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
    code: ({ text, lang = '' }) =>
      `<pre><code data-language="${escaped(lang.split(/\s/, 1)[0] ?? '')}">${escaped(text)}</code></pre>`,
  },
})

/** A paragraph, list, table … of a text. */
export interface Block {
  /** Its source: blocks with the same source look the same. */
  readonly raw: string
  render(): DocumentFragment
}

/** The blocks of a text in their order. */
export function blocksOf(text: string): readonly Block[] {
  return marked
    .lexer(text)
    .filter(({ type }) => type !== 'space' && type !== 'def')
    .map((token) => ({ raw: token.raw, render: () => nodesOf(token) }))
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
