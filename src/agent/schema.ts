import { type Schema, type SchemaDraft, Validator } from '@cfworker/json-schema'
import { invalid, isPlainObject } from '../kernel/text/json.ts'
import type { Json } from '../ports/message.ts'
import { isStandardSchema, type StandardResult, type StandardSchema } from '../ports/standard-schema.ts'

/** A JSON Schema of an object. */
export type JsonSchema = { readonly [key: string]: Json }

/** Arguments as a tool gets them, or what is wrong with them. */
export type Checked = { readonly value: unknown } | { readonly problems: readonly string[] }

/** A schema that is ready for use. */
export interface InputSchema {
  /** What the model sees. */
  readonly json: JsonSchema
  check(input: Json): Checked | Promise<Checked>
}

/** Problems that the model sees at once. */
const MOST_PROBLEMS = 5

/** @throws ERR_INVALID_ARGUMENT */
export function createSchema(
  argument: string,
  schema: JsonSchema | StandardSchema,
  explicit: JsonSchema | undefined,
): InputSchema {
  if (isStandardSchema(schema)) {
    const standard = schema['~standard']
    return {
      json: describe(argument, schema, explicit),
      check: async (input) => checked(await standard.validate(input)),
    }
  }
  if (!isPlainObject(schema))
    throw invalid('runAgent', argument, 'must be a JSON Schema or a Standard Schema')
  const json = schema as JsonSchema
  const validator = createValidator(argument, json)
  return { json, check: (input) => validate(validator, input) }
}

function describe(argument: string, schema: StandardSchema, explicit: JsonSchema | undefined): JsonSchema {
  if (explicit !== undefined) return explicit
  const { vendor, jsonSchema } = schema['~standard']
  if (!jsonSchema)
    throw invalid('runAgent', argument, `of ${vendor} has no JSON Schema: give the tool a \`jsonSchema\``)
  try {
    const { $schema: _, ...described } = jsonSchema.input({ target: 'draft-2020-12' })
    return JSON.parse(JSON.stringify(described)) as JsonSchema
  } catch (error) {
    throw invalid('runAgent', argument, `of ${vendor} cannot be written as JSON Schema: ${String(error)}`)
  }
}

function checked(result: StandardResult<unknown>): Checked {
  if (result.issues === undefined) return { value: result.value }
  return {
    problems: result.issues.slice(0, MOST_PROBLEMS).map(({ message, path = [] }) => {
      const place = path
        .map((segment) => String(typeof segment === 'object' ? segment.key : segment))
        .join('/')
      return `at /${place}: ${message}`
    }),
  }
}

function createValidator(argument: string, schema: JsonSchema): Validator {
  try {
    // The validator writes into its schema.
    const own = JSON.parse(JSON.stringify(schema)) as Schema
    return new Validator(own, draftOf(schema), false)
  } catch (error) {
    throw invalid('runAgent', argument, `is not a JSON Schema: ${String(error)}`)
  }
}

function draftOf({ $schema }: JsonSchema): SchemaDraft {
  const named = /draft-0(4|7)|2019-09/.exec(String($schema))
  return (named?.[1] ?? named?.[0] ?? '2020-12') as SchemaDraft
}

/** @throws where the schema itself turns out to be broken */
function validate(validator: Validator, input: Json): Checked {
  const { valid, errors } = validator.validate(input)
  if (valid) return { value: input }
  // A keyword that only says that something below it is wrong says nothing.
  const leaves = errors.filter(
    ({ keywordLocation }) => !errors.some((other) => other.keywordLocation.startsWith(`${keywordLocation}/`)),
  )
  return {
    problems: leaves
      .slice(0, MOST_PROBLEMS)
      .map(({ instanceLocation, error }) => `at ${instanceLocation.slice(1) || '/'}: ${error}`),
  }
}
