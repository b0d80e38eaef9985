import type { Skill } from '../../ports/skill.ts'
import { checkText, invalid } from '../../text/json.ts'
import { checkSkill, FENCE, INDENTED, KEY, withoutReturn } from './skill.ts'

const OPERATION = 'fromMarkdown'
const BYTE_ORDER_MARK = '\u{feff}'
/** Names that YAML reads as something else than a text. */
const NOT_TEXT = /^(?:\d.*|true|false|null|yes|no|on|off|y|n)$/
/**
 * What a plain scalar of YAML cannot begin with, for what follows is a list, an object, an alias or
 * a text of several lines.
 */
const NOT_PLAIN = /^(?:[[\]{},&*!|>%@`#]|[?:-](?:[ \t]|$))/

/**
 * A skill as the text of a SKILL.md, which {@link fromMarkdown} reads back to the same skill, and
 * which then gives the same bytes again.
 *
 * @throws ERR_INVALID_ARGUMENT, ERR_ENTRY_TOO_LARGE (64 KiB)
 * @example
 * ```ts
 * import { toMarkdown } from 'plimsoll'
 * toMarkdown({ name: 'tides', description: 'Reads tide tables.', text: '# Tides\n' })
 * // '---\nname: tides\ndescription: "Reads tide tables."\n---\n# Tides\n'
 * ```
 */
export function toMarkdown(skill: Skill): string {
  const { name, description, text, frontMatter } = checkSkill('toMarkdown', skill)
  const lines = [
    '---',
    `name: ${NOT_TEXT.test(name) ? JSON.stringify(name) : name}`,
    `description: ${JSON.stringify(description)}`,
    ...(frontMatter === undefined ? [] : [frontMatter]),
    '---',
  ]
  return `${lines.join('\n')}\n${text}`
}

/**
 * A skill from the Markdown of a SKILL.md, which begins with its front matter:
 *
 * ```markdown
 * ---
 * name: tides
 * description: Reads tide tables. Use it when a port or a tide is named.
 * ---
 * # Tides
 * ```
 *
 * This is no YAML parser: it reads these two keys, with plain or quoted texts of one line. Other
 * lines of the front matter are kept as they are, in `frontMatter`; line ends in it become `\n`.
 *
 * @throws ERR_INVALID_ARGUMENT, ERR_ENTRY_TOO_LARGE (64 KiB)
 * @example
 * ```ts
 * import { fromMarkdown } from 'plimsoll'
 * await memory.user({ userId: 'ada' }).skills.set(fromMarkdown(await file.text()))
 * ```
 */
export function fromMarkdown(markdown: string): Skill {
  const source = checkText(OPERATION, 'markdown', markdown)
  let at = source.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0
  const nextLine = (): string => {
    const end = source.indexOf('\n', at)
    const line = source.slice(at, end < 0 ? undefined : end)
    at = end < 0 ? source.length : end + 1
    return withoutReturn(line)
  }
  if (!FENCE.test(nextLine())) throw invalid(OPERATION, 'markdown', 'must begin with a line of ---')
  const found = new Map<string, string>()
  const others: string[] = []
  let key: string | undefined
  for (let line = nextLine(); !FENCE.test(line); line = nextLine()) {
    if (at === source.length)
      throw invalid(OPERATION, 'markdown', 'has no line of --- after its front matter')
    const [isField, name = '', value = ''] = KEY.exec(line) ?? []
    if (isField !== undefined) {
      if (found.has(name)) throw invalid(OPERATION, name, 'occurs twice')
      found.set(name, readScalar(name, value))
      key = name
    } else if (key !== undefined && INDENTED.test(line)) {
      throw invalid(OPERATION, key, 'must be on one line')
    } else {
      others.push(line)
      if (line.trim() !== '') key = undefined
    }
  }
  return checkSkill(OPERATION, {
    name: found.get('name') ?? '',
    description: found.get('description') ?? '',
    text: source.slice(at),
    frontMatter: others.join('\n'),
  })
}

function readScalar(argument: string, written: string): string {
  const value = written.trim()
  const quoted = /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')(?:[ \t]+#.*)?$/s.exec(value)?.[1]
  if (quoted?.startsWith("'")) return quoted.slice(1, -1).replaceAll("''", "'")
  if (quoted !== undefined) return readQuoted(argument, quoted)
  if (/^["']/.test(value)) throw invalid(OPERATION, argument, 'has a quote that does not end')
  if (NOT_PLAIN.test(value)) throw invalid(OPERATION, argument, 'must be a plain or quoted text of one line')
  return value.replace(/[ \t]#.*$/s, '').trimEnd()
}

/** YAML's double quotes with the escapes that JSON has too. */
function readQuoted(argument: string, quoted: string): string {
  try {
    return JSON.parse(quoted.replaceAll('\t', '\\t')) as string
  } catch {
    throw invalid(OPERATION, argument, 'has an escape that JSON does not know')
  }
}
