/** What the frozen build exports, as far as the driver uses it: that of 0.1.0. */
import type { FirstLibrary } from './adapters/first-library.ts'
import type { StoresLike } from './store.ts'

export const createCore: FirstLibrary['createCore']
export const onDemand: FirstLibrary['onDemand']
export const charsPerToken: FirstLibrary['charsPerToken']
export const calibrated: FirstLibrary['calibrated']
export const utf8Bound: FirstLibrary['utf8Bound']
export const defaultCounter: FirstLibrary['defaultCounter']
export const extractFacts: FirstLibrary['extractFacts']
export const lexicalRecall: FirstLibrary['lexicalRecall']
export const englishStemmer: FirstLibrary['englishStemmer']
export const mapStore: StoresLike['mapStore']
export const dexieStore: StoresLike['dexieStore']
export const durableObjectStore: StoresLike['durableObjectStore']
export const encryptedStore: StoresLike['encryptedStore']
export const secretKeys: StoresLike['secretKeys']
