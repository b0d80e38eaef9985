export { PlimsollSaver, type PlimsollSaverOptions } from './saver.ts'
export { PlimsollStore, type PlimsollStoreOptions } from './store.ts'
