// What the pages share: a memory in this browser, and a script in the model's place.
import { compaction, createMemory, type Message, runAgent, type Session, scriptedModel } from 'plimsoll'
import { dexieStore } from 'plimsoll/dexie'

export const budget = { contextWindow: 600, maxOutputTokens: 100 }
export const memory = createMemory({
  store: dexieStore({ name: 'plimsoll-examples' }),
  system: 'You are a travel agent.',
  budget,
  use: [compaction()], // what leaves the window is summarised by the extract
})

const model = scriptedModel(({ context }) => {
  const { used, cap } = context.receipt
  return `A model would have been given ${used} of ${cap} tokens for this. I am a script, so this is all I say.`
})

/** Appends what was said, and has it answered. */
export async function say(session: Session, input: string): Promise<void> {
  await runAgent({ session, model, input })
}

/** The text of a message. */
export function textOf({ content }: Message): string {
  if (typeof content === 'string') return content
  return content.flatMap((part) => (part.type === 'text' ? part.text : [])).join('\n')
}
