/** Agents of Cloudflare's, as an app would write them, with a memory each. */
import { AIChatAgent } from '@cloudflare/ai-chat'
import { Agent } from 'agents'
import { durableObjectMemory } from '../../src/durable-object.ts'
import type { AppendOptions, MessageInput, Session } from '../../src/index.ts'

export interface Env {
  readonly PLANNERS: DurableObjectNamespace<Planner>
  readonly GUIDES: DurableObjectNamespace<Guide>
  readonly CHATS: DurableObjectNamespace<Chat>
}

interface Trip {
  readonly seats: number
}

export class Planner extends Agent<Env, Trip> {
  static override options = { sendIdentityOnConnect: false }
  override initialState: Trip = { seats: 0 }
  readonly #memory = durableObjectMemory(this.ctx, { system: 'You are a travel agent.', budget: 16_000 })
  readonly #session: Session = this.#memory.session({ userId: 'ada', sessionId: 'trip' })

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

export class Chat extends AIChatAgent<Env> {
  readonly #memory = durableObjectMemory(this.ctx, { system: 'You are a travel agent.', budget: 16_000 })
  readonly #session: Session = this.#memory.session({ userId: 'ada', sessionId: 'trip' })

  /** Answers with how much of the conversation a model would be given. */
  override async onChatMessage(): Promise<Response> {
    const asked = this.messages.at(-1)
    const content = asked?.parts.map((part) => (part.type === 'text' ? part.text : '')).join('') ?? ''
    await this.#session.append({ role: 'user', content, ...(asked && { id: asked.id }) })
    const { blocks } = await this.#session.context()
    const answer = `I see ${blocks.filter(({ from }) => from.length > 0).length}.`
    await this.#session.append({ role: 'assistant', content: answer })
    return new Response(answer, { headers: { 'Content-Type': 'text/plain' } })
  }

  async append(messages: MessageInput | readonly MessageInput[], options?: AppendOptions): Promise<void> {
    await this.#session.append(messages, options)
  }

  async context(): Promise<string> {
    return JSON.stringify(await this.#session.context())
  }
}

export default { fetch: () => new Response('no route', { status: 404 }) }
