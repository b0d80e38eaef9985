/**
 * `node release/links.ts absolute | relative`: links of README, which a registry shows without the
 * files that they name. `npm pack` makes them absolute, to the tag of the version, and puts them
 * back.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import manifest from '../package.json' with { type: 'json' }

const base = `${manifest.repository.url.replace(/^git\+|\.git$/g, '')}/`
const tag = `v${manifest.version}`

/** To a page for a link, to the bytes for a picture. */
export function absolute(markdown: string): string {
  return markdown.replace(
    /(!?)\[([^\]]*)\]\((?!https?:|#)([^)\s]+)\)/g,
    (_, picture, title, path) => `${picture}[${title}](${base}${picture ? 'raw' : 'blob'}/${tag}/${path})`,
  )
}

export function relative(markdown: string): string {
  return markdown.replaceAll(`(${base}raw/${tag}/`, '(').replaceAll(`(${base}blob/${tag}/`, '(')
}

if (import.meta.main) {
  const [way] = process.argv.slice(2)
  if (way !== 'absolute' && way !== 'relative') throw new Error('Say absolute or relative')
  const readme = readFileSync('README.md', 'utf8')
  writeFileSync('README.md', (way === 'absolute' ? absolute : relative)(relative(readme)))
}
