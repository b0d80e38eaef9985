import type { Json } from '../../ports/message.ts'
import type { InputSchema } from './memory-tool.ts'

type Schema = { readonly [key: string]: Json }

/**
 * Schema of an object that holds these and nothing else; at the top there is no choice between
 * shapes, for providers refuse that.
 */
export function object(
  properties: { readonly [name: string]: Schema },
  required = Object.keys(properties),
): InputSchema {
  return { type: 'object', properties, required, additionalProperties: false }
}

/** A text of at least one character. */
export function text(maxLength: number): Schema {
  return { type: 'string', minLength: 1, maxLength }
}

/**
 * What a model is shown of a schema: each field and its type. Limits cost tokens in every request,
 * and are rarely met; where one is, the error says so.
 */
export function shownOf({ properties, ...schema }: InputSchema): InputSchema {
  const shown = Object.entries(properties).map(([name, { type }]) => [name, { type }])
  return { ...schema, properties: Object.fromEntries(shown) }
}
