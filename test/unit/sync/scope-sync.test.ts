import { expect, test } from 'vitest'
import type { Replica } from '../../../src/sync/replica.ts'
import { ScopeSync } from '../../../src/sync/scope-sync.ts'
import type { View } from '../../../src/sync/view.ts'

test('what is written while the outbox is read is pushed next', async () => {
  const view = { text: '{}', state: { seq: 0, anchor: '', ordinal: 0, last: 0 }, outbox: [], waiting: [] }
  const sync: ScopeSync = new ScopeSync({ userId: 'ada' }, {
    seen: undefined,
    refreshed: async () => {
      sync.isPushDue = true
      return view as unknown as View
    },
  } as unknown as Replica)
  expect(await sync.pushRequest({ ops: 10, units: 10 })).toBeUndefined()
  expect(sync.isPushDue).toBe(true)
})
