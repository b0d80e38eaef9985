import type { Json } from '../../ports/message.ts'

type Schema = { readonly [key: string]: Json }

/**
 * Schema of an object that holds these and nothing else; at the top there is no choice between
 * shapes, for providers refuse that.
 */
export function object(
  properties: { readonly [name: string]: Schema },
  required = Object.keys(properties),
): Schema {
  return { type: 'object', properties, required, additionalProperties: false }
}

/** A text of at least one character. */
export function text(maxLength: number, description?: string): Schema {
  return { type: 'string', minLength: 1, maxLength, ...(description !== undefined && { description }) }
}

/** Id of a fact. */
export function factId(description: string): Schema {
  return text(200, description)
}
