/** Links of README, which a registry shows without the files that they name. */
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
