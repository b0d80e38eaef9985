/**
 * What a client may ask of `POST /v1/openai/chat/completions`. What cannot be honoured is refused
 * by name, never left out in silence.
 */
import { z } from '@hono/zod-openapi'
import { checkTools } from '../../../kernel/context/head.ts'
import type { PlimsollError } from '../../../ports/errors.ts'
import type { Json, ToolSpec } from '../../../ports/message.ts'
import type { ModelSettings } from '../../../ports/model.ts'
import { checkJson } from '../../../text/check-json.ts'
import { invalid } from '../../../text/json.ts'

export const OPERATION = 'chat.completions'

const TextPart = z.object({ type: z.literal('text'), text: z.string() })
const ImagePart = z.object({
  type: z.literal('image_url'),
  image_url: z.object({
    url: z
      .string()
      .regex(/^(https?:\/\/|data:image\/[\w.+-]{1,127};base64,)/i, 'must be http, https or a data: picture'),
    // A hint at how closely to look, which not all servers know.
    detail: z.enum(['auto', 'low', 'high']).nullish(),
  }),
})
const RefusalPart = z.object({ type: z.literal('refusal'), refusal: z.string() })
const Texts = z.union([z.string(), z.array(TextPart).min(1)])
const ToolCall = z.object({
  id: z.string().min(1),
  type: z.literal('function'),
  function: z.object({ name: z.string().min(1), arguments: z.string() }),
})
const name = z.string().nullish()

const Message = z.discriminatedUnion('role', [
  z.object({ role: z.literal('system'), content: Texts, name }),
  z.object({ role: z.literal('developer'), content: Texts, name }),
  z.object({
    role: z.literal('user'),
    content: z.union([z.string(), z.array(z.discriminatedUnion('type', [TextPart, ImagePart])).min(1)]),
    name,
  }),
  z.object({
    role: z.literal('assistant'),
    content: z.union([z.string(), z.array(z.discriminatedUnion('type', [TextPart, RefusalPart]))]).nullish(),
    refusal: z.string().nullish(),
    tool_calls: z.array(ToolCall).nullish(),
    audio: z.null().optional(),
    function_call: z.null().optional(),
    name,
  }),
  z.object({ role: z.literal('tool'), content: Texts, tool_call_id: z.string().min(1) }),
])

const ToolName = z.string().regex(/^[\w-]{1,64}$/, 'must be 1 to 64 letters, digits, dashes or underscores')

const Tool = z.strictObject({
  type: z.literal('function'),
  function: z.strictObject({
    name: ToolName,
    description: z.string().nullish(),
    parameters: z.record(z.string(), z.unknown()).nullish(),
    strict: z.literal(false, 'cannot be promised for every model').nullish(),
  }),
})

const ToolChoice = z.union([
  z.enum(['none', 'auto', 'required']),
  z.strictObject({ type: z.literal('function'), function: z.strictObject({ name: ToolName }) }),
])

const tokens = z.int().min(1).nullish()
/** A field that is here since clients send it, with the one value that says nothing. */
const only = <Value extends z.core.util.Literal>(...values: Value[]) => z.literal(values).nullish()

/** The body of a request. Unknown fields are refused; `null` is as good as absent. */
export const ChatCompletionRequest = z.strictObject({
  model: z.string().min(1),
  messages: z.array(Message).min(1),
  tools: z.array(Tool).nullish(),
  tool_choice: ToolChoice.nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  max_tokens: tokens,
  max_completion_tokens: tokens,
  stop: z.union([z.string().min(1), z.array(z.string().min(1)).max(4)]).nullish(),
  seed: z.int().nullish(),
  stream: z.boolean().nullish(),
  stream_options: z
    .strictObject({ include_usage: z.boolean().nullish(), include_obfuscation: z.boolean().nullish() })
    .nullish(),
  n: only(1),
  parallel_tool_calls: z.boolean().nullish(),
  response_format: z.strictObject({ type: z.literal('text') }).nullish(),
  logprobs: only(false),
  top_logprobs: only(0),
  presence_penalty: only(0),
  frequency_penalty: only(0),
  logit_bias: z.strictObject({}).nullish(),
  modalities: z.array(z.literal('text')).nullish(),
  service_tier: only('auto', 'default'),
  // What is stored is the session's log; there is no other store.
  store: only(false),
  // These change nothing of a reply: labels, and hints to a cache.
  user: z.string().nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
  safety_identifier: z.string().nullish(),
  prompt_cache_key: z.string().nullish(),
  prompt_cache_retention: z.string().nullish(),
  prediction: z.unknown().optional(),
})

export type ChatCompletionBody = z.infer<typeof ChatCompletionRequest>
export type SentMessage = ChatCompletionBody['messages'][number]

/** A request, checked. */
export interface CompletionRequest {
  /** As the client named it. */
  readonly model: string
  /** Text of all system and developer messages, wherever they stand. */
  readonly system: string | undefined
  /** The others, each with its place in the request. */
  readonly messages: readonly { readonly message: ConversationMessage; readonly index: number }[]
  readonly tools: readonly ToolSpec[]
  readonly settings: ModelSettings
  readonly isStream: boolean
  /** Whether a stream ends with a chunk of usage. */
  readonly includesUsage: boolean
}

