/** Colours for code. The core and each language are loaded when they are first needed. */
import type { LanguageFn } from 'highlight.js'

const LANGUAGES: Readonly<Record<string, () => Promise<{ readonly default: LanguageFn }>>> = {
  bash: () => import('highlight.js/lib/languages/bash'),
  cpp: () => import('highlight.js/lib/languages/cpp'),
  css: () => import('highlight.js/lib/languages/css'),
  diff: () => import('highlight.js/lib/languages/diff'),
  go: () => import('highlight.js/lib/languages/go'),
  java: () => import('highlight.js/lib/languages/java'),
  javascript: () => import('highlight.js/lib/languages/javascript'),
  json: () => import('highlight.js/lib/languages/json'),
  python: () => import('highlight.js/lib/languages/python'),
  rust: () => import('highlight.js/lib/languages/rust'),
  sql: () => import('highlight.js/lib/languages/sql'),
  typescript: () => import('highlight.js/lib/languages/typescript'),
  xml: () => import('highlight.js/lib/languages/xml'),
  yaml: () => import('highlight.js/lib/languages/yaml'),
}

const ALIASES: Readonly<Record<string, string>> = {
  c: 'cpp',
  'c++': 'cpp',
  golang: 'go',
  html: 'xml',
  js: 'javascript',
  jsx: 'javascript',
  mjs: 'javascript',
  patch: 'diff',
  py: 'python',
  rs: 'rust',
  sh: 'bash',
  shell: 'bash',
  svg: 'xml',
  ts: 'typescript',
  tsx: 'typescript',
  yml: 'yaml',
  zsh: 'bash',
}

/** Longer code stays plain: colouring it would be felt. In UTF-16 units. */
const LONGEST = 20_000

/**
 * The code as HTML of spans with classes; `undefined` where the language is not known or the code
 * is too long.
 */
export async function coloured(code: string, name: string): Promise<string | undefined> {
  const asked = name.toLowerCase()
  const language = Object.hasOwn(ALIASES, asked) ? ALIASES[asked] : asked
  const load = language !== undefined && Object.hasOwn(LANGUAGES, language) ? LANGUAGES[language] : undefined
  if (!load || !language || code.length > LONGEST) return undefined
  const [{ default: highlighter }, { default: define }] = await Promise.all([
    import('highlight.js/lib/core'),
    load(),
  ])
  if (!highlighter.getLanguage(language)) highlighter.registerLanguage(language, define)
  return highlighter.highlight(code, { language, ignoreIllegals: true }).value
}
