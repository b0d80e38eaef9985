import { Validator } from '@cfworker/json-schema'
import { describe, expect, it, vi } from 'vitest'
import { edgeVariables } from '../../edge-variables.ts'
import { SAMPLES } from '../../everywhere/edge-samples.ts'
import { type Answered, Caller, fetchWorker } from './caller.ts'
import { useDemoModel } from './changed-settings.ts'
import { document, nameOf, type Route } from './routes.ts'

interface Described {
  readonly responses?: {
    readonly [status: string]: {
      readonly content?: { readonly [type: string]: { readonly schema?: object } }
    }
  }
}

/** What an operation says of one of its answers. */
function schemaOf({ method, path }: Route, status: number, type: string): object | undefined {
  const item = (document.paths?.[path] ?? {}) as { readonly [method: string]: Described }
  const { responses = {} } = item[method.toLowerCase()] ?? {}
  const answer = responses[status] ?? responses[`${Math.trunc(status / 100)}XX`]
  return answer?.content?.[type]?.schema
}

function violations(route: Route, { status, headers, body }: Answered): readonly string[] {
  const type = headers.get('Content-Type')?.split(';')[0] ?? ''
  const schema = schemaOf(route, status, type)
  if (!schema) return [`${nameOf(route)} says nothing of ${status} ${type}`]
  const { components } = JSON.parse(JSON.stringify(document)) as { readonly components: object }
  const { valid, errors } = new Validator({ ...schema, components }, '2020-12').validate(body)
  return valid
    ? []
    : errors.map(({ instanceLocation, error }) => `${nameOf(route)} ${instanceLocation} ${error}`)
}

