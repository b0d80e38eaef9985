import type { Json } from '../ports/message.ts'
import { isStandardSchema, type StandardResult, type StandardSchema } from '../ports/standard-schema.ts'
import { invalid, isPlainObject } from '../text/json.ts'

/** A JSON Schema of an object. */
export type JsonSchema = { readonly [key: string]: Json }

/** Arguments as a tool gets them, or what is wrong with them. */
export type Checked = { readonly value: unknown } | { readonly problems: readonly string[] }

/** A schema that is ready for use. */
export interface InputSchema {
  /** What the model sees. */
  readonly json: JsonSchema
  check(input: Json): Promise<Checked>
}

/** Gives what checks JSON Schemas: asked for where a tool has one. */
export type LoadValidator = () => Loaded<typeof import('./validator.ts')>

/** A module that is there, or one that is loaded. */
export type Loaded<Module> = Module | Promise<Module>

/** Problems that the model sees at once. */
const MOST_PROBLEMS = 5

/** @throws ERR_INVALID_ARGUMENT */
export async function createSchema(
  argument: string,
  schema: JsonSchema | StandardSchema,
  explicit: JsonSchema | undefined,
  load: LoadValidator,
): Promise<InputSchema> {
  if (isStandardSchema(schema)) {
    const standard = schema['~standard']
    return {
      json: describe(argument, schema, explicit),
      check: async (input) => checkedBy(await standard.validate(input)),
    }
  }
  if (!isPlainObject(schema))
    throw invalid('runAgent', argument, 'must be a JSON Schema or a Standard Schema')
  const json = schema as JsonSchema
  const validate = (await load()).validatorOf(argument, json)
  return { json, check: async (input) => checkedBy(validate(input)) }
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

/** The first problems are enough for a model. */
export function checkedBy(result: StandardResult<unknown>): Checked {
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
