/**
 * The page that `test/identity/browser.ts` drives: gives the contexts of a replayed conversation.
 */

import { isPlimsollError, type MessageInput } from '../../src/index.ts'
import { englishStemmer } from '../../src/stemmer.ts'
import { dexieStore } from '../../src/stores/dexie.ts'
import { fullMemory } from '../contract/full-memory.ts'

interface Part {
  readonly sessionId: string
  readonly budget: number
  readonly system?: string
  /** What hashes are keyed by. */
  readonly secret?: string
  readonly steps: readonly { readonly messages: readonly MessageInput[]; readonly options: object }[]
}

/**
 * Takes JSON, as the edge does. @returns each step's context as JSON, or the code and the message
 * of its refusal
 */
async function replay(json: string): Promise<readonly string[]> {
  const { sessionId, budget, system, secret, steps } = JSON.parse(json) as Part
  const store = dexieStore({ name: 'identity', durability: 'relaxed' })
  // As `worker/objects.ts` has it.
  const memory = fullMemory({
    store,
    budget,
    ...(system !== undefined && { system }),
    ...(secret !== undefined && { newSecret: () => secret }),
    recall: { stemmer: englishStemmer },
    compaction: {},
    extraction: {},
  })
  const session = memory.session({ userId: sessionId, sessionId })
  const answers: string[] = []
  for (const { messages, options } of steps) {
    for (const message of messages) await session.append(message)
    try {
      answers.push(JSON.stringify(await session.context(options)))
    } catch (error) {
      if (!isPlimsollError(error)) throw error
      const { code, message } = error
      answers.push(JSON.stringify({ code, message }))
    }
  }
  if (!store.status().durable) throw new Error(`the store is ${store.status().state}`)
  await session.close()
  await store.close()
  return answers
}

Object.assign(globalThis, { replay })
