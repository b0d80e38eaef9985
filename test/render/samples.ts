import fc from 'fast-check'
import type { Block, Context } from '../../src/ports/context.ts'
import type { Json, MessageInput, Part, Role, ToolSpec } from '../../src/ports/message.ts'
import { codePoint } from '../everywhere/code-point.ts'

export const FENCE = 'data-1a2b3c'

/** A block of the window, unless `extra` says otherwise. */
export function block(role: Role, content: string | readonly Part[], extra: Partial<Block> = {}): Block {
  const parts: readonly Part[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  return { section: 'window', role, parts, from: [], rule: 'verbatim', tokens: 0, trust: role, ...extra }
}

export const system = (text: string): Block => block('system', text, { section: 'system', rule: 'system' })
export const memory = (text: string): Block => block('user', text, { section: 'memory', rule: 'memory' })
export const tail = (text: string): Block => block('user', text, { section: 'tail', rule: 'tail' })
export const user = (content: string | readonly Part[]): Block => block('user', content)
export const assistant = (content: string | readonly Part[]): Block => block('assistant', content)

export const call = (id: string, input: Json = {}, name = 'search'): Part => ({
  type: 'tool-call',
  id,
  name,
  input,
})

export const result = (callId: string, output: Json, isError?: boolean): Block =>
  block('tool', [{ type: 'tool-result', callId, output, ...(isError !== undefined && { isError }) }])

/** Blocks of each section and role, with a step that is whole. */
export const ofEachKind: readonly Block[] = [
  system('S'),
  memory('M'),
  user('1'),
  assistant('2'),
  user('3'),
  assistant([call('c')]),
  result('c', '4'),
  tail('T'),
]

export function contextOf(blocks: readonly Block[], tools?: readonly ToolSpec[]): Context {
  return {
    lane: 'lane',
    epoch: 'epoch',
    head: 'head/1',
    fence: FENCE,
    blocks,
    ...(tools && { tools }),
    receipt: {
      cap: 0,
      reserved: 0,
      margin: 0,
      used: 0,
      floor: 0,
      sections: [],
      omitted: [],
      epoch: 'preview',
      failures: [],
    },
    hash: '',
  }
}

/** Messages as the core would put them into the window of a first call. */
export function blocksOf(messages: readonly MessageInput[]): Block[] {
  return messages.map(({ role, content }, index) =>
    role === 'system' && index === 0
      ? block(role, content, { section: 'system', rule: 'system' })
      : block(role, content),
  )
}

export const searchTool: ToolSpec = {
  name: 'search',
  description: 'Finds pages.',
  inputSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
}

const texts = fc.oneof(
  fc.constantFrom('', ' ', '\n\n', 'Book the 9:40 to Turin.', 'è già là 🚂'),
  fc.string({ unit: codePoint, maxLength: 20 }),
)
const textPart: fc.Arbitrary<Part> = texts.map((text) => ({ type: 'text', text }))
const mediaPart: fc.Arbitrary<Part> = fc.constantFrom<Part>(
  { type: 'media', mediaType: 'image/png', ref: 'att-1' },
  { type: 'media', mediaType: 'image/png', url: 'https://example.com/a.png' },
  { type: 'media', mediaType: 'image/png', url: 'data:image/png;base64,AAAA' },
  { type: 'media', mediaType: 'image/svg+xml', url: 'data:image/svg+xml,<svg/>' },
  { type: 'media', mediaType: 'audio/wav', url: 'https://example.com/a.wav' },
)
const userOpaque: fc.Arbitrary<Part> = fc.constantFrom<Part>(
  { type: 'opaque', provider: 'openai', value: { type: 'file', file: { file_id: 'f1' } } },
  { type: 'opaque', provider: 'openai', value: { type: 'tool_result', tool_use_id: 'x' } },
  { type: 'opaque', provider: 'anthropic', value: { type: 'document', source: { type: 'text', data: 'x' } } },
  { type: 'opaque', provider: 'anthropic', value: { type: 'tool_result', tool_use_id: 'x' } },
  { type: 'opaque', provider: 'elsewhere', value: null },
)
const assistantOpaque: fc.Arbitrary<Part> = fc.constantFrom<Part>(
  { type: 'opaque', provider: 'anthropic', value: { type: 'redacted_thinking', data: 'x' } },
  { type: 'opaque', provider: 'anthropic', value: { type: 'tool_use', id: 'x', name: 'x', input: {} } },
  { type: 'opaque', provider: 'anthropic', value: 'not a block' },
  { type: 'opaque', provider: 'openai', value: { type: 'refusal', refusal: 'No.' } },
)
const reasoning: fc.Arbitrary<Part> = fc.record(
  { type: fc.constant('reasoning' as const), text: texts, signature: fc.constantFrom('', 'c2ln') },
  { requiredKeys: ['type', 'text'] },
)

const userParts = fc.array(fc.oneof(textPart, mediaPart, userOpaque), { maxLength: 4 })
const saidParts = fc.array(fc.oneof(textPart, reasoning, mediaPart, assistantOpaque), { maxLength: 4 })

/** As a log holds it: what JSON cannot spell (-0) is gone. */
const values = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as Json)
const inputs: fc.Arbitrary<Json> = fc.oneof(fc.dictionary(fc.string(), values), values)
const outputs: fc.Arbitrary<Json> = fc.oneof(texts, values)
const names = fc.oneof(fc.constantFrom('search', 'functions.bash', ''), fc.string({ maxLength: 200 }))

