/** What each route of the edge that takes a body takes. */

/** Where attempts go. */
export interface Target {
  readonly session: string
  /** A fact of that session. */
  readonly fact: string
}

/** @param next gives whole numbers */
export type Sample = (next: () => number, target: Target) => unknown

const message = (next: () => number): unknown =>
  pick(next, [
    { role: 'user', content: 'Two seats to Turin.' },
    { id: `m${next() % 64}`, role: 'assistant', content: [{ type: 'text', text: 'Done.' }], created_at: 0 },
    {
      role: 'user',
      content: [{ type: 'media', media_type: 'image/png', url: 'https://x.test/a.png', tokens: 10 }],
      metadata: { from: { page: 1 } },
      trust: 'user',
      name: 'Ada',
    },
    { id: `u${next() % 8}`, parts: 1 },
  ])
const fact: Sample = (next) => ({
  kind: pick(next, ['finding', 'blocker', 'correction', 'preference', 'constraint']),
  text: `Ada likes window seats ${next() % 32}.`,
  title: 'Seats',
  confidence: 0.9,
  priority: 5,
  sources: [],
  review_at: 1,
  id: `f${next() % 16}`,
})
const uiMessage: Sample = (next) => ({
  id: `ui${next() % 16}`,
  role: 'user',
  parts: [{ type: 'text', text: 'Remember that I like tea.' }],
  metadata: { at: 1 },
})
const completion: Sample = (next) => ({
  model: 'plimsoll',
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: `Hello ${next() % 8}.` }] },
  ],
  tools: [{ type: 'function', function: { name: 'find', parameters: { type: 'object' } } }],
  temperature: 1,
  max_tokens: 10,
  stream: next() % 2 === 0,
})
const rpc: Sample = (next) => ({
  jsonrpc: '2.0',
  id: next(),
  ...pick(next, [
    { method: 'tools/call', params: { name: 'memory_finding', arguments: { text: 'The 9:40 is full.' } } },
    { method: 'tools/call', params: { name: 'memory_recall', arguments: { query: 'seats' } } },
    { method: 'tools/call', params: { name: 'memory_forget', arguments: { fact: 'm-0' } } },
    { method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: {} } },
    { method: 'resources/read', params: { uri: 'plimsoll://session/start?query=seats' } },
    { method: 'tools/list', params: {} },
    { method: 'prompts/get', params: { name: 'memory_guide' } },
  ]),
})
const syncOp = (next: () => number): unknown => {
  const id = `o${next() % 64}`
  return pick<object>(next, [
    { id, body: { role: 'user', content: 'Two seats.', createdAt: 0, trust: 'user' } },
    { op: `op-${id}`, put: `notes/${id}`, body: { n: next() }, sources: [`entry:${id}`] },
    { op: `op-${id}`, put: 'fact/f1', base: 'x', body: null, index: [{ group: 'g', order: id, weight: 1 }] },
    { op: `op-${id}`, delete: `entry:o${next() % 64}` },
    { mark: 'rewind', op: `op-${id}`, id: `r${id}`, body: { type: 'rewind', hides: [id] } },
    { op: `op-${id}`, ids: [id, `${id}b`], round: id, bodies: [{ role: 'user', content: 'A' }, 'B'] },
  ])
}
const SKILL = '---\nname: booking\ndescription: How to book.\n---\nAsk for the day.'
const UPLOAD = '{"role":"user","content":"long"}'

