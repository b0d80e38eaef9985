import { expect, it } from 'vitest'
import { mapStore } from '../../../src/stores/map.ts'
import { Replica, type ReplicaStore } from '../../../src/sync/replica.ts'
import { NO_GENERATION } from '../../../src/sync/state.ts'
import { SCOPE } from '../../contract/samples.ts'

it('a pull that brings nothing changes nothing, though the home has no log yet', async () => {
  const scope = mapStore().open(SCOPE) as ReplicaStore
  const replica = new Replica(scope)
  const answer = { generation: NO_GENERATION, from: 0, ops: [], cursor: 0, anchor: '', head: 0 }
  const applied = await replica.apply({ cursor: 0, anchor: '' }, answer, new Map())
  expect(applied.status).toBe('applied')
  expect((await replica.view()).text).toBeUndefined()
})
