/** An example that is a package of its own: a run of its own. */
import { resolve } from 'node:path'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    root: resolve(import.meta.dirname, '../..'),
    name: 'offline',
    include: ['test/offline/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 10_000 } },
    setupFiles: ['test/everywhere/patience.ts'],
  },
})
