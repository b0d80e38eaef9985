/** What `vite.config.ts` gives to the tests of each place. */
import type {} from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    /** How many pairs of worlds are played where each takes long. */
    readonly worlds: number
  }
}
