import type { Store } from '../../src/ports/store.ts'
import { generate, isPartial } from './commands.ts'
import { playOver } from './play.ts'
import { storeDisk } from './store-disk.ts'

const STEPS = 40

/**
 * Plays runs whose devices and home are scopes of a store.
 *
 * @throws where one breaks a rule, or ends otherwise than over maps
 */
export async function checkOver(
  store: Store,
  { seed, numRuns }: { readonly seed: number; readonly numRuns: number },
): Promise<void> {
  const disk = storeDisk(store)
  try {
    for (let at = seed; at < seed + numRuns; at++) {
      const broken = await playOver(generate(at, STEPS), disk, isPartial(at))
      if (broken !== undefined) throw new Error(`seed ${at}, ${STEPS} steps: ${broken}`)
    }
  } finally {
    await disk.close()
  }
}
