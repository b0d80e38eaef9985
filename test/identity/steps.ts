import type { ContextOptions, MessageInput } from '../../src/index.ts'
import type { Conversation } from '../../src/replay/transcript.ts'
import { turnsOf } from '../../src/replay/turns.ts'

/** What is written before a model call, and what that call asks for. */
export interface Step {
  readonly messages: readonly MessageInput[]
  readonly options: ContextOptions
}

/** A conversation as both sides replay it. */
export interface Replay {
  /**
   * Both sides' session has it: fences are derived from it. Also the user's, since sessions of one
   * user share what is remembered.
   */
  readonly sessionId: string
  readonly system?: string
  readonly steps: readonly Step[]
}

/**
 * The calls of a conversation, and one more after its last message. Ids and times are the same
 * wherever it is replayed.
 */
export function replayOf(conversation: Conversation, sessionId: string, tailEvery = 0): Replay {
  const { system, tools } = conversation
  const steps: Step[] = []
  let messages: MessageInput[] = []
  const call = (): void => {
    const tail = tailEvery > 0 && steps.length % tailEvery === 0 && `This is call ${steps.length}.`
    const options = { onPending: 'abandon', ...(tools && { tools }), ...(tail && { tail }) } as const
    steps.push({ messages, options })
    messages = []
  }
  for (const turn of turnsOf(conversation)) {
    if (turn.call !== undefined) call()
    messages.push({ ...turn.message, id: `m${turn.index}`, createdAt: turn.index * 1_000 })
  }
  call()
  return { sessionId, steps, ...(system !== undefined && { system }) }
}
