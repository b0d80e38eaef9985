import { predict } from '../kernel/context/predict.ts'
import type { Context } from '../ports/context.ts'
import type { Json } from '../ports/message.ts'
import type { Usage } from '../ports/model.ts'
import type { EpochCause } from '../ports/op.ts'
import { checkCount, invalid } from '../text/json.ts'
import { checkBuilt } from './check-built.ts'

/**
 * Why a provider's cache did not have all of the request before. `none`: it had. `first`: there was
 * none. `epoch`: a new epoch shows other messages. `small`: providers keep no prefix of fewer than
 * 1 024 tokens. `model`, `tools`, `system`, `messages`, `settings` (cache key, format, effort,
 * verbosity, tier) and `compacted`: the provider's word for what changed. `unknown`: it names no
 * change: it kept the prefix no longer, or never did.
 */
export type CacheCause =
  | 'none'
  | 'first'
  | 'epoch'
  | 'small'
  | 'model'
  | 'tools'
  | 'system'
  | 'messages'
  | 'settings'
  | 'compacted'
  | 'unknown'

export interface CacheReport {
  /** `hit`: the provider read at least what was predicted, within a tenth; `miss`: it read less. */
  readonly status: 'hit' | 'miss'
  readonly cause: CacheCause
  /** Why the epoch began, where that is the cause. */
  readonly epoch?: EpochCause
  /** By the context's count: all of the input, and with what of it the request before began too. */
  readonly predicted: { readonly input: number; readonly cached: number }
  /** By the provider's count; `written` is absent where it does not say. */
  readonly reported: { readonly input: number; readonly cached: number; readonly written?: number }
  /** The predicted share of what it reported: what it should have read, in its own tokens. */
  readonly expected: number
  /** The provider's own diagnosis, where there is one. */
  readonly diagnosis?: string
}

/**
 * A provider's reply, as little of it as is read here: of OpenAI's Chat Completions and Responses,
 * of Anthropic's Messages, or the `finish` of a {@link Model}.
 */
export interface CacheReply {
  readonly usage?: object | null
  readonly prompt_cache_diagnostics?: object | null
  readonly diagnostics?: object | null
}

const NAME = 'cacheReport'
/** Providers keep no shorter prefix. */
const LEAST = 1_024
/** Share of what is expected, and tokens, that counts and roundings may be apart. */
const APART = 0.1
const ROUNDED = 256

const CAUSES: ReadonlyMap<string | undefined, CacheCause> = new Map(
  Object.entries({
    model_changed: 'model',
    tools_changed: 'tools',
    system_changed: 'system',
    messages_changed: 'messages',
    input_changed: 'messages',
    context_compacted: 'compacted',
    prompt_cache_key_changed: 'settings',
    text_format_changed: 'settings',
    reasoning_effort_changed: 'settings',
    verbosity_changed: 'settings',
    service_tier_changed: 'settings',
  } as const),
)

/**
 * Compares what a provider says that it read from its cache with what the context shares with the
 * one before, and names the cause of what was missed. A diagnosis is in the reply where it was
 * asked for: `previousMessageId` of {@link toAnthropic}, `compareWith` of
 * {@link toOpenAIResponses}.
 *
 * @param before the context of the request before. Default: by the log, that the newest reply
 *   answered all that stands before it, in the same epoch.
 * @throws ERR_INVALID_ARGUMENT: the reply says nothing of tokens, or a count of them is none;
 *   `before` is of another session, as far as it shows
 */
export function cacheReport(context: Context, reply: CacheReply, before?: Context): CacheReport {
  checkBuilt(NAME, context)
  if (before !== undefined) checkBefore(context, before)
  const reported = reportedIn(Object(reply) as CacheReply)
  const predicted = predict(context, before ?? answered(context))
  const expected = Math.round((predicted.cached / Math.max(1, predicted.input)) * reported.input)
  const most = Math.max(expected * APART, ROUNDED)
  const diagnosis = diagnosisIn(reply)
  const said = { predicted, reported, expected, ...(diagnosis !== undefined && { diagnosis }) }
  if (reported.cached < expected - most) {
    const cause = CAUSES.get(diagnosis) ?? (expected < LEAST ? 'small' : 'unknown')
    return { status: 'miss', cause, ...said }
  }
  const { epoch } = context.receipt
  if (before && before.epoch !== context.epoch)
    return {
      status: 'hit',
      cause: 'epoch',
      ...(typeof epoch === 'object' && { epoch: epoch.cause }),
      ...said,
    }
  return { status: 'hit', cause: predicted.cached === 0 ? 'first' : 'none', ...said }
}

/** Where place and lane are the same: a fence is made from these and the session. */
function checkBefore(context: Context, before: Context): void {
  checkBuilt(NAME, before, 'before')
  const place = placeOf(context)
  if (before.lane !== context.lane || place === undefined || place !== placeOf(before)) return
  if (before.fence !== context.fence) throw invalid(NAME, 'before', 'must be of the same session')
}

/** Of its epoch in the chain of its lane. */
function placeOf({ receipt: { epoch } }: Context): number | undefined {
  return typeof epoch === 'object' ? epoch.place : undefined
}

/** What the newest reply answered; nothing, where there is none. */
function answered(context: Context): Context | undefined {
  const { blocks } = context
  const reply = blocks.findLastIndex(({ role, section }) => role === 'assistant' && section === 'window')
  return reply < 0 ? undefined : { ...context, blocks: blocks.slice(0, reply) }
}

type Fields = { readonly [key: string]: Json | undefined }

function reportedIn({ usage }: CacheReply): CacheReport['reported'] {
  const all = { ...usage } as Fields & Usage
  const { inputTokens, cachedInputTokens, cacheWriteTokens, prompt_tokens, input_tokens } = all
  const { cache_read_input_tokens, cache_creation_input_tokens } = all
  const details = (all.prompt_tokens_details ?? all.input_tokens_details ?? {}) as Fields
  const input = inputTokens ?? prompt_tokens ?? input_tokens
  if (input === undefined || input === null)
    throw invalid(NAME, 'reply.usage', 'must say what the input took')
  const written = cacheWriteTokens ?? cache_creation_input_tokens ?? details.cache_write_tokens
  const cached = cachedInputTokens ?? cache_read_input_tokens ?? details.cached_tokens
  // Anthropic counts apart what was read and written.
  const apart = countOf(cache_read_input_tokens) + countOf(cache_creation_input_tokens)
  return {
    input: countOf(input) + apart,
    cached: countOf(cached),
    ...(written !== undefined && written !== null && { written: countOf(written) }),
  }
}

/** What a provider does not say is nothing. */
function countOf(value: Json | undefined): number {
  return checkCount(NAME, 'reply.usage', value ?? 0)
}

function diagnosisIn({ prompt_cache_diagnostics: openai, diagnostics }: CacheReply): string | undefined {
  const { type, reason } = { ...openai } as Fields
  const { cache_miss_reason: missed } = { ...diagnostics } as Fields
  const { type: word } = { ...(missed as object | null) } as Fields
  const found = reason ?? type ?? word
  return typeof found === 'string' ? found : undefined
}
