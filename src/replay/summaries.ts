import type { Ask, CompactionOptions } from '../features/compaction/compaction-options.ts'
import { predict } from '../kernel/context/predict.ts'
import { markIn } from '../kernel/log/bodies.ts'
import { textOf } from '../kernel/log/message.ts'
import type { Context } from '../ports/context.ts'
import type { Counter } from '../ports/counter.ts'
import type { Model } from '../ports/model.ts'
import type { ScopeStore } from '../ports/store.ts'
import { extractive } from './extractive.ts'

/** What the summaries of a conversation took, and who wrote them. Tokens are the counter's. */
export interface SummaryFigures {
  /** Calls of the model, refused attempts included. */
  readonly calls: number
  /** Calls whose text failed the acceptance test. */
  readonly refused: number
  readonly inputTokens: number
  /** Of these, with which the agent's request before began too. */
  readonly cachedTokens: number
  readonly outputTokens: number
  /** Summaries with the model's own text, and with the deterministic extract in its place. */
  readonly byModel: number
  readonly byExtract: number
  /** Epochs that needed a summary and had to do without. */
  readonly without: number
}

export const NO_SUMMARIES: SummaryFigures = {
  calls: 0,
  refused: 0,
  inputTokens: 0,
  cachedTokens: 0,
  outputTokens: 0,
  byModel: 0,
  byExtract: 0,
  without: 0,
}

/**
 * Summaries by that model, each awaited by the context that needs it, so that the same recording
 * gives the same bytes.
 */
export function compactionBy(model: Model, ask: Ask = 'continuation'): CompactionOptions {
  // A recording does not say how long it took, so no hour ends in it.
  return { model, ask, ahead: false, tokensPerHour: Number.POSITIVE_INFINITY }
}

/**
 * Has the summaries of one conversation written by a model, else by the stand-in for one, and
 * counts what they take.
 */
export class Summariser {
  readonly compaction: CompactionOptions
  readonly #log: ScopeStore
  readonly #model: string
  #figures = NO_SUMMARIES
  /** Calls of the model that were looked into. */
  #settled = 0

  /** What the agent was given last. */
  #sent: Context | undefined

  /** @param log where the conversation's summaries are written */
  constructor(counter: Counter, log: ScopeStore, ask?: Ask, model: Model = extractive) {
    this.#log = log
    this.#model = model.id
    const heard = (tokens: Partial<SummaryFigures>): void => this.#add(tokens)
    const asked = (context: Context): void => {
      const { input, cached } = predict(context, this.#sent)
      heard({ calls: 1, inputTokens: input, cachedTokens: cached })
    }
    const counted: Model = {
      id: model.id,
      async *complete(request) {
        asked(request.context)
        for await (const event of model.complete(request)) {
          if (event.type === 'finish') heard({ outputTokens: counter.count(textOf(event.message)) })
          yield event
        }
      },
    }
    this.compaction = compactionBy(counted, ask)
  }

  /** Contract: called with each context that the agent is given, in order. */
  sent(context: Context): void {
    this.#sent = context
  }

  get figures(): SummaryFigures {
    return this.#figures
  }

  /** An epoch had to do without a summary. */
  without(): void {
    this.#add({ without: 1 })
  }

  /**
   * Contract: called after each context, before the next one. Looks who wrote its summary, if there
   * is a new one.
   */
  async settle(): Promise<void> {
    const calls = this.#figures.calls - this.#settled
    if (calls === 0) return
    this.#settled = this.#figures.calls
    const { rows } = await this.#log.entries({ kinds: ['summary'], last: 1 })
    const mark = rows[0] && markIn(rows[0])
    const accepted = mark?.type === 'summary' && mark.by === this.#model
    this.#add(accepted ? { byModel: 1, refused: calls - 1 } : { byExtract: 1, refused: calls })
  }

  #add(more: Partial<SummaryFigures>): void {
    this.#figures = addSummaries(this.#figures, { ...NO_SUMMARIES, ...more })
  }
}

export function addSummaries(one: SummaryFigures, other: SummaryFigures): SummaryFigures {
  return {
    calls: one.calls + other.calls,
    refused: one.refused + other.refused,
    inputTokens: one.inputTokens + other.inputTokens,
    cachedTokens: one.cachedTokens + other.cachedTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    byModel: one.byModel + other.byModel,
    byExtract: one.byExtract + other.byExtract,
    without: one.without + other.without,
  }
}
