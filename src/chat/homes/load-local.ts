/**
 * What changes sessions of this browser, loaded when it is needed. Only what shows them imports
 * this: bundlers then know that what both share is there already, and make fewer files of it.
 */
export const loadMemory = () => import('./local-memory.ts')
export const loadChanges = () => import('./local-changes.ts')
export const loadRemoval = () => import('./local-removal.ts')
