// Four additions with 100 tokens: three messages stay, and what is older is summarised.
import { charsPerToken, compaction, createMemory, mapStore, scriptedModel, tokens } from 'plimsoll'

const session = createMemory({
  store: mapStore(),
  system: 'You are a careful calculator. Use the `add` tool for every step.',
  budget: 100,
  // Here a token is four characters, and no estimate of a model's.
  counter: { ...charsPerToken(4), kind: 'exact' },
  window: { keep: { messages: 3 } },
  use: [
    compaction({
      model: scriptedModel([], {
        summaries: [
          'User asked for four running sums via the `add` tool. Results so far: 1+2=3, 10+20=30, 100+200=300. Next: 1000+2000.',
        ],
      }),
    }),
  ],
}).session({ userId: 'ada' })
await session.append({
  role: 'user',
  content:
    'Add the following pairs in sequence and report all results: (1,2), (10,20), (100,200), (1000,2000).',
})
for (const a of [1, 10, 100, 1_000]) {
  await session.append([
    {
      role: 'assistant',
      content: [{ type: 'tool-call', id: `c${a}`, name: 'add', input: { a, b: 2 * a } }],
    },
    { role: 'tool', content: [{ type: 'tool-result', callId: `c${a}`, output: String(3 * a) }] },
  ])
  console.log(await tokens(session), 'tokens, of which are sent:', (await session.context()).receipt.used)
}
console.log((await session.context()).blocks.map(({ parts }) => JSON.stringify(parts[0])).join('\n'))
