/** Keeps the replicas of a memory and their home the same: `plimsoll/sync`. */
export type { Channel, Lock, Network } from '../platform/tabs.ts'
export type { HomeClock } from '../ports/lease.ts'
export type { Poke, SyncScope, Transport } from '../ports/sync.ts'
export { type AdoptOptions, adopt, type NotAdopted } from './adopt.ts'
export { HomeTime } from './clock.ts'
export { type HomeParts, homeStore } from './home.ts'
export { edgeSocket, type HttpTransportOptions, httpTransport, type PokeSocket } from './http.ts'
export { syncOnce } from './once.ts'
export type { Refused, Resolution } from './refused.ts'
export { type SyncServerOptions, syncServer } from './server.ts'
export {
  type SignedOut,
  type SyncedStore,
  type SyncOptions,
  type SyncState,
  type SyncStatus,
  sync,
} from './sync.ts'
