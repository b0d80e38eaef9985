import { OUTPUT } from '../features/compaction/price.ts'
import type { Block, Context, SectionName } from '../ports/context.ts'
import type { EpochCause } from '../ports/op.ts'
import type { RequestCause } from './causes.ts'
import { costOf } from './cost.ts'
import type { Line, LineCall } from './optimum.ts'
import type { Choice } from './policy.ts'
import { lint, type Piece, piecesOf, type Request, sharedBytes } from './request.ts'
import { diffRequests } from './request-diff.ts'
import { addSummaries, NO_SUMMARIES, type SummaryFigures } from './summaries.ts'
import type { Provider } from './transcript.ts'
import { type Excerpts, excerpts } from './words.ts'

/** Figures of one policy over all calls. Shares are `null` when there was nothing to share. */
export interface Figures {
  /** Refused ones included. */
  readonly calls: number
  readonly refused: number
  readonly meanTokens: number
  readonly maxTokens: number
  /** Calls with more tokens than the cap. */
  readonly overCap: number
  readonly lintErrors: number
  readonly lintErrorsByRule: { readonly [rule: string]: number }
  /** Share of the input tokens that repeat the beginning of the conversation's previous request. */
  readonly prefixShare: number | null
  /** Mean tokens a call, cached ones at 0.1 and fresh ones at 1.25. */
  readonly costPerCall: number
  /** Messages that were neither shown nor summarised, summed over the calls. */
  readonly omitted: number
  /** Messages that a summary stood for, summed over the calls. */
  readonly covered: number
  /** Items that were shown capped, summed over the calls. */
  readonly capped: number
  readonly epochs: { readonly [cause: string]: number }
  /** Only where it was asked for, and a call was built. */
  readonly optimum?: {
    /** Tokens of window that it holds at each call, or as many as the policy showed if fewer. */
    readonly floor: number
    /** Least mean cost a call of a window that knows the recording to its end. */
    readonly costPerCall: number
    /**
     * Cost of the policy over that of the optimum. Both count tokens of whole blocks, while the
     * other costs take the share of bytes that repeats.
     */
    readonly ratio: number
    /** Calls at which the policy showed fewer tokens than the floor though there were more. */
    readonly below: number
  }
  /**
   * Of the identifiers that the reply uses and the conversation held before: the share that the
   * request holds.
   */
  readonly retainedShare: number | null
  /** Only where summaries were written. */
  readonly summaries?: SummaryFigures & {
    /**
     * Mean tokens a call as `costPerCall`, with the input of all summary calls at the same prices
     * and their output at 5.
     */
    readonly costPerCall: number
  }
}

/** One call, small enough to keep thousands of them for drawing. */
export interface CallFigures {
  readonly tokens: number
  /** In the order of the request. */
  readonly sections: readonly { readonly name: SectionName | 'tools'; readonly tokens: number }[]
  /** Tokens at the beginning that repeat the previous request. */
  readonly hit: number
  /** The same in whole blocks, as the optimum counts; only where that was asked for. */
  readonly repeated?: number
  /** When the epoch is a new one. */
  readonly cause?: EpochCause
}

/**
 * Where a request first stopped repeating the one before it: from there on a provider's cache holds
 * nothing.
 */
export interface CacheBreak {
  readonly conversation: string
  /** Number of the call in its conversation, from 0. */
  readonly call: number
  /**
   * First byte (UTF-8) of its tools, system text and messages, as JSON, that is not in the request
   * before.
   */
  readonly byte: number
  /** What stands there: `tools`, `system` or `messages[3]`. */
  readonly path: string
  readonly cause: RequestCause
  /** The text around: what both share, then what the request before goes on with, and this one. */
  readonly around: Excerpts
}

/** Characters around a break. */
const AROUND = 240

/** Adds up what one policy did. */
export class Tally {
  /** Calls whose request did not begin with all of the one before it. */
  breaks = 0
  firstBreak: CacheBreak | undefined
  #refused = 0
  #built = 0
  #tokens = 0
  #hit = 0
  #max = 0
  #over = 0
  #omitted = 0
  #covered = 0
  #capped = 0
  #wanted = 0
  #retained = 0
  readonly #rules: Counts = {}
  readonly #epochs: Counts = {}
  /** Cost of the optimum of the conversations before this one. */
  #least = 0
  /** Cost so far by whole blocks, as the optimum counts. */
  #cost = 0
  #blocks: readonly Block[] = []
  #below = 0
  #line: Line | undefined
  #calls: LineCall[] = []
  #floor = 0
  #previous: readonly Piece[] = []
  #request: Request | undefined
  #conversation = ''
  #call = 0
  #epoch = ''
  readonly #summaries: (() => SummaryFigures | undefined)[] = []

  /**
   * A new conversation has no previous request. `summaries` tells what its summaries took, whenever
   * it is asked; `line` is what its calls are compared with.
   */
  startConversation(
    id: string,
    summaries: () => SummaryFigures | undefined = () => undefined,
    line?: Line,
  ): void {
    this.#least += this.#leastNow()
    this.#line = line
    this.#calls = []
    this.#blocks = []
    this.#summaries.push(summaries)
    this.#conversation = id
    this.#call = 0
    this.#previous = []
    this.#request = undefined
    this.#epoch = ''
  }

  refuse(): void {
    this.#call++
    this.#refused++
  }

