/** Canaries in every input of a memory, to be looked for in the files of whatever stores them. */

import type { Store } from '../../src/index.ts'
import { attach } from '../../src/operations/attachments.ts'
import { eraseUser } from '../../src/operations/forget/erase.ts'
import { titleSession } from '../../src/operations/sessions.ts'
import { type FullMemory, fullMemory } from '../contract/full-memory.ts'

export const INPUTS = ['message', 'fact', 'project', 'profile', 'title', 'checkpoint', 'attachment'] as const

/** What stands in each input. */
export type Canaries = Readonly<Record<(typeof INPUTS)[number], string>>

const ADA = { userId: 'ada' }

/** @returns what the memory shows of them */
export async function writeCanaries(store: Store, canaries: Canaries): Promise<string> {
  const memory = memoryOver(store)
  const session = memory.session({ ...ADA, sessionId: 'trip' })
  const bytes = Uint8Array.from(canaries.attachment, (character) => character.charCodeAt(0))
  const picture = await attach(session, { mediaType: 'image/png', bytes, id: 'picture', tokens: 9 })
  const text = `Remember ${canaries.message} for me.`
  await session.append({ role: 'user', content: [{ type: 'text', text }, picture] })
  await session.facts.remember({
    kind: 'finding',
    text: `Found ${canaries.fact}.`,
    project: canaries.project,
  })
  await session.checkpoint.set({ step: canaries.checkpoint })
  await memory.user(ADA).profile.set('about', canaries.profile)
  await titleSession(memory, ADA, 'trip', canaries.title)
  const { blocks } = await session.context()
  return JSON.stringify([blocks, await session.recall.find(canaries.message)])
}

export async function eraseCanaries(store: Store): Promise<void> {
  await eraseUser(memoryOver(store), ADA)
}

function memoryOver(store: Store): FullMemory {
  return fullMemory({ store, budget: 3_000, recall: {} })
}
