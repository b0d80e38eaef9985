/** What an app writes with AI SDK 5 or 6, for `tsc` alone: it is compiled once with each. */
import {
  convertToModelMessages,
  generateText,
  jsonSchema,
  type LanguageModel,
  stepCountIs,
  streamText,
  tool,
  type UIMessage,
} from 'ai'
import { compaction, createMemory, mapStore } from 'plimsoll'
import {
  aiSdkModel,
  appendUIMessages,
  compact,
  memoryLoop,
  prepareStep,
  toUIMessages,
  writeStep,
} from 'plimsoll/ai-sdk'

// @ts-expect-error: a name that 7 alone has, so that this one is older
export type { isStepCount } from 'ai'

export async function answer(model: LanguageModel, chat: UIMessage[]): Promise<Response> {
  const memory = createMemory({
    store: mapStore(),
    budget: 16_000,
    use: [compaction({ model: aiSdkModel(model) })],
  })
  const session = memory.session({ userId: 'ada', sessionId: 'trip' })
  const tools = {
    read: tool({
      description: 'Reads a file.',
      inputSchema: jsonSchema<{ file: string }>({ type: 'object' }),
      execute: async ({ file }) => `${file}: empty`,
    }),
  }
  const stopWhen = stepCountIs(5)
  await appendUIMessages(session, chat)
  const loop = await memoryLoop(session, {
    tools,
    messages: chat,
    compactWhen: ({ tokens }) => tokens > 9_000,
  })
  // @ts-expect-error: its types are those of the SDK that is there, and none of them is `any`
  loop satisfies { readonly messages: number }
  // @ts-expect-error: no option of it
  await memoryLoop(session, { tool: tools })
  const { text } = await generateText({ model, tools, stopWhen, ...loop })
  await loop.settled()
  const halves = { prepareStep: prepareStep(session, { tools }), onStepFinish: writeStep(session) }
  await generateText({ model, tools, stopWhen, prompt: text, ...halves })
  const { messages } = await compact(session, { tools })
  await generateText({ model, tools, messages })
  const shown: UIMessage[] = toUIMessages(await session.history())
  convertToModelMessages(shown)
  return streamText({ model, tools, stopWhen, ...loop }).toUIMessageStreamResponse()
}
