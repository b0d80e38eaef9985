import { DurableObject } from 'cloudflare:workers'
import { durableObjectMemory } from '../src/durable-object.ts'
import {
  type AppendOptions,
  type ContextOptions,
  type MessageInput,
  type Session,
  stringifyContext,
} from '../src/index.ts'
import type { Env } from './env.ts'

/** Until there are accounts, all sessions belong to one user. */
const USER = 'local'

/** What a call asks for: messages to append first, and the options of the context. */
export interface ContextRequest extends Omit<ContextOptions, 'preview' | 'newEpoch'> {
  readonly messages?: readonly MessageInput[]
  readonly opId?: string
}

/** One session. What it answers with is JSON text, which crosses to the worker faster than objects do. */
export class SessionObject extends DurableObject<Env> {
  readonly #memory = durableObjectMemory(this.ctx, {
    budget: Number(this.env.BUDGET ?? 16_000),
    ...(this.env.SYSTEM !== undefined && { system: this.env.SYSTEM }),
  })
  #session: Session | undefined

  async append(
    sessionId: string,
    messages: MessageInput | readonly MessageInput[],
    options: AppendOptions,
  ): Promise<string> {
    return JSON.stringify(await this.#open(sessionId).append(messages, options))
  }

  async context(sessionId: string, { messages = [], opId, ...options }: ContextRequest): Promise<string> {
    const session = this.#open(sessionId)
    if (messages.length > 0) await session.append(messages, opId === undefined ? {} : { opId })
    return stringifyContext(await session.context(options))
  }

  #open(sessionId: string): Session {
    this.#session ??= this.#memory.session({ userId: USER, sessionId })
    return this.#session
  }
}
