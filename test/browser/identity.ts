/**
 * The page that `test/identity/browser.ts` drives: gives the contexts of a replayed conversation,
 * or is a replica of a session at the edge.
 */

import { isPlimsollError, type MessageInput, type Scope, type Store } from '../../src/index.ts'
import { englishStemmer } from '../../src/stemmer.ts'
import { dexieStore } from '../../src/stores/dexie.ts'
import { httpTransport, sync } from '../../src/sync/index.ts'
import { type FullMemoryOptions, type FullSession, fullMemory } from '../contract/full-memory.ts'

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
  const memory = memoryOver(store, {
    budget,
    ...(system !== undefined && { system }),
    ...(secret !== undefined && { newSecret: () => secret }),
  })
  const session = memory.session({ userId: sessionId, sessionId })
  const answers: string[] = []
  for (const { messages, options } of steps) {
    for (const message of messages) await session.append(message)
    answers.push(await contextOf(session, options))
  }
  if (!store.status().durable) throw new Error(`the store is ${store.status().state}`)
  await session.close()
  await store.close()
  return answers
}

/** Of a memory as `worker/objects.ts` has it. */
function memoryOver(store: Store, options: Partial<FullMemoryOptions>) {
  return fullMemory({
    store,
    ...options,
    recall: { stemmer: englishStemmer },
    compaction: {},
    extraction: {},
  } as FullMemoryOptions)
}

async function contextOf(session: FullSession, options: object): Promise<string> {
  try {
    return JSON.stringify(await session.context(options))
  } catch (error) {
    if (!isPlimsollError(error)) throw error
    const { code, message } = error
    return JSON.stringify({ code, message })
  }
}

/** Whose replica it is, and where its home is. */
export interface ReplicaOrder {
  readonly url: string
  readonly token: string
  readonly scope: Scope
  readonly budget: number
  readonly system?: string
}

function openReplica({ url, token, scope, ...options }: ReplicaOrder) {
  const { sessionId: _, ...user } = scope
  const store = sync({
    store: dexieStore({ name: 'identity', durability: 'relaxed' }),
    transport: httpTransport({ url, token }),
    user,
    delayMs: 0,
  })
  return { store, session: memoryOver(store, options).session(scope) }
}

let replica: ReturnType<typeof openReplica>

/** Takes JSON, and gives JSON. All is at home, and what is there is here, before and after each. */
const synced = {
  open: async (json: string): Promise<void> => {
    replica = openReplica(JSON.parse(json) as ReplicaOrder)
    await replica.session.history()
    await synced.meet()
  },

  meet: async (): Promise<void> => {
    replica.store.resume()
    const { state, refused } = await replica.store.settled()
    if (state !== 'current' || refused > 0) throw new Error(`${state}: ${refused} refused`)
  },

  append: async (json: string): Promise<void> => {
    await synced.meet()
    for (const message of JSON.parse(json) as readonly MessageInput[]) await replica.session.append(message)
    await synced.meet()
  },

  context: async (json: string): Promise<string> => {
    await synced.meet()
    const context = await contextOf(replica.session, JSON.parse(json) as object)
    await synced.meet()
    return context
  },
}

Object.assign(globalThis, { replay, synced })
