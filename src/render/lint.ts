/**
 * Checks a finished request against what the providers are known to refuse. Shares no code with the
 * renderers.
 */
import { PROVIDERS, type Provider } from '../ports/explanation.ts'
import { isRecord } from '../ports/is-record.ts'
import { checkObject } from '../ports/options.ts'
import { checkOneOf } from '../text/check-value.ts'

/** Stable names of what is checked. */
export type LintRule =
  /** A request without messages. */
  | 'no-messages'
  | 'unknown-role'
  /** Anthropic: instructions belong in the top-level `system`. */
  | 'system-role'
  /** Anthropic: the first message must be the user's. */
  | 'first-role'
  | 'no-user'
  /** A model is asked to go on with its own words, which newer models refuse. */
  | 'ends-with-assistant'
  /** A call without a result, or a result without a call. */
  | 'pairing'
  /** A result that does not come directly after its call. */
  | 'adjacency'
  /** Anthropic: a call or reasoning in a user message, or a result in an assistant message. */
  | 'block-role'
  /** Anthropic: in a user message, results come before anything else. */
  | 'results-first'
  /** Anthropic: in an assistant message, nothing comes after the calls. */
  | 'calls-last'
  /** Two calls with one id, or two results for one call. */
  | 'duplicate-id'
  /** An id or its length that the provider refuses. */
  | 'id-format'
  /** OpenAI: `arguments` is a string of JSON. */
  | 'arguments-json'
  /** Anthropic: `input` is an object. */
  | 'input-object'
  /** Anthropic: reasoning without its signature. */
  | 'unsigned-reasoning'
  /** Anthropic: an assistant message that ends with reasoning. */
  | 'ends-with-reasoning'
  /** A text that is empty (for Anthropic: or blank). */
  | 'empty-text'
  /** A message or a list with nothing in it. */
  | 'empty-content'
  /** Anthropic: more than four cache marks. */
  | 'too-many-marks'
  /** Anthropic: a cache mark on what cannot carry one. */
  | 'mark-place'
  | 'tool-name'
  | 'duplicate-tool'
  /** Two builds of one context whose bytes differ before the tail. Reported by `lintPrefix`. */
  | 'unstable-prefix'

export interface Problem {
  readonly rule: LintRule
  readonly message: string
  /** Where, for example `messages[2].content[0]`. */
  readonly path: string
}

/** The part of a request that is checked. The SDKs' parameters are assignable. */
export interface LintableRequest {
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[]
  readonly system?: unknown
  readonly tools?: unknown
}

/**
 * What the provider would refuse in a request, in the order of the request; empty for a request
 * without known problems. It checks form, not size, and knows nothing of models: a rule that holds
 * for some of them is checked for all.
 *
 * @example
 * ```ts
 * import { lintRequest, toOpenAI } from 'plimsoll'
 *
 * const problems = lintRequest(toOpenAI(await session.context()), 'openai')
 * ```
 */
export function lintRequest(request: LintableRequest, provider: Provider): Problem[] {
  checkObject('lintRequest', 'request', request)
  checkOneOf('lintRequest', 'provider', provider, PROVIDERS)
  const problems: Problem[] = []
  const report: Report = (rule, path, message) => {
    problems.push({ rule, message, path })
  }
  const messages = listOf(request.messages)
  lintRoles(messages, provider, report)
  if (provider === 'openai') lintOpenAI(messages, report)
  else lintAnthropic(messages, request, report)
  lintTools(listOf(request.tools), provider, report)
  return problems
}

type Report = (rule: LintRule, path: string, message: string) => void
type Fields = { readonly [key: string]: unknown }

/** Path of one block or part, and its fields. */
type Located = readonly [path: string, block: Fields]

const ROLES = {
  openai: ['system', 'developer', 'user', 'assistant', 'tool', 'function'],
  anthropic: ['user', 'assistant'],
} as const

