/** Keeps the replicas of a memory and their home the same: `plimsoll/sync`. */
export { type HomeParts, homeStore } from './home.ts'
export { type SyncServerOptions, syncServer } from './server.ts'
