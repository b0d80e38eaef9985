import { availableParallelism } from 'node:os'
import { cloudflareTest } from '@cloudflare/vitest-plugin'
import { playwright } from '@vitest/browser-playwright'
import { defineConfig } from 'vitest/config'
import { findHeadless, flags } from './test/chromium.ts'
import { edgeVariables, encryptedEdgeVariables } from './test/edge-variables.ts'
import { keepFilesInMemory } from './test/in-memory.ts'
import { optimized, source } from './test/source.ts'

keepFilesInMemory()
const executablePath = findHeadless()

/** What a push runs of the random cases: the same tenth each time. */
const PUSH = 0.1

/**
 * `FAST_CHECK_RUNS=1` runs all random cases, with a new seed; `FAST_CHECK_SEED` says which.
 * `ORACLE=500` plays so many histories, `TWINS=500` so many pairs of worlds.
 */
const { FAST_CHECK_RUNS, FAST_CHECK_SEED, ORACLE, TWINS } = process.env
const fastCheckRuns = Number(FAST_CHECK_RUNS ?? PUSH)
const fastCheckSeed =
  FAST_CHECK_SEED !== undefined
    ? Number(FAST_CHECK_SEED)
    : FAST_CHECK_RUNS !== undefined
      ? Date.now() % 1_000_000_000
      : undefined
if (fastCheckSeed !== undefined)
  console.log(`FAST_CHECK_RUNS=${fastCheckRuns} FAST_CHECK_SEED=${fastCheckSeed}`)

/**
 * Of each project: how often properties run, the time of a test, which grows with that, and how
 * long it waits for something. Machines that do other things too are no reason to fail.
 *
 * @param interval milliseconds between two looks at what is waited for
 */
function patient(testTimeout: number, histories = 0, interval = 50) {
  return {
    provide: {
      fastCheckRuns,
      fastCheckSeed,
      histories: Number(ORACLE ?? histories),
      worlds: Number(TWINS ?? (fastCheckRuns >= 1 ? 2 : 1)),
    },
    testTimeout: testTimeout * Math.max(1, fastCheckRuns),
    hookTimeout: 120_000,
    expect: { poll: { timeout: testTimeout / 2, interval } },
    setupFiles: ['test/everywhere/patience.ts'],
  }
}

/**
 * Files at a time, first of what drives browsers, then of the others. By itself Vitest leaves a
 * core idle, which is half of a machine of two. A browser runs its own files beside those of `e2e`;
 * without one, processes wait a quarter of their time, for alarms and for each other.
 */
const withBrowsers = { maxWorkers: '100%', sequence: { groupOrder: 0 } }
const withoutBrowsers = {
  maxWorkers: Math.ceil(1.5 * availableParallelism()),
  sequence: { groupOrder: 1 },
}

/**
 * Files share one process, or one Miniflare, in which each module, and the worker, is loaded once:
 * to begin again takes longer than the tests of most files. What a file changes beyond itself it
 * undoes.
 */
const together = { isolate: false }

/** It plays months by a fake clock, in which what other files left running would run too. */
const ALONE = 'test/unit/sync/year.test.ts'

const alone = {
  resolve: source,
  test: { name: 'node-alone', include: [ALONE], ...patient(20_000), ...withoutBrowsers },
}

const node = {
  resolve: source,
  test: {
    name: 'node',
    include: ['test/{unit,node,types,render,ai-sdk}/**/*.test.ts'],
    exclude: [ALONE],
    ...patient(20_000, 5),
    ...withoutBrowsers,
    ...together,
  },
}

const browser = {
  resolve: source,
  // Found in the middle of a run, it would make Vite load the tests again.
  optimizeDeps: { include: optimized },
  test: {
    name: 'browser',
    include: ['test/browser/**/*.test.ts'],
    ...patient(60_000, 1),
    ...withBrowsers,
    browser: {
      enabled: true,
      headless: true,
      screenshotFailures: false,
      provider: playwright({ launchOptions: { args: flags, ...(executablePath && { executablePath }) } }),
      instances: [{ browser: 'chromium' as const }],
    },
  },
}

/** The worker under test. What it logs of errors that tests provoke would bury what they say. */
function workerWith(bindings: Readonly<Record<string, string>>) {
  return cloudflareTest({
    wrangler: { configPath: './wrangler.toml' },
    miniflare: { bindings },
    verbose: false,
  })
}

const workerd = {
  resolve: source,
  plugins: [workerWith(edgeVariables)],
  test: {
    name: 'workerd',
    include: ['test/workerd/**/*.test.ts'],
    ...patient(60_000, 1),
    ...withoutBrowsers,
    ...together,
  },
}

/**
 * What must hold with encryption on too: faults, erasing, moving, sent again and by strangers (T7,
 * T31 to T34). Where all cases run, so do those of what is judged before anything is stored.
 */
const ENCRYPTED = [
  ...['claim', 'erase', 'erase-user', 'faults', 'fuzz', 'idempotency', 'ids', 'sync', 'sync-home'],
  ...(fastCheckRuns >= 1 ? ['bodies', 'canaries', 'tenants'] : []),
]

const encrypted = {
  resolve: source,
  plugins: [workerWith({ ...edgeVariables, ...encryptedEdgeVariables })],
  test: {
    name: 'workerd-encrypted',
    include: ['test/workerd/health.test.ts', ...ENCRYPTED.map((name) => `test/workerd/edge/${name}.test.ts`)],
    ...patient(60_000),
    ...withoutBrowsers,
    ...together,
  },
}

/** Processes alone, without a browser: they wait for each other, so that others run beside them. */
const PROCESSES = ['cli', 'edge', 'encrypted-edge', 'operate', 'quickstart', 'start'].map(
  (name) => `test/e2e/${name}.test.ts`,
)

/** The built page and the real edge, driven from Node. */
const e2e = {
  test: {
    name: 'e2e',
    include: ['test/e2e/**/*.test.ts'],
    exclude: PROCESSES,
    // Each look searches a page, which takes the browser as long as a part of what is waited for.
    ...patient(90_000, 0, 150),
    ...withBrowsers,
    ...together,
  },
}

const processes = {
  test: {
    name: 'e2e-processes',
    include: PROCESSES,
    ...patient(90_000),
    ...withoutBrowsers,
    ...together,
  },
}

export default defineConfig({
  test: { projects: [processes, node, alone, browser, workerd, encrypted, e2e] },
})
