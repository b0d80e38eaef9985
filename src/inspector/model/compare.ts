import type { Context } from '../../ports/context.ts'
import { commonLength } from '../../render/common-length.ts'
import { type DiffCause, type DiffTokens, diffContexts, identity } from '../../render/diff.ts'
import { explain } from '../../render/explain.ts'
import type { RequestCause } from '../../replay/causes.ts'
import type { Request } from '../../replay/request.ts'
import { diffRequests, layOut } from '../../replay/request-diff.ts'
import type { Provider } from '../../replay/transcript.ts'
import { type Excerpts, excerpts } from '../../replay/words.ts'
import { headOf } from '../../text/text.ts'

/**
 * What became of a part of a request in the next one.
 *
 * - `same`: in front of the first byte that differs.
 * - `gone`: only the first request has it.
 * - `again`: both have it, behind that byte: paid once more.
 * - `added`: only the second has it.
 */
export type Change = 'same' | 'gone' | 'again' | 'added'

export interface DiffLine {
  readonly change: Change
  /** The section and its records, or the path. */
  readonly where: string
  readonly records: readonly string[]
  /** Its beginning. */
  readonly text: string
  /** Whether the text goes on. */
  readonly cut: boolean
}

export interface Comparison {
  readonly cause: DiffCause | RequestCause
  /** Absent where the second request begins with all of the first. `byte` is counted in UTF-8. */
  readonly divergence?: { readonly byte: number; readonly index: number; readonly around: Excerpts }
  /** What the second request's tokens are paid as, where they are known. */
  readonly tokens?: DiffTokens
  /** The same in bytes, where they are not. */
  readonly bytes?: DiffTokens
  readonly lines: readonly DiffLine[]
}

/** Characters around the first byte that differs. */
const AROUND = 360
const LONGEST_LINE = 160

/** Where and why two contexts part. */
export function compareContexts(a: Context, b: Context, provider: Provider): Comparison {
  const { cause, divergence, tokens } = diffContexts(a, b, provider)
  const [first, second] = [a, b].map((context) => explain(context, provider, { cache: false })) as [
    ReturnType<typeof explain>,
    ReturnType<typeof explain>,
  ]
  const texts = [first.text, second.text] as const
  const parts = ({ text, spans }: typeof first): readonly Part[] =>
    spans.map((span) => ({
      identity: identity(text, span),
      to: span.to,
      where: span.section,
      records: span.records,
      text: text.slice(span.from, span.to),
    }))
  return {
    cause,
    ...(divergence && { divergence: placed(texts, divergence) }),
    tokens,
    lines: linesOf(parts(first), parts(second), divergence?.index ?? commonLength(...texts)),
  }
}

/** The same of two requests. */
export function compareRequests(a: Request, b: Request): Comparison {
  const { cause, divergence, bytes, texts } = diffRequests(a, b)
  const parts = (request: Request): readonly Part[] => {
    const { text, pieces } = layOut(request)
    return pieces.map(({ from, to, path, role }) => {
      const json = text.slice(text.indexOf('{', from), to).replace(/[\]}]+$/, '')
      const where = role === undefined ? path : `${path} ${role}`
      return { identity: json, to, where, records: [], text: text.slice(from, to) }
    })
  }
  return {
    cause,
    ...(divergence && { divergence: placed(texts, divergence) }),
    bytes,
    lines: linesOf(parts(a), parts(b), divergence?.index ?? commonLength(...texts)),
  }
}

interface Part {
  readonly identity: string
  readonly to: number
  readonly where: string
  readonly records: readonly string[]
  readonly text: string
}

function placed(texts: readonly [string, string], { byte, index }: { byte: number; index: number }) {
  return { byte, index, around: excerpts(texts, index, AROUND) }
}

/** What both begin with, then what the first goes on with alone, then the rest of the second. */
function linesOf(a: readonly Part[], b: readonly Part[], index: number): readonly DiffLine[] {
  const had = new Set(a.filter(({ to }) => to > index).map((part) => part.identity))
  const has = new Set(b.map((part) => part.identity))
  const same = b.filter(({ to }) => to <= index)
  const rest = b.filter(({ to }) => to > index)
  return [
    ...same.map((part) => lineOf('same', part)),
    ...a.filter(({ to, identity }) => to > index && !has.has(identity)).map((part) => lineOf('gone', part)),
    ...rest.map((part) => lineOf(had.has(part.identity) ? 'again' : 'added', part)),
  ]
}

function lineOf(change: Change, { where, records, text }: Part): DiffLine {
  return { change, where, records, text: headOf(text, LONGEST_LINE), cut: text.length > LONGEST_LINE }
}
