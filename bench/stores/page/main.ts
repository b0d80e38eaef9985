/** The page that `browser.ts` drives. */
import { measureAppends, measureCalls } from './appends.ts'
import { measureImports } from './imports.ts'
import { fillLog, measureEnds, measureReopens } from './reads.ts'

export const page = { measureAppends, measureCalls, measureReopens, fillLog, measureEnds, measureImports }

Object.assign(globalThis, { page })
