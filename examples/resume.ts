// A run is stopped in the middle of its tool calls, and another process goes on with it. A script
// stands in for the model.
import { type AgentTool, createMemory, mapStore, runAgent, scriptedModel } from 'plimsoll'

const store = mapStore() // A Dexie or a Durable Object store outlives a process; this one stands for it.
const open = () =>
  createMemory({ store, system: 'You are a travel agent.', budget: 16_000 }).session({ userId: 'ada' })

/** The bank's books: what was paid, by the id of the call that asked for it. */
const payments = new Map<string, string>()
const power = new AbortController()
const tools: AgentTool[] = [
  {
    name: 'reserve',
    inputSchema: { type: 'object' },
    execute: () => 'Two seats in coach 5, 118.00 EUR.',
  },
  {
    name: 'pay',
    inputSchema: { type: 'object' },
    execute: (_, { callId }) => {
      payments.set(callId, 'Paid, reference SLR-9D8W5T.')
      power.abort() // The process ends before the bank's answer comes.
      return new Promise(() => {})
    },
  },
  { name: 'mail', inputSchema: { type: 'object' }, execute: () => 'Sent.' },
]

console.log('The replies are scripted: no model is called.\n')

const before = await runAgent({
  input: 'Book the 9:40 to Turin for Ilse and me.',
  model: scriptedModel([
    {
      calls: [
        { name: 'reserve', input: {} },
        { name: 'pay', input: {} },
        { name: 'mail', input: {} },
      ],
    },
  ]),
  tools,
  session: open(),
  parallel: false,
  signal: power.signal,
})
console.log(`The first run ends: ${before.reason} in step ${before.steps}.`)

const after = runAgent({
  model: scriptedModel(['Two seats on the 9:40, coach 5, are paid: SLR-9D8W5T. No mail was sent.']),
  tools,
  session: open(),
  // The default, 'fail', would tell the model that it is not known whether they ran. Here the app
  // does know.
  resume: { pending: ({ callId }) => payments.get(callId) ?? 'It did not run.' },
})
for await (const event of after) {
  if (event.type === 'resume')
    console.log(`The second run finds without a result: ${event.pending.map(({ name }) => name).join(', ')}.`)
  if (event.type === 'tool-result')
    console.log(`  settled: ${event.call.name}, ${event.status}: ${event.output}`)
}
const { answer, reason } = await after
console.log(`It ends: ${reason}. ${answer}`)
console.log(`Payments made: ${payments.size}`)
