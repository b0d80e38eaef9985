import type { FactKind } from '../../../ports/fact.ts'
import { ARABIC } from './arabic.ts'
import { COMMON } from './common.ts'
import { ENGLISH } from './english.ts'
import { FRENCH } from './french.ts'
import { GERMAN } from './german.ts'
import { ITALIAN } from './italian.ts'
import { JAPANESE } from './japanese.ts'
import { PORTUGUESE } from './portuguese.ts'
import { folded, type Rules } from './rules.ts'
import { SPANISH } from './spanish.ts'

const LANGUAGES: readonly Rules[] = [ENGLISH, GERMAN, FRENCH, SPANISH, ITALIAN, PORTUGUESE, JAPANESE, ARABIC]

/** In quotation marks: words of somebody else, or about words. */
const QUOTED = /"[^"\n]*"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|「[^」\n]*」|『[^』\n]*』|`[^`\n]*`/gu
const QUESTION = /[?？؟]["'”’)\]]*$/u

/** What a sentence is, if it is a fact by the rules of one of the languages. */
export function kindOf(sentence: string): FactKind | undefined {
  const own = folded(sentence.replace(QUOTED, '"x"'))
  if (QUESTION.test(own)) return undefined
  for (const rules of LANGUAGES) {
    const kind = rules.leftOut.test(own) ? undefined : kindBy(rules, own)
    if (kind !== undefined) return kind
  }
  if (LANGUAGES.some(({ leftOut, passing }) => leftOut.test(own) || passing.test(own))) return undefined
  return COMMON.find(([, rule]) => rule.test(own))?.[0]
}

/** Whether a sentence is asked, supposed or told of others. */
export function isLeftOut(sentence: string): boolean {
  const own = folded(sentence.replace(QUOTED, '"x"'))
  return QUESTION.test(own) || LANGUAGES.some(({ leftOut }) => leftOut.test(own))
}

function kindBy(rules: Rules, own: string): FactKind | undefined {
  if (rules.constraint.test(own)) return rules.passing.test(own) ? undefined : 'constraint'
  if (rules.preference.test(own)) return 'preference'
  if (rules.correction.test(own)) return 'correction'
  if (rules.decision.test(own)) return rules.past?.test(own) ? undefined : 'finding'
  return rules.remember.test(own) || rules.self.test(own) ? 'finding' : undefined
}
