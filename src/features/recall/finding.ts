/** What looks for a query and shows what it finds: all of it is waited for. */
export { findAcross, orMissing, othersOf } from './across-sessions.ts'
export { find, firstOf, search } from './find.ts'
export { lexicalRecall } from './lexical-recall.ts'
export { recallPage } from './recall-page.ts'
export { recallSection } from './recall-section.ts'
