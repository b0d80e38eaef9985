// A memory around a model call, with a script in the model's place.
import { createMemory, mapStore, toOpenAI } from 'plimsoll'

const script = [
  [
    'Book the 9:40 to Turin for Ilse and me.',
    'Two seats on the 9:40, coach 5. Shall I pay with the card on file?',
  ],
  ['Looks good', 'Paid, your booking is SLR-9D8W5T. Anything else?'],
  ['Is there a restaurant car?', 'Yes, between coaches 7 and 8, open until Milan.'],
  ['And where do we change?', 'In Milan: platform 14, twenty minutes later.'],
] as const

const memory = createMemory({
  store: mapStore(),
  system: 'You are a travel agent.',
  budget: { contextWindow: 100, maxOutputTokens: 0 },
})
const session = memory.session({ userId: 'ada', sessionId: 'trip' })

console.log('The replies are scripted: no model is called.\n')
for (const [question, reply] of script) {
  await session.append({ role: 'user', content: question })
  const context = await session.context()
  const request = toOpenAI(context) // client.chat.completions.create({ model, ...request })
  await session.append({ role: 'assistant', content: reply })
  const { used, cap } = context.receipt
  console.log(`user: ${question}\n  sent: ${request.messages.length} messages, ${used} of ${cap} tokens`)
  console.log(`assistant: ${reply}`)
}
