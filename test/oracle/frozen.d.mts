import type { FirstLibrary } from './adapters/first-library.ts'
import type { StoreLike } from './store.ts'

export const createCore: FirstLibrary['createCore']
export const onDemand: FirstLibrary['onDemand']
export const mapStore: FirstLibrary['mapStore']
export const charsPerToken: FirstLibrary['charsPerToken']
export const calibrated: FirstLibrary['calibrated']
export const utf8Bound: FirstLibrary['utf8Bound']
export const defaultCounter: FirstLibrary['defaultCounter']
export const extractFacts: FirstLibrary['extractFacts']
export const lexicalRecall: FirstLibrary['lexicalRecall']
export const englishStemmer: FirstLibrary['englishStemmer']
export function dexieStore(options: object): StoreLike & { close(): Promise<void> }
export function durableObjectStore(storage: object): StoreLike
export function encryptedStore(store: StoreLike, keys: object): StoreLike
export function secretKeys(secret: string): object
