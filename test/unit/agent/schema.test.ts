import { describe, expect, it } from 'vitest'
import { createSchema, type InputSchema } from '../../../src/agent/schema.ts'
import * as validator from '../../../src/agent/validator.ts'
import type { Json } from '../../../src/index.ts'
import type { StandardSchema } from '../../../src/ports/standard-schema.ts'

const create = (schema: unknown, explicit?: object): Promise<InputSchema> =>
  createSchema('inputSchema', schema as never, explicit as never, () => validator)
const problems = async (schema: unknown, input: Json): Promise<readonly string[]> => {
  const checked = await (await create(schema)).check(input)
  return 'problems' in checked ? checked.problems : []
}
const standard = (more: Partial<StandardSchema['~standard']>): StandardSchema => ({
  '~standard': { version: 1, vendor: 'mine', validate: (value) => ({ value }), ...more },
})
const refused = (message: RegExp) =>
  expect.objectContaining({
    code: 'ERR_INVALID_ARGUMENT',
    argument: 'inputSchema',
    message: expect.stringMatching(message),
  })

describe('a schema', () => {
  it('is one of JSON or a standard one, and nothing else', async () => {
    for (const schema of [null, undefined, 5, 'x', [], () => 1])
      await expect(create(schema)).rejects.toThrow(refused(/must be a JSON Schema or a Standard Schema/))
  })

  it('is a JSON Schema where its `~standard` is none', async () => {
    for (const odd of [null, 5, {}, { validate: 1 }])
      expect(await problems({ '~standard': odd, type: 'string' }, 5)).toHaveLength(1)
  })

  it('may be a function, as that of some libraries is', async () => {
    const callable = Object.assign(() => 1, standard({ jsonSchema: { input: () => ({ type: 'string' }) } }))
    expect((await create(callable)).json).toEqual({ type: 'string' })
    expect(await (await create(callable)).check('x')).toEqual({ value: 'x' })
  })

  it('that cannot be read is refused by its name', async () => {
    const cycle: { self?: unknown } = {}
    cycle.self = cycle
    await expect(create(cycle)).rejects.toThrow(refused(/is not a JSON Schema/))
  })
})

describe('a JSON Schema', () => {
  it('is of the draft that it names, else of 2020-12', async () => {
    const sibling = (draft?: string): object => ({
      ...(draft && { $schema: draft }),
      properties: { a: { $ref: '#/definitions/text', minLength: 5 } },
      definitions: { text: { type: 'string' } },
    })
    for (const draft of [
      'http://json-schema.org/draft-07/schema#',
      'http://json-schema.org/draft-04/schema#',
    ])
      expect(await problems(sibling(draft), { a: 'ab' })).toEqual([])
    for (const draft of [undefined, 'https://json-schema.org/draft/2020-12/schema'])
      expect(await problems(sibling(draft), { a: 'ab' })).toHaveLength(1)
    const four = 'http://json-schema.org/draft-04/schema#'
    expect(await problems({ $schema: four, minimum: 1, exclusiveMinimum: true }, 1)).toHaveLength(1)
  })

  it('tells each problem at its place, and only where it is, at most five', async () => {
    const numbers = {
      properties: { list: { items: { type: 'number' } }, name: { type: 'string' } },
      required: ['id'],
    }
    const [first, second, third, ...more] = await problems(numbers, { list: [1, 'x'], name: 5 })
    expect(more).toEqual([])
    expect([first, second, third].toSorted()).toEqual([
      expect.stringMatching(/^at \/: .*"id"/),
      expect.stringMatching(/^at \/list\/1: .*number/),
      expect.stringMatching(/^at \/name: .*string/),
    ])
    expect(await problems(numbers, { id: 1, list: Array(20).fill('x') })).toHaveLength(5)
  })
})

describe('a standard schema', () => {
  it('is given to the model in the draft of ours, without naming it, as plain JSON', async () => {
    const targets: string[] = []
    const jsonSchema = {
      input: ({ target }: { target: string }) => {
        targets.push(target)
        return { $schema: 'x', type: 'object', title: undefined, description: new Date(0) }
      },
    }
    const { json } = await create(standard({ jsonSchema }))
    expect(Object.entries(json)).toEqual([
      ['type', 'object'],
      ['description', '1970-01-01T00:00:00.000Z'],
    ])
    expect(targets).toEqual(['draft-2020-12'])
    const own = { type: 'string' }
    expect((await create(standard({ jsonSchema }), own)).json).toBe(own)
  })

  it('that cannot be told is refused by its name', async () => {
    const input = (): never => {
      throw new Error('a Date')
    }
    await expect(create(standard({ jsonSchema: { input } }))).rejects.toThrow(
      refused(/of mine cannot be written as JSON Schema: Error: a Date/),
    )
  })

  it('tells its first five problems, each at its place, whatever the segments are', async () => {
    const one = { message: 'no', path: ['list', { key: 0 }, Symbol('deep')] }
    const validate = () => ({ issues: [one, ...Array(9).fill({ message: 'neither' })] })
    const checked = await (await create(standard({ validate }), {})).check(1)
    expect(checked).toEqual({
      problems: ['at /list/0/Symbol(deep): no', ...Array(4).fill('at /: neither')],
    })
  })

  it('that names an empty list of problems has refused all the same', async () => {
    expect(await (await create(standard({ validate: () => ({ issues: [] }) }), {})).check(1)).toEqual({
      problems: [],
    })
  })
})
