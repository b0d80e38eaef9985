import { expect, it } from 'vitest'
import { generate, isPartial } from '../../sync/commands.ts'
import { MUTANTS, PARTIAL_MUTANTS } from '../../sync/mutants.ts'
import { mapDisk, play } from '../../sync/play.ts'
import type { Sabotage } from '../../sync/world.ts'
import { FOUND, FOUND_PARTIAL } from './support/found.ts'

const SEEDS = 2_000
const STEPS = 40

/** What the model says of a protocol, by the runs that found something once, and by random ones. */
async function verdict(mutant: Sabotage): Promise<string | undefined> {
  for (const [runs, isPart] of [[FOUND, false] as const, [FOUND_PARTIAL, true] as const])
    for (const commands of Object.values(runs)) {
      const broken = await play(commands, mapDisk(), mutant, isPart)
      if (broken !== undefined) return broken
    }
  for (let seed = 1; seed <= SEEDS; seed++) {
    const broken = await play(generate(seed, STEPS), mapDisk(), mutant, isPartial(seed))
    if (broken !== undefined) return broken
  }
  return undefined
}

it.each(Object.entries({ ...MUTANTS, ...PARTIAL_MUTANTS }))('the model finds %s', async (_, mutant) => {
  expect(await verdict(mutant)).toBeTypeOf('string')
})
