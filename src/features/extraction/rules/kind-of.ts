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

const LATIN: readonly Rules[] = [ENGLISH, GERMAN, FRENCH, SPANISH, ITALIAN, PORTUGUESE]
const ALL: readonly Rules[] = [...LATIN, JAPANESE, ARABIC]
/** Each rule of the others needs one of their letters. */
const BEYOND_LATIN = /[^\0-\u05ff]/u

/** In quotation marks: words of somebody else, or about words. */
const QUOTED = /"[^"\n]*"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|「[^」\n]*」|『[^』\n]*』|`[^`\n]*`/gu
const QUESTION = /[?？؟]["'”’)\]]*$/u

/** What a sentence is, if it is a fact by the rules of one of the languages. */
export function kindOf(sentence: string): FactKind | undefined {
  const own = foldedUnquoted(sentence)
  if (QUESTION.test(own)) return undefined
  const languages = languagesOf(own)
  // Most sentences are no fact by any rule: what makes one, and is none, is looked for after that.
  for (const rules of languages) {
    const kind = kindBy(rules, own)
    if (kind !== undefined && !rules.leftOut.test(own)) return kind
  }
  const [common] = COMMON.find(([, rule]) => rule.test(own)) ?? []
  const isNone = (): boolean =>
    languages.some(({ leftOut, passing }) => leftOut.test(own) || passing.test(own))
  return common === undefined || isNone() ? undefined : common
}

/** Whether a sentence is asked, supposed or told of others. */
export function isLeftOut(sentence: string): boolean {
  const own = foldedUnquoted(sentence)
  return QUESTION.test(own) || languagesOf(own).some(({ leftOut }) => leftOut.test(own))
}

function foldedUnquoted(sentence: string): string {
  return folded(sentence.replace(QUOTED, '"x"'))
}

/** Those whose rules may match. */
function languagesOf(own: string): readonly Rules[] {
  return BEYOND_LATIN.test(own) ? ALL : LATIN
}

function kindBy(rules: Rules, own: string): FactKind | undefined {
  if (rules.constraint.test(own)) return rules.passing.test(own) ? undefined : 'constraint'
  if (rules.preference.test(own)) return 'preference'
  if (rules.correction.test(own)) return 'correction'
  if (rules.decision.test(own)) return rules.past?.test(own) ? undefined : 'finding'
  return rules.remember.test(own) || rules.self.test(own) ? 'finding' : undefined
}
