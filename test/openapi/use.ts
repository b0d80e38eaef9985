/** What an app does with a generated client: compiled by TypeScript 5.9, and run by `run.ts`. */
import { deepEqual, equal, ok } from 'node:assert/strict'
import createClient from 'openapi-fetch'
import type { components, paths } from './dist/api.d.ts'

const [baseUrl = ''] = process.argv.slice(2)
const client = createClient<paths>({ baseUrl, headers: { Authorization: 'Bearer local' } })
const session = `generated-${crypto.randomUUID()}`
const at = { path: { session } }

const made = await client.POST('/v1/sessions', { body: { session_id: session, title: 'Trip' } })
equal(made.response.status, 201)
ok(made.response.headers.get('Location')?.endsWith(session))
equal(made.data?.title, 'Trip')

const message: components['schemas']['MessageInput'] = {
  id: 'm1',
  role: 'user',
  content: 'Two seats to Turin.',
}
const key = { 'Idempotency-Key': crypto.randomUUID() }
const append = (content: string) =>
  client.POST('/v1/sessions/{session}/messages', {
    params: { ...at, header: key },
    body: { messages: [{ ...message, content }] },
  })
const first = await append('Two seats to Turin.')
deepEqual((await append('Two seats to Turin.')).data, first.data)
const refused = await append('Three seats to Turin.')
equal(refused.data, undefined)
// A refusal is a problem, whatever its status.
const problem: components['schemas']['Problem'] | undefined = refused.error
equal(problem?.code, 'ERR_CONFLICT')

const context = await client.POST('/v1/sessions/{session}/context', {
  params: at,
  body: { tail: 'It is Monday.', tools: [{ name: 'find', input_schema: { type: 'object' } }] },
})
const blocks: readonly components['schemas']['Block'][] = context.data?.blocks ?? []
ok(blocks.some(({ from }) => from.includes('m1')))
ok((context.data?.receipt.used ?? 0) > 0)
equal(context.data?.receipt.sections[0]?.overflow.count, 0)

const name = 'über uns'
const written = await client.PUT('/v1/me/profile/{name}', {
  params: { path: { name }, header: { 'If-None-Match': '*' } },
  body: { text: 'Likes tea.' },
})
const version = written.response.headers.get('ETag') ?? ''
const document = await client.GET('/v1/me/profile/{name}', { params: { path: { name } } })
equal(document.data?.text, 'Likes tea.')
const held = { path: { name }, header: { 'If-None-Match': version } }
equal((await client.GET('/v1/me/profile/{name}', { params: held })).response.status, 304)
const removed = await client.DELETE('/v1/me/profile/{name}', {
  params: { path: { name }, header: { 'If-Match': version } },
})
equal(removed.response.status, 204)

const fact = await client.POST('/v1/me/facts', { body: { kind: 'preference', text: 'Window seats.' } })
equal(fact.data?.fact.kind, 'preference')
const facts = await client.GET('/v1/me/facts', { params: { query: { kinds: 'preference', first: 5 } } })
ok(facts.data?.facts.some(({ text }) => text === 'Window seats.'))

const start = await client.GET('/v1/sessions/{session}/start', { params: at })
ok((start.data?.memory_count ?? 0) > 0)
const state: components['schemas']['Json'] = { step: [1, null, { done: true }] }
await client.PUT('/v1/sessions/{session}/checkpoint', { params: at, body: { value: state } })
deepEqual((await client.GET('/v1/sessions/{session}/checkpoint', { params: at })).data?.value, state)
const committed = await client.POST('/v1/sessions/{session}/commit', {
  params: at,
  body: { messages: [{ role: 'assistant', content: 'Booked.' }], checkpoint: state, facts: [] },
})
equal(typeof committed.data?.checkpoint, 'string')
equal((await client.DELETE('/v1/sessions/{session}/checkpoint', { params: at })).response.status, 204)
equal((await client.GET('/v1/sessions/{session}/checkpoint', { params: at })).data?.version, null)

const said = await client.POST('/v1/sessions/{session}/chat', {
  params: at,
  body: { message: 'When does it leave?' },
  parseAs: 'text',
})
ok(said.data?.includes('[DONE]'))
const completion = await client.POST('/v1/sessions/{session}/openai/chat/completions', {
  params: at,
  body: { model: 'plimsoll', messages: [{ role: 'user', content: 'And when does it arrive?' }] },
})
equal(typeof completion.data, 'object')
const models = await client.GET('/v1/openai/models')
deepEqual(
  models.data?.data.map(({ id }) => id),
  ['plimsoll'],
)

equal((await client.DELETE('/v1/sessions/{session}', { params: at })).response.ok, true)
console.log('a generated client: made, written, read, refused and removed as its types say')
