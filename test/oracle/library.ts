import { settleOwed } from '../../src/forgetting/owed.ts'
import { createKernel as create, type KernelOptions } from '../../src/kernel/memory.ts'
import type { Memory } from '../../src/ports/memory.ts'

/**
 * What a build of the library is made of, for the frozen one and for that of the working sources.
 */
export { LawChecker } from '../../src/assert-laws.ts'
export { durableObjectMemory, durableObjectStore } from '../../src/durable-object.ts'
export * from '../../src/index.ts'
export { englishStemmer } from '../../src/stemmer.ts'
export { dexieStore } from '../../src/stores/dexie.ts'
export { encryptedStore, secretKeys } from '../../src/stores/encrypted/index.ts'

/** As `createMemory` joins it, over counter and host of the test. */
export function createKernel(options: Omit<KernelOptions, 'settle'>): Memory<object> {
  return create({ ...options, settle: settleOwed })
}
