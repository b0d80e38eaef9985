import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import * as marked from 'marked'
import { beforeAll, describe, expect, it } from 'vitest'
import { leanMarkdown } from '../../vite.markdown.ts'

/** What the tag's file is made with: a text in, a text out, and an end where it cannot. */
type Transform = (this: { error(reason: string): never }, code: string, id: string) => { code: string } | null

const PATH = fileURLToPath(import.meta.resolve('marked'))
const transform = leanMarkdown.transform as Transform
const context = {
  error: (reason: string): never => {
    throw new Error(reason)
  },
}

const lexed = ({ Lexer, getDefaults }: Pick<typeof marked, 'Lexer' | 'getDefaults'>, text: string) =>
  JSON.stringify(new Lexer({ ...getDefaults(), breaks: true }).lex(text))

describe('the parser of Markdown in the tag', () => {
  let lean: Pick<typeof marked, 'Lexer' | 'getDefaults'>
  beforeAll(async () => {
    const made = transform.call(context, await readFile(PATH, 'utf8'), PATH)
    lean = await import(`data:text/javascript,${encodeURIComponent(made?.code ?? '')}`)
  })

  it('reads each page of the docs as the whole parser does', async () => {
    const folder = new URL('../../docs/', import.meta.url)
    const pages = (await readdir(folder)).filter((name) => name.endsWith('.md'))
    expect(pages.length).toBeGreaterThan(20)
    for (const name of pages) {
      const text = await readFile(new URL(name, folder), 'utf8')
      expect(lexed(lean, text), name).toBe(lexed(marked, text))
    }
  })

  it('reads any text as the whole parser does', () => {
    const piece = fc.oneof(
      fc.constantFrom(...'*_~`#>|-+=[]()<>!\\&:.1 \n\t'),
      fc.constantFrom(
        '\n\n',
        '**',
        '~~',
        '```js\n',
        '- [ ] ',
        '| a | b |\n|---|:-:|\n',
        'https://a.example/b_c',
        'a@b.example',
      ),
      fc.constantFrom('word', 'é', '«', '海', '<b>', '&amp;', '  \n', '[x]: /y "z"\n', '![i](u)'),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const text = pieces.join('')
        expect(lexed(lean, text)).toBe(lexed(marked, text))
      }),
    )
  })

  it('is not made of a parser that is another one', () => {
    expect(() => transform.call(context, 'export {}', PATH)).toThrow('marked is another one')
  })
})
