import { identifiers } from '../features/text/identifiers.ts'
import { leaves } from '../features/text/leaves.ts'
import type { Context } from '../ports/context.ts'
import type { MessageInput } from '../ports/message.ts'
import { full, lastMessages, lastRounds, lastTokens } from './baselines.ts'
import { type CallFigures, Tally } from './figures.ts'
import type { Line } from './optimum.ts'
import { plimsoll } from './plimsoll.ts'
import { type Epoch, isRefusal, type Policy, type PolicyName, type Refusal, type Settings } from './policy.ts'
import { type Request, render } from './request.ts'
import { tailText } from './tail.ts'
import type { Provider } from './transcript.ts'
import { type Conversation, textOf } from './transcript.ts'
import { turnsOf } from './turns.ts'

const POLICY: { readonly [Name in PolicyName]: Policy } = {
  plimsoll,
  full,
  rounds: lastRounds,
  messages: lastMessages,
  tokens: lastTokens,
}

/** Shorter identifiers are found anywhere by chance. */
const SHORTEST = 5

export interface ReplaySettings<Name extends string = PolicyName> extends Settings {
  readonly provider?: Provider
  /** The policy whose requests are wanted. */
  readonly policy: Name
  readonly tail: number
  /** Makes what the calls of a conversation are compared with. Default: they are not. */
  readonly line?: (conversation: Conversation) => Line
  /**
   * Contract: awaited between any two steps of the work; may wait, so that others get their turn,
   * and may reject, which ends the replay.
   */
  readonly pause?: () => Promise<void>
}

/** What became of one call under one policy. */
export type Outcome = Refusal | CallFigures
export type Outcomes<Name extends string = PolicyName> = { readonly [Each in Name]: Outcome }

/** One model call of a recording under every policy. */
export interface ReplayedCall<Name extends string = PolicyName> {
  readonly conversation: string
  /** Number of the call in its conversation, from 0. */
  readonly call: number
  readonly provider: Provider
  /** What the call answers: what the user says, or the tools that reported. */
  readonly answers: string
  readonly outcomes: Outcomes<Name>
  /** What the chosen policy gave the call, and its request; absent when that refused it. */
  readonly context?: Context
  readonly request?: Request
  /** The epoch of that request, if the policy has epochs. */
  readonly epoch?: Epoch
}

export type Tallies<Name extends string = PolicyName> = { readonly [Each in Name]: Tally }

export function newTallies<Name extends string>(names: readonly Name[]): Tallies<Name> {
  return Object.fromEntries(names.map((name) => [name, new Tally()])) as unknown as Tallies<Name>
}

/**
 * Goes through a recorded conversation as an agent did. Every policy that has a tally builds the
 * context of every model call, and `tallies` adds up their figures. `policies` are others than the
 * library's own.
 */
export async function* replay<Name extends string>(
  conversation: Conversation,
  settings: ReplaySettings<Name>,
  tallies: Tallies<Name>,
  policies: { readonly [Each in Name]: Policy } = POLICY as { readonly [Each in Name]: Policy },
): AsyncGenerator<ReplayedCall<Name>> {
  const { pause = async () => {} } = settings
  const provider = settings.provider ?? conversation.format
  const line = settings.line?.(conversation)
  const names = Object.keys(tallies) as Name[]
  const choosers = names.map((name) => ({ name, chooser: policies[name](conversation, settings) }))
  for (const { name, chooser } of choosers)
    tallies[name].startConversation(conversation.id, () => chooser.summaries?.(), line)
  const seen = new Set(identifiers(conversation.system ?? ''))
  for (const { message, index, call } of turnsOf(conversation)) {
    const quoted = identifiers(quotable(message))
    if (call !== undefined) {
      const wanted = quoted.filter((word) => word.length >= SHORTEST && seen.has(word))
      const tail = tailText(settings.counter, settings.tail, call)
      const outcomes = {} as { [Each in Name]: Outcome }
      let chosen: Pick<ReplayedCall, 'context' | 'request' | 'epoch'> = {}
      for (const { name, chooser } of choosers) {
        await pause()
        const choice = await chooser.choose(tail)
        if (isRefusal(choice)) {
          tallies[name].refuse()
          outcomes[name] = choice
        } else {
          await pause()
          const request = render(choice.context, provider)
          await pause()
          outcomes[name] = tallies[name].add(choice, request, { provider, cap: settings.budget, wanted })
          if (name === settings.policy)
            chosen = { context: choice.context, request, ...(choice.epoch && { epoch: choice.epoch }) }
        }
      }
      const answers = describe(conversation.messages, index)
      const { id } = conversation
      yield { conversation: id, call, provider, answers, outcomes, ...chosen }
    }
    for (const word of quoted) seen.add(word)
    line?.append(message)
    for (const { chooser } of choosers) await chooser.append(message)
  }
}

/** What a later message can quote: text, the arguments of calls, results. */
function quotable({ content }: MessageInput): string {
  if (typeof content === 'string') return content
  return content
    .map((part) => {
      if (part.type === 'text') return part.text
      if (part.type === 'tool-call') return leaves(part.input)
      return part.type === 'tool-result' ? leaves(part.output) : ''
    })
    .join('\n')
}

function describe(messages: readonly MessageInput[], index: number): string {
  const before = messages[index - 1]
  if (!before) return ''
  if (before.role === 'user') return `“${textOf(before.content)}”`
  if (before.role !== 'tool') return before.role
  let start = index - 1
  while (messages[start]?.role === 'tool') start--
  const { content = '' } = messages[start] ?? {}
  if (typeof content === 'string') return 'tool results'
  const names = content.flatMap((part) => (part.type === 'tool-call' ? [part.name] : []))
  return [...new Set(names)]
    .map((name) => {
      const times = names.filter((other) => other === name).length
      return times > 1 ? `${name} ×${times}` : name
    })
    .join(', ')
}
