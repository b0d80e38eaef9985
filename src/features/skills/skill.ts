import { checkSize } from '../../kernel/log/check-message.ts'
import type { Skill } from '../../ports/skill.ts'
import { checkObject, checkText, invalid } from '../../text/json.ts'
import { codePoints } from '../text/code-points.ts'

/** Longest name and description, in characters (Agent Skills, agentskills.io/specification). */
const LONGEST_NAME = 64
const LONGEST_DESCRIPTION = 1_024
/** Largest text with its front matter, in UTF-8 bytes. */
const MAX_TEXT_BYTES = 64 * 1024

const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/
export const FENCE = /^---[ \t]*$/
export const KEY = /^(name|description)[ \t]*:(?:[ \t]+(.*))?$/s
export const INDENTED = /^[ \t]+\S/
export function checkSkillName(operation: string, name: unknown, argument = 'name'): string {
  const checked = checkText(operation, argument, name)
  if (checked.length > LONGEST_NAME || !NAME.test(checked))
    throw invalid(operation, argument, 'must be 1 to 64 lower-case letters and digits, with single hyphens')
  return checked
}

/** A skill as an app hands it over. @throws ERR_INVALID_ARGUMENT, ERR_ENTRY_TOO_LARGE */
export function checkSkill(operation: string, given: Skill): Skill {
  checkObject(operation, 'skill', given)
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
export function withoutReturn(line: string): string {
  let end = line.length
  while (line[end - 1] === '\r') end--
  return line.slice(0, end)
}
