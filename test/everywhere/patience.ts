/** Before each file of tests. */
import { afterAll, vi } from 'vitest'

// As long as `expect.poll` waits by the configuration. `vi.waitFor` has no setting there, and by
// itself gives up after a second, which is short for machines that do other things too.
const { waitFor } = vi
vi.waitFor = (check, options = 10_000) => waitFor(check, options)

// The next file may run in the same process, with the same modules.
afterAll(() => {
  vi.waitFor = waitFor
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})
