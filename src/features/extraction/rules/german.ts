import { pattern, type Rules } from './rules.ts'

const LEAD = String.raw`^(?:(?:bitte|also|und|aber|ok|okay|ja|nein|ab jetzt|ab sofort|von nun an|in zukunft|künftig|zukünftig|grundsätzlich|generell|wichtig|regel|hinweis|übrigens|noch etwas)\b[,:]?\s+|(?:merke?|denke?|beachte?)\s+(?:dir|daran|bitte)(?:\s+bitte)?[,:]?\s+(?:dass\s+)?)*`
/** Commands; nothing in a German verb's form alone tells one from a noun. */
const DO = String.raw`(?:(?:antwort|schreib|buch|nutz|benutz|verwend|send|schick|nenn|mach|fass|setz|stell|ruf|frag|losch|deploy|commit|push|fuhr|pruf|test|teil|bestell|reservier|plan|leg|zeig|halt|bleib|formatier|kurz|ubersetz|erklar|speicher|duz|siez|kauf|zahl|uberweis|leit|weis|informier|erinner|sag|schlag|fug|lass|vermeid|koch|fahr|flieg|red|wahl|nehm|geb|les|sprech|empfehl|beruhr|fass|andern?|start|stopp?|rechn|zitier|hang|bring|hol|such)(?:e|en\s+sie)?|nimm|gib|sprich|empfiehl|lies|iss)\b`
const ALWAYS = String.raw`(?:immer|stets|nie|niemals)\b(?!\s+(?:noch|mehr|wieder\s+(?:das|dieses))\b)`
const FEW = String.raw`(?:[\p{L}\p{N}-]+\s+){0,4}?`
const NO = String.raw`kein(?:e|en|er|em|es)?\b`

export const GERMAN: Rules = {
  constraint: pattern(
    `${LEAD}${DO}\\s+${FEW}(?:${ALWAYS}|${NO}|nichts?\\b(?!\\s+(?:so|wahr)\\b))(?!\\s+(?:sorgen?|gedanken|draus)\\b)`,
    String.raw`${LEAD}(?:immer|nie|niemals|stets)\s+(?!würde|könnte|hätte|war|habe|ist|wieder\b|noch\b|mehr\b)(?:\S+\s+)*\S+(?:en|ern|eln)[.!]*$`,
    String.raw`${LEAD}(?:nie|niemals)\s+(?:am|an|vor|nach|in|im|mit|ohne|bei|per|um|über|zwischen)\b\s+\S`,
    String.raw`${LEAD}${NO}\s+(?!ahnung|problem|sorge|frage|idee|lust|zeit|thema|ursache|wunder|mensch|chance)\p{L}+\s*(?:\S+\s+)*\S*`,
    String.raw`\b(?:du|sie|ihr|wir)\s+(?:sollst|solltest|sollen|sollten|musst|müssen|müsst|darfst|dürfen|dürft)\s+${FEW}(?:${ALWAYS}|${NO}|nicht\b)`,
    String.raw`\bich\s+(?:will|möchte|erwarte|brauche),?\s+dass\s+du\s+${FEW}(?:${ALWAYS}|${NO})`,
    String.raw`${LEAD}(?:alle|jeder?|jedes|meine?|unsere?|die|der|das)\s+\p{L}+\s+(?:muss|müssen|darf|dürfen)\s+(?!ja\b|wohl\b)\S+\s+\S`,
    String.raw`${LEAD}(?:wir\s+(?:nutzen|benutzen|verwenden|schreiben|nehmen|arbeiten|buchen)\s+${FEW}(?:${ALWAYS}|${NO})|ich\s+(?:esse|trinke|fliege|reise|nutze|benutze|verwende|arbeite|schreibe|nehme|trage|sitze|buche|kaufe|will|brauche|fahre|koche|bestelle|zahle|rauche)\s+${FEW}(?:${ALWAYS}|${NO}))`,
  ),
  preference: pattern(
    String.raw`\b(?:ich|wir)\s+(?:(?:mag|mögen|liebe|lieben|hasse|hassen)\b(?!\s+(?:dich|das|es|dein\p{L}*|diese\p{L}*|sie|ihn)\b)|bevorzugen?\b)\s+\p{L}`,
    String.raw`\b(?:mag|liebe|hasse|bevorzuge|trinke|esse)\s+ich\s+\p{L}`,
    String.raw`\bich\s+(?!würde|möchte|hätte\s+gern)\p{L}+\s+${FEW}(?:lieber|am liebsten|gerne?|ungerne?)\b`,
    String.raw`\bmir\s+(?:gefällt|gefallen|ist|sind)\s+.*\b(?:besser|lieber|am liebsten)\b`,
    String.raw`\bmeine?\s+lieblings\p{L}+\s+(?:ist|sind|heißt)\b`,
    String.raw`\b(?:ist|sind)\s+meine?\s+lieblings\p{L}+`,
  ),
  correction: pattern(
    String.raw`^(?:nein[,.]?\s+)?(?:eigentlich|tatsächlich)\s+(?:\S+\s+){2,}\S`,
    String.raw`^(?:nein|sorry|halt|moment)[,.]?\s+ich\s+meinte\s+\S`,
    String.raw`^ich\s+meinte\s+.*\bnicht\s+\S`,
    String.raw`^korrektur:\s+\S`,
    String.raw`^(?:nein[,.]?\s+)?das\s+(?:ist\s+(?:falsch|nicht richtig)|stimmt\s+nicht)[,;:]\s*\S`,
  ),
  decision: pattern(
    String.raw`\b(?:wir\s+haben|ich\s+habe)\s+(?:\S+\s+){0,12}?(?:entschieden|beschlossen|vereinbart)\b`,
    String.raw`\bes\s+(?:wurde|ist)\s+(?:\S+\s+){0,8}?(?:entschieden|beschlossen|vereinbart)\b`,
    String.raw`^lass(?:t)?\s+uns\s+(?:bei|mit)\s+(?!dem\b|das\b)\S+\s+\S`,
  ),
  remember: pattern(
    String.raw`^(?:(?:bitte|und|ok|okay)\b,?\s+)*(?:merke?\s+dir|denke?\s+daran|vergiss\s+(?:bitte\s+)?nicht|behalte\s+im\s+kopf|notiere?(?:\s+dir)?|merken\s+sie\s+sich)(?:\s+bitte)?(?:[,:]?\s+dass\b|[,:])?\s*\S+\s+\S`,
  ),
  self: pattern(
    String.raw`^(?:ich bin\s+(?:vegetarier\p{L}*|vegan\p{L}*|allergisch)|ich heiße|mein name ist|ich wohne in|nenn mich)\b\s*\S*`,
  ),
  leftOut: pattern(
    String.raw`^(?:was|warum|wie|wieso|weshalb|wann|wo|wer|welche[rsnm]?|sollte?n?|muss|kann|kannst|darf|hast|bist|ist|sind|willst)\b`,
    String.raw`\b(?:angenommen|stell dir vor|hypothetisch|was wäre|nehmen wir an|würden?\s+(?:ich|wir))\b`,
    String.raw`\b(?:sagte|sagt|sagen|gesagt|behauptet\p{L}*|schrieb|schreibt|geschrieben|laut|fragte|gefragt|heißt es|steht|gehört|zitat|ob)\b`,
  ),
  passing: pattern(
    String.raw`\b(?:erstmal|vorerst|gerade|im moment|momentan|diesmal|noch nicht|heute abend|heute nacht)\b`,
  ),
}
