/**
 * A memory inside Cloudflare's own `AIChatAgent`: the agent keeps what its page shows, the memory
 * says what the model is given.
 */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { AIChatAgent } from '@cloudflare/ai-chat'
import { isStepCount, type LanguageModel, streamText } from 'ai'
import { recall, standard } from 'plimsoll'
import { memoryLoop, memoryToolSet } from 'plimsoll/ai-sdk'
import { durableObjectMemory } from 'plimsoll/durable-object'

export interface ChatEnv {
  readonly MODEL_BASE_URL?: string
  readonly MODEL_API_KEY?: string
  readonly MODEL_ID?: string
}

export class ChatAgent<
  Env extends Cloudflare.Env & ChatEnv = Cloudflare.Env & ChatEnv,
> extends AIChatAgent<Env> {
  // In the agent's own SQLite, in tables of its own: the two do not disturb each other.
  readonly #memory = durableObjectMemory(this.ctx, {
    system: 'You are a travel agent.',
    budget: { contextWindow: 16_000, maxOutputTokens: 1_000 },
    use: [...standard(), recall()],
  })
  /** One agent is one conversation. */
  readonly session = this.#memory.session({ userId: this.ctx.id.toString() })

  protected model(): LanguageModel {
    const { MODEL_BASE_URL: baseURL = '', MODEL_API_KEY: apiKey, MODEL_ID = '' } = this.env
    return createOpenAICompatible({ name: 'agent', baseURL, ...(apiKey && { apiKey }) })(MODEL_ID)
  }

  override async onChatMessage(
    ...[, options]: Parameters<AIChatAgent['onChatMessage']>
  ): Promise<Response | undefined> {
    const tools = memoryToolSet(this.session)
    // What of the agent's messages is new is written to the log; the model is given the context,
    // never the whole list.
    const loop = await memoryLoop(this.session, { tools, messages: this.messages })
    const result = streamText({
      model: this.model(),
      tools,
      stopWhen: isStepCount(10),
      ...(options?.abortSignal && { abortSignal: options.abortSignal }),
      ...loop,
      // The SDK does not tell of a write that failed.
      onFinish: loop.settled,
    })
    return result.toUIMessageStreamResponse()
  }
}
