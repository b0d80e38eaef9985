/**
 * Shapes of bodies and parameters, in the names of the wire. Sizes and what depends on what is
 * stored, the core checks.
 */
import { z } from '@hono/zod-openapi'
import type { Json } from '../../ports/message.ts'
import { needPeer } from '../../ports/peer.ts'
import { checkId, checkText } from '../../text/json.ts'
import { isMediaUrl, MEDIA_URL } from '../media-url.ts'

// Here, since the schemas below are made at once, and with zod 3 the first of them fails without
// saying why.
needPeer('plimsoll/hono', '`zod` 4', z.looseObject)

/** What URLs take for a step of a path, escaped or not. */
export const STEP = /^\.{1,2}$/
/** 1 to 256 bytes of well-formed UTF-16, which a URL can hold. */
const id = z
  .string()
  .min(1)
  .max(256)
  .refine(passes(checkId))
  .refine((value) => !STEP.test(value))
/** Of a session. */
const title = z.string().max(200).refine(passes(checkText))
const time = z.int().min(-8.64e15).max(8.64e15).describe('Unix milliseconds (UTC) that `Date` can hold.')
/** What is not there is no JSON: so it is required. */
const present = z.unknown().refine((value) => value !== undefined)
const json = present.openapi({
  description: 'Any JSON value, of at most 32 levels.',
}) as unknown as z.ZodType<Json>
const record = present.openapi({
  type: 'object',
  additionalProperties: {},
  description: 'An object of the app’s own.',
}) as unknown as z.ZodType<{ readonly [key: string]: Json }>
const trust = z
  .enum(['system', 'user', 'assistant', 'import', 'tool', 'web'])
  .openapi('Trust', { description: 'Where a text came from, from most to least trusted.' })
/** Of a fact: nothing is above its user's own word. */
const factTrust = trust.exclude(['system']).openapi('FactTrust')
const text = z.strictObject({ type: z.literal('text'), text: z.string() })
const part = z
  .discriminatedUnion('type', [
    text,
    z.strictObject({ type: z.literal('reasoning'), text: z.string(), signature: z.string().optional() }),
    z.strictObject({ type: z.literal('tool-call'), id, name: z.string(), input: json }),
    z.strictObject({
      type: z.literal('tool-result'),
      call_id: id,
      output: json,
      is_error: z.boolean().optional(),
    }),
    z.strictObject({
      type: z.literal('media'),
      media_type: z.string(),
      name: id.optional(),
      ref: z.string().optional(),
      url: z.string().regex(MEDIA_URL).refine(isMediaUrl).optional(),
      tokens: z.number().optional(),
    }),
    z.strictObject({
      type: z.literal('opaque'),
      provider: z.string(),
      value: json,
      tokens: z.number().optional(),
    }),
  ])
  .openapi('Part')
const content = z.union([z.string(), z.array(part)])
const role = z.enum(['system', 'user', 'assistant', 'tool'])

const messageInput = z
  .strictObject({
    id: id.optional(),
    role,
    content,
    created_at: time.optional(),
    trust: trust.optional(),
    name: z.string().optional(),
    metadata: record.optional(),
  })
  .openapi('MessageInput')

const partsOfMessage = z
  .strictObject({ id, parts: z.number().int().min(1).max(16) })
  .openapi('UploadedMessage', {
    description: 'A message whose JSON was uploaded before, in so many parts, under its id.',
  })

const message = z
  .object({
    id,
    role,
    content,
    created_at: time,
    trust,
    name: z.string().optional(),
    metadata: record.optional(),
  })
  .openapi('Message')

const messageInputs = z
  .array(z.union([messageInput, partsOfMessage]))
  .min(1)
  .max(100)

const toolSpec = z
  .strictObject({ name: z.string(), description: z.string().optional(), input_schema: record })
  .openapi('ToolSpec')

const extent = z
  .strictObject({
    rounds: z.number().optional(),
    messages: z.number().optional(),
    tokens: z.number().optional(),
  })
  .optional()
const window = z.union([
  z.strictObject({ max: extent, keep: extent }),
  z.strictObject({ rounds: z.number() }),
  z.strictObject({ messages: z.number() }),
  z.strictObject({ tokens: z.number() }),
])
const limits = z.strictObject({
  window: window.optional(),
  tool_output: z.strictObject({ first: z.number().optional(), old: z.number().optional() }).optional(),
})