function lintRoles(messages: readonly Fields[], provider: Provider, report: Report): void {
  if (messages.length === 0) {
    report('no-messages', 'messages', 'at least one message is required')
    return
  }
  const known: readonly unknown[] = ROLES[provider]
  messages.forEach(({ role }, index) => {
    if (known.includes(role)) return
    if (role === 'system') {
      // Messages API: the system prompt is a top-level parameter; only some models take it inside
      // messages.
      report('system-role', `messages[${index}].role`, 'use the top-level "system" instead')
    } else report('unknown-role', `messages[${index}].role`, `"${role}" is not a role`)
  })
  if (provider === 'anthropic' && messages[0]?.role !== 'user') {
    report('first-role', 'messages[0].role', 'the first message must be of role "user"')
  }
  if (!messages.some(({ role }) => role === 'user')) {
    report('no-user', 'messages', 'at least one message must be of role "user"')
  }
  // "On models that don't support prefill, … a partial assistant response returns a 400" (Messages
  // API reference).
  const last = messages.length - 1
  if (messages[last]?.role === 'assistant') {
    report('ends-with-assistant', `messages[${last}]`, 'the last message must not be of role "assistant"')
  }
}

interface Call {
  readonly path: string
  /** Index of its message. */
  readonly at: number
  answered: boolean
}

/** Calls by id, over the whole request. */
class Calls {
  readonly #calls = new Map<unknown, Call>()
  readonly #report: Report

  constructor(report: Report) {
    this.#report = report
  }

