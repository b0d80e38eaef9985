// A coding agent with two tiers of memory: the last rounds of the conversation, and facts that
// outlive it; memory tools and five stages of middleware. A script stands in for the model.
import {
  createMemory,
  facts,
  mapStore,
  memoryTools,
  recall,
  runAgent,
  type Script,
  scriptedModel,
  standardMiddleware,
} from 'plimsoll'

const store = mapStore() // sqliteStore({ path }) of plimsoll/sqlite keeps it for the next process.
const memory = createMemory({ store, budget: 16_000, use: [facts(), recall()] })
const session = memory.session({ userId: 'ada', sessionId: 'login' }, { project: 'shop' })
const list = {
  name: 'list_files',
  inputSchema: { type: 'object' },
  execute: () => 'src/login.ts\n'.repeat(4_000),
}
const middleware = standardMiddleware({
  observability: { sink: ({ type, status }) => console.log(`  ${type}: ${status}`) },
  budget: { limit: 20_000 },
  contextFilter: { rounds: 4, keep: 4, toolOutput: { first: 200 } },
  factSheet: { facts: () => session.facts.list() },
  progress: {},
})
const ask = (input: string, script: Script) =>
  runAgent({
    input,
    model: scriptedModel(script),
    system: 'You are a coding agent. Remember findings and blockers as you go.',
    tools: [list, ...memoryTools(session, ['finding', 'blocker', 'correction', 'recall'])],
    middleware,
    session,
    resume: { messages: 16 },
  })

const text = 'The staging key has expired.'
const first = await ask('Fix the login test.', [
  { calls: [{ name: 'list_files', input: {} }] },
  { calls: [{ name: 'memory_blocker', input: { text } }] },
  'I need a new key.',
])
console.log(`${first.answer} ${(await session.facts.list()).length} blocker, ${first.steps} steps`)
const second = await ask('The key is there. Go on.', [
  { calls: [{ name: 'memory_blocker', input: { resolve: text } }] },
  'The test passes.',
])
console.log(`${second.answer} ${(await session.facts.list()).length} blockers, ${second.steps} steps`)
