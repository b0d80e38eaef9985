import { checkSize } from '../../kernel/log/check-message.ts'
import { checkText, invalid, isPlainObject } from '../../kernel/text/json.ts'
import type { Skill } from '../../ports/skill.ts'
import { codePoints } from '../text/code-points.ts'

/** Longest name and description, in characters (Agent Skills, agentskills.io/specification). */
const LONGEST_NAME = 64
const LONGEST_DESCRIPTION = 1_024
/** Largest text with its front matter, in UTF-8 bytes. */
const MAX_TEXT_BYTES = 64 * 1024

const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/
const BYTE_ORDER_MARK = '\u{feff}'
const FENCE = /^---[ \t]*$/
const KEY = /^(name|description)[ \t]*:(?:[ \t]+(.*))?$/s
const INDENTED = /^[ \t]+\S/
/** Names that YAML reads as something else than a text. */
const NOT_TEXT = /^(?:\d.*|true|false|null|yes|no|on|off|y|n)$/
/**
 * What a plain scalar of YAML cannot begin with, for what follows is a list, an object, an alias or
 * a text of several lines.
 */
const NOT_PLAIN = /^(?:[[\]{},&*!|>%@`#]|[?:-](?:[ \t]|$))/

export function checkSkillName(operation: string, name: unknown, argument = 'name'): string {
  const checked = checkText(operation, argument, name)
  if (checked.length > LONGEST_NAME || !NAME.test(checked))
    throw invalid(operation, argument, 'must be 1 to 64 lower-case letters and digits, with single hyphens')
  return checked
}

/**
 * A skill as an app hands it over, or its Markdown. @throws ERR_INVALID_ARGUMENT,
 * ERR_ENTRY_TOO_LARGE
 */
export function checkSkill(operation: string, input: Skill | string): Skill {
  const given = typeof input === 'string' ? parseSkill(operation, input) : input
  if (!isPlainObject(given)) throw invalid(operation, 'skill', 'must be an object or Markdown')
  const name = checkSkillName(operation, given.name)
  const description = checkDescription(operation, given.description)
  return { name, description, ...checkBody(operation, given) }
}

export function checkDescription(operation: string, value: unknown): string {
  const description = checkText(operation, 'description', value)
  if (description.trim() === '') throw invalid(operation, 'description', 'must not be empty')
  if (codePoints(description) > LONGEST_DESCRIPTION)
    throw invalid(operation, 'description', `must be at most ${LONGEST_DESCRIPTION} characters`)
  return description
}

/** What a skill holds beside its entry. @throws ERR_INVALID_ARGUMENT, ERR_ENTRY_TOO_LARGE */
export function checkBody(
  operation: string,
  given: { readonly text?: unknown; readonly frontMatter?: unknown },
): Pick<Skill, 'text' | 'frontMatter'> {
  const text = checkText(operation, 'text', given.text)
  const frontMatter = checkFrontMatter(operation, given.frontMatter)
  checkSize(operation, 'text', frontMatter + text, MAX_TEXT_BYTES)
  return { text, ...(frontMatter !== '' && { frontMatter }) }
}

/**
 * A skill as the text of a SKILL.md, which {@link Skills.set} reads back to the same skill, and
 * which then gives the same bytes again.
 *
 * @example
 * ```ts
 * import { toMarkdown } from 'plimsoll'
 * toMarkdown({ name: 'tides', description: 'Reads tide tables.', text: '# Tides\n' })
 * // '---\nname: tides\ndescription: "Reads tide tables."\n---\n# Tides\n'
 * ```
 */
export function toMarkdown({ name, description, text, frontMatter }: Skill): string {
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
 * This is no YAML parser: it reads two keys whose values are plain or quoted texts of one line, and
 * keeps the other lines.
 */
function parseSkill(operation: string, markdown: string): Skill {
  const source = checkText(operation, 'markdown', markdown)
  let at = source.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0
  const nextLine = (): string => {
    const end = source.indexOf('\n', at)
    const line = source.slice(at, end < 0 ? undefined : end)
    at = end < 0 ? source.length : end + 1
    return withoutReturn(line)
  }
  if (!FENCE.test(nextLine())) throw invalid(operation, 'markdown', 'must begin with a line of ---')
  const found = new Map<string, string>()
  const others: string[] = []
  let key: string | undefined
  for (let line = nextLine(); !FENCE.test(line); line = nextLine()) {
    if (at === source.length)
      throw invalid(operation, 'markdown', 'has no line of --- after its front matter')
    const [isField, name = '', value = ''] = KEY.exec(line) ?? []
    if (isField !== undefined) {
      if (found.has(name)) throw invalid(operation, name, 'occurs twice')
      found.set(name, readScalar(operation, name, value))
      key = name
    } else if (key !== undefined && INDENTED.test(line)) {
      throw invalid(operation, key, 'must be on one line')
    } else {
      others.push(line)
      if (line.trim() !== '') key = undefined
    }
  }
  return {
    name: found.get('name') ?? '',
    description: found.get('description') ?? '',
    text: source.slice(at),
    frontMatter: others.join('\n'),
  }
}

function readScalar(operation: string, argument: string, written: string): string {
  const value = written.trim()
  const quoted = /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')(?:[ \t]+#.*)?$/s.exec(value)?.[1]
  if (quoted?.startsWith("'")) return quoted.slice(1, -1).replaceAll("''", "'")
  if (quoted !== undefined) return readQuoted(operation, argument, quoted)
  if (/^["']/.test(value)) throw invalid(operation, argument, 'has a quote that does not end')
  if (NOT_PLAIN.test(value)) throw invalid(operation, argument, 'must be a plain or quoted text of one line')
  return value.replace(/[ \t]#.*$/s, '').trimEnd()
}

/** YAML's double quotes with the escapes that JSON has too. */
function readQuoted(operation: string, argument: string, quoted: string): string {
  try {
    return JSON.parse(quoted.replaceAll('\t', '\\t')) as string
  } catch {
    throw invalid(operation, argument, 'has an escape that JSON does not know')
  }
}

function checkFrontMatter(operation: string, given: unknown): string {
  if (given === undefined) return ''
  const lines = checkText(operation, 'frontMatter', given).split('\n').map(withoutReturn)
  if (lines.some((line) => FENCE.test(line) || KEY.test(line)))
    throw invalid(operation, 'frontMatter', 'must hold neither name nor description, and no line of ---')
  if (INDENTED.test(lines.find((line) => line.trim() !== '') ?? ''))
    throw invalid(operation, 'frontMatter', 'must not begin with an indented line')
  return lines.join('\n')
}

/** A line without the carriage returns at its end. */
function withoutReturn(line: string): string {
  let end = line.length
  while (line[end - 1] === '\r') end--
  return line.slice(0, end)
}
