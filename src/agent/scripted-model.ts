import { textOf } from '../kernel/log/message.ts'
import type { Block, Context } from '../ports/context.ts'
import { PlimsollError } from '../ports/errors.ts'
import type { AbortSignalLike } from '../ports/host.ts'
import type { Json, Part, ToolCallPart, ToolSpec } from '../ports/message.ts'
import type { FinishReason, Model, ModelEvent, ModelRequest, ModelSettings, Usage } from '../ports/model.ts'
import { checkList } from '../text/check-value.ts'
import { checkOptions } from '../text/json.ts'

/** One reply; a string is its text. */
export type ScriptedReply =
  | string
  | {
      readonly text?: string
      /**
       * The pieces in which the text comes. Default: its words. Without `text` they are the text.
       */
      readonly deltas?: readonly string[]
      readonly reasoning?: string
      readonly calls?: readonly ScriptedCall[]
      /** Default: none is reported. */
      readonly usage?: Usage
      /** Default `tool-calls` where there are calls, else `stop`. */
      readonly reason?: FinishReason
      /** What the call fails with, after text and reasoning came. */
      readonly error?: unknown
    }

export interface ScriptedCall {
  readonly name: string
  readonly input: Json
  /** Default `call_1`, `call_2` … over all replies of the model. */
  readonly id?: string
}

export interface ScriptedRequest {
  readonly context: Context
  readonly tools: readonly ToolSpec[]
  readonly settings: ModelSettings
  readonly signal: AbortSignalLike | undefined
  /** Which call this is, from 1; summaries are counted for themselves. */
  readonly call: number
}

/** Replies in their order, or what makes them. */
export type Script =
  | readonly ScriptedReply[]
  | ((request: ScriptedRequest) => ScriptedReply | Promise<ScriptedReply>)

export interface ScriptedModelOptions {
  /** Default `scripted`. */
  readonly id?: string
  /**
   * Answers requests whose newest user text begins with "Summarize the following". Default: the
   * script answers them too.
   */
  readonly summaries?: Script
}

export interface ScriptedModel extends Model {
  /** The contexts that it was given, the oldest first. */
  readonly requests: readonly Context[]
}

const REPLY = ['text', 'deltas', 'reasoning', 'calls', 'usage', 'reason', 'error']
const SUMMARY_REQUEST = 'Summarize the following'

/**
 * A model that gives scripted replies, for tests and demos. A call for which a list has no reply
 * left fails.
 *
 * @throws ERR_INVALID_ARGUMENT
 * @example
 * ```ts
 * import { runAgent, scriptedModel } from 'plimsoll'
 *
 * const model = scriptedModel([{ calls: [{ name: 'add', input: { a: 2, b: 3 } }] }, 'It is 5.'])
 * ```
 */
export function scriptedModel(script: Script, options: ScriptedModelOptions = {}): ScriptedModel {
  checkOptions('scriptedModel', 'options', options, ['id', 'summaries'])
  const { id = 'scripted', summaries = script } = options
  for (const given of [script, summaries])
    if (typeof given !== 'function') checkList('scriptedModel', 'script', given)
  const requests: Context[] = []
  const counts = new Map<Script, number>()
  let calls = 0
  const partsOf = (reply: Exclude<ScriptedReply, string>, text: string): readonly Part[] => [
    ...(reply.reasoning === undefined ? [] : [{ type: 'reasoning' as const, text: reply.reasoning }]),
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ...(reply.calls ?? []).map(
      ({ name, input, id }): ToolCallPart => ({
        type: 'tool-call',
        id: id ?? `call_${++calls}`,
        name,
        input,
      }),
    ),
  ]
  async function* complete(request: ModelRequest): AsyncGenerator<ModelEvent, void, undefined> {
    const { context, signal } = request
    requests.push(context)
    const chosen = isSummaryRequest(context) ? summaries : script
    const call = (counts.get(chosen) ?? 0) + 1
    counts.set(chosen, call)
    goOn(signal)
    const given = await until(signal, replyOf(id, chosen, call, request))
    const reply = typeof given === 'string' ? { text: given } : given
    checkOptions('scriptedModel', 'reply', reply, REPLY)
    const text = reply.text ?? reply.deltas?.join('') ?? ''
    const events: ModelEvent[] = []
    if (reply.reasoning !== undefined) events.push({ type: 'reasoning', text: reply.reasoning })
    for (const piece of reply.deltas ?? text.match(/\s*\S+|\s+$/g) ?? [])
      events.push({ type: 'text', text: piece })
    for (const event of events) {
      yield event
      goOn(signal)
    }
    if (reply.error !== undefined) throw reply.error
    const parts = partsOf(reply, text)
    for (const part of parts) {
      if (part.type !== 'tool-call') continue
      yield { type: 'tool-call', call: part }
      goOn(signal)
    }
    yield {
      type: 'finish',
      message: { role: 'assistant', content: parts.every(({ type }) => type === 'text') ? text : parts },
      ...(reply.usage && { usage: reply.usage }),
      reason: reply.reason ?? (reply.calls?.length ? 'tool-calls' : 'stop'),
    }
  }
  return { id, requests, complete }
}

async function replyOf(
  id: string,
  script: Script,
  call: number,
  request: ModelRequest,
): Promise<ScriptedReply> {
  const { context, settings = {}, signal, tools = context.tools ?? [] } = request
  if (typeof script === 'function') return script({ context, tools, settings, signal, call })
  const reply = script[call - 1]
  if (reply !== undefined) return reply
  throw new PlimsollError(
    'ERR_INVALID_ARGUMENT',
    `scriptedModel: ${id} was called ${call} times, but its script has only ${script.length} replies`,
    { argument: 'script' },
  )
}

function isSummaryRequest({ blocks }: Context): boolean {
  const said = (block: Block): boolean => block.role === 'user' && block.section !== 'tail'
  const newest = blocks.findLast(said) ?? blocks.findLast(({ role }) => role === 'user')
  return newest !== undefined && textOf({ content: newest.parts }).startsWith(SUMMARY_REQUEST)
}

function goOn(signal: AbortSignalLike | undefined): void {
  if (signal?.aborted) throw signal.reason
}

/** A reply that may be long in coming, but not longer than it is wanted. */
function until<Value>(signal: AbortSignalLike | undefined, value: Promise<Value>): Promise<Value> {
  if (!signal) return value
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason)
    signal.addEventListener('abort', onAbort)
    value.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
