/**
 * What few calls of a memory need: exports and imports, removing, a session's start. A memory is given this by a function, so that a page
 * can load it when the first of these calls is made.
 */
export { eraseSession, eraseUser, foundIn } from './forget/erase.ts'
export { forget, forgetShared } from './forget/forget.ts'
export { Retention } from '../features/retention/retention.ts'
export { startSession } from './start/start.ts'
export { exportOf } from './transfer/export.ts'
export { importInto } from './transfer/import.ts'

export type OnDemand = typeof import('./on-demand.ts')

/** Contract: gives it each time; a call that needs it rejects with what this rejects with, before anything is written. */
export type LoadOnDemand = () => Promise<OnDemand>
