import { countIdentifiers } from '../../text/identifiers.ts'

/**
 * The names in a text that later text is likely to use again, in the order of their first place:
 * {@link countIdentifiers}.
 */
export function identifiers(text: string): readonly string[] {
  return [...countIdentifiers(text).keys()]
}
