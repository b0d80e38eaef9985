import type { Context } from '../ports/context.ts'
import { isPlimsollError } from '../ports/errors.ts'
import type { Message, MessageInput, ToolSpec } from '../ports/message.ts'
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

  async hasSystem(tools: readonly ToolSpec[]): Promise<boolean> {
    try {
      const { blocks } = await this.#session.context({ tools, preview: true })
      return blocks.some(({ role }) => role === 'system')
    } catch (error) {
      // What does not fit now may fit once there is a newer message.
      if (!isPlimsollError(error, 'ERR_BUDGET_TOO_SMALL')) throw error
      return error.breakdown !== undefined && error.breakdown.system > 0
    }
  }

  context({ tools, tail, limits }: ContextRequest): Promise<Context> {
    return this.#session.context({ tools, tail, ...(limits && { limits }) })
  }
}