interface StepShape {
  readonly said: readonly Part[]
  readonly calls: readonly { readonly name: string; readonly input: Json; readonly output: Json }[]
  /** Where among the parts of the message the calls are. */
  readonly place: number
  readonly isError: boolean
  /** Results in one block, or in a block each, in the calls' order or the other way round. */
  readonly apart: boolean
  readonly reversed: boolean
}

const step: fc.Arbitrary<StepShape> = fc.record({
  said: saidParts,
  calls: fc.array(fc.record({ name: names, input: inputs, output: outputs }), { maxLength: 3 }),
  place: fc.nat(4),
  isError: fc.boolean(),
  apart: fc.boolean(),
  reversed: fc.boolean(),
})

function stepBlocks({ said, calls, place, isError, apart, reversed }: StepShape, id: string): Block[] {
  const made = calls.map(({ name, input }, index) => call(`${id}_${index}`, input, name))
  const parts = [...said.slice(0, place), ...made, ...said.slice(place)]
  const results = calls.map(
    ({ output }, index): Part => ({ type: 'tool-result', callId: `${id}_${index}`, output, isError }),
  )
  if (reversed) results.reverse()
  const tool = apart ? results.map((part) => block('tool', [part])) : [block('tool', results)]
  return [assistant(parts), ...(results.length > 0 ? tool : [])]
}

const inlineSystem = fc
  .tuple(texts, fc.constantFrom('system', 'user', 'tool', 'web'))
  .map(([text, trust]) => block('system', text, { trust: trust as Block['trust'] }))

const round = fc.record({
  opening: userParts,
  steps: fc.array(step, { maxLength: 3 }),
  note: fc.option(inlineSystem),
})

/**
 * Block lists as the core builds them: pairs hold, steps are whole, and the end is never the
 * assistant's own words.
 */
export const blockLists: fc.Arbitrary<Block[]> = fc
  .record({
    system: fc.array(texts, { maxLength: 2 }),
    memory: fc.option(texts),
    rounds: fc.array(round, { minLength: 1, maxLength: 4 }),
    tail: fc.option(texts),
  })
  .map((shape) => {
    const blocks = shape.system.map(system)
    if (shape.memory !== null) blocks.push(memory(shape.memory))
    shape.rounds.forEach(({ opening, steps, note }, index) => {
      blocks.push(user(opening))
      steps.forEach((shown, place) => {
        blocks.push(...stepBlocks(shown, `c${index}_${place}`))
      })
      if (note) blocks.push(note)
    })
    if (blocks.filter(({ role }) => role !== 'system').at(-1)?.role === 'assistant') {
      blocks.push(block('user', 'Go on.', { rule: 'continue' }))
    }
    if (shape.tail !== null) blocks.push(tail(shape.tail))
    return blocks
  })

export const toolLists: fc.Arbitrary<readonly ToolSpec[] | undefined> = fc.constantFrom(
  undefined,
  [],
  [searchTool],
  [searchTool, { name: 'clock', inputSchema: {} }],
)