describe('an answer', () => {
  it('is what the description of its route says, on every route that answers with JSON', async () => {
    await useDemoModel()
    const caller = new Caller()
    const operator = new Caller(caller.user, edgeVariables.OPERATOR_SECRET)
    vi.spyOn(console, 'log').mockReturnValue(undefined)
    const session = 'trip'
    const guest = (await (await fetchWorker('/v1/guests', { method: 'POST' })).json()) as { token: string }
    const inSession = '/v1/sessions/{session}'
    const finding = { kind: 'finding', text: 'The 9:40 to Turin is full.', title: 'Trains' }
    const messages = [
      { role: 'user', content: 'Two seats.', metadata: { at: 1 }, name: 'Ada' },
      { role: 'assistant', content: [{ type: 'tool-call', id: 'c1', name: 'find', input: { to: 'Turin' } }] },
      { role: 'tool', content: [{ type: 'tool-result', call_id: 'c1', output: [1], is_error: false }] },
    ]
    const tools = [{ name: 'find', description: 'Finds.', input_schema: { type: 'object' } }]
    let fact = ''
    const calls: readonly (readonly [string, string, unknown?])[] = [
      ['GET', '/health'],
      ['GET', '/health/ready'],
      ['POST', '/v1/guests'],
      ['POST', '/v1/sessions', { session_id: session, title: 'Trip', project: 'work' }],
      ['GET', '/v1/sessions'],
      ['GET', inSession],
      ['PATCH', inSession, { title: 'Turin' }],
      ['POST', `${inSession}/messages`, { messages, round: undefined }],
      ['GET', `${inSession}/messages`],
      ['POST', `${inSession}/context`, { tools, tail: 'It is Monday.', recall: true }],
      ['GET', `${inSession}/context/{message}`],
      ['POST', `${inSession}/compact`, { new_epoch: true }],
      ['POST', `${inSession}/rewind`, { message: 'last' }],
      ['GET', `${inSession}/branches`],
      ['POST', `${inSession}/branches`, { show: 'last' }],
      ['POST', `${inSession}/commit`, { checkpoint: { step: 0 }, facts: [finding] }],
      ['PUT', `${inSession}/checkpoint`, { value: { step: 1 } }],
      ['GET', `${inSession}/checkpoint`],
      ['GET', `${inSession}/start`],
      ['GET', `${inSession}/explain`],
      ['POST', `${inSession}/facts`, finding],
      ['GET', `${inSession}/facts`],
      ['PATCH', `${inSession}/facts/{fact}`, { pinned: true }],
      ['PATCH', `${inSession}/facts/{fact}`, { review: 'good' }],
      ['PATCH', `${inSession}/facts/{fact}`, { supersede: { ...finding, text: 'The 9:50 is full.' } }],
      ['POST', '/v1/me/facts', { kind: 'preference', text: 'Window seats.' }],
      ['GET', '/v1/me/facts'],
      ['PUT', '/v1/me/profile/{name}', { text: 'Likes tea.' }],
      ['GET', '/v1/me/profile'],
      ['GET', '/v1/me/profile/{name}'],
      ['PUT', '/v1/me/skills/{name}', { description: 'How to book.', text: 'Ask.' }],
      ['GET', '/v1/me/skills'],
      ['GET', '/v1/me/skills/{name}'],
      ['POST', '/v1/me/recall', { query: 'Turin seats', sessions: 'all' }],
      ['POST', '/v1/sync/push', SAMPLES['POST /v1/sync/push']?.(() => 1, { session, fact: '' })],
      ['POST', '/v1/sync/pull', { proto: 1, scopes: [{ session, cursor: 0 }, { cursor: 0 }] }],
      ['PUT', '/v1/sync/attachment', 'bytes'],
      ['POST', '/v1/me/import', SAMPLES['POST /v1/me/import']?.(() => 0, { session, fact: '' })],
      ['POST', '/v1/me/claim', { token: guest.token }],
      ['GET', '/openapi.json'],
      ...['/v1/openai', `${inSession}/openai`].flatMap((door): [string, string, unknown?][] => [
        [
          'POST',
          `${door}/chat/completions`,
          { model: 'plimsoll', messages: [{ role: 'user', content: 'Hi.' }] },
        ],
        ['GET', `${door}/models`],
        ['GET', `${door}/models/{model}`],
      ]),
      ...['/mcp', `${inSession}/mcp`].map((path): [string, string, unknown] => [
        'POST',
        path,
        { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} },
      ]),
      ['DELETE', `${inSession}/messages/{message}`],
      ['DELETE', `${inSession}/messages`],
      ['GET', '/v1/me/audit'],
      ['DELETE', `${inSession}/chat/{run}`],
      ['DELETE', `${inSession}/facts/{fact}`],
      ['DELETE', inSession],
      ['DELETE', '/v1/me'],
      ['GET', '/v1/operator/users/{user}'],
      ['DELETE', '/v1/operator/users/{user}'],
    ]
    const problems: string[] = []
    const covered = new Set<string>()
    for (const [method, path, body] of calls) {
      const newest = async () => (await last(caller, session)).id
      const said = path.endsWith('/rewind')
        ? { message: await newest() }
        : path.endsWith('/branches') && body
          ? { show: await newest() }
          : body
      const message = path.includes('{message}') ? await newest() : ''
      const query = path.endsWith('/attachment') ? `?session=${session}&generation=&id=about` : ''
      const named = path.replace(
        /\{(\w+)\}/g,
        (_, name: string) => ({ session, fact, message, run: 'current', model: 'plimsoll' })[name] ?? 'about',
      )
      const url = named + query
      const lines = {
        ...(path.endsWith('/attachment') && { 'Content-Type': 'text/plain' }),
        ...(path.endsWith('/import') && { 'Content-Type': 'application/jsonl' }),
        ...(path.endsWith('/mcp') && { Accept: 'application/json, text/event-stream' }),
      }
      const by = path.startsWith('/v1/operator/') ? operator : caller
      const answered = await by.call<{ fact?: { id: string } }>(method, url, said, lines)
      const route = { method, path }
      // Objects of other files may fail meanwhile.
      if (answered.status >= 300 && path !== '/health/ready')
        problems.push(`${nameOf(route)} ${answered.status} ${JSON.stringify(answered.body)}`)
      problems.push(...violations(route, answered))
      covered.add(nameOf(route))
      fact = answered.body?.fact?.id ?? fact
    }
    expect(problems).toEqual([])
    const withJson = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
      Object.keys(item as object)
        .map((method) => ({ method: method.toUpperCase(), path }))
        .filter((route) => [200, 201].some((status) => schemaOf(route, status, 'application/json'))),
    )
    expect(withJson.map(nameOf).filter((name) => !covered.has(name))).toEqual([])
  })

  it('that is a refusal is what the description says too', async () => {
    const caller = new Caller()
    const session = await caller.session()
    const path = '/v1/sessions/{session}/messages'
    for (const body of ['{', '{}', { messages: [{ role: 'robot' }] }]) {
      const answered = await caller.call('POST', path.replace('{session}', session), body)
      expect(answered.status).toBe(400)
      expect(violations({ method: 'POST', path }, answered)).toEqual([])
    }
  })
})

async function last(caller: Caller, session: string): Promise<{ readonly id: string }> {
  const { body } = await caller.call<{ messages: { id: string }[] }>(
    'GET',
    `/v1/sessions/${session}/messages`,
  )
  return body.messages.at(-1) ?? { id: '' }
}
