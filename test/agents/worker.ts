/**
 * Agents of Cloudflare's, as an app would write them, with a memory each; and the examples of apps
 * around the edge.
 */
import { Agent } from 'agents'
import type { LanguageModel } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { ChatAgent, type ChatEnv } from '../../examples/edge/chat-agent.ts'
import type { TripSession, TripUser } from '../../examples/edge/worker.ts'
import { durableObjectMemory } from '../../src/durable-object.ts'
import type { AppendOptions, MessageInput } from '../../src/index.ts'

export { default, TripSession, TripUser } from '../../examples/edge/worker.ts'

export interface Env extends ChatEnv {
  readonly PLANNERS: DurableObjectNamespace<Planner>
  readonly GUIDES: DurableObjectNamespace<Guide>
  readonly CHATS: DurableObjectNamespace<Chat>
  readonly SESSIONS: DurableObjectNamespace<TripSession>
  readonly USERS: DurableObjectNamespace<TripUser>
}

interface Trip {
  readonly seats: number
}

export class Planner extends Agent<Env, Trip> {
  static override options = { sendIdentityOnConnect: false }
  override initialState: Trip = { seats: 0 }
  readonly #memory = durableObjectMemory(this.ctx, { system: 'You are a travel agent.', budget: 16_000 })
  readonly #session = this.#memory.session({ userId: 'ada', sessionId: 'trip' })

  async append(messages: MessageInput | readonly MessageInput[], options?: AppendOptions): Promise<void> {
    await this.#session.append(messages, options)
  }

  /** As JSON, since what is read-only does not go through the types of RPC. */
  async context(): Promise<string> {
    return JSON.stringify(await this.#session.context())
  }

  override async onRequest(request: Request): Promise<Response> {
    await this.#session.append({ role: 'user', content: await request.text() })
    return Response.json(await this.#session.context())
  }

  /** What `schedule` calls. */
  async remind(text: string): Promise<void> {
    await this.#session.append({ role: 'user', content: text })
  }
}

/** Greets once, whenever it starts. */
export class Guide extends Planner {
  override async onStart(): Promise<void> {
    await this.append({ id: 'greeting', role: 'assistant', content: 'Where to?' }, { opId: 'greeting' })
  }
}

/** Answers with how much of the conversation a model would be given. */
const counting = new MockLanguageModelV4({
  doStream: async ({ prompt }) => {
    const text = `I see ${prompt.filter(({ role }) => role !== 'system').length}.`
    return {
      stream: new ReadableStream({
        start(controller) {
          controller.enqueue({ type: 'stream-start', warnings: [] })
          controller.enqueue({ type: 'text-start', id: '1' })
          controller.enqueue({ type: 'text-delta', id: '1', delta: text })
          controller.enqueue({ type: 'text-end', id: '1' })
          controller.enqueue({
            type: 'finish',
            usage: {
              inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
              outputTokens: { total: 1, text: 1, reasoning: 0 },
            },
            finishReason: { unified: 'stop', raw: undefined },
          })
          controller.close()
        },
      }),
    }
  },
})

/** The example, with a model that needs no server. */
export class Chat extends ChatAgent<Env> {
  protected override model(): LanguageModel {
    return counting
  }

  async append(messages: MessageInput | readonly MessageInput[], options?: AppendOptions): Promise<void> {
    await this.session.append(messages, options)
  }

  async context(): Promise<string> {
    return JSON.stringify(await this.session.context())
  }
}
