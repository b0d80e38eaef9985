/**
 * Makes what is published of `dist/` smaller. Scripts lose their comments, which the declarations
 * beside them have too; annotations that bundlers read stay. `.npmignore` in its folders names the
 * files that no entry of the package reaches: declarations of its insides, and scripts of types
 * alone. Doing it twice changes nothing.
 */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { transform } from 'esbuild'
import { parseSync } from 'vite'
import manifest from '../package.json' with { type: 'json' }

const IMPORTED = /(?:\bfrom\s*|\bimport\s*\(?\s*|\bURL\(\s*)['"](\.[^'"]+)['"]/g

/** These files, and all that they import. */
function reached(entries: readonly string[], ending: string): ReadonlySet<string> {
  const seen = new Set<string>()
  const rest = entries.map((entry) => join(entry))
  for (let file = rest.pop(); file !== undefined; file = rest.pop()) {
    if (seen.has(file) || !existsSync(file)) continue
    seen.add(file)
    for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(IMPORTED))
      rest.push(join(file, '..', path).replace(/(\.d)?\.[jt]s$/, ending))
  }
  return seen
}

/** Without its comments, but those that bundlers read; esbuild leaves some within classes. */
function withoutComments(code: string): string {
  const comments = parseSync('script.js', code).comments.filter(
    ({ value, start }) => !/^\s*[@#]/.test(value) && !code.startsWith('#!', start),
  )
  return comments.reduceRight((rest, { start, end }) => {
    const line = rest.lastIndexOf('\n', start - 1) + 1
    const isAlone = rest.slice(line, start).trim() === '' && /^[ \t]*\n/.test(rest.slice(end))
    return isAlone
      ? rest.slice(0, line) + rest.slice(rest.indexOf('\n', end) + 1)
      : rest.slice(0, start) + rest.slice(end)
  }, code)
}

await Promise.all(
  globSync('dist/{src,test}/**/*.js').map(async (file) => {
    const code = await readFile(file, 'utf8')
    if (!/\/[/*]/.test(code)) return
    const bare = await transform(code, { format: 'esm', target: 'esnext', legalComments: 'none' })
    const slim = withoutComments(bare.code)
    if (slim !== code) await writeFile(file, slim)
  }),
)
const entries = Object.values(manifest.exports).filter((target) => typeof target !== 'string')
const kept = new Set([
  ...reached([...entries.map((target) => target.default), manifest.bin.plimsoll], '.js'),
  ...reached(
    entries.map(({ types }) => types),
    '.d.ts',
  ),
])
const left = globSync('dist/{src,test}/**/*.{js,d.ts}').filter((file) => !kept.has(file))
for (const folder of ['src', 'test']) {
  const own = left.filter((file) => file.startsWith(join('dist', folder, '/')))
  const paths = own.map((file) => file.slice(join('dist', folder).length).replaceAll('\\', '/'))
  await writeFile(join('dist', folder, '.npmignore'), `${paths.sort().join('\n')}\n`)
}
