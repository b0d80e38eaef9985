/** What blocks of code in the pages take for granted: named in the comment above a block. */
import { createMemory, mapStore } from 'plimsoll'
export const memory = createMemory({ store: mapStore(), budget: 16_000 })
