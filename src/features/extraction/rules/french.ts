import { pattern, type Rules } from './rules.ts'

const LEAD = String.raw`^(?:(?:s'il te pla[iî]t|s'il vous pla[iî]t|stp|svp|merci de|désormais|dorénavant|à partir de maintenant|à l'avenir|en général|important|règle|note|rappel|et|mais|ok|oui|non|aussi|au fait|veuillez)\b\s?[,:]?\s+|(?:souviens-toi|rappelle-toi|n'oublie pas|souvenez-vous|n'oubliez pas)\s+(?:bien\s+)?(?:que\s+|de\s+|:\s*)?)*`
const OBJECT = String.raw`(?:(?:me|te|nous|vous|le|la|les|lui|leur|y|en)\s+|[mtl]'|l')?`
const NEVER = String.raw`(?:jamais|pas|plus|aucune?|rien)\b`
const FEW = String.raw`(?:[\p{L}\p{N}'-]+\s+){0,2}?`
const HABIT =
  '(?:mange|bois|voyage|prends|vole|travaille|porte|veux|utilise|conduis|fume|cuisine|achete|reserve|paie|commande|reponds)'

export const FRENCH: Rules = {
  constraint: pattern(
    String.raw`${LEAD}(?:ne\s+|n')${OBJECT}(?!inquiét|t'|hésit|sais|suis|est|ai\b|peux|pense|crois|comprends|vois|marche|fonctionne)[\p{L}-]{2,}\s+(?:\S+\s+)?${NEVER}`,
    String.raw`${LEAD}(?:ne\s+)(?:jamais|pas|plus)\s+${OBJECT}\p{L}+(?:er|ir|re|oir)\b`,
    String.raw`${LEAD}(?!(?:il|elle|on|je|tu|nous|vous|ils|elles|ce|ça|les|mes|des|ces|est|pas|sais|suis|cette|une|presque|comme|mais|dans|depuis|pluie)\b)\p{L}{2,}(?:e|s|z)(?:-(?:moi|nous|le|la|les|lui))?\s+toujours\s+(?!pas\b|rien\b|aussi\b)\S`,
    String.raw`${LEAD}toujours\s+\p{L}+(?:er|ir|re|oir)\b`,
    String.raw`${LEAD}jamais\s+(?:de|d'|avant|après|le|la|en|sans|plus|entre)\s*\S+`,
    String.raw`${LEAD}(?:surtout\s+)?pas\s+(?:de\s+|d')(?!souci|problème|quoi|chance|panique|doute)\p{L}`,
    String.raw`\b(?:tu|vous|nous|on)\s+(?:(?:dois|devez|devons|doit|devrais|devriez)\s+(?:toujours|jamais)|ne\s+(?:dois|devez|peux|pouvez|doit)\s+(?:jamais|pas|plus))\b`,
    String.raw`\b(?:je veux|j'exige|je souhaite|il faut)\s+que\s+(?:tu|vous)\s+${FEW}(?:toujours|jamais)\b`,
    String.raw`${LEAD}il\s+(?:faut\s+toujours|ne\s+faut\s+jamais)\b`,
    String.raw`${LEAD}je\s+(?:ne\s+${HABIT}\s+${FEW}${NEVER}|n'(?:utilise|achète)\s+${NEVER}|${HABIT}\s+toujours)\b`,
    String.raw`${LEAD}(?:tous les|toutes les|chaque|mes|nos|les|la|le)\s+\p{L}+\s+(?:doit|doivent)\s+\S`,
  ),
  preference: pattern(
    String.raw`\b(?:je|nous)\s+(?:\p{L}+\s+)?(?:préfèr\p{L}*|préfér\p{L}*|adorons|détest\p{L}*|adore)\b(?!\s+(?:ça|cela|ce|cette|ne pas|dire)\b)\s+\S`,
    String.raw`\b(?:j'(?:aime|adore)|nous aimons|j'apprécie)\b(?!\s+(?:ça|cela|ce|cette|ton|ta|tes|votre|l'idée)\b)\s+\S`,
    String.raw`\bje\s+n'aime\s+(?:pas|plus)\b(?!\s+(?:ça|cela|ce|cette)\b)\s+\S`,
    String.raw`\b(?:mon|ma|mes)\s+\p{L}+\s+(?:préféré|favori)\p{L}*\s+(?:est|sont|c'est)\b`,
    String.raw`\best\s+(?:mon|ma)\s+\p{L}+\s+(?:préféré|favori)`,
  ),
  correction: pattern(
    String.raw`^(?:non[,.]?\s+)?en fait,?\s+(?:\S+\s+){2,}\S`,
    String.raw`^(?:non[,.]?\s+)?je voulais dire\s+\S`,
    String.raw`^correction\s?:\s+\S`,
    String.raw`^(?:non[,.]?\s+)?(?:c'est|c'était)\s+(?:faux|incorrect|inexact)[,;:]\s*\S`,
  ),
  decision: pattern(
    String.raw`\b(?:nous avons|on a|j'ai)\s+(?:\p{L}+\s+)?(?:décidé|convenu)\s+(?:de|que|d'|qu')`,
    String.raw`\bil\s+a\s+été\s+décidé\b`,
    String.raw`^(?:partons sur|restons sur|gardons)\s+\S+\s+\S`,
  ),
  remember: pattern(
    String.raw`^(?:(?:s'il te plaît|s'il vous plaît|stp|svp|et|ok)\b,?\s+)*(?:souviens-toi|rappelle-toi|souvenez-vous|retiens|retenez|n'oublie(?:z)? pas|note(?:z)?|garde(?:z)? en (?:tête|mémoire))(?:\s+bien)?\s*(?:que\s|qu'|:|de\s|,)\s*\S+\s+\S`,
  ),
  self: pattern(
    String.raw`^(?:je suis\s+(?:(?:végétari|végétali)en\p{L}*|vegan\p{L}*|allergique|intolérant\p{L}*)|je m'appelle|j'habite|appelle-moi)\b\s*\S*`,
  ),
  leftOut: pattern(
    String.raw`^(?:est-ce|pourquoi|comment|quand|qui|que\s|quel|quelle|dois-je|peux-tu|pouvez-vous|faut-il|as-tu|avez-vous)\b`,
    String.raw`\b(?:suppos\p{L}*|imagin\p{L}*|admettons|si j'étais|hypothétique\p{L}*)\b`,
    String.raw`\b(?:a dit|dit que|disait|disent|m'a dit|selon|d'après|écrit|écrivait|a demandé|affirme|prétend|lit-on|entendu)\b`,
  ),
  passing: pattern(String.raw`\b(?:pour l'instant|pour le moment|cette fois|ce soir|encore)\b`),
}
