/**
 * What the Worker is bundled with in the place of Zod (`alias` in `wrangler.toml`): packages ask
 * for one object with everything in it, and with that come its messages in fifty languages.
 */
import * as z from './zod-names.ts'

export * from './zod-names.ts'
export { z }
