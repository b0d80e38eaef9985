import { pattern, type Rules } from './rules.ts'

const LEAD = String.raw`^(?:(?:per favore|per piacere|d'ora in poi|da ora in poi|da adesso|in futuro|in generale|importante|regola|nota|e|ma|ok|va bene|sì|no,|anche|inoltre|a proposito)\b[,:]?\s+|(?:ricorda|ricordati|tieni presente|tieni a mente)\s+(?:che\s+|di\s+|:\s*)?)*`
const DO =
  '(?:rispondi|scrivi|usa|utilizza|dammi|prenota|manda|invia|metti|fai|chiama|parla|traduci|riassumi|compra|ordina|scegli|cerca|mostra|tieni|includi|aggiungi|salva|esegui|controlla|avvisa|dai|paga|prepara|conferma|indica|consiglia|prendi|proponi|lascia|spiega|formatta|da|di)(?:mi|ci|gli|le|lo|la|li)?'
const INFINITIVE = String.raw`\p{L}+(?:[aei]re|[aou]rre|[aei]r(?:mi|ci|lo|la|li|le|gli|ne|si|vi|ti))`
const HABIT =
  '(?:mangio|bevo|viaggio|volo|uso|lavoro|compro|prendo|porto|voglio|guido|cucino|prenoto|fumo|pago|scrivo)'

export const ITALIAN: Rules = {
  constraint: pattern(
    String.raw`${LEAD}non\s+(?!preoccupar|sapere|poter|dimentic|vedere)(?:${INFINITIVE}|\p{L}+[aei]te)\b\s*\S`,
    String.raw`${LEAD}(?:mai|sempre)\s+(?!dire mai)(?:${INFINITIVE}|${DO})\s+\S`,
    String.raw`${LEAD}${DO}\s+(?:\S+\s+){0,3}?(?:sempre|mai)\b`,
    String.raw`\b(?:devi|dovete|dobbiamo|bisogna)\s+(?:sempre|mai)\b`,
    String.raw`\bnon\s+(?:devi|dovete|puoi|potete)\s+(?:mai\s+)?${INFINITIVE}\b`,
    String.raw`\bvoglio\s+che\s+(?:tu\s+)?(?:non\s+)?\p{L}+\s+(?:sempre|mai)\b`,
    String.raw`${LEAD}(?:io\s+)?(?:non\s+${HABIT}|${HABIT}\s+(?:sempre|mai))\b\s+\S`,
    String.raw`${LEAD}(?:tutti i|tutte le|ogni|i miei|le mie|i|le|il|la)\s+\p{L}+\s+(?:deve|devono)\s+(?:sempre\s+)?${INFINITIVE}\b`,
  ),
  preference: pattern(
    String.raw`\b(?:preferisco|preferiamo|preferirei|odio|detesto|odiamo|adoro)\b(?!\s+(?:non\s+(?:sapere|dire)|questo|quello)\b)\s+\S`,
    String.raw`\bmi\s+(?:piace|piacciono)\b(?!\s+(?:l'idea|questo|quello|come|il tuo|la tua|così)\b)\s+\S`,
    String.raw`\b(?:il mio|la mia|i miei|le mie)\s+\p{L}+\s+preferit[oaie]\s+(?:è|sono)\b`,
    String.raw`\b(?:è|sono)\s+(?:il mio|la mia)\s+\p{L}+\s+preferit`,
  ),
  correction: pattern(
    String.raw`^(?:no[,.]?\s+)?(?:in realtà|veramente),?\s+(?:\S+\s+){2,}\S`,
    String.raw`^(?:no[,.]?\s+)?(?:volevo dire|intendevo)\s+\S`,
    String.raw`^correzione:\s+\S`,
    String.raw`^(?:no[,.]?\s+)?(?:è|hai)\s+(?:sbagliato|errato|torto)[,;:]\s*\S`,
  ),
  decision: pattern(
    String.raw`\b(?:abbiamo|ho)\s+(?:\p{L}+\s+)?deciso\s+\S`,
    String.raw`\b(?:è stato|si è)\s+deciso\b`,
    String.raw`^(?:restiamo|andiamo)\s+(?:su|con)\s+\S+\s+\S`,
  ),
  remember: pattern(
    String.raw`^(?:(?:per favore|e|ok)\b,?\s+)*(?:ricorda|ricordati|tieni presente|tieni a mente|non dimenticare|annota|segnati)(?:\s+(?:che|di)\b|:|,)?\s+(?!quando\b|quel)\S+\s+\S`,
  ),
  self: pattern(
    String.raw`^(?:sono\s+(?:vegetarian\p{L}*|vegan\p{L}*|allergic\p{L}*|celiac\p{L}*)|mi chiamo|abito a|vivo a|chiamami)\b\s*\S*`,
  ),
  leftOut: pattern(
    String.raw`^(?:perché|come|quando|chi|che cosa|cosa|quale|devo|puoi|posso)\b`,
    String.raw`\b(?:immagina\p{L}*|supponi\p{L}*|ipotizziamo|se io fossi)\b`,
    String.raw`\b(?:ha detto|dice|dicono|diceva|hanno detto|secondo|scrive|ha scritto|ha chiesto|afferma|sentito|letto)\b`,
  ),
  passing: pattern(String.raw`\b(?:per ora|per adesso|al momento|questa volta|stasera|stanotte|ancora)\b`),
}
