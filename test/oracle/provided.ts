/** What `vite.config.ts` gives to the tests of each place. */
import type {} from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    /** How many histories are played. */
    readonly histories: number
  }
}
