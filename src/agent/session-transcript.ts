import type { Context } from '../ports/context.ts'
import type { Message, MessageInput } from '../ports/message.ts'
import type { AgentSession } from './agent-session.ts'
import type { ContextRequest, Transcript, WriteOptions, Written } from './transcript.ts'

/** A conversation in a memory. */
export class SessionTranscript implements Transcript {
  readonly #session: AgentSession

  constructor(session: AgentSession) {
    this.#session = session
  }

  recent(messages: number): Promise<readonly Message[]> {
    return this.#session.history({ messages })
  }

  append(messages: readonly MessageInput[], options: WriteOptions = {}): Promise<Written> {
    return this.#session.append(messages, options)
  }

  context({ system, limits, messages: _, ...request }: ContextRequest): Promise<Context> {
    return this.#session.context({
      ...request,
      ...(system !== undefined && { system }),
      ...(limits && { limits }),
    })
  }
}
