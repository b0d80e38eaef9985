import { expect, it } from 'vitest'
import type { SealedOp } from '../../../src/ports/op.ts'
import type { ScopeStore } from '../../../src/ports/store.ts'
import type { SyncOp } from '../../../src/ports/sync.ts'
import { mapStore } from '../../../src/stores/map.ts'
import { knownOp } from '../../../src/sync/known-op.ts'
import { applyPage } from '../../../src/sync/page.ts'
import { append, put, SCOPE } from '../../contract/samples.ts'

/** Follows ops as a home tells them, a page each. */
async function follow(scope: ScopeStore, ...pages: readonly (readonly SealedOp[])[]): Promise<void> {
  let cursor = 0
  for (const ops of pages) {
    cursor += ops.length
    const page = { generation: 'g', ops: ops as readonly SyncOp[], cursor, anchor: `tok-${cursor}` }
    await scope.commit(ops.map(knownOp), (_, rows) => applyPage(page, [], rows))
  }
}

const first = (sources: Parameters<typeof put>[3]) => ({ ...put('o2', 'a', null, sources), bodies: ['old'] })
const stale = { ...put('o3', 'a', 'o2'), bodies: [null] }

it('an older value shows on until the put comes that has the newest', async () => {
  const scope = mapStore().open(SCOPE)
  await follow(scope, [first({})], [stale])
  expect(await scope.register('a')).toMatchObject({ version: 'o3', body: 'old' })
})

it('an older value that derives from something does not: that may be deleted meanwhile', async () => {
  const scope = mapStore().open(SCOPE)
  await follow(scope, [append('o1', ['m1']), first({ sources: ['entry:m1'] })], [stale])
  expect(await scope.register('a')).toMatchObject({ version: 'o3', body: null })
})
