import type { UIMessage } from 'ai'
import fc from 'fast-check'

const text = fc.oneof(
  fc.constantFrom('', ' ', 'Looks good', '旅行の予約', '🚆'),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
)
/** Plain JSON; what travels over HTTP has no negative zero, and the SDK reads no prototypes. */
const json = fc
  .oneof(
    { weight: 6, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
    { weight: 1, arbitrary: fc.constant(nested(40)) },
  )
  .map((value) => JSON.parse(JSON.stringify(value).replaceAll('__proto__', 'proto')) as unknown)
const object = fc.dictionary(fc.constantFrom('path', 'query', 'limit'), json, {
  maxKeys: 3,
  noNullPrototype: true,
})
const id = fc.oneof(
  fc.constantFrom('call_1', 'call_2', ''),
  fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' }),
)
const providerMetadata = fc.oneof(
  fc.constantFrom(
    { anthropic: { signature: 'c2ln' } },
    { anthropic: { signature: 'c2ln', caller: { type: 'direct' } }, other: { a: 1 } },
    { anthropic: { redactedData: 'cmVk' } },
    { openai: { itemId: 'rs_1', reasoningEncryptedContent: null } },
    { google: { thoughtSignature: 'c2ln' } },
    {},
  ),
)
const state = fc.constantFrom('streaming' as const, 'done' as const)
const url = fc.constantFrom('https://example.com/a.png', 'data:image/png;base64,aGk=', 'data:text/plain,hi')

/** A record of which any of the second fields may be absent. */
function some<Required extends object, Optional extends object>(
  required: { [K in keyof Required]: fc.Arbitrary<Required[K]> },
  optional: { [K in keyof Optional]: fc.Arbitrary<Optional[K]> },
): fc.Arbitrary<object> {
  return fc.record({ ...required, ...optional } as Record<string, fc.Arbitrary<unknown>>, {
    requiredKeys: Object.keys(required),
    noNullPrototype: true,
  })
}

const is = <Value extends string>(value: Value): fc.Arbitrary<Value> => fc.constant(value)

const textPart = some(
  { type: is('text'), text },
  { state, providerMetadata, citations: fc.constant([{ type: 'url', url: 'https://a.b' }]) },
)
const filePart = some(
  { type: is('file'), mediaType: fc.constantFrom('image/png', 'image', 'application/pdf'), url },
  { filename: text, providerMetadata, providerReference: fc.constant({ openai: 'file-1' }) },
)

const asked = fc.record({ id: text, requestReason: text }, { requiredKeys: ['id'], noNullPrototype: true })
const allowed = asked.map((approval) => ({ ...approval, approved: true }))
const denied = fc.tuple(asked, fc.option(text, { nil: undefined })).map(([approval, reason]) => ({
  ...approval,
  approved: false,
  ...(reason !== undefined && { reason }),
}))
const whole = { callProviderMetadata: providerMetadata, resultProviderMetadata: providerMetadata }

const states = [
  some({ state: is('input-streaming') }, { input: object, rawInput: text, ...whole }),
  some({ state: is('input-available'), input: json }, { callProviderMetadata: providerMetadata }),
  some(
    { state: is('approval-requested'), input: object, approval: asked },
    { callProviderMetadata: providerMetadata },
  ),
  some({ state: is('approval-responded'), input: object, approval: fc.oneof(allowed, denied) }, whole),
  some(
    { state: is('output-available'), input: object, output: json },
    { preliminary: fc.boolean(), approval: allowed, ...whole },
  ),
  some(
    { state: is('output-error'), errorText: text },
    { input: object, rawInput: text, approval: allowed, ...whole },
  ),
  some({ state: is('output-denied'), input: object, approval: denied }, {}),
]

const toolPart = fc
  .tuple(
    fc.oneof(
      fc.constantFrom('search', 'get_file', 'a b', '').map((name) => ({ type: `tool-${name}` })),
      fc.constantFrom('search', 'mcp').map((toolName) => ({ type: 'dynamic-tool', toolName })),
    ),
    some(
      { toolCallId: id },
      { title: text, providerExecuted: fc.boolean(), toolMetadata: fc.constant({ a: [1] }) },
    ),
    fc.oneof(...states),
  )
  .map(([kind, call, rest]) => ({ ...kind, ...call, ...rest }))

const assistantPart = fc.oneof(
  { weight: 3, arbitrary: textPart },
  { weight: 2, arbitrary: some({ type: is('reasoning'), text }, { id: text, state, providerMetadata }) },
  { weight: 8, arbitrary: toolPart },
  { weight: 3, arbitrary: fc.constant({ type: 'step-start' }) },
  { weight: 1, arbitrary: filePart },
  {
    weight: 1,
    arbitrary: some({ type: is('reasoning-file'), mediaType: is('image/png'), url }, { providerMetadata }),
  },
  {
    weight: 1,
    arbitrary: some({ type: is('source-url'), sourceId: text, url }, { title: text, providerMetadata }),
  },
  {
    weight: 1,
    arbitrary: some(
      { type: is('source-document'), sourceId: text, mediaType: text, title: text },
      { filename: text },
    ),
  },
  { weight: 1, arbitrary: some({ type: is('data-chart'), data: json }, { id: text }) },
  { weight: 1, arbitrary: some({ type: is('custom'), kind: is('openai.compaction') }, { providerMetadata }) },
  {
    weight: 1,
    arbitrary: some(
      {
        type: is('steering-message'),
        id: text,
        parts: fc.array(fc.oneof(textPart, filePart), { maxLength: 2 }),
      },
      {},
    ),
  },
  // More than the metadata of a message takes.
  { weight: 1, arbitrary: fc.constant({ type: 'data-large', data: 'x'.repeat(5_000) }) },
)

const userPart = fc.oneof(textPart, filePart, some({ type: is('data-note'), data: json }, { id: text }))

const body = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ role: is('assistant'), parts: fc.array(assistantPart, { maxLength: 8 }) }),
  },
  { weight: 2, arbitrary: fc.record({ role: is('user'), parts: fc.array(userPart, { maxLength: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ role: is('system'), parts: fc.array(textPart, { maxLength: 2 }) }) },
)

/** Conversations with parts of every kind in every state, ids that no log takes among them. */
export const uiMessages: fc.Arbitrary<UIMessage[]> = fc
  .array(
    fc.tuple(body, fc.option(object, { nil: undefined }), fc.constantFrom('m', 'epoch/', 'x'.repeat(300))),
    {
      maxLength: 6,
    },
  )
  .map((list) =>
    list.map(([message, metadata, prefix], index) => ({
      id: `${prefix}${index}`,
      ...message,
      ...(metadata !== undefined && { metadata }),
    })),
  )
  .map((messages) => JSON.parse(JSON.stringify(messages)) as UIMessage[])

export function nested(levels: number): unknown {
  let value: unknown = 'deep'
  for (let level = 0; level < levels; level++) value = level % 2 ? { inner: value } : [value]
  return value
}
