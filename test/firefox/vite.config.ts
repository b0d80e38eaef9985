/** The browser tests once more, in Firefox: a run of its own, since not every machine has one. */
import { resolve } from 'node:path'
import { defineConfig } from 'vitest/config'
import { optimized, source } from '../source.ts'
import { findFirefox } from './find.ts'
import { firefox } from './provider.ts'

export default defineConfig({
  root: resolve(import.meta.dirname, '../..'),
  resolve: source,
  // Found in the middle of a run, it would make Vite reload the tests.
  optimizeDeps: { include: optimized },
  test: {
    name: 'firefox',
    include: ['test/browser/**/*.test.ts'],
    // As many as a push plays in Chromium.
    provide: { histories: 1, worlds: 2 },
    // What is loaded on demand comes module by module.
    expect: { poll: { timeout: 10_000 } },
    browser: {
      enabled: true,
      headless: true,
      screenshotFailures: false,
      provider: firefox({ executablePath: findFirefox(), limit: 1_200_000 }),
      instances: [{ browser: 'firefox' }],
    },
  },
})
