import { textOf } from '../../kernel/log/message.ts'
import { hashText } from '../../kernel/text/hash.ts'
import type { FactInput, FactKind } from '../../ports/fact.ts'
import type { Message } from '../../ports/message.ts'
import { codePoints } from '../text/code-points.ts'
import { sentences } from '../text/sentences.ts'
import { EXTRACT_ID } from './fact.ts'

/** Facts that one message yields at most. */
const MOST = 3
/** A longer sentence is left out rather than cut: its end may turn what it says. */
const LONGEST = 240
const CONFIDENCE = 0.8

const FENCE = /^[ \t]*(```|~~~)[\s\S]*?(?:^[ \t]*\1|(?![\s\S]))/gmu
const QUOTED_LINE = /^[ \t]*>.*$/gmu
/** In quotation marks: words of somebody else, or about words. */
const QUOTED = /"[^"\n]*"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|`[^`\n]*`/gu
const LIST_MARK = /^(?:[-*•+]|\d+[.)])\s+/u
const ABBREVIATION = /\b(?:e\.g|i\.e|etc|vs|mr|mrs|ms|dr|st|no|approx)\.$/iu

/** What may stand before a rule without being part of it. */
const LEAD = String.raw`^(?:(?:please|also|and|but|so|ok|okay|yes|no|well|actually|from now on|going forward|in general|in future|in the future|important|rule|note|one more thing|again)\b[,:]?\s+|(?:please\s+)?(?:remember|keep in mind|bear in mind|note|make sure|be sure)(?:\s+that|\s+to|:)?(?:\s+you)?,?\s+)*`
/** Clauses before the comma after which a rule may stand. */
const CLAUSE = String.raw`^(?:when|whenever|if|for|in|on|at|before|after|while|with|as|from|unless|once|use|write|keep|reply|answer|respond|speak|book|send|run|put|add|make|format|stay)\b[^,;:]*[,;:]\s+(?:please\s+)?`
/** Forms that tell rather than command. */
const TELLING = String.raw`(?!mind\b|again\b|ever\b|been\b|heard\b|seen\b|had\b|known?\b|knew\b|thought\b|said\b|got\b|gets\b|was\b|is\b|a\b|an\b|the\b|my\b|happy\b|glad\b|good\b|nice\b|fun\b|great\b|sure\b|true\b|works?\b|(?!(?:need|feed|seed|embed|proceed|exceed|speed|shed)\b)\p{L}+ed\b|(?!(?:bring|ping|sing|ring|string)\b)\p{L}+ing\b)`
const HABIT =
  '(?:eat|drink|fly|travel|use|work|write|take|wear|stay|sit|book|buy|want|need|run|deploy|code|order|pay)'
const SPEAKER = String.raw`\b(?:i|we)\s+(?:(?:really|also|still|generally|usually|always|much|strongly|absolutely|personally|no longer|just|both|all|do|don['’]t|do not)\s+)*`
const NOT_A_TASTE = String.raw`(?!\s+(?:it|this|that|these|those|them|you|your|what|how|where|to\s+(?:say|ask|bother|admit|think|know|be)|the\s+(?:first|second|third|last|other|idea|plan|look|sound|option|way|one|new|suggestion|proposal|answer|result))\b|\s*[,.!;:]|\s*$)`

function pattern(...alternatives: readonly string[]): RegExp {
  return new RegExp(alternatives.map((one) => `(?:${one})`).join('|'), 'iu')
}

const CONSTRAINT = pattern(
  String.raw`(?:${LEAD}|${CLAUSE})(?:always|never)\s+${TELLING}\p{L}`,
  String.raw`(?:${LEAD}|${CLAUSE})(?:do not|don['’]t)\s+(?!worry\b|know\b|mind\b|think\b|understand\b|bother\b|have\b|care\b|see\b|like\b|believe\b|be\s+(?:sorry|silly)\b|you\b|we\b|i\b)\p{L}`,
  String.raw`\b(?:you|we)\s+(?:should|need to|have to)\s+(?:always|never)\s+\p{L}`,
  String.raw`\bi\s+(?:want|need|expect)\s+(?:you|it|this|them)\s+to\s+(?:always|never)\s+\p{L}`,
  String.raw`\b(?!(?:i|it|that|this|there|he|she|they|who)\s)[\p{L}\p{N}_]+\s+(?:must(?:\s+not|n['’]t)?|must\s+(?:always|never))\s+(?!have\b|admit\b|say\b|know\b|think\b)(?!(?<=\b(?:you|we)\s+must\s+)be\b)\p{L}\S*\s+\S`,
  String.raw`(?:${LEAD}|${CLAUSE})i\s+(?:always|never)\s+${HABIT}\b`,
)
const PREFERENCE = pattern(
  `${SPEAKER}(?:prefer|like|love|hate|dislike|enjoy|can['’]t stand|cannot stand)${NOT_A_TASTE}`,
  String.raw`\b(?:i['’]d|i would|we['’]d|we would)\s+(?:much\s+)?prefer${NOT_A_TASTE}`,
  String.raw`\bmy\s+(?:\p{L}+\s+)?favou?rite\s+(?!(?:part|thing|bit)\b).*\b(?:is|are)\b`,
  String.raw`\bis\s+my\s+favou?rite\s+\p{L}`,
  String.raw`${LEAD}prefer\s+\p{L}`,
)
const DECISION = pattern(
  String.raw`\b(?:we|i)(?:['’]ve|\s+have)?\s+(?:(?:all|finally|just|now|both|already)\s+)*decided\s+(?:to|on|that|against|not)\b`,
  String.raw`\bit\s+(?:was|is|has been)\s+decided\b`,
  String.raw`^decided:\s`,
  String.raw`${LEAD}(?:let['’]s|let us)\s+(?:go with|settle on|stick with)\s+(?!(?:it|this|that|you)\W*$)\S`,
)
const CORRECTION = pattern(
  String.raw`^(?:(?:no|oh|sorry|wait|hmm)[,.]?\s+)*actually,\s+(?!never mind\b|thanks\b|thank you\b|that works\b|that is fine\b|that['’]s fine\b|yes\b|no\b|let me\b|i (?:think|guess|wonder)\b)(?:\S+\s+){2,}\S`,
  String.raw`^(?:no|sorry|wait)[,.]?\s+i\s+meant\s+(?!to\b)\S`,
  String.raw`^i\s+meant\s+.*\bnot\s+\S`,
  String.raw`^correction:\s+\S`,
  String.raw`^(?:no[,.]?\s+)?(?:that['’]s|that is|this is|you['’]re|you are)\s+(?:wrong|incorrect|not (?:right|correct|true))[,;:—–-]\s*\S`,
)
/** Says that something is wrong, and the next sentence what is right. */
const WRONG =
  /^(?:no[,.]?\s+)?(?:that['’]s|that is|this is|you['’]re|you are)\s+(?:wrong|incorrect|not (?:right|correct|true))[.!]*$/iu
const REMEMBER = pattern(
  // Not "that bug from yesterday" and "the file I sent".
  String.raw`^(?:(?:please|also|and|ok|okay)\b,?\s+)*(?:remember|keep in mind|bear in mind)(?:\s+(?:that|my|our|the)\b(?!\s+(?!(?:i|we|you|he|she|they|it|the|my|our|your|all)\b)\p{L}+\s+(?:i|we|you|he|she|they|from|about|with|of|in|on|at)\b)|\s+to\b|:|,)\s*\S+\s+\S`,
)

/** Asked, supposed, told of others, or meant for the moment. */
const QUESTION =
  /[?？]["'”’)\]]*$|^(?:(?:and|so|but|or|actually)\b,?\s+)*(?:what|why|how)\b|^(?:(?:and|so|but|or|actually)\b,?\s+)*(?:is|are|am|was|were|do|does|did|can|could|should|shall|will|would|may|might|have|has|don['’]t|must)\s+(?:i|we|you|they|it|he|she|there|this|that|these|the|my|our)\b/iu
const SUPPOSED =
  /\b(?:suppose|supposing|imagine|hypothetically|what if|let['’]s say|assuming|if i were|if we were|would (?:always|never|have|like|love|hate)|(?:should|shall|could|can|may|must) (?:i|we) )/iu
const REPORTED =
  /\b(?:said|says|say|told|tells|asked|asks|claim(?:s|ed)?|wrote|writes|according to|reads|states|quote|heard|wonder(?:ing)?|whether|not sure|unsure|used to)\b|\b\p{L}*(?:error|exception|warning|message)\b[^:]*:/iu
const PASSING = /\b(?:yet|for now|this time|just now|right now|at the moment|tonight)\b/iu
/** Clauses that tell when something was decided, not that it is. */
const PAST_CLAUSE = /\b(?:when|once|after|before|until|if|since|because)\s+(?:we|i|it)\b[^,]*\bdecided\b/iu

/**
 * Facts in what the user said, by rule: what must always or never be done, what is liked, what was
 * decided, what is to be remembered, what was corrected. For English; it would rather miss a fact
 * than make one up. Of all messages only those of role and trust `user` count, and of these no
 * question, no quoted line or code, nothing supposed or told of others.
 *
 * Pure: the same messages give the same facts under the same ids, so remembering them twice changes
 * nothing. They are never pinned.
 *
 * @param rounds messages by round, oldest first
 * @returns at most three facts a message, sentences of at most 240 code points
 */
export function extractFacts(rounds: readonly (readonly Message[])[]): readonly FactInput[] {
  return rounds.flat().flatMap((message) => {
    if (message.role !== 'user' || message.trust !== 'user') return []
    const said = textOf(message).replaceAll('\r\n', '\n').replace(FENCE, '').replace(QUOTED_LINE, '')
    const found = new Map<string, FactKind>()
    for (const [kind, text] of factsIn(joined(sentences(said)))) if (!found.has(text)) found.set(text, kind)
    return [...found].slice(0, MOST).map(([text, kind], place) => ({
      id: `${EXTRACT_ID}${hashText(JSON.stringify([message.id, place]))}`,
      kind,
      text,
      pinned: false,
      confidence: CONFIDENCE,
      trust: 'user' as const,
      sources: [message.id],
    }))
  })
}

function* factsIn(said: readonly string[]): Generator<readonly [FactKind, string]> {
  for (const [index, sentence] of said.entries()) {
    if (codePoints(sentence) > LONGEST) continue
    const kind = kindOf(sentence)
    if (kind !== undefined) yield [kind, sentence]
    const next = said[index + 1]
    if (next === undefined || !WRONG.test(sentence)) continue
    const text = `${sentence} ${next}`
    if (kindOf(next) === undefined && !isLeftOut(next) && codePoints(text) <= LONGEST)
      yield ['correction', text]
  }
}

/** What a sentence is, if it is a fact. */
function kindOf(sentence: string): FactKind | undefined {
  const own = sentence.replace(QUOTED, '"x"')
  if (isLeftOut(own)) return undefined
  if (CONSTRAINT.test(own)) return PASSING.test(own) ? undefined : 'constraint'
  if (PREFERENCE.test(own)) return 'preference'
  if (CORRECTION.test(own)) return 'correction'
  if (DECISION.test(own)) return PAST_CLAUSE.test(own) ? undefined : 'finding'
  return REMEMBER.test(own) ? 'finding' : undefined
}

function isLeftOut(sentence: string): boolean {
  return QUESTION.test(sentence) || SUPPOSED.test(sentence) || REPORTED.test(sentence)
}

/** Sentences without the marks of a list, and whole where an abbreviation ended one. */
function joined(found: readonly string[]): readonly string[] {
  const whole: string[][] = []
  for (const sentence of found) {
    const before = whole.at(-1)
    if (before && ABBREVIATION.test(before.at(-1) ?? '')) before.push(sentence)
    else whole.push([sentence.replace(LIST_MARK, '')])
  }
  return whole.map((pieces) => pieces.join(' '))
}
