import { mastraBuild, mastraSubject } from './mastra.ts'

export const subject = mastraSubject('best-fit')
export const build = mastraBuild('best-fit')
