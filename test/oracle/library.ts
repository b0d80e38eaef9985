/**
 * What a build of the library is made of, for the frozen one and for that of the working sources.
 */
export { createCore } from '../../src/core/memory.ts'
export * as onDemand from '../../src/core/on-demand.ts'
export { durableObjectMemory, durableObjectStore } from '../../src/durable-object.ts'
export { encryptedStore, secretKeys } from '../../src/encrypted/index.ts'
export * from '../../src/index.ts'
export { englishStemmer } from '../../src/stemmer.ts'
export { dexieStore } from '../../src/stores/dexie.ts'