const factKind = z.enum(['finding', 'blocker', 'correction', 'preference', 'constraint'])
const factInput = z
  .strictObject({
    kind: factKind,
    text: z.string(),
    title: z.string().optional(),
    project: z.string().optional(),
    pinned: z.boolean().optional(),
    priority: z.number().optional(),
    confidence: z.number().optional(),
    trust: factTrust.optional(),
    sources: z.array(z.string()).optional(),
    supersedes: z.string().optional(),
    review_at: time.optional(),
    expires_at: time.optional(),
    created_at: time.optional(),
    id: id.optional(),
  })
  .openapi('FactInput', { example: { kind: 'preference', text: 'Window seats.' } })
const fact = z
  .object({
    id,
    kind: factKind,
    title: z.string(),
    text: z.string(),
    project: z.string().optional(),
    status: z.enum(['open', 'resolved']).optional(),
    pinned: z.boolean(),
    priority: z.number(),
    confidence: z.number(),
    trust: factTrust,
    sources: z.array(z.string()),
    supersedes: z.string().optional(),
    superseded_by: z.string().optional(),
    promoted_from: factTrust.optional(),
    extracted: z.literal(true).optional(),
    created_at: time,
    review_at: time,
    expires_at: time.optional(),
    review: json.optional(),
  })
  .openapi('Fact')
const remembered = z.object({ fact, status: z.enum(['new', 'merged', 'known']) }).openapi('Remembered')

const appended = z
  .object({ messages: z.array(message), repeated: z.boolean(), mismatch: z.boolean() })
  .openapi('Appended')
/** Of a checkpoint: null where none is kept. */
const version = z.string().nullable()

const session = z
  .object({ session_id: id, title: z.string(), created_at: time, project: z.string().optional() })
  .openapi('Session')

const flag = z.enum(['true', 'false']).transform((value) => value === 'true')
const count = z
  .string()
  .regex(/^\d{1,9}$/)
  .transform(Number)
  .openapi({ type: 'integer', minimum: 0 })
const list = z.string().transform((value) => value.split(','))

const removed = z.object({ count, first: z.array(z.string()) }).openapi('Removed')
const holders = z.array(z.enum(['store', 'replicas', 'devices', 'recovery']))
const certificate = z
  .object({
    action: z.enum(['forget', 'erase']),
    target: z.string(),
    at: z.number(),
    already: z.boolean(),
    removed: z.object({
      sessions: removed,
      messages: removed,
      summaries: removed,
      facts: removed,
      heads: removed,
      attachments: removed,
    }),
    kept: removed,
    confirmed: holders,
    pending: holders,
  })
  .openapi('Certificate')

const auditRecord = z
  .object({
    id: z.string(),
    at: time,
    action: z.enum(['promote', 'forget', 'erase', 'export', 'import', 'rotate-key']),
    target: z.string().optional(),
    counts: z.record(z.string(), z.number()).optional(),
    by: z.string().optional(),
  })
  .openapi('AuditRecord', {
    description: 'That something was done, without any text of what it was done to.',
  })

/** Parts of other shapes. */
const queried = z.union([z.string(), z.literal(true)])
const sessions = z.union([z.literal('all'), z.array(id)])

export const shapes = {
  json,
  record,
  trust,
  part,
  role,
  factKind,
  toolSpec,
  time,
  count: z.int().min(0),
} as const

