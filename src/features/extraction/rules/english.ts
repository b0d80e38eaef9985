import { pattern, type Rules } from './rules.ts'

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
  String.raw`\b(?:i['’]d|i would|we['’]d|we would)\s+(?:(?:much\s+)?prefer${NOT_A_TASTE}|(?:much\s+)?rather\s+(?!not\b|say\b|you\b|it\b)\p{L})`,
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
const REMEMBER = pattern(
  // Not "that bug from yesterday" and "the file I sent".
  String.raw`^(?:(?:please|also|and|ok|okay)\b,?\s+)*(?:remember|keep in mind|bear in mind)(?:\s+(?:that|my|our|the)\b(?!\s+(?!(?:i|we|you|he|she|they|it|the|my|our|your|all)\b)\p{L}+\s+(?:i|we|you|he|she|they|from|about|with|of|in|on|at)\b)|\s+to\b|:|,)\s*\S+\s+\S`,
)

const SELF = pattern(
  String.raw`^i(?:'m|\s+am)\s+(?:an?\s+)?(?:vegetarian|vegan|allergic\s+to\s+\S|lactose)`,
  String.raw`^(?:my\s+name\s+is|call\s+me|i\s+live\s+in)\s+(?!later\b|back\b|tomorrow\b|when\b|if\b|at\b)\p{L}`,
)
const QUESTION =
  /^(?:(?:and|so|but|or|actually)\b,?\s+)*(?:what|why|how)\b|^(?:(?:and|so|but|or|actually)\b,?\s+)*(?:is|are|am|was|were|do|does|did|can|could|should|shall|will|would|may|might|have|has|don['’]t|must)\s+(?:i|we|you|they|it|he|she|there|this|that|these|the|my|our)\b/u
const SUPPOSED =
  /\b(?:suppose|supposing|imagine|hypothetically|what if|let['’]s say|assuming|if i were|if we were|would (?:always|never|have|like|love|hate)|(?:should|shall|could|can|may|must) (?:i|we) )/u
const REPORTED =
  /\b(?:said|says|say|told|tells|asked|asks|claim(?:s|ed)?|wrote|writes|according to|reads|states|quote|heard|wonder(?:ing)?|whether|not sure|unsure|used to)\b|\b\p{L}*(?:error|exception|warning|message)\b[^:]*:/u
const PASSING = /\b(?:yet|for now|this time|just now|right now|at the moment|tonight)\b/u
/** Clauses that tell when something was decided, not that it is. */
const PAST_CLAUSE = /\b(?:when|once|after|before|until|if|since|because)\s+(?:we|i|it)\b[^,]*\bdecided\b/u
const LEFT_OUT = new RegExp([QUESTION, SUPPOSED, REPORTED].map(({ source }) => source).join('|'), 'u')

export const ENGLISH: Rules = {
  constraint: CONSTRAINT,
  preference: PREFERENCE,
  correction: CORRECTION,
  decision: DECISION,
  remember: REMEMBER,
  leftOut: LEFT_OUT,
  passing: PASSING,
  past: PAST_CLAUSE,
  self: SELF,
}
