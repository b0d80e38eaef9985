import type { Context } from '../../ports/context.ts'
import type { Counter } from '../../ports/counter.ts'
import { isPlimsollError } from '../../ports/errors.ts'
import { type CallFigures, Tally } from '../../replay/figures.ts'
import type { Choice, Epoch } from '../../replay/policy.ts'
import {
  contextsOf,
  type GivenContext,
  type RacedCall,
  type Racer,
  type RaceSettings,
} from '../../replay/race.ts'
import { newTallies, type Outcome, type Outcomes, replay } from '../../replay/replay.ts'
import { type Piece, piecesOf, render, sharedBytes } from '../../replay/request.ts'
import type { RequestLine } from '../../replay/request-line.ts'
import { conversationOf, textOf } from '../../replay/transcript.ts'
import { type Comparison, compareContexts, compareRequests } from './compare.ts'
import type { LoggedConversation } from './log.ts'
import { type Shown, showContext, showRequest } from './shown.ts'
import type { InspectorSource, SourceContext } from './source.ts'

/** One call, and what is known of how policies fared: of a file of requests, only of one. */
export interface InspectedCall extends Omit<RacedCall, 'outcomes'> {
  readonly outcomes: Partial<Outcomes<Racer>>
}

/** One call, and whether its context was checked. */
export interface Detail {
  readonly shown: Shown
  readonly epoch?: Epoch
  /** See `SourceContext`. */
  readonly verified?: boolean
  readonly reason?: SourceContext['reason']
  readonly tail?: SourceContext['tail']
}

/** The calls of one conversation, of a file or of a session, whichever it is. */
export interface Inspection {
  readonly calls: readonly InspectedCall[]
  /** The line of the first call that knows it, in tokens. */
  readonly cap: number | undefined
  /** What a call was given, by its place in `calls`; nothing where it was refused. */
  detail(index: number): Promise<Detail | undefined>
  /** Where and why two calls part; nothing where one was refused. */
  compare(before: number, after: number): Promise<Comparison | undefined>
}

/**
 * A conversation of a log that raced. Contexts are built again when the first of them is asked for,
 * and kept.
 */
export function conversationInspection(
  { conversation }: LoggedConversation,
  calls: readonly InspectedCall[],
  settings: RaceSettings,
): Inspection {
  let built: Promise<readonly (GivenContext | undefined)[]> | undefined
  const contextAt = async (index: number): Promise<GivenContext | undefined> => {
    built ??= contextsOf(conversation, settings).catch((error: unknown) => {
      built = undefined
      throw error
    })
    return (await built)[index]
  }
  return {
    calls,
    cap: settings.budget,
    detail: async (index) => {
      const given = await contextAt(index)
      return (
        given && {
          shown: showContext(given.context, conversation.format),
          ...(given.epoch && { epoch: given.epoch }),
        }
      )
    },
    compare: async (before, after) => {
      const [a, b] = [await contextAt(before), await contextAt(after)]
      return a && b && compareContexts(a.context, b.context, conversation.format)
    },
  }
}

/** A file of requests, as it is: nothing is known but what stands in it. */
export async function requestsInspection(
  lines: readonly RequestLine[],
  counter: Counter,
  pause: () => Promise<void>,
): Promise<Inspection> {
  const calls: InspectedCall[] = []
  let before: { readonly pieces: readonly Piece[]; readonly conversation?: string } = { pieces: [] }
  let epoch = ''
  for (const [number, line] of lines.entries()) {
    await pause()
    const { used, segments } = showRequest(line, counter)
    const previous = before.conversation === line.conversation ? before.pieces : []
    const pieces = piecesOf(line.request, previous)
    const bytes = pieces.reduce((sum, piece) => sum + piece.bytes, 0)
    const cause = line.epoch && line.epoch.id !== epoch ? line.epoch.cause : undefined
    epoch = line.epoch?.id ?? epoch
    const figures: CallFigures = {
      tokens: used,
      hit: bytes === 0 ? 0 : (sharedBytes(previous, pieces) / bytes) * used,
      sections: segments.flatMap(({ section, tokens }) =>
        section === 'request' ? [] : [{ name: section, tokens }],
      ),
      ...(cause && { cause }),
    }
    const answers = [line.conversation, line.call === undefined ? undefined : `#${line.call}`]
    calls.push({ number, answers: answers.filter(Boolean).join(' '), outcomes: { plimsoll: figures } })
    before = { pieces, ...(line.conversation !== undefined && { conversation: line.conversation }) }
  }
  return {
    calls,
    cap: lines.find(({ cap }) => cap !== undefined)?.cap,
    detail: async (index) => {
      const line = lines[index]
      return line && { shown: showRequest(line, counter), ...(line.epoch && { epoch: line.epoch }) }
    },
    compare: async (before, after) => {
      const [a, b] = [lines[before], lines[after]]
      return a && b && compareRequests(a.request, b.request)
    },
  }
}

