/** `llms.txt`: the pages with their first sentence, for programs (https://llmstxt.org). */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export function llms(root: string): string {
  const pages = readdirSync(join(root, 'docs')).filter((file) => file.endsWith('.md') && file !== 'index.md')
  const lines = pages.map((file) => {
    const text = readFileSync(join(root, 'docs', file), 'utf8')
    const [, title = file] = /^# (.+)$/m.exec(text) ?? []
    return `- [${title}](/docs/${file.replace(/\.md$/, '.html')}): ${firstSentence(text)}`
  })
  const [, about = ''] = /^# .+\n\n([\s\S]+?)\n\n/.exec(readFileSync(join(root, 'README.md'), 'utf8')) ?? []
  return `# Plimsoll\n\n> ${about.replaceAll('\n', ' ')}\n\n## Pages\n\n${lines.join('\n')}\n`
}

function firstSentence(page: string): string {
  const text = page.replace(/<!--[\s\S]*?-->|^```[\s\S]*?^```$/gm, '')
  const paragraph = text.split(/\n{2,}/).find((part) => /^\n*[^#|!\n]/.test(part)) ?? ''
  const plain = paragraph
    .trim()
    .replaceAll('\n', ' ')
    .replace(/\[([^\]]+)\]\([^)]+\)/g, '$1')
  return /^.*?\.(?= |$)/.exec(plain)?.[0] ?? plain
}
