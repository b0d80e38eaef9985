/** The page that `browser.ts` and the bench of recall drive. */
import { measureAppends, measureCalls } from './appends.ts'
import { measureEncrypted } from './encrypted.ts'
import { measureImports } from './imports.ts'
import { fillLog, measureEnds, measureReopens } from './reads.ts'
import { appendRecalled, rankRecalled, recallFirst, settleRecalled } from './recall.ts'

export const page = {
  measureAppends,
  measureCalls,
  measureEncrypted,
  measureReopens,
  fillLog,
  measureEnds,
  measureImports,
  appendRecalled,
  rankRecalled,
  settleRecalled,
  recallFirst,
}

Object.assign(globalThis, { page })