/**
 * A live session: its own contexts, and beside them what other policies would have given, by the
 * counter that is given here.
 */
export async function sourceInspection(
  source: InspectorSource,
  counter: Counter,
  pause: () => Promise<void>,
): Promise<Inspection> {
  const { provider = 'openai' } = source
  const contexts: (SourceContext | undefined)[] = []
  const calls: InspectedCall[] = []
  const tally = new Tally()
  tally.startConversation(source.name)
  for (const [number, { id, next }] of (await source.calls()).entries()) {
    await pause()
    const found = await contextOf(source, id)
    contexts.push('context' in found ? found : undefined)
    const outcome: Outcome =
      'context' in found
        ? tally.add(choiceOf(found.context), render(found.context, provider), {
            provider,
            cap: found.context.receipt.cap ?? Number.POSITIVE_INFINITY,
            wanted: [],
          })
        : found
    calls.push({ number, answers: next ? NEXT : '', outcomes: { plimsoll: outcome } })
  }
  const cap = contexts.find((found) => found)?.context.receipt.cap ?? undefined
  const made = contexts.filter((_, index) => calls[index]?.answers !== NEXT)
  const newest = (made.findLast(Boolean) ?? contexts.findLast(Boolean))?.context
  await addOthers(source, calls, { budget: cap ?? Number.POSITIVE_INFINITY, counter, pause }, newest)
  return {
    calls,
    cap,
    detail: async (index) => {
      const found = contexts[index]
      if (!found) return undefined
      const { context, ...checked } = found
      const { epoch } = context.receipt
      return {
        shown: showContext(context, provider),
        ...checked,
        ...(typeof epoch === 'object' && { epoch }),
      }
    },
    compare: async (before, after) => {
      const [a, b] = [contexts[before], contexts[after]]
      return a && b && compareContexts(a.context, b.context, provider)
    },
  }
}

/** What a call answers that is still to come. */
export const NEXT = '…'

async function contextOf(source: InspectorSource, id: string) {
  try {
    return await source.context(id)
  } catch (error) {
    if (!isPlimsollError(error)) throw error
    const floor = error.breakdown?.floor
    return { reason: error.code, ...(floor !== undefined && { floor }) }
  }
}

function choiceOf(context: Context): Choice {
  const { used, epoch } = context.receipt
  return {
    context,
    tokens: used,
    omitted: 0,
    covered: 0,
    capped: 0,
    ...(typeof epoch === 'object' && { epoch }),
  }
}

/**
 * The calls that the messages tell of are the newest ones of those that are listed, the next one
 * aside. Other policies open with the instructions and tools that the newest call was given.
 */
async function addOthers(
  source: InspectorSource,
  calls: InspectedCall[],
  settings: RaceSettings,
  newest: Context | undefined,
): Promise<void> {
  const messages = await source.messages?.()
  if (!messages) return
  const said = conversationOf(source.name, source.provider ?? 'openai', messages)
  const given =
    newest?.blocks.filter(({ section }) => section === 'system').map(({ parts }) => textOf(parts)) ?? []
  const opening = [...given, said.system ?? []].flat()
  const conversation = {
    ...said,
    ...(opening.length > 0 && { system: opening.join('\n\n') }),
    ...(newest?.tools && { tools: newest.tools }),
  }
  const replayed = replay(
    conversation,
    { ...settings, policy: 'full', tail: 0 },
    newTallies(['full', 'messages', 'tokens']),
  )
  const others = []
  for await (const { answers, outcomes } of replayed) others.push({ answers, outcomes })
  const made = calls.filter(({ answers }) => answers !== NEXT)
  const offset = made.length - others.length
  for (const [index, { answers, outcomes }] of others.entries()) {
    const call = calls[offset + index]
    if (call) calls[offset + index] = { ...call, answers, outcomes: { ...call.outcomes, ...outcomes } }
  }
}
