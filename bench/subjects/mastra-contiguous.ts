import { mastraBuild, mastraSubject } from './mastra.ts'

export const subject = mastraSubject('contiguous')
export const build = mastraBuild('contiguous')