  /**
   * Contract: calls of a conversation come in order. `wanted` is what the reply is going to quote.
   */
  add(
    { context, tokens, omitted, covered, capped, epoch }: Choice,
    request: Request,
    { provider, cap, wanted }: { provider: Provider; cap: number; wanted: readonly string[] },
  ): CallFigures {
    const pieces = piecesOf(request, this.#previous)
    const bytes = pieces.reduce((total, piece) => total + piece.bytes, 0)
    const shared = sharedBytes(this.#previous, pieces)
    const hit = (shared / bytes) * tokens
    const cause = epoch && epoch.id !== this.#epoch ? epoch.cause : undefined
    if (shared < this.#previous.reduce((total, piece) => total + piece.bytes, 0)) this.#break(request, cause)
    this.#previous = pieces
    this.#request = request
    this.#call++
    this.#epoch = epoch?.id ?? this.#epoch
    this.#built++
    this.#tokens += tokens
    this.#hit += hit
    this.#max = Math.max(this.#max, tokens)
    this.#over += tokens > cap ? 1 : 0
    this.#omitted += omitted
    this.#covered += covered
    this.#capped += capped
    this.#wanted += wanted.length
    this.#retained += wanted.filter((word) => pieces.some(({ text }) => text.includes(word))).length
    const repeated = this.#measure(context, tokens)
    for (const { rule } of lint(request, provider)) count(this.#rules, rule)
    if (cause) count(this.#epochs, cause)
    return {
      tokens,
      sections: sectionsOf(context, tokens),
      hit,
      ...(repeated !== undefined && { repeated }),
      ...(cause && { cause }),
    }
  }

  #leastNow(): number {
    return this.#line && this.#calls.length > 0 ? this.#line.cost(this.#calls) : 0
  }

  /** @returns tokens of whole blocks that repeat the request before */
  #measure({ blocks }: Context, tokens: number): number | undefined {
    if (!this.#line) return undefined
    const before = this.#blocks
    const changed = blocks.findIndex((block, index) => !isSame(block, before[index]))
    const rest = blocks.slice(changed < 0 ? blocks.length : changed)
    const hit = before.length === 0 ? 0 : tokens - rest.reduce((sum, block) => sum + block.tokens, 0)
    this.#cost += costOf(tokens, hit)
    this.#blocks = blocks
    const tokensOf = (name: SectionName): number =>
      blocks.reduce((sum, { section, tokens }) => (section === name ? sum + tokens : sum), 0)
    const shown = tokensOf('window')
    this.#floor = this.#line.floor
    this.#below += shown < this.#line.leastOf(this.#floor) ? 1 : 0
    this.#calls.push({ end: this.#line.length, shown, tail: tokensOf('tail') })
    return hit
  }

  #optimum(): Pick<Figures, 'optimum'> {
    const least = this.#least + this.#leastNow()
    if (least === 0) return {}
    const ratio = Math.round((this.#cost / least) * 1_000) / 1_000
    const costPerCall = mean(least, this.#built)
    return { optimum: { floor: this.#floor, costPerCall, ratio, below: this.#below } }
  }

  #break(request: Request, epoch: EpochCause | undefined): void {
    this.breaks++
    if (this.firstBreak || !this.#request) return
    const { divergence, cause, texts } = diffRequests(this.#request, request)
    if (!divergence) return
    const { byte, index, after } = divergence
    this.firstBreak = {
      conversation: this.#conversation,
      call: this.#call,
      byte,
      path: after.path,
      cause: epoch ?? cause,
      around: excerpts(texts, index, AROUND),
    }
  }

  figures(): Figures {
    const taken = this.#summaries.flatMap((summaries) => summaries() ?? [])
    const summaries = taken.reduce(addSummaries, NO_SUMMARIES)
    const cost = costOf(this.#tokens, this.#hit)
    return {
      calls: this.#built + this.#refused,
      refused: this.#refused,
      meanTokens: mean(this.#tokens, this.#built),
      maxTokens: this.#max,
      overCap: this.#over,
      lintErrors: Object.values(this.#rules).reduce((total, errors) => total + errors, 0),
      lintErrorsByRule: this.#rules,
      prefixShare: share(this.#hit, this.#tokens),
      costPerCall: mean(cost, this.#built),
      omitted: this.#omitted,
      covered: this.#covered,
      capped: this.#capped,
      epochs: this.#epochs,
      ...this.#optimum(),
      retainedShare: share(this.#retained, this.#wanted),
      ...(taken.length > 0 && {
        summaries: { ...summaries, costPerCall: mean(cost + costOfSummaries(summaries), this.#built) },
      }),
    }
  }
}

function costOfSummaries({ inputTokens, cachedTokens, outputTokens }: SummaryFigures): number {
  return costOf(inputTokens, cachedTokens) + OUTPUT * outputTokens
}

function isSame(one: Block, other: Block | undefined): boolean {
  if (one === other) return true
  return one.role === other?.role && JSON.stringify(one.parts) === JSON.stringify(other.parts)
}

type Counts = { [name: string]: number }

function count(counts: Counts, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1
}

function mean(sum: number, calls: number): number {
  return calls === 0 ? 0 : Math.round(sum / calls)
}

/** Four decimals: finer differences are noise. */
function share(part: number, all: number): number | null {
  return all === 0 ? null : Math.round((part / all) * 10_000) / 10_000
}

/** Tokens by section; what no block holds is the tools' and the request's own framing. */
function sectionsOf(context: Context, tokens: number): CallFigures['sections'] {
  const held = new Map<SectionName, number>()
  for (const block of context.blocks) held.set(block.section, (held.get(block.section) ?? 0) + block.tokens)
  const rest = [...held.values()].reduce((left, section) => left - section, tokens)
  const sections = [...held].map(([name, section]) => ({ name, tokens: section }))
  return context.tools?.length ? [{ name: 'tools' as const, tokens: rest }, ...sections] : sections
}
