import type { FactKind } from '../../../ports/fact.ts'
import { pattern } from './rules.ts'

/** What is said alike in several languages. */
export const COMMON: readonly (readonly [FactKind, RegExp])[] = [
  [
    'constraint',
    pattern(
      String.raw`^(?:from now on|ab jetzt (?:nur|bitte)|désormais|a partir de a(?:hor|gor)a|d'ora in poi),? (?!(?:it|we|ça|il|lo|o)\b)`,
      String.raw`^(?:keep your (?:answer|repl)|use (?:\p{L}+ )?(?:spelling|units)|no \p{L}+s on \p{L}+days?\b|i (?:don't|do not) (?:eat|drink|fly))`,
      '^(?:(?:du|sie)ze mich|tutoie|vouvoie|tutéa|dammi del|me trate)',
    ),
  ],
  [
    'preference',
    pattern(
      String.raw`^(?:i usually (?:travel|eat|drink|fly)|ich \p{L}+ meistens|d'habitude,? je|(?:normalmente|di solito) \p{L}{3,}o) `,
    ),
  ],
  [
    'finding',
    pattern(
      String.raw`^(?:i have|ich habe|j'ai|tengo|ho|tenho)\b.*(?:l?lerg[iíy]|verträglichkeit|ntoll?éran)`,
      '^(?:my|mein|mon|mi|il mio|meu) (?:budget|birthday|geburtstag|anniv|presupuesto|cumple|comple|orçamento|anivers)',
    ),
  ],
]
