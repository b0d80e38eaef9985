/** What shows sessions that are kept in this browser, all at once. */
export { localHome } from './local-home.ts'
export { openLocal } from './open-local.ts'
