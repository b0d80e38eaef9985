import { expect, it } from 'vitest'
import { check } from '../../line/check.ts'
import { limit, runs } from '../support/runs.ts'

it(
  'with the default counter no request is above the line by o200k, whatever is said',
  async () => {
    const { numRuns, seed } = runs(200)
    const { made, above, fullest } = await check({ contexts: numRuns, seed })
    expect(above).toEqual([])
    expect(made).toBeGreaterThan(numRuns / 2)
    expect(fullest).toBeGreaterThan(0.6)
  },
  limit(20_000),
)
