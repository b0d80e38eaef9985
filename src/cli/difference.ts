import type { Span } from '../ports/explanation.ts'
import type { DiffCause, DiffTokens } from '../render/diff.ts'
import { PARTING, type RequestCause, shortIds } from '../replay/causes.ts'
import { costOf } from '../replay/cost.ts'
import type { Epoch } from '../replay/policy.ts'
import type { RequestPiece } from '../replay/request-diff.ts'
import type { Provider } from '../replay/transcript.ts'
import { excerpts, grouped, percent, visible } from '../replay/words.ts'
import type { Pair } from './arguments.ts'
import { align } from './columns.ts'

/** What stands at a place: known by its source where there is a context, else by its path. */
type Place = Span | RequestPiece

/** Where two requests part, and what is paid for the second. */
export interface Difference {
  /** What was compared: calls of a conversation, or lines of a file. */
  readonly where: { readonly conversation: string; readonly calls: Pair } | { readonly lines: Pair }
  readonly provider?: Provider
  readonly cause: DiffCause | RequestCause
  /** Where both are known. */
  readonly epochs?: readonly [Epoch, Epoch]
  /** Absent where the second begins with the first. */
  readonly divergence?: {
    readonly byte: number
    readonly index: number
    readonly before: Place
    readonly after: Place
  }
  readonly paid: Paid
  /** Both requests, as they were compared. */
  readonly texts: readonly [string, string]
}

/**
 * What becomes of the second request: its tokens where they are known, its bytes where only the
 * requests are.
 */
export type Paid =
  | { readonly tokens: DiffTokens; readonly bytes?: DiffTokens }
  | { readonly tokens?: undefined; readonly bytes: DiffTokens }

const COLUMNS = 120
const SHORTEST = 40
/** Stands where the texts part. */
const MARK = '▸'
/** Columns of the mark, of the ellipses and in front of them. */
const FRAME = 5

/** One JSON object: the difference, the texts around it, the costs; not the whole texts. */
export function differenceJson(difference: Difference): string {
  const { where, provider, cause, epochs, divergence, paid, texts } = difference
  const around = divergence && excerpts(texts, divergence.index, COLUMNS)
  return `${JSON.stringify({
    ...where,
    provider,
    cause,
    epochs,
    divergence: divergence && { ...divergence, around },
    tokens: paid.tokens,
    cost: paid.tokens && costsOf(paid.tokens),
    bytes: paid.bytes,
  })}\n`
}

export function differenceText(difference: Difference, columns: number = COLUMNS): string {
  const { where, provider, cause, epochs, divergence } = difference
  const [name, numbers] =
    'calls' in where ? [visible(where.conversation), where.calls] : ['line ', where.lines]
  const signs = numbers.map((number) => ('calls' in where ? `#${number}` : `${number}`))
  return [
    `${name}${signs.join(' -> ')}${provider ? ` for ${provider}` : ''}\n`,
    epochs ? `epoch ${epochs.map((epoch) => `${epoch.place} (${epoch.cause})`).join(' -> ')}\n` : '',
    divergence
      ? `they part at byte ${grouped(divergence.byte)}, character ${grouped(divergence.index)}\n${cause}: `
      : 'same: ',
    `${PARTING[cause]}\n`,
    divergence ? `\n${bothSides(signs, divergence, difference.texts, columns)}` : '',
    `\n${bill(difference.paid)}`,
  ].join('')
}

/** What stands there on both sides, the texts one below the other. */
function bothSides(
  signs: readonly string[],
  { index, before, after }: NonNullable<Difference['divergence']>,
  texts: Difference['texts'],
  columns: number,
): string {
  const rows = align(
    [before, after].map((place, side) => [`  ${signs[side]}`, ...wordsOf(place)]),
    [],
  )
  const { shared, ...behind } = excerpts(
    texts,
    index,
    Math.max(SHORTEST, columns - (rows[0]?.length ?? 0) - FRAME),
  )
  const opening = shared.length < index ? '…' : ''
  return [behind.before, behind.after]
    .map((text, side) => {
      const closing = index + text.length < (texts[side]?.length ?? 0) ? '…' : ''
      return `${rows[side]}  ${opening}${visible(shared)}${MARK}${visible(text)}${closing}\n`
    })
    .join('')
}

function wordsOf(place: Place): readonly string[] {
  if ('path' in place) return [place.path, place.role ?? '']
  return [place.section, place.rule, shortIds(place.records)]
}

/** Tokens and what they cost, else bytes. */
function bill(paid: Paid): string {
  const { tokens } = paid
  const shares = paid.tokens ? paid.tokens : paid.bytes
  const sum = shares.shared + shares.rebilled + shares.added
  const costs = costsOf(shares)
  const row = (name: string, part: number, cost: number): readonly string[] => [
    name,
    grouped(part),
    percent(sum === 0 ? 0 : part / sum),
    ...(tokens ? [grouped(cost)] : []),
  ]
  const rows = [
    ['', tokens ? 'tokens' : 'bytes', 'share', ...(tokens ? ['cost'] : [])],
    row('shared', shares.shared, costs.shared),
    row('re-billed', shares.rebilled, costs.rebilled),
    row('added', shares.added, costs.added),
    row('sum', sum, costs.shared + costs.rebilled + costs.added),
  ]
  return align(rows, [1, 2, 3])
    .map((line) => `${line}\n`)
    .join('')
}

function costsOf({ shared, rebilled, added }: DiffTokens): DiffTokens {
  return { shared: costOf(shared, shared), rebilled: costOf(rebilled, 0), added: costOf(added, 0) }
}
