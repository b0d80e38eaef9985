import fc from 'fast-check'
import { defaultCounter } from '../../../src/counters/default.ts'
import { sampleLog } from '../../../src/inspector/model/sample.ts'
import type { MessageInput } from '../../../src/ports/message.ts'
import { contextsOf, type RaceSettings } from '../../../src/replay/race.ts'
import { type Conversation, conversationOf, readConversation } from '../../../src/replay/transcript.ts'

export const settings: RaceSettings = { budget: 600, counter: defaultCounter, pause: async () => {} }

const words = fc.stringMatching(/^[a-zé✓ "\\{}\]]{0,200}$/)

/** Rounds of a user, sometimes a tool, and an answer. */
export const conversations: fc.Arbitrary<Conversation> = fc
  .array(fc.record({ said: words, asked: fc.option(words), answered: words }), {
    minLength: 1,
    maxLength: 14,
  })
  .map((rounds) =>
    conversationOf('made', 'openai', [
      { role: 'system', content: 'Answer shortly.' },
      ...rounds.flatMap(({ said, asked, answered }, index): MessageInput[] => {
        const call = { type: 'tool-call', id: `c${index}`, name: 'look', input: { asked } } as const
        const result = { type: 'tool-result', callId: `c${index}`, output: asked } as const
        return [
          { role: 'user', content: said || 'Hm.' },
          ...(asked === null
            ? []
            : [
                { role: 'assistant', content: [call] } as const,
                { role: 'tool', content: [result] } as const,
              ]),
          { role: 'assistant', content: answered || 'Well.' },
        ]
      }),
    ]),
  )

/** A conversation that crosses the line several times. */
export const long: Conversation = readConversation(sampleLog(), 1)

export async function builtFrom(conversation: Conversation) {
  return (await contextsOf(conversation, settings)).flatMap((given) => given ?? [])
}
