/** The same for examples of LangChain, LangGraph and OpenAI's Agents. */
import { FakeListChatModel } from '@langchain/core/utils/testing'
import { Agent } from '@openai/agents'
import { createMemory, mapStore } from 'plimsoll'

export const memory = createMemory({ store: mapStore(), budget: 16_000 })
export const model = new FakeListChatModel({ responses: ['Booked.'] })
export const builder = { compile: (options: { readonly checkpointer: object }) => options }
export const agent = new Agent({ name: 'clerk', instructions: 'You sell train tickets.' })
