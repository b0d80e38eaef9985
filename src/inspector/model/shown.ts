import type { Context, OmitReason, Receipt, Rule, SectionName } from '../../ports/context.ts'
import type { Counter } from '../../ports/counter.ts'
import type { Trust } from '../../ports/message.ts'
import { utf8Length } from '../../ports/utf8-length.ts'
import { explain } from '../../render/explain.ts'
import { layOut, type RequestPiece } from '../../replay/request-diff.ts'
import type { RequestLine } from '../../replay/request-line.ts'
import type { Provider } from '../../replay/transcript.ts'

/** In the order of a request. `request` is what the format itself costs. */
export const SECTIONS = ['tools', 'system', 'memory', 'window', 'tail', 'request'] as const
export type Section = SectionName | 'tools' | 'request'

/** A part of the bar. */
export interface Segment {
  readonly section: Section
  readonly tokens: number
}

/** A stretch of the request's text, and what put it there. */
export interface Stretch {
  readonly section: Section
  /** Where it stands in {@link Shown.text}, in UTF-16 units. */
  readonly from: number
  readonly to: number
  readonly tokens: number
  /** Unknown where only the request is known. */
  readonly rule?: Rule | 'tools' | 'request'
  readonly records: readonly string[]
  readonly trust?: Trust
  /** `messages[3]`, where only the request is known. */
  readonly path?: string
  readonly role?: string
}

/**
 * Something that is not in the request, or shorter than it is: messages by the reason that the
 * receipt gives, messages that a summary stands for, items that are shown cut, and what is counted
 * though this provider is not given it.
 */
export interface LeftOut {
  readonly reason: OmitReason | 'summarised' | 'shortened' | 'unrendered'
  readonly count: number
  /** The first and the last of them, by id, where they follow one another. */
  readonly from?: string
  readonly to?: string
  /** The first five of them, by id or name, where they do not. */
  readonly first?: readonly string[]
  /** Where it is known. */
  readonly tokens?: number
}

/** One call, as it is shown. */
export interface Shown {
  readonly provider: Provider
  /** The request as JSON. */
  readonly text: string
  /** In order, without gaps. */
  readonly stretches: readonly Stretch[]
  /** Their tokens add up to `used`. */
  readonly segments: readonly Segment[]
  readonly used: number
  /** The line; absent where it is not known. */
  readonly cap?: number
  readonly receipt?: Receipt
  /** The least that it could have been cut to; like `used`, without the margin. */
  readonly floor?: number
  readonly leftOut: readonly LeftOut[]
  /** Whether the tokens of the parts are only shares of a sum, by their bytes. */
  readonly shared: boolean
}

/** A context, explained. */
export function showContext(context: Context, provider: Provider): Shown {
  const { receipt } = context
  const { text, spans, unrendered } = explain(context, provider)
  return {
    provider,
    text,
    stretches: spans,
    segments: segmentsOf([...spans, ...unrendered]),
    used: receipt.used,
    ...(receipt.cap !== null && { cap: receipt.cap }),
    receipt,
    floor: receipt.floor - receipt.margin,
    leftOut: [
      ...leftOutOf(receipt),
      ...unrendered.map(
        ({ records, tokens }): LeftOut => ({ reason: 'unrendered', count: 1, tokens, first: records }),
      ),
    ],
    shared: false,
  }
}

/** A request of which nothing but itself is known, and what its line says beside it. */
export function showRequest(line: RequestLine, counter: Counter): Shown {
  const { request, provider = 'openai', cap } = line
  const { text, pieces } = layOut(request)
  const texts = pieces.map(({ from, to }) => text.slice(from, to))
  const shared = line.used !== undefined
  const used = line.used ?? 0
  const tokens = shared ? portions(used, texts.map(utf8Length)) : texts.map((piece) => counter.count(piece))
  const stretches = pieces.map((piece, index): Stretch => {
    const { from, to, path, role } = piece
    const section = sectionOf(piece)
    return { section, from, to, path, ...(role && { role }), tokens: tokens[index] ?? 0, records: [] }
  })
  return {
    provider,
    text,
    stretches,
    segments: segmentsOf(stretches),
    used: sum(tokens),
    ...(cap !== undefined && { cap }),
    leftOut: [],
    shared,
  }
}

function sectionOf({ path, role }: RequestPiece): Section {
  if (path === 'tools' || path === 'system') return path
  return role === 'system' || role === 'developer' ? 'system' : 'window'
}

/**
 * A whole number as whole parts in proportion to weights, which add up to it: the largest
 * remainders get what rounding leaves.
 */
export function portions(whole: number, weights: readonly number[]): readonly number[] {
  const all = sum(weights)
  if (all === 0) return weights.map((_, index) => (index === 0 ? whole : 0))
  const exact = weights.map((weight) => (whole * weight) / all)
  const parts = exact.map(Math.floor)
  const byRemainder = exact
    .map((value, index) => ({ index, rest: value - Math.floor(value) }))
    .sort((one, other) => other.rest - one.rest)
  for (const { index } of byRemainder.slice(0, whole - sum(parts))) parts[index] = (parts[index] ?? 0) + 1
  return parts
}

function segmentsOf(sources: readonly Pick<Stretch, 'section' | 'tokens'>[]): readonly Segment[] {
  return SECTIONS.map((section) => ({
    section,
    tokens: sum(sources.map((source) => (source.section === section ? source.tokens : 0))),
  })).filter(({ tokens }) => tokens > 0)
}

function leftOutOf({ omitted, summary, sections, remembered = [] }: Receipt): readonly LeftOut[] {
  const covered = summary?.covers ?? []
  return [
    ...omitted,
    ...covered.map((range): LeftOut => ({ reason: 'summarised', ...range })),
    ...[...sections, ...remembered].flatMap(({ overflow }): readonly LeftOut[] =>
      overflow.count === 0 ? [] : [{ reason: 'shortened', ...overflow }],
    ),
  ]
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
