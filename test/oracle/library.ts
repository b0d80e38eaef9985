/**
 * What a build of the library is made of, for the frozen one and for that of the working sources.
 */
export { LawChecker } from '../../src/assert-laws.ts'
export { durableObjectMemory, durableObjectStore } from '../../src/durable-object.ts'
export * from '../../src/index.ts'
export { createKernel } from '../../src/kernel/memory.ts'
export { englishStemmer } from '../../src/stemmer.ts'
export { dexieStore } from '../../src/stores/dexie.ts'
export { encryptedStore, secretKeys } from '../../src/stores/encrypted/index.ts'
