/**
 * Shapes of answers, and of bodies that the objects check themselves: what the description of the
 * API says of them. Nothing is checked by them.
 */
import { z } from '@hono/zod-openapi'
import { shapes } from './schemas.ts'

const { json, record, trust, part, role, factKind, toolSpec, count, time } = shapes
const overflow = z.object({ count, tokens: count, first: z.array(z.string()) }).openapi('Overflow')
// biome-ignore format: one list
const RULES = ['system', 'memory', 'verbatim', 'capped', 'opening', 'abandoned', 'empty', 'tail', 'continue'] as const
const rule = z.enum(RULES)
const section = z.enum(['system', 'memory', 'window', 'tail'])
const cause = z.enum(['start', 'window', 'budget', 'head', 'late', 'sync', 'rewind', 'forget', 'manual'])
const sectionUse = z
  .object({
    name: z.string(),
    cap: z.number().optional(),
    tokens: count,
    items: count,
    overflow,
    others: z.object({ searched: count, missing: count, as_of: time.optional() }).optional(),
  })
  .openapi('SectionUse')
const span = { from: z.string(), to: z.string(), count }

const receipt = z
  .object({
    cap: z.number().nullable(),
    reserved: z.number(),
    margin: z.number(),
    used: z.number(),
    floor: z.number(),
    sections: z.array(sectionUse),
    remembered: z.array(sectionUse).optional(),
    omitted: z.array(
      z.object({
        ...span,
        reason: z.enum(['window', 'orphan', 'duplicate', 'empty', 'rewound', 'forgotten', 'unreadable']),
      }),
    ),
    exceeded: z
      .object({ unit: z.enum(['rounds', 'messages', 'tokens']), size: z.number(), shown: z.number() })
      .optional(),
    summary: z
      .object({
        id: z.string(),
        place: count,
        covers: z.array(z.object(span)),
        trust,
        by: z.string(),
        lost: z.object({ count, first: z.array(z.string()) }),
      })
      .optional(),
    epoch: z.union([z.object({ id: z.string(), cause, place: count }), z.enum(['unsaved', 'preview'])]),
    family: z.string().optional(),
    warnings: z.array(z.object({ code: z.string(), message: z.string() })).optional(),
    calibration: z.number().optional(),
    failures: z.array(z.object({ part: z.string(), code: z.string(), message: z.string() })),
  })
  .openapi('Receipt', { description: 'What a context is made of, and what it leaves out.' })

const block = z
  .object({ section, role, parts: z.array(part), from: z.array(z.string()), rule, tokens: count, trust })
  .openapi('Block')

/** What one model call is given. */
const context = z
  .object({
    lane: z.string(),
    epoch: z.string(),
    head: z.string(),
    fence: z.string(),
    blocks: z.array(block),
    tools: z.array(toolSpec).optional(),
    receipt,
    hash: z.string(),
  })
  .openapi('Context', { description: 'What one model call is given.' })

const source = {
  section: z.enum([...section.options, 'tools', 'request']),
  rule: z.enum([...rule.options, 'tools', 'request']),
  records: z.array(z.string()),
  tokens: z.number(),
  trust,
}

const due = { id: z.string(), title: z.string() }

const uiPart = z
  .looseObject({ type: z.string(), text: z.string().optional(), url: z.string().optional() })
  .openapi('UIPart', { description: 'A part of a message of the AI SDK’s.' })
const uiMessage = z
  .object({
    id: z.string().optional(),
    role: z.enum(['user', 'assistant']),
    parts: z.array(uiPart),
    metadata: json.optional(),
  })
  .openapi('UIMessage')

const rpc = z
  .object({
    jsonrpc: z.literal('2.0'),
    id: z.union([z.string(), z.int(), z.null()]).optional(),
    method: z.string().optional(),
    params: record.optional(),
    result: json.optional(),
    error: z.object({ code: z.int(), message: z.string(), data: json.optional() }).optional(),
  })
  .openapi('JsonRpc')

const toolCall = z.object({
  id: z.string(),
  type: z.literal('function'),
  function: z.object({ name: z.string(), arguments: z.string() }),
})
const model = z
  .object({ id: z.string(), object: z.literal('model'), created: z.int(), owned_by: z.string() })
  .openapi('Model')

