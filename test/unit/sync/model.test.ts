import { expect, it } from 'vitest'
import { limit, runs } from '../../everywhere/runs.ts'
import { generate, isPartial } from '../../sync/commands.ts'
import { mapDisk, play } from '../../sync/play.ts'
import { FOUND, FOUND_PARTIAL } from './support/found.ts'

const STEPS = 25

it(
  'devices and their home hold the same, whatever happens between them',
  async () => {
    const { numRuns, seed } = runs(4_000)
    for (let at = seed; at < seed + numRuns; at++) {
      const broken = await play(generate(at, STEPS), mapDisk(), {}, isPartial(at))
      expect(broken, `npm run test:sync -- --seeds 1 --seed ${at} --steps ${STEPS}`).toBe(undefined)
    }
  },
  limit(120_000),
)

it.each(Object.entries(FOUND))('they do where %s', async (_, commands) => {
  expect(await play(commands)).toBe(undefined)
})

it.each(Object.entries(FOUND_PARTIAL))('they do with a part of the log, where %s', async (_, commands) => {
  expect(await play(commands, mapDisk(), {}, true)).toBe(undefined)
})
