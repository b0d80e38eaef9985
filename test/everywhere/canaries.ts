/** Canaries in every input of a memory, to be looked for in the files of whatever stores them. */
import { createMemory, type Memory, type Store } from '../../src/index.ts'
import { lexicalRecall } from '../../src/features/recall/lexical-recall.ts'

export const INPUTS = ['message', 'fact', 'project', 'profile', 'title', 'checkpoint', 'attachment'] as const

/** What stands in each input. */
export type Canaries = Readonly<Record<(typeof INPUTS)[number], string>>

const ADA = { userId: 'ada' }

/** @returns what the memory shows of them */
export async function writeCanaries(store: Store, canaries: Canaries): Promise<string> {
  const memory = memoryOver(store)
  const session = memory.session({ ...ADA, sessionId: 'trip' })
  const bytes = Uint8Array.from(canaries.attachment, (character) => character.charCodeAt(0))
  const picture = await session.attach({ mediaType: 'image/png', bytes, id: 'picture', tokens: 9 })
  const text = `Remember ${canaries.message} for me.`
  await session.append({ role: 'user', content: [{ type: 'text', text }, picture] })
  await session.remember({ kind: 'finding', text: `Found ${canaries.fact}.`, project: canaries.project })
  await session.checkpoint.set({ step: canaries.checkpoint })
  await memory.user(ADA).profile.set('about', canaries.profile)
  await memory.sessions(ADA).title('trip', canaries.title)
  const { blocks } = await session.context()
  return JSON.stringify([blocks, await session.recall(canaries.message)])
}

export async function eraseCanaries(store: Store): Promise<void> {
  await memoryOver(store).erase(ADA)
}

function memoryOver(store: Store): Memory {
  return createMemory({ store, budget: 3_000, recall: lexicalRecall() })
}
