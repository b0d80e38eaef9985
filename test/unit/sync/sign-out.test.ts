/** Removing what is on a device. */

import { expect, test } from 'vitest'
import { signOut } from '../../../src/sync/index.ts'
import { append } from '../../contract/samples.ts'
import { device, idsOf, TestHome, write } from '../support/synced.ts'

test.each([
  [{ dryrun: true }, 'dryrun is not known; there are force, dryRun'],
  [null, 'options must be an object'],
])('signOut refuses %o, and removes nothing', async (options, reason) => {
  const { store } = device(new TestHome())
  await write(store, [append('a', ['m1'])])
  await store.settled()
  expect(() => signOut(store, options as never)).toThrow(`signOut: ${reason}`)
  expect(await idsOf(store)).toEqual(['m1'])
})
