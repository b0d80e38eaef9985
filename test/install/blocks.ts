/**
 * The blocks of code of a page, each as a module of its own. What a block needs and does not show
 * stands in HTML comments right above it:
 *
 * - `<!-- prelude: memory, session -->`: names of `prelude/`.
 * - `<!-- prelude`, lines of code, `-->`: those lines.
 * - `<!-- file: objects.ts -->`: the module's name, for other blocks of the page that import it.
 * - `<!-- platform: workers -->`: it runs in a Worker, not in a browser or Node.
 * - `<!-- not compiled: … -->`: why it is left out.
 */

export type Platform = 'web' | 'workers'

export interface Block {
  readonly page: string
  /** Number of the block's first line of code in the page, from 1. */
  readonly line: number
  readonly platform: Platform
  /** Why it is not compiled. */
  readonly reason?: string
  readonly file: string
  /** Lines in front of the block's own. */
  readonly prelude: readonly string[]
  readonly code: readonly string[]
}

const FENCE = /^(\s*)```(\w+)\s*$/
/** Languages that are compiled, and how a module of theirs ends. */
const ENDINGS: Readonly<Record<string, string>> = { ts: 'ts', tsx: 'tsx', vue: 'ts' }

/** @throws an unknown comment above a block, or a block without an end */
export function blocksOf(page: string, markdown: string): readonly Block[] {
  const lines = markdown.split('\n')
  const blocks: Block[] = []
  let comments: string[] = []
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    const [, indent = '', language] = FENCE.exec(line) ?? []
    if (language !== undefined) {
      const end = lines.findIndex((other, index) => index > at && other.trim() === '```')
      if (end < 0) throw new Error(`${page}:${at + 1}: the block does not end`)
      const ending = ENDINGS[language]
      if (ending !== undefined) {
        const code = lines.slice(at + 1, end).map((own) => own.slice(indent.length))
        const shown = language === 'vue' ? scriptOf(code) : code
        blocks.push(blockOf(page, at + 2, `block-${at + 2}.${ending}`, shown, comments))
      }
      at = end
      comments = []
    } else if (line.startsWith('<!--')) {
      const end = lines.findIndex((other, index) => index >= at && other.includes('-->'))
      if (end < 0) throw new Error(`${page}:${at + 1}: the comment does not end`)
      comments.push(
        lines
          .slice(at, end + 1)
          .join('\n')
          .replace(/^<!--\s?/, '')
          .replace(/\s*-->.*$/, ''),
      )
      at = end
    } else comments = []
  }
  return blocks
}

/**
 * The script of a component, with empty lines for what is around it, so that lines keep their
 * numbers.
 */
function scriptOf(code: readonly string[]): readonly string[] {
  const begin = code.findIndex((line) => line.startsWith('<script'))
  const end = code.indexOf('</script>')
  return code.map((line, index) => (index > begin && index < end ? line : ''))
}

function blockOf(
  page: string,
  line: number,
  file: string,
  code: readonly string[],
  comments: readonly string[],
): Block {
  let block: Block = { page, line, platform: 'web', file, prelude: [], code }
  const named: string[] = []
  for (const comment of comments) {
    const [, key, value = ''] =
      /^(prelude|file|platform|not compiled)(?::| *\n)\s*([\s\S]+)$/.exec(comment) ?? []
    if (key === 'file') block = { ...block, file: value }
    else if (key === 'platform' && value === 'workers') block = { ...block, platform: value }
    else if (key === 'not compiled') block = { ...block, reason: value }
    else if (key !== 'prelude') throw new Error(`${page}:${line}: what is <!-- ${comment} -->?`)
    else if (comment.startsWith('prelude:')) named.push(value)
    else block = { ...block, prelude: [...block.prelude, ...value.split('\n')] }
  }
  if (named.length === 0) return block
  const names = `import { ${named.join(', ')} } from '../prelude/${block.platform}.ts'`
  return { ...block, prelude: [names, ...block.prelude] }
}

/** The module of a block. */
export function moduleOf({ prelude, code }: Block): string {
  return [...prelude, ...code, 'export {}', ''].join('\n')
}
