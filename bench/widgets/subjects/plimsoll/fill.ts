/** Puts a conversation where the element will look for it, by an import into its memory. */
import { openChat } from '../../../../src/chat/open-chat.ts'
import { createMemory, mapStore } from '../../../../src/index.ts'
import { exportFrom } from '../../../../src/operations/transfer/export.ts'
import { messagesBetween } from '../../messages.ts'

const BATCH = 1_000

async function fill(messages: number): Promise<void> {
  const memory = createMemory({
    store: mapStore(),
    budget: { contextWindow: 16_000, maxOutputTokens: 2_000 },
  })
  const user = { userId: 'bench' }
  const session = memory.session({ ...user, sessionId: 'long' })
  for (let from = 1; from <= messages; from += BATCH) {
    const batch = messagesBetween(from, Math.min(from + BATCH, messages + 1))
    await session.append(batch.map(({ role, text }) => ({ role, content: text })))
  }
  const chat = openChat()
  const panel = await chat.memory()
  await panel.import(exportFrom(memory, user), 'local')
  await chat.close()
}

Object.assign(globalThis, { fill })

export type Fill = typeof fill
