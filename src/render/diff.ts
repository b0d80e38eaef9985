import type { Context } from '../ports/context.ts'
import type { Explanation, Provider, Span } from '../ports/explanation.ts'
import type { EpochCause } from '../ports/op.ts'
import { utf8Length } from '../ports/utf8-length.ts'
import { commonLength } from './common-length.ts'
import { explain } from './explain.ts'
import type { Problem } from './lint.ts'

/**
 * Why one request does not begin with another:
 *
 * - `none`: it does; it only goes on where the other one ends.
 * - `tail`: the last block changed, as it may at every call. What stands before it is the same.
 * - the cause of the epoch that the second one is in, or `preview` or `unsaved` where its receipt
 *   says so.
 * - `lane`: they were built under different settings, or by different counters.
 * - `unexplained`: the same epoch of the same lane, and yet the prefix differs: something in it
 *   depends on more than the log.
 */
export type DiffCause = 'none' | 'tail' | EpochCause | 'preview' | 'unsaved' | 'lane' | 'unexplained'

export interface Divergence {
  /** First byte of the second request's JSON (UTF-8) that is not in the first one. */
  readonly byte: number
  /** The same place in UTF-16 units. */
  readonly index: number
  /** What stands there in the first request, and in the second. */
  readonly before: Span
  readonly after: Span
}

/**
 * What became of the second request's tokens. They add up to its receipt's `used`, what it was not
 * given aside.
 */
export interface DiffTokens {
  /** In front of the first difference: what a provider's cache still holds. */
  readonly shared: number
  /** Behind it although the first request had them too, shown in the same way: paid once more. */
  readonly rebilled: number
  /** New in the second request, or shown in another way. */
  readonly added: number
}

export interface ContextDiff {
  readonly provider: Provider
  readonly cause: DiffCause
  /** `undefined` with cause `none`. */
  readonly divergence?: Divergence
  readonly tokens: DiffTokens
}

/**
 * Says where the request of `b` stops repeating that of `a`, why, and what that costs: an offline
 * account of a prompt cache's miss. Cache marks do not count as differences; neither does where a
 * list ends that the other one goes on with.
 *
 * @param provider whose requests are compared. @default 'openai'
 * @example
 * ```ts
 * import { diffContexts } from 'plimsoll'
 *
 * const before = await session.context()
 * await session.append({ role: 'user', content: 'And where do we change?' })
 * const { cause, tokens } = diffContexts(before, await session.context())
 * ```
 */
export function diffContexts(a: Context, b: Context, provider: Provider = 'openai'): ContextDiff {
  const first = explain(a, provider, { cache: false })
  const second = explain(b, provider, { cache: false })
  const index = firstDifference(first.text, second.text)
  const tokens = billed(first, second, index ?? commonLength(first.text, second.text))
  if (index === undefined) return { provider, cause: 'none', tokens }
  const divergence: Divergence = {
    byte: utf8Length(second.text.slice(0, index)),
    index,
    before: spanAt(first.spans, index),
    after: spanAt(second.spans, index),
  }
  return { provider, cause: causeOf(a, b, divergence), divergence, tokens }
}

/**
 * Checks that a context depends on nothing but the log: build it twice from the same log (messages
 * of the same ids), under another clock and another `newId`, and give both here. A byte before the
 * tail that differs is a problem, since it would break the prompt cache at every call. That the
 * second goes on where the first ends is none.
 *
 * @returns no problem, or one of rule `unstable-prefix` that names the byte, the section and the
 * records there.
 */
export function lintPrefix(a: Context, b: Context, provider: Provider = 'openai'): Problem[] {
  const { cause, divergence } = diffContexts(a, b, provider)
  if (!divergence || cause === 'tail') return []
  const { byte, after } = divergence
  const { section, records } = after
  const from = records.length === 0 ? '' : ` (${records.join(', ')})`
  return [
    {
      rule: 'unstable-prefix',
      path: section,
      message: `two builds of one context differ at byte ${byte}, in ${section}${from}`,
    },
  ]
}

function causeOf(a: Context, b: Context, { before }: Divergence): DiffCause {
  if (a.lane !== b.lane) return 'lane'
  if (before.section === 'tail') return 'tail'
  if (a.epoch === b.epoch) return 'unexplained'
  const { epoch } = b.receipt
  return typeof epoch === 'string' ? epoch : epoch.cause
}

/**
 * Where `b`, as JSON, first differs from `a`; `undefined` if it repeats all of `a` but the brackets
 * that close it.
 */
export function firstDifference(a: string, b: string): number | undefined {
  const index = commonLength(a, b)
  let open = a.length
  while (a[open - 1] === ']' || a[open - 1] === '}') open--
  if (index >= open) return undefined
  // Half of a character that two units make.
  const unit = b.charCodeAt(index)
  return unit >= 0xdc00 && unit <= 0xdfff ? index - 1 : index
}

/** Both requests go on where they differ: no JSON object is the beginning of another one. */
function spanAt(spans: readonly Span[], index: number): Span {
  return spans.find(({ to }) => index < to) as Span
}

function billed(a: Explanation, b: Explanation, index: number): DiffTokens {
  const behind = new Set(a.spans.filter(({ to }) => to > index).map((span) => identity(a.text, span)))
  let shared = 0
  let rebilled = 0
  let added = 0
  for (const span of b.spans) {
    const { from, to, tokens, section } = span
    // Of what the difference falls into, the share of its characters that stand before it.
    const before = Math.floor((tokens * Math.min(Math.max(index - from, 0), to - from)) / (to - from))
    shared += before
    if (section !== 'tail' && behind.has(identity(b.text, span))) rebilled += tokens - before
    else added += tokens - before
  }
  return { shared, rebilled, added }
}

/** What a span shows, without the list that it may open and the brackets that it may close. */
export function identity(text: string, { from, to, section, rule }: Span): string {
  let end = to
  while (text[end - 1] === ']' || text[end - 1] === '}') end--
  return `${section} ${rule} ${text.slice(text.indexOf('{', from), end)}`
}
