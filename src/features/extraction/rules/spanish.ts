import { pattern, type Rules } from './rules.ts'

const LEAD = String.raw`^¡?(?:(?:por favor|a partir de ahora|de ahora en adelante|desde ahora|en adelante|en el futuro|en general|importante|regla|nota|y|pero|ok|vale|sí|también|además|por cierto)\b[,:]?\s+|(?:recuerda|ten en cuenta|acuérdate de)\s+(?:que\s+|:\s*)?)*`
/** Commands, with what may hang on them. */
const DO =
  '(?:respond|contest|escrib|us|utiliz|reserv|envi|mand|llam|habl|traduc|resum|compr|pid|elig|busc|muestr|incluy|anad|guard|ejecut|prueb|revis|avis|trat|tute|pag|copi|consult|confirm|prepar|orden|cocin|cit|format|despl(?:ieg|eg)|explic|recomiend|escog|mantien|dej)[ae]n?(?:me|nos|le|les|lo|la|los|las)?|pon(?:me|lo|la)?|haz(?:lo|me)?|di(?:me)?|ten'
/** Forbidden: stems of the subjunctive. */
const NOT =
  '(?:us|utilic|llam|envi|mand|reserv|despliegu|compr|escrib|respond|contest|pong|hag|dig|habl|toqu|borr|compart|gast|pid|elij|program|cambi|elimin|publiqu|ejecut|trat|incluy|anad|mencion|recomiend|abr|muestr|guard|pagu|pregunt|dej|tom|sub|convoqu|cit|prepar|ofrezc|sugier|copi)[ae]s?n?'
const OBJECT = String.raw`(?:(?:me|nos|le|les|lo|la|los|las|se)\s+)?`
const HABIT =
  '(?:como|bebo|viajo|vuelo|uso|trabajo|compro|tomo|llevo|quiero|necesito|conduzco|cocino|pago|reservo|fumo|escribo|utilizo)'

export const SPANISH: Rules = {
  constraint: pattern(
    String.raw`${LEAD}(?:nunca|jamás|siempre|no)\s+${OBJECT}(?:${NOT}|${DO})\b\s*\S`,
    String.raw`${LEAD}(?:${DO})\s+(?:\S+\s+){0,3}?(?:siempre|nunca)\b`,
    String.raw`${LEAD}(?:nunca|jamás)\s+(?:antes|después|en|los|las|el|la|por|sin|con|más de)\s+\S+`,
    String.raw`\b(?:debes|debéis|debemos|tienes que|tenemos que|hay que)\s+(?:siempre|nunca)\b`,
    String.raw`\b(?:siempre|nunca)\s+(?:debes|debe|deben|tienes que|hay que)\b`,
    String.raw`${LEAD}no\s+(?:debes|puedes|debéis|podéis)\s+\p{L}+[aei]r`,
    String.raw`\bquiero\s+que\s+(?:siempre|nunca)\s+\p{L}`,
    String.raw`${LEAD}(?:yo\s+)?(?:nunca|siempre|no)\s+${HABIT}\b(?!\s+(?:antes|tú|ella|él|eso|siempre|lo|que)\b)\s+\S`,
    String.raw`${LEAD}(?:todos los|todas las|cada|mis|nuestr[oa]s|los|las|el|la)\s+\p{L}+\s+(?:debe|deben|tiene que|tienen que)\s+\p{L}+[aei]r\b`,
  ),
  preference: pattern(
    String.raw`\b(?:prefiero|preferimos|preferiría|odio|detesto|odiamos|adoro)\b(?!\s+(?:no\s+(?:saber|decir)|eso|esto)\b)\s+\S`,
    String.raw`\bme\s+(?:gusta|gustan|encanta|encantan|molesta|molestan|disgusta|disgustan)\b(?!\s+(?:tu|eso|esto|esta|la idea|cómo|así)\b)\s+\S`,
    String.raw`\bmis?\s+\p{L}+\s+(?:favorit|preferid)[oa]s?\s+(?:es|son)\b`,
    String.raw`\b(?:es|son)\s+mis?\s+\p{L}+\s+(?:favorit|preferid)`,
  ),
  correction: pattern(
    String.raw`^(?:no[,.]?\s+)?(?:en realidad|de hecho),?\s+(?:\S+\s+){2,}\S`,
    String.raw`^(?:no[,.]?\s+)?(?:quise|quería)\s+decir\s+\S`,
    String.raw`^corrección:\s+\S`,
    String.raw`^(?:no[,.]?\s+)?(?:eso\s+)?(?:es|está)\s+(?:mal|incorrecto|equivocado)[,;:]\s*\S`,
  ),
  decision: pattern(
    String.raw`\b(?:hemos|he|ya)\s+(?:\p{L}+\s+)?decidido\s+\S`,
    String.raw`\bdecidimos\s+(?:que|no|usar|ir|\p{L}+r)\b`,
    String.raw`\bse\s+(?:ha\s+decidido|decidió)\b`,
    String.raw`\bquedamos\s+en\s+(?:que|\p{L}+r)\b`,
  ),
  remember: pattern(
    String.raw`^(?:(?:por favor|y|ok|vale)\b,?\s+)*(?:recuerda|recuerde|acuérdate|ten en cuenta|tenga en cuenta|no olvides|anota|apunta)(?:\s+de)?(?:\s+que\b|:|,)?\s+(?!cuando\b|aquel|ese\b)\S+\s+\S`,
  ),
  self: pattern(
    String.raw`^(?:soy\s+(?:vegetarian\p{L}*|vegan\p{L}*|alérgic\p{L}*|celíac\p{L}*)|me llamo|mi nombre es|vivo en|llámame)\b\s*\S*`,
  ),
  leftOut: pattern(
    '^¿',
    String.raw`\b(?:imagina\p{L}*|supón|supongamos|suponiendo|si yo fuera|hipotéticamente)\b`,
    String.raw`\b(?:dijo|dice|dicen|dijeron|decía|según|preguntó|escribió|escribe que|afirma|oí|leí)\b`,
  ),
  passing: pattern(String.raw`\b(?:por ahora|de momento|por el momento|esta vez|esta noche|todavía|aún)\b`),
}
