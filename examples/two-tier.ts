// The two tiers of a memory: the window of a conversation, and facts that outlive it.
import { mapStore } from 'plimsoll'
import { twoTier } from './two-tier-run.ts'

console.log('The replies are scripted: no model is called.\n')
await twoTier({ store: mapStore() }, console.log) // Or dexieStore({ name: 'assistant' }) of plimsoll/dexie.
