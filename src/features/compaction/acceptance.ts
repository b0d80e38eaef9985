import { identifiers } from '../text/identifiers.ts'

/** What a summary is held against before it counts. */
export interface AcceptanceInput {
  /** What the model wrote. */
  readonly text: string
  /** All that it was written from: the summary before it, the pins, the messages. */
  readonly source: string
  /** Tokens of the source, by the lane's counter. */
  readonly sourceTokens: number
  /** Most tokens that it may have. */
  readonly most: number
  readonly count: (text: string) => number
}

/** What a provider or a library says in place of a summary, at its beginning. */
const ERROR =
  /^\W*(?:(?:\w+ )?(?:error|exception|traceback)\b|(?:failed|unable|could not|cannot) (?:to )?(?:generate|summari[sz]e|complete)|(?:i(?:['’]m| am) )?(?:sorry\b|(?:i )?(?:can['’]t|cannot|can not|am unable)\b)|as an ai\b|rate limit|<!doctype|<html)/i
/** Values in braces or brackets are no prose. */
const JSON_LIKE = /^\s*(?:\{[\s\S]*\}|\[(?!summary #)[\s\S]*\])\s*$/
/** Words that make a rule. A summary may repeat one, never make one. */
const RULE =
  /\b(?:always|never|must|mandatory|forbidden|prohibited|required to|do not|don['’]t|under no circumstances)\b/gi

/**
 * Why a text cannot stand for its source; nothing: it can. It must say something, in fewer tokens
 * than its source and within its room, in prose, and be no error. It may name nothing and lay down
 * nothing that its source does not: names (paths, addresses, ids, numbers) are looked up word for
 * word, rules by the words that make them. What the test cannot see is a false statement made of
 * true names.
 */
export function refusalsOf({ text, source, sourceTokens, most, count }: AcceptanceInput): readonly string[] {
  if (!/[\p{L}\p{N}]/u.test(text)) return ['it says nothing']
  const reasons: string[] = []
  const tokens = count(text)
  if (tokens >= sourceTokens) reasons.push(`it has ${tokens} tokens, its source ${sourceTokens}`)
  else if (tokens > most) reasons.push(`it has ${tokens} tokens, more than ${most}`)
  if (reasons.length > 0) return reasons
  if (ERROR.test(text)) reasons.push('it reads like an error')
  if (JSON_LIKE.test(text)) reasons.push('it is JSON, not prose')
  const invented = identifiers(text).filter((name) => !source.includes(name) && !isMadeOf(name, source))
  if (invented.length > 0) reasons.push(`its source has no ${invented.slice(0, 5).join(', ')}`)
  const rules = new Set(text.match(RULE)?.map((rule) => straight(rule.toLowerCase())))
  const known = straight(source.toLowerCase())
  const made = [...rules].filter((rule) => !known.includes(rule))
  if (made.length > 0) reasons.push(`it says “${made.join(', ')}”, its source does not`)
  return reasons
}

/** Models write either apostrophe. */
function straight(text: string): string {
  return text.replaceAll('’', "'")
}

/** Whether a run of names and signs (`1+2=3`, `a/b`) consists of what the source holds. */
function isMadeOf(name: string, source: string): boolean {
  const words = name.match(/[\p{L}\p{N}]+/gu) ?? []
  return words.every((word) => source.includes(word))
}