export const answers = {
  context,
  contextAt: z
    .object({
      context,
      verified: z.boolean(),
      reason: z.enum(['unrecorded', 'forgotten', 'unreadable', 'different']).optional(),
      tail: z.enum(['whole', 'absent']),
    })
    .openapi('ContextAt', { description: 'A past context, rebuilt, and whether it is what was sent.' }),
  compacted: z
    .object({
      status: z.enum(['none', 'summarised', 'refused']),
      by: z.string().optional(),
      reasons: z.array(z.string()).optional(),
      receipt: receipt.optional(),
    })
    .openapi('Compacted'),
  explanation: z
    .object({
      hash: z.string(),
      receipt,
      provider: z.enum(['openai', 'anthropic']),
      text: z.string(),
      spans: z.array(z.object({ ...source, from: z.int(), to: z.int() })),
      unrendered: z.array(z.object(source)),
    })
    .openapi('Explanation', { description: 'Where each character of a request comes from.' }),
  start: z
    .object({
      memory_count: count,
      pinned: z.array(z.object({ ...due, content: z.string(), tokens: count })),
      skills_index: z.array(z.object({ name: z.string(), description: z.string() })),
      context_recall: z.array(
        z.object({
          ...due,
          score: z.number(),
          kind: factKind.optional(),
          role: role.optional(),
          trust,
          session: z.string().optional(),
          text: z.string().optional(),
        }),
      ),
      due_for_review: count,
      low_confidence_alerts: z.array(z.object({ ...due, confidence: z.number() })),
      budget: z.object({ used: z.number(), cap: z.number() }),
      overflow: z.object({
        pinned: overflow,
        skills_index: overflow,
        context_recall: overflow,
        low_confidence_alerts: count,
      }),
      due: z.array(z.object({ ...due, review_at: time })),
      recall: z.literal('not in use').optional(),
      etag: z.string(),
    })
    .openapi('Start', { description: 'What a model should know when a session starts.' }),
  recalled: z
    .object({
      items: z.array(
        z.object({
          id: z.string(),
          type: z.enum(['message', 'fact']),
          role: role.optional(),
          name: z.string().optional(),
          kind: factKind.optional(),
          text: z.string(),
          trust,
          created_at: time,
          session_id: z.string().optional(),
          ordinal: z.number().optional(),
          as_of: time.optional(),
          score: z.number(),
        }),
      ),
    })
    .openapi('Recalled'),
  chat: z
    .looseObject({
      message: z.union([z.string(), uiMessage]).optional(),
      messages: z.array(uiMessage).optional(),
      trigger: z.enum(['submit-message', 'regenerate-message']).optional(),
      messageId: z.string().nullable().optional(),
      id: z.string().optional(),
    })
    .openapi('ChatRequest', {
      description:
        'A `message` in words, or what the AI SDK’s `useChat` sends: `messages` with the newest one, `trigger`, `messageId`.',
      example: { message: 'Two seats to Turin.' },
    }),
  rpc: z.union([rpc, z.array(rpc)]),
  completion: z
    .object({
      id: z.string(),
      object: z.literal('chat.completion'),
      created: z.int(),
      model: z.string(),
      choices: z.array(
        z.object({
          index: z.int(),
          message: z.object({
            role: z.literal('assistant'),
            content: z.string().nullable(),
            refusal: z.string().nullable(),
            tool_calls: z.array(toolCall).optional(),
          }),
          logprobs: z.null(),
          finish_reason: z.enum(['stop', 'length', 'tool_calls', 'content_filter']),
        }),
      ),
      usage: z.object({
        prompt_tokens: z.int(),
        completion_tokens: z.int(),
        total_tokens: z.int(),
        prompt_tokens_details: z.object({ cached_tokens: z.int() }),
      }),
    })
    .openapi('ChatCompletion'),
  completionError: z
    .object({
      error: z.object({
        message: z.string(),
        type: z.string(),
        code: z.string(),
        param: z.string().nullable(),
      }),
    })
    .openapi('ChatError', { description: 'A refusal as OpenAI’s clients read it.' }),
  model,
  models: z.object({ object: z.literal('list'), data: z.array(model) }).openapi('Models'),
} as const
