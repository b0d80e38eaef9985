/** The histories of the oracle, in parts: of all judges of a mutant the one that sees most. */
import { expect, it } from 'vitest'
import { sidesOf } from '../oracle/sides.ts'
import { survey } from '../oracle/survey.ts'

const PARTS = 12
const HISTORIES = 20

const sides = sidesOf((build) => ({ open: () => build.mapStore() }))

for (let part = 1; part <= PARTS; part++) {
  const seed = part * HISTORIES + 1
  it(`histories from seed ${seed} on are played as the frozen build plays them`, async () => {
    expect(await survey({ ...sides, histories: HISTORIES, seed })).toBeUndefined()
  })
}
