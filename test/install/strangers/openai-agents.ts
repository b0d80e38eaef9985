import { Agent, type Model, Runner, setTracingDisabled, Usage } from '@openai/agents'
import { createMemory } from 'plimsoll'
import { PlimsollSession } from 'plimsoll/openai-agents'
import { sqliteStore } from 'plimsoll/sqlite'

const store = sqliteStore({ path: 'sessions.db' })
const session = new PlimsollSession(createMemory({ store, budget: 16_000 }).session({ userId: 'ada' }))
const model: Pick<Model, 'getResponse'> = {
  getResponse: async ({ input }) => ({
    usage: new Usage(),
    output: [
      {
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: `You said: ${JSON.stringify(input)}` }],
      },
    ],
  }),
}
setTracingDisabled(true)
const agent = new Agent({ name: 'guide', model: session.model(model as Model) })
const { finalOutput } = await new Runner().run(agent, process.argv[2] ?? '', { session })
console.log(finalOutput)
await store.close()