export type ConversationMessage = Exclude<SentMessage, { role: 'system' | 'developer' }>

/** @throws ERR_INVALID_ARGUMENT (`argument`: path of the field) */
export function readCompletionRequest(body: unknown): CompletionRequest {
  const parsed = ChatCompletionRequest.safeParse(body)
  if (!parsed.success) throw refused(parsed.error)
  const request = parsed.data
  // What could not be stored is refused before a session is made for it.
  checkJson(OPERATION, 'messages', request.messages)
  const messages = request.messages.flatMap((message, index) =>
    message.role === 'system' || message.role === 'developer' ? [] : [{ message, index }],
  )
  const last = messages.at(-1)
  if (!last) throw invalid(OPERATION, 'messages', 'must hold a message of the user')
  if (last.message.role === 'assistant')
    throw invalid(OPERATION, `messages[${last.index}].role`, 'must not be assistant at the end')
  const system = request.messages
    .flatMap((message) =>
      message.role === 'system' || message.role === 'developer' ? textsOf(message.content) : [],
    )
    .join('\n\n')
  return {
    model: request.model,
    system: system === '' ? undefined : system,
    messages,
    tools: toolsOf(request),
    settings: settingsOf(request),
    isStream: request.stream ?? false,
    includesUsage: request.stream_options?.include_usage ?? false,
  }
}

export function textsOf(content: string | readonly { readonly text: string }[]): string {
  return typeof content === 'string' ? content : content.map(({ text }) => text).join('')
}

function toolsOf({ tools, parallel_tool_calls }: ChatCompletionBody): readonly ToolSpec[] {
  const specs = (tools ?? []).map(
    ({ function: { name, description, parameters } }): ToolSpec => ({
      name,
      ...(description && { description }),
      inputSchema: (parameters ?? { type: 'object', properties: {} }) as { readonly [key: string]: Json },
    }),
  )
  specs.forEach(({ name }, index) => {
    if (specs.findIndex((spec) => spec.name === name) !== index)
      throw invalid(OPERATION, `tools[${index}].function.name`, 'repeats the name of another tool')
  })
  checkTools(OPERATION, 'tools', specs)
  if (specs.length > 0 && parallel_tool_calls === false)
    throw invalid(
      OPERATION,
      'parallel_tool_calls',
      'cannot be false: not every model can be limited to one call',
    )
  return specs
}

function settingsOf(request: ChatCompletionBody): ModelSettings {
  const { temperature, top_p: topP, seed, stop, max_tokens, max_completion_tokens } = request
  if (max_tokens && max_completion_tokens && max_tokens !== max_completion_tokens)
    throw invalid(OPERATION, 'max_tokens', 'differs from max_completion_tokens')
  const maxOutputTokens = max_completion_tokens ?? max_tokens
  const toolChoice = toolChoiceOf(request)
  return {
    ...(maxOutputTokens != null && { maxOutputTokens }),
    ...(temperature != null && { temperature }),
    ...(topP != null && { topP }),
    ...(seed != null && { seed }),
    ...(stop != null && { stopSequences: typeof stop === 'string' ? [stop] : stop }),
    ...(toolChoice !== undefined && { toolChoice }),
  }
}

function toolChoiceOf({ tool_choice, tools }: ChatCompletionBody): ModelSettings['toolChoice'] {
  if (tool_choice == null) return undefined
  const names = (tools ?? []).map((tool) => tool.function.name)
  if (typeof tool_choice === 'string') {
    if (tool_choice === 'required' && names.length === 0)
      throw invalid(OPERATION, 'tool_choice', 'is required, and there are no tools')
    return names.length === 0 ? undefined : tool_choice
  }
  const { name } = tool_choice.function
  if (!names.includes(name)) throw invalid(OPERATION, 'tool_choice.function.name', 'names none of the tools')
  return { name }
}

/**
 * The first problem. Zod's messages name types and fields, and no values but those that are
 * allowed.
 */
function refused(error: z.ZodError): PlimsollError {
  const found = deepest(error.issues[0] as z.core.$ZodIssue)
  const [unknown] = found.code === 'unrecognized_keys' ? found.keys : []
  const path = [...found.path, ...(unknown === undefined ? [] : [unknown])]
  const argument = path.reduce<string>(
    (name, key) =>
      typeof key === 'number' ? `${name}[${key}]` : name === '' ? String(key) : `${name}.${String(key)}`,
    '',
  )
  const reason = unknown === undefined ? `cannot be honoured: ${found.message}` : 'is not supported'
  return invalid(OPERATION, argument || 'the body', reason)
}

/** Of a choice between shapes, the problem of the one that came furthest. */
function deepest(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code !== 'invalid_union') return issue
  const inner = issue.errors
    .flatMap((issues) => issues.slice(0, 1))
    .map((one) => deepest({ ...one, path: [...issue.path, ...one.path] } as z.core.$ZodIssue))
  const furthest = inner.toSorted((one, other) => other.path.length - one.path.length)[0]
  return furthest && furthest.path.length > issue.path.length ? furthest : issue
}
