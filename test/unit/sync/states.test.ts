import { expect, it } from 'vitest'
import { isWhole } from '../../everywhere/runs.ts'
import { explore } from '../../sync/states.ts'

// `npm run test:sync -- --states 3` has more.
it.each([
  { ops: 1, crashes: 1, restores: 1 },
  { ops: 2, crashes: 1, restores: 0 },
  ...(isWhole ? [{ ops: 3, crashes: 0, restores: 0 }] : []),
])(
  'no state of two devices breaks a rule, and each leads to an end: $ops ops, $crashes crash, $restores restores',
  {
    timeout: 60_000,
  },
  async (limits) => {
    const { states, ends } = await explore(limits)
    expect(states).toBeGreaterThan(1_000)
    expect(ends).toBeGreaterThan(1)
  },
)