/** A body that holds, for each route that takes one. Those of text are strings. */
export const SAMPLES: { readonly [route: string]: Sample } = {
  'POST /v1/sessions': (next) => ({ session_id: `s${next() % 4}`, title: 'Trip', project: 'p' }),
  'PATCH /v1/sessions/{session}': () => ({ title: 'Turin' }),
  'POST /v1/sessions/{session}/messages': (next) => ({
    messages: Array.from({ length: 1 + (next() % 3) }, () => message(next)),
    round: `r${next()}`,
  }),
  'POST /v1/sessions/{session}/commit': (next, target) => ({
    messages: Array.from({ length: 1 + (next() % 3) }, () => message(next)),
    ...pick<object>(next, [{}, { checkpoint: { step: next() } }, { checkpoint: null }]),
    facts: Array.from({ length: 1 + (next() % 2) }, () => fact(next, target)),
  }),
  'PUT /v1/sessions/{session}/parts/{entry}/{n}': () => UPLOAD,
  'POST /v1/sessions/{session}/context': (next) => ({
    ...pick<object>(next, [{ messages: [message(next)] }, { preview: true }]),
    tail: [{ name: 'now', text: 'Monday' }],
    tools: [{ name: 'find', description: 'Finds.', input_schema: { type: 'object' } }],
    limits: { window: { max: { rounds: 20 }, keep: { rounds: 10 } }, tool_output: { first: 900, old: 90 } },
    on_pending: 'abandon',
    recall: 'seats',
    new_epoch: false,
  }),
  'POST /v1/sessions/{session}/compact': () => ({ new_epoch: true }),
  'POST /v1/sessions/{session}/rewind': (next) =>
    pick(next, [{ message: `m${next() % 64}` }, { undo: true }, { undo: 'x' }]),
  'POST /v1/sessions/{session}/branches': (next) => ({ show: `m${next() % 64}` }),
  'PUT /v1/sessions/{session}/checkpoint': (next) => ({ value: { step: next(), done: [1, null, 'x'] } }),
  'POST /v1/sessions/{session}/facts': fact,
  'PATCH /v1/sessions/{session}/facts/{fact}': (next, target) =>
    pick(next, [
      { pinned: true },
      { promote: true },
      { resolve: true },
      { review: 'good' },
      { supersede: fact(next, target) },
    ]),
  'POST /v1/sessions/{session}/chat': (next, target) =>
    pick(next, [
      { message: 'Hi.' },
      { trigger: 'submit-message', id: 'chat', messages: [uiMessage(next, target)], message_id: 'x' },
      { trigger: 'regenerate-message', messages: [], messageId: `ui${next() % 16}` },
      { messages: [{ id: 'a', role: 'assistant', parts: [] }, uiMessage(next, target)], messageId: 'ui1' },
    ]),
  'POST /v1/sync/push': (next, { session }) => ({
    proto: 1,
    scopes: [
      {
        session: pick(next, [session, `s${next() % 4}`]),
        generation: '',
        ops: Array.from({ length: 1 + (next() % 3) }, () => syncOp(next)),
      },
      ...pick(next, [[], [{ generation: '', ops: [syncOp(next)] }]]),
    ],
  }),
  'PUT /v1/sync/attachment': () => 'bytes',
  'POST /v1/sync/pull': (next, { session }) => ({
    proto: 1,
    scopes: [
      { session, cursor: next() % 3, generation: pick(next, ['', 'x']), anchor: pick(next, ['', 'x']) },
      { cursor: 0, limit: 1 + (next() % 512), known: [[1, 1 + (next() % 8)]] },
    ],
  }),
  'POST /v1/me/facts': fact,
  'PUT /v1/me/profile/{name}': () => ({ text: '# Ada\nLikes tea.' }),
  'PUT /v1/me/skills/{name}': (next) =>
    pick<unknown>(next, [SKILL, { description: 'How to book.', text: 'Ask.', front_matter: 'a: b' }]),
  'POST /v1/me/recall': (next) => ({
    query: 'seats to Turin',
    sessions: pick(next, ['all', ['a', 'b']]),
    first: 5,
  }),
  'POST /v1/me/import': (next) => {
    const id = `i${next() % 16}`
    const message = { role: 'user', content: 'Imported.', createdAt: 0, trust: 'user' }
    const lines = [
      { type: 'export', format: 'plimsoll', v: 2, of: 'user', parts: ['log'] },
      { type: 'user' },
      { type: 'session', sessionId: `imported-${id}`, title: 'Imported', createdAt: 0 },
      { type: 'message', seq: 1, opId: id, round: id, id, message },
      { type: 'end', lines: 4 },
    ]
    return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  },
  'POST /v1/me/claim': () => ({ token: 'a.b.c' }),
  'POST /v1/openai/chat/completions': completion,
  'POST /v1/sessions/{session}/openai/chat/completions': completion,
  'POST /mcp': rpc,
  'POST /v1/sessions/{session}/mcp': rpc,
}

export function pick<Item>(random: () => number, items: readonly Item[]): Item {
  return items[random() % items.length] as Item
}
