import { expect, it } from 'vitest'
import { heldScope } from '../../../src/edge/objects/held-scope.ts'
import { mapStore } from '../../../src/index.ts'
import { decide } from '../../../src/kernel/log/decide.ts'
import { append, SCOPE } from '../../contract/samples.ts'
import { changedStore } from '../../everywhere/changed-store.ts'

it('a commit that waited until its scope was held no more writes nothing', async () => {
  let isHeld = true
  let release = (): void => {}
  const waited = new Promise<void>((done) => {
    release = done
  })
  const store = mapStore()
  const slow = changedStore(store, (inner) => ({
    commit: async (ops, decide) => {
      await waited
      return inner.commit(ops, decide)
    },
  }))
  const scope = heldScope(slow.open(SCOPE), () => {
    if (!isHeld) throw new Error('gone')
  })
  const call = scope.commit([append('op-1', ['m1'])], decide)
  isHeld = false
  release()
  await expect(call).rejects.toThrow('gone')
  expect((await store.open(SCOPE).head()).seq).toBe(0)
})