export const schemas = {
  id,
  certificate,
  auditRecord,
  auditQuery: z.strictObject({ after: z.string().optional(), first: count.optional() }),
  count,
  message,
  messageInputs,
  factInput,
  fact,
  remembered,
  session,
  version: z.object({ version: z.string() }).openapi('Version'),
  appended,
  append: z
    .strictObject({ messages: messageInputs, round: id.optional(), replaces: id.optional() })
    .openapi('Append', { example: { messages: [{ role: 'user', content: 'Two seats to Turin.' }] } }),
  commit: z
    .strictObject({
      messages: messageInputs.optional(),
      checkpoint: json.optional(),
      facts: z.array(factInput).max(100).optional(),
      round: id.optional(),
    })
    .openapi('Commit', {
      example: { messages: [{ role: 'assistant', content: 'Booked.' }], checkpoint: { done: 1 } },
    }),
  committed: appended
    .extend({ checkpoint: version.optional(), facts: z.array(remembered).optional() })
    .openapi('Committed'),
  history: z.strictObject({ rounds: count.optional(), messages: count.optional(), before: id.optional() }),
  contextCall: z
    .strictObject({
      messages: messageInputs.optional(),
      tools: z.union([z.array(toolSpec), z.literal('agent')]).optional(),
      system: z.string().optional(),
      tail: z.union([z.string(), z.array(z.strictObject({ name: z.string(), text: z.string() }))]).optional(),
      recall: z.union([queried, z.strictObject({ query: queried.optional(), sessions })]).optional(),
      limits: limits.optional(),
      preview: z.boolean().optional(),
      on_pending: z.enum(['reject', 'abandon']).optional(),
      new_epoch: z.boolean().optional(),
    })
    .openapi('ContextCall', { example: { tail: 'It is Monday.' } }),
  /** Read by the object, which has the words for what is wrong. */
  verbatim: z.looseObject({}),
  rewind: z
    .strictObject({ message: id.optional(), undo: z.union([id, z.literal(true)]).optional() })
    .openapi('Rewind'),
  branches: z.object({
    branches: z.array(z.object({ after: id.nullable(), versions: z.array(id), shown: id.optional() })),
  }),
  switchTo: z.strictObject({ show: id }).openapi('SwitchTo', { example: { show: 'message-7' } }),
  factQuery: z.strictObject({
    kinds: list.pipe(z.array(factKind)).optional(),
    project: z.string().optional(),
    all: flag.optional(),
    after: z.string().optional(),
    first: count.optional(),
  }),
  factChange: z
    .strictObject({
      pinned: z.boolean().optional(),
      promote: z.literal(true).optional(),
      resolve: z.literal(true).optional(),
      review: z.enum(['again', 'hard', 'good', 'easy']).optional(),
      supersede: factInput.optional(),
    })
    .openapi('FactChange', { description: 'Exactly one of these.' }),
  checkpoint: z.object({ value: json, version }).openapi('Checkpoint'),
  checkpointVersion: z.object({ version }).openapi('CheckpointVersion'),
  setCheckpoint: z.strictObject({ value: json }),
  compact: z.strictObject({ new_epoch: z.boolean().optional() }),
  createSession: z
    .strictObject({ session_id: id.optional(), title: title.optional(), project: id.optional() })
    .openapi('CreateSession'),
  changeSession: z.strictObject({ title }),
  start: z.strictObject({
    query: z.string().optional(),
    project: z.string().optional(),
    sessions: z.enum(['all', 'own']).optional(),
    working_memory_budget_tokens: count.optional(),
    pin_budget_tokens: count.optional(),
    skills_index_budget_tokens: count.optional(),
    recall_budget_tokens: count.optional(),
  }),
  explain: z.strictObject({ provider: z.enum(['openai', 'anthropic']).optional() }),
  after: z.strictObject({ after: id.optional() }),
  document: z.strictObject({ text: z.string() }),
  skill: z.strictObject({
    name: z.string().optional(),
    description: z.string(),
    text: z.string(),
    front_matter: z.string().optional(),
  }),
  skillQuery: z.strictObject({ after: z.string().optional(), first: count.optional() }),
  recall: z.strictObject({
    query: z.string(),
    sessions: sessions.optional(),
    first: z.number().optional(),
  }),
  exportQuery: z.strictObject({
    parts: list.pipe(z.array(z.enum(['log', 'facts', 'profile', 'checkpoint']))).optional(),
  }),
  importQuery: z.strictObject({
    trust: z.enum(['user', 'import']).optional().openapi({
      description:
        'How far labels of the file are believed, at most: `import` by default; `user` for one’s own.',
    }),
  }),
  claim: z.strictObject({ token: z.string().max(8192) }),
  problem: z
    .looseObject({
      type: z.string(),
      title: z.string(),
      status: z.number().int(),
      detail: z.string(),
      code: z.string(),
      request_id: z.string(),
      retry_after: z.number().int().optional(),
    })
    .openapi('Problem', { description: 'RFC 9457 problem details.' }),
} as const

/** Whether a check of the core's lets a value pass. */
function passes(check: (operation: string, argument: string, value: unknown) => unknown) {
  return (value: unknown): boolean => {
    try {
      check('the request', 'value', value)
      return true
    } catch {
      return false
    }
  }
}
