/** JSON Schemas: for tools that have one. */
import { type Schema, type SchemaDraft, Validator } from '@cfworker/json-schema'
import type { StandardResult } from '../ports/standard-schema.ts'
import { copyOf, invalid } from '../text/json.ts'
import type { JsonSchema } from './schema.ts'

/** What a JSON Schema says of a value. @throws where it turns out to be broken itself */
export type Validate = (value: unknown) => StandardResult<unknown>

/** @throws ERR_INVALID_ARGUMENT */
export function validatorOf(argument: string, schema: JsonSchema): Validate {
  const validator = createValidator(argument, schema)
  return (value) => {
    const { valid, errors } = validator.validate(value)
    if (valid) return { value }
    // A keyword that only says that something below it is wrong says nothing.
    const leaves = errors.filter(
      ({ keywordLocation }) =>
        !errors.some((other) => other.keywordLocation.startsWith(`${keywordLocation}/`)),
    )
    return {
      issues: leaves.map(({ instanceLocation, error }) => ({
        message: error,
        path: instanceLocation.split('/').slice(1),
      })),
    }
  }
}

function createValidator(argument: string, schema: JsonSchema): Validator {
  try {
    // The validator writes into its schema.
    const own = copyOf(schema) as Schema
    return new Validator(own, draftOf(schema), false)
  } catch (error) {
    throw invalid('runAgent', argument, `is not a JSON Schema: ${String(error)}`)
  }
}

function draftOf({ $schema }: JsonSchema): SchemaDraft {
  const named = /draft-0(4|7)|2019-09/.exec(String($schema))
  return (named?.[1] ?? named?.[0] ?? '2020-12') as SchemaDraft
}
