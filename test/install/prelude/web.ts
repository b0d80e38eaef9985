/** What blocks of code in the pages take for granted: named in the comment above a block. */
import {
  createMemory,
  type MessageInput,
  type Model,
  mapStore,
  recall,
  type Store,
  scriptedModel,
  standard,
} from 'plimsoll'
import { createClient } from 'plimsoll/client'
import type { PlimsollInspector } from 'plimsoll/inspector'

export const store: Store = mapStore()
export const model: Model = scriptedModel(['It leaves at 9:40.'])
export const tools = [
  { name: 'find_train', inputSchema: { type: 'object' }, execute: () => ({ leaves: '9:40' }) },
] as const
export const messages: readonly MessageInput[] = [{ role: 'user', content: 'Book the 9:40 to Turin.' }]
export const memory = createMemory({ store, budget: 16_000, use: [...standard(), recall()] })
export const session = memory.session({ userId: 'ada', sessionId: 'trip' })

export const baseUrl = 'https://memory.example.com'
export const client = createClient({ baseUrl, token: 'local' })
export const clientSession = client.session('trip')
export declare const inspector: PlimsollInspector