  add(id: unknown, path: string, at: number): void {
    if (this.#calls.has(id)) this.#report('duplicate-id', path, `another call has the id "${id}"`)
    else this.#calls.set(id, { path, at, answered: false })
  }

  /**
   * `isNext` says whether `at`, the index of the call's message, is that of the message directly
   * before.
   */
  answer(id: unknown, path: string, isNext: (at: number) => boolean): void {
    const call = this.#calls.get(id)
    if (!call) this.#report('pairing', path, `no call before this result has the id "${id}"`)
    else if (call.answered) this.#report('duplicate-id', path, `the call "${id}" has another result`)
    else {
      call.answered = true
      if (isNext(call.at)) return
      this.#report('adjacency', path, `the result does not come directly after its call "${id}"`)
    }
  }

  end(): void {
    for (const [id, { path, answered }] of this.#calls) {
      if (!answered) this.#report('pairing', path, `the call "${id}" has no result`)
    }
  }
}

function lintOpenAI(messages: readonly Fields[], report: Report): void {
  const calls = new Calls(report)
  /** Index of the message that the tool messages here belong to. */
  let step = -1
  messages.forEach((message, index) => {
    const path = `messages[${index}]`
    // "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'".
    if (message.role === 'tool') {
      lintId(message.tool_call_id, `${path}.tool_call_id`, 'openai', report)
      calls.answer(message.tool_call_id, `${path}.tool_call_id`, (at) => at === step)
    } else step = index
    lintOpenAIContent(message, path, report)
    if (message.role !== 'assistant') return
    listOf(message.tool_calls).forEach((call, place) => {
      lintOpenAICall(call, `${path}.tool_calls[${place}]`, report)
      calls.add(call.id, `${path}.tool_calls[${place}].id`, index)
    })
  })
  calls.end()
}

function lintOpenAICall(call: Fields, path: string, report: Report): void {
  lintId(call.id, `${path}.id`, 'openai', report)
  const { name, arguments: text } = fieldsOf(call.function)
  // A custom tool's call has free text for input, and no function.
  if (call.function === undefined) return
  lintName(name, `${path}.function.name`, 'openai', report)
  if (!isJson(text)) report('arguments-json', `${path}.function.arguments`, 'the arguments are not JSON')
}

function lintOpenAIContent(message: Fields, path: string, report: Report): void {
  const { role, content, tool_calls: calls } = message
  // "[] is too short - 'messages.1.tool_calls'".
  if (Array.isArray(calls) && calls.length === 0) {
    report('empty-content', `${path}.tool_calls`, 'a list of calls must not be empty')
  }
  if (Array.isArray(content)) {
    if (content.length === 0) report('empty-content', `${path}.content`, 'a list of parts must not be empty')
    listOf(content).forEach(({ text }, place) => {
      if (text === '') {
        report('empty-text', `${path}.content[${place}].text`, 'a text must not be empty')
      }
    })
    return
  }
  // Tools may well have nothing to say.
  if (content || (role === 'tool' && content === '') || role === 'function') return
  if (role === 'assistant') {
    // "Required unless `tool_calls` or `function_call` is specified" (API reference); audio and
    // refusals have fields too.
    const { function_call: called, audio, refusal } = message
    if (calls || called || audio || refusal) return
    report('empty-content', path, 'an assistant message needs content or calls')
  } else if (content === '') report('empty-text', `${path}.content`, 'a text must not be empty')
  else report('empty-content', `${path}.content`, 'content is missing')
}

function lintAnthropic(messages: readonly Fields[], request: LintableRequest, report: Report): void {
  const calls = new Calls(report)
  const servers = new Set<unknown>()
  const system = located(request.system, 'system')
  let marks = lintMarks(system, report)
  marks += lintMarks(
    listOf(request.tools).map((tool, place): Located => [`tools[${place}]`, tool]),
    report,
  )
  lintTexts(system, report)
  messages.forEach((message, index) => {
    const path = `messages[${index}].content`
    const blocks = located(message.content, path)
    // "all messages must have non-empty content except for the optional final assistant message".
    if (blocks.length === 0) report('empty-content', path, 'a message needs at least one block')
    lintTexts(blocks, report)
    marks += lintMarks(blocks, report)
    lintServerTools(blocks, servers, report)
    lintPlaces(blocks, message.role, report)
    if (message.role === 'assistant') lintAssistant(blocks, index, calls, report)
    else lintResults(blocks, index, calls, report)
  })
  calls.end()
  // "A maximum of 4 blocks with cache_control may be provided".
  if (marks > 4) report('too-many-marks', '', `${marks} cache marks, of which four are allowed`)
}

function lintAssistant(blocks: readonly Located[], index: number, calls: Calls, report: Report): void {
  const types = blocks.map(([, { type }]) => type)
  blocks.forEach(([path, block], place) => {
    const { type, id, name, input, signature } = block
    if (type === 'tool_use') {
      lintId(id, `${path}.id`, 'anthropic', report)
      lintName(name, `${path}.name`, 'anthropic', report)
      if (!isRecord(input)) report('input-object', `${path}.input`, 'the input must be an object')
      calls.add(id, `${path}.id`, index)
      // Refused with extended thinking, and before a block of the provider's own tools
      // (vercel/ai#13013).
      if (place === types.lastIndexOf('tool_use') && place < types.length - 1) {
        report('calls-last', path, 'nothing may come after the last call of a message')
      }
    }
    // A signed block may have no text: its text can be withheld by the provider, so only the
    // signature is checked.
    if (type === 'thinking' && (typeof signature !== 'string' || signature === '')) {
      report('unsigned-reasoning', path, 'reasoning is only taken back with its signature')
    }
  })
  // "The final block in an assistant message cannot be `thinking`".
  const [path, last] = blocks.at(-1) ?? []
  if (path !== undefined && (last?.type === 'thinking' || last?.type === 'redacted_thinking')) {
    report('ends-with-reasoning', path, 'an assistant message must not end with reasoning')
  }
}

function lintResults(blocks: readonly Located[], index: number, calls: Calls, report: Report): void {
  let otherSeen = false
  for (const [path, block] of blocks) {
    if (block.type !== 'tool_result') {
      otherSeen = true
      continue
    }
    // "In the user message containing tool results, the tool_result blocks must come first in the
    // content array."
    if (otherSeen) report('results-first', path, 'results come before anything else in a message')
    lintId(block.tool_use_id, `${path}.tool_use_id`, 'anthropic', report)
    // "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
    calls.answer(block.tool_use_id, `${path}.tool_use_id`, (at) => at === index - 1)
    const nested = located(block.content, `${path}.content`)
    if (typeof block.content !== 'string') lintTexts(nested, report)
    // "cache_control is not supported at messages.N.content.M.content.K.cache_control"
    // (langchain-ai/langchain#35126).
    for (const [inner, { cache_control: mark }] of nested) {
      if (mark) report('mark-place', inner, 'a mark belongs on the result, not inside it')
    }
  }
}

const PLACES: ReadonlyMap<unknown, string> = new Map([
  ['tool_result', 'user'],
  ['tool_use', 'assistant'],
  ['thinking', 'assistant'],
  ['redacted_thinking', 'assistant'],
])

/** "`tool_use` blocks can only be in `assistant` messages", and likewise for the others. */
function lintPlaces(blocks: readonly Located[], role: unknown, report: Report): void {
  for (const [path, { type }] of blocks) {
    const place = PLACES.get(type)
    if (place !== undefined && place !== role) {
      report('block-role', path, `a block of type "${type}" belongs in a message of role "${place}"`)
    }
  }
}

/**
 * The provider's own tools: their calls are answered in the same message or by the provider, before
 * they are named.
 */
function lintServerTools(blocks: readonly Located[], servers: Set<unknown>, report: Report): void {
  for (const [path, { type, id, tool_use_id: resultOf, caller }] of blocks) {
    if (type === 'server_tool_use') servers.add(id)
    const isResult = typeof type === 'string' && type !== 'tool_result' && type.endsWith('_tool_result')
    // "Each `advisor_tool_result` block must have a corresponding `server_tool_use` block before
    // it."
    if (isResult && !servers.has(resultOf)) {
      report('pairing', `${path}.tool_use_id`, `no server call before this has the id "${resultOf}"`)
    }
    const { tool_id: from } = fieldsOf(caller)
    if (from !== undefined && !servers.has(from)) {
      report('pairing', `${path}.caller`, `no server call before this has the id "${from}"`)
    }
  }
}

/** "text content blocks must be non-empty", "… must contain non-whitespace text". */
function lintTexts(blocks: readonly Located[], report: Report): void {
  for (const [path, { type, text }] of blocks) {
    if (type === 'text' && (typeof text !== 'string' || text.trim() === '')) {
      report('empty-text', path, 'a text must not be blank')
    }
  }
}

/**
 * Prompt caching guide, "What cannot be cached": reasoning and empty texts. Returns the number of
 * marks.
 */
function lintMarks(blocks: readonly Located[], report: Report): number {
  let marks = 0
  for (const [path, { type, text, cache_control: mark }] of blocks) {
    if (!mark) continue
    marks++
    if (type === 'thinking' || type === 'redacted_thinking' || (type === 'text' && text === '')) {
      report('mark-place', path, 'this block cannot carry a cache mark')
    }
  }
  return marks
}

function lintTools(tools: readonly Fields[], provider: Provider, report: Report): void {
  const names = new Set<unknown>()
  tools.forEach((tool, index) => {
    // A custom tool of OpenAI has its name under `custom`.
    const { name } = provider === 'openai' ? fieldsOf(tool.function ?? tool.custom) : tool
    const path = provider === 'openai' ? `tools[${index}].function.name` : `tools[${index}].name`
    lintName(name, path, provider, report)
    // "Tool names must be unique."
    if (names.has(name)) report('duplicate-tool', path, `another tool has the name "${name}"`)
    names.add(name)
  })
}

/**
 * "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"; for OpenAI "with a maximum length of 64".
 */
function lintName(name: unknown, path: string, provider: Provider, report: Report): void {
  const max = provider === 'openai' ? 64 : 128
  if (typeof name === 'string' && /^[a-zA-Z0-9_-]+$/.test(name) && name.length <= max) return
  report('tool-name', path, `a name is 1 to ${max} letters, digits, "_" and "-"`)
}

/**
 * "Expected a string with maximum length 40"; Anthropic: "String should match pattern
 * '^[a-zA-Z0-9_-]+$'".
 */
function lintId(id: unknown, path: string, provider: Provider, report: Report): void {
  if (provider === 'openai') {
    if (typeof id === 'string' && id !== '' && id.length <= 40) return
    report('id-format', path, 'an id is 1 to 40 characters')
  } else {
    if (typeof id === 'string' && /^[a-zA-Z0-9_-]+$/.test(id)) return
    report('id-format', path, 'an id is letters, digits, "_" and "-"')
  }
}

/** Blocks with their paths; a string is short for one text block. */
function located(content: unknown, path: string): Located[] {
  if (typeof content === 'string') return [[path, { type: 'text', text: content }]]
  return listOf(content).map((block, index) => [`${path}[${index}]`, block])
}

/** Nothing of what is checked is taken for granted, as requests are also built elsewhere. */
const fieldsOf = (value: unknown): Fields => (isRecord(value) ? value : {})
const listOf = (value: unknown): Fields[] => (Array.isArray(value) ? value.map(fieldsOf) : [])

function isJson(text: unknown): boolean {
  if (typeof text !== 'string') return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
