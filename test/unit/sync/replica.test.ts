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

it('is seen as another tab left it by all who ask at once', async () => {
  const store = mapStore()
  const [replica, other] = [0, 1].map(() => new Replica(store.open(SCOPE) as ReplicaStore)) as [
    Replica,
    Replica,
  ]
  await replica.view()
  await other.begin(await other.view(), 'g1')
  const seen = await Promise.all([replica.refreshed(), replica.refreshed()])
  expect(seen.map(({ state }) => state.generation)).toEqual(['g1', 'g1'])
  await Promise.all([replica.close(), other.close()])
})
