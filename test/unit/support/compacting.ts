import {
  type CompactEvent,
  type Context,
  charsPerToken,
  type LogRow,
  type MessageInput,
  type Model,
  type ModelEvent,
  mapStore,
  type Store,
  type SummaryMark,
} from '../../../src/index.ts'
import { type FullMemoryOptions, type FullSession, memoryWith } from '../../contract/full-memory.ts'

export const scope = { userId: 'ada', sessionId: 'trip' }

/** What summaries are asked of, and what it was asked. */
export interface Summariser extends Model {
  readonly requests: string[]
  readonly contexts: Context[]
}

/** A model that answers the nth request, from 1, with a text. */
export function summariser(
  answer: (request: string, call: number) => string | Promise<string>,
  id = 'summariser',
): Summariser {
  const requests: string[] = []
  const contexts: Context[] = []
  return {
    id,
    requests,
    contexts,
    async *complete({ context }): AsyncGenerator<ModelEvent> {
      const request = textOf(context)
      requests.push(request)
      contexts.push(context)
      const content = await answer(request, requests.length)
      yield { type: 'finish', message: { role: 'assistant', content }, reason: 'stop' }
    },
  }
}

/** One that always says the same, which passes. */
export const content = (text = 'They planned a trip.', id?: string): Summariser => summariser(() => text, id)

export type Options = Omit<FullMemoryOptions, 'store'>

/**
 * A memory of 1 000 tokens of four characters. Nothing is written ahead of need unless a test asks
 * for it.
 */
export function open(
  compaction: NonNullable<Options['compaction']>,
  options: Partial<Options> = {},
  store: Store = mapStore(),
): FullSession {
  return memoryWith(['compaction'], {
    budget: { contextWindow: 1_000, maxOutputTokens: 0, margin: 0 },
    counter: charsPerToken(4),
    clock: () => 0,
    ...options,
    compaction: { ahead: false, ...compaction },
    store,
  }).session(scope)
}

/** A sentence of some 20 tokens. */
export const filler = 'The train to the coast leaves in the morning and comes back at night. '

/** A round of some 80 tokens. */
export const round = (index: number, said = ''): MessageInput[] => [
  { id: `q${index}`, role: 'user', content: `Question ${index}. ${said} ${filler.repeat(2)}` },
  { id: `a${index}`, role: 'assistant', content: `${filler.repeat(2)} Answer ${index}.` },
]

/**
 * Appends rounds, each followed by a context, until a context shows a further summary; at most 40.
 */
export async function untilSummary(
  session: Pick<FullSession, 'append' | 'context'>,
  from = 0,
  said: (index: number) => string = () => '',
): Promise<{ readonly context: Context; readonly next: number }> {
  const before = (await session.context()).receipt.summary?.id
  for (let index = from; index < from + 40; index++) {
    await session.append(round(index, said(index)))
    const context = await session.context()
    if (context.receipt.summary && context.receipt.summary.id !== before) return { context, next: index + 1 }
  }
  throw new Error('no summary came')
}

/** All text of a context. */
export function textOf({ blocks }: Pick<Context, 'blocks'>): string {
  return blocks
    .flatMap(({ parts }) => parts.map((part) => (part.type === 'text' ? part.text : '')))
    .join('\n')
}

/** What the memory section says; empty: there is none. */
export function memoryOf({ blocks }: Pick<Context, 'blocks'>): string {
  return textOf({ blocks: blocks.filter(({ section }) => section === 'memory') })
}

/** What events say of compactions, from now on. */
export function eventsOf(session: FullSession): CompactEvent[] {
  const events: CompactEvent[] = []
  session.compaction.subscribe((event) => events.push(event))
  return events
}

/** The summaries in a store's log, lost races included. */
export async function summariesIn(store: Store): Promise<readonly (SummaryMark & { applied: boolean })[]> {
  const { rows } = await store.open(scope).entries({ kinds: ['summary'], last: 500 })
  return rows.flatMap((row: LogRow) =>
    row.body === null
      ? []
      : [{ ...(JSON.parse(row.body) as SummaryMark), id: row.id, applied: row.applied === true }],
  )
}
