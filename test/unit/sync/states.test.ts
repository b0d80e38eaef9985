import { expect, it } from 'vitest'
import { explore } from '../../sync/states.ts'

// `npm run test:sync -- --states 3` has more.
it.each([
  { limits: { ops: 1, crashes: 1, restores: 1 }, states: 10_492, ends: 8 },
  { limits: { ops: 2, crashes: 1, restores: 0 }, states: 10_817, ends: 8 },
])(
  '$states states of two devices break no rule, and all lead to one of $ends ends',
  {
    timeout: 60_000,
  },
  async ({ limits, states, ends }) => {
    expect(await explore(limits)).toEqual({ states, ends })
  },
)
