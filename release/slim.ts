/**
 * Makes what is published of `dist/` smaller. Scripts lose comments, the space between their words
 * and the names of what is local to a function. Those of functions and classes stay and lines are
 * short, as stack traces need them, and annotations that bundlers read stay. Declarations are those
 * that an entry needs, with comments where it exports them. `.npmignore` in its folders names the
 * files that no entry of the package reaches: declarations of its insides, and scripts of types
 * alone.
 */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { minify } from 'terser'
import { parseSync } from 'vite'
import manifest from '../package.json' with { type: 'json' }
import { shake } from './declarations.ts'

const IMPORTED = /(?:\bfrom\s*|\bimport\s*\(?\s*|\bURL\(\s*)['"](\.[^'"]+)['"]/g
const EXPORTED = /^export (?:type )?(?:\*|\{[^}]*\})(?: as \w+)? from ['"](\.[^'"]+)['"]/gm

/** These files, and all that a pattern finds named in them. */
function reached(entries: readonly string[], named: RegExp, ending: string): ReadonlySet<string> {
  const seen = new Set<string>()
  const rest = entries.map((entry) => join(entry))
  for (let file = rest.pop(); file !== undefined; file = rest.pop()) {
    if (seen.has(file) || !existsSync(file)) continue
    seen.add(file)
    for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(named))
      rest.push(join(file, '..', path).replace(/(\.d)?\.[jt]s$/, ending))
  }
  return seen
}

// Its types lack the option: what stands outside of functions may `await`.
const parse: object = { module: true }

async function dense(code: string): Promise<string> {
  const { code: made = '' } = await minify(code, {
    parse,
    compress: false,
    mangle: { toplevel: false, keep_fnames: true, keep_classnames: true },
    format: {
      comments: /^\s*[@#]/,
      preserve_annotations: true,
      semicolons: false,
      max_line_len: 160,
      ecma: 2020,
    },
  })
  return `${made}\n`
}

/** Declarations without a comment: nobody reads those of names that no entry exports. */
function bare(declarations: string): string {
  const comments = parseSync('declarations.d.ts', declarations).comments
  return comments.reduceRight((rest, { start, end }) => {
    const line = rest.lastIndexOf('\n', start - 1) + 1
    const isAlone = rest.slice(line, start).trim() === '' && rest[end] === '\n'
    return rest.slice(0, isAlone ? line : start) + rest.slice(isAlone ? end + 1 : end)
  }, declarations)
}

async function rewrite(file: string, change: (text: string) => string | Promise<string>): Promise<void> {
  const text = await readFile(file, 'utf8')
  const changed = await change(text)
  if (changed !== text) await writeFile(file, changed)
}

export async function slim(): Promise<void> {
  const entries = Object.values(manifest.exports).filter((target) => typeof target !== 'string')
  const declared = entries.map(({ types }) => types)
  const shown = reached(declared, EXPORTED, '.d.ts')
  const shaken = shake(declared)
  const scripts = reached(
    [...entries.map((target) => target.default), manifest.bin.plimsoll],
    IMPORTED,
    '.js',
  )
  const files = globSync('dist/{src,test}/**/*.{js,d.ts}')
  for (const file of files) {
    const text = shaken.get(file)
    if (file.endsWith('.js')) await rewrite(file, dense)
    else if (text !== undefined) await writeFile(file, shown.has(file) ? text : bare(text))
  }
  const left = files.filter((file) => !scripts.has(file) && !shaken.has(file))
  for (const folder of ['src', 'test']) {
    const own = left.filter((file) => file.startsWith(join('dist', folder, '/')))
    const paths = own.map((file) => file.slice(join('dist', folder).length).replaceAll('\\', '/'))
    await writeFile(join('dist', folder, '.npmignore'), `${paths.sort().join('\n')}\n`)
  }
}
