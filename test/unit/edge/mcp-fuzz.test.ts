import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Json, memoryToolSpecs } from '../../../src/index.ts'
import { codePoint } from '../../everywhere/code-point.ts'
import { runs } from '../support/runs.ts'
import { home, post, START } from './mcp-support.ts'

/** Whatever a stranger may send, more often such as gets far. */
const METHODS = [
  'initialize',
  'ping',
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'tasks/result',
  'notifications/cancelled',
  'notifications/initialized',
  'notifications/progress',
  '__proto__',
  'toString',
]
const KEYS = [
  '__proto__',
  'constructor',
  'text',
  'id',
  'query',
  'pinned',
  'trust',
  'name',
  '',
  '\0',
  '\ud800',
]
const json = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>,
  fc.dictionary(fc.constantFrom(...KEYS), fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>),
)
const text = fc.oneof(
  fc.string({ unit: codePoint }),
  fc.constantFrom(
    '',
    '\ud800',
    'x'.repeat(700),
    'Ada never flies.',
    '</ctx>',
    '[from memory',
    '#1-#9999999',
    'a-b',
  ),
)
const id = fc.oneof(fc.integer(), fc.string(), fc.constantFrom(0, 1, '1', null, -0.5, 1e300, '__proto__'))
const toolCall = fc.record(
  {
    name: fc.oneof(fc.constantFrom(...memoryToolSpecs(home().session).map(({ name }) => name)), text),
    arguments: fc.oneof(
      fc.record(
        {
          text,
          id: text,
          query: text,
          reference: text,
          name: text,
          resolve: text,
          supersedes: text,
          first: id,
        },
        { requiredKeys: [] },
      ),
      fc.record({ text }),
      json,
    ),
    ...{ task: json, _meta: json },
  },
  { requiredKeys: ['name'] },
)
const factTool = fc.constantFrom(
  ...['finding', 'blocker', 'correction', 'preference', 'constraint'].map((kind) => `memory_${kind}`),
)
const params = fc.oneof(
  json,
  toolCall,
  fc.record({
    uri: fc.oneof(
      text,
      text.map((one) => `${START}?query=${one}`),
      text.map((one) => `${START}?project=${one}`),
    ),
  }),
  fc.record({ name: text, arguments: json }),
  fc.record({ protocolVersion: text, capabilities: json, clientInfo: json }),
  fc.record({ requestId: id, reason: text, progressToken: id }),
)
const message = fc.record(
  {
    jsonrpc: fc.constantFrom('2.0', '2.0', '2.0', '2.0', '1.0', 2),
    id,
    method: fc.oneof(fc.constantFrom(...METHODS), fc.constant('tools/call'), text),
    params,
    result: json,
    error: json,
  },
  { requiredKeys: ['jsonrpc'] },
)
/** Well formed, so that what follows is up to the memory. */
const request = fc
  .oneof(
    fc.record({ method: fc.constantFrom(...METHODS), params }),
    fc.record({ method: fc.constant('tools/call'), params: toolCall }),
    fc.record({
      method: fc.constant('tools/call'),
      params: fc.record({ name: factTool, arguments: fc.record({ text }) }),
    }),
  )
  .map((one) => ({ jsonrpc: '2.0', id: 1, ...one }))
const body = fc.oneof(
  { weight: 4, arbitrary: request.map((one) => JSON.stringify(one)) },
  { weight: 4, arbitrary: message.map((one) => JSON.stringify(one)) },
  {
    weight: 3,
    arbitrary: fc.array(fc.oneof(request, message), { maxLength: 6 }).map((all) => JSON.stringify(all)),
  },
  { weight: 1, arbitrary: fc.string({ unit: codePoint }) },
  { weight: 1, arbitrary: json.map((one) => JSON.stringify(one)) },
)

describe('whatever is sent', () => {
  it('is answered, with a status below 500, and nothing of it is the user’s word', async () => {
    const { session } = home({ facts: { caps: { perHour: 10_000 } } })
    await session.append({ role: 'user', content: 'Hi.' })
    const statuses = new Set<number>()
    await fc.assert(
      fc.asyncProperty(body, async (sent) => {
        const response = await post(session, sent)
        statuses.add(response.status)
        expect(response.status).toBeLessThan(500)
        const answer = await response.text()
        if (answer !== '') JSON.parse(answer)
      }),
      runs(2_000),
    )
    // It got far.
    expect([...statuses].sort()).toEqual([200, 202, 400])
    const facts = await session.facts.list({ first: 512, all: true })
    expect(facts.length).toBeGreaterThan(20)
    expect(facts.filter(({ trust, pinned }) => pinned || trust !== 'assistant')).toEqual([])
  })

  it.each([
    ['a request', (deep: string) => `{"jsonrpc":"2.0","id":1,"method":"ping","params":${deep}}`],
    [
      'arguments',
      (deep: string) =>
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_finding","arguments":{"text":${deep}}}}`,
    ],
    [
      'what is said of a client',
      (deep: string) =>
        `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"1","capabilities":{"experimental":${deep}},"clientInfo":${deep}}}`,
    ],
    [
      'an answer beside a request',
      (deep: string) =>
        `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"result":{"a":${deep}}}]`,
    ],
    ['nothing else', (deep: string) => deep],
  ])('is answered with half a megabyte of brackets in %s', async (_, around) => {
    for (const deep of [
      `${'['.repeat(250_000)}${']'.repeat(250_000)}`,
      `${'{"a":'.repeat(80_000)}1${'}'.repeat(80_000)}`,
    ]) {
      const response = await post(home().session, around(deep))
      expect(response.status).toBeLessThan(500)
      expect(await response.json()).toMatchObject({ jsonrpc: '2.0' })
    }
  })
})
