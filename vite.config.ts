import { cloudflareTest } from '@cloudflare/vitest-plugin'
import { playwright } from '@vitest/browser-playwright'
import { defineConfig } from 'vitest/config'
import { findChromium } from './test/chromium.ts'

const executablePath = findChromium()

/** What Chromium needs to run as root, and to stay quiet without a network. */
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

const node = {
  test: {
    name: 'node',
    include: ['test/{unit,node,types,render}/**/*.test.ts'],
  },
}

const browser = {
  // Found in the middle of a run, it would make Vite load the tests anew.
  optimizeDeps: { include: ['dexie'] },
  test: {
    name: 'browser',
    include: ['test/browser/**/*.test.ts'],
    browser: {
      enabled: true,
      headless: true,
      screenshotFailures: false,
      provider: playwright({ launchOptions: { args, ...(executablePath && { executablePath }) } }),
      instances: [{ browser: 'chromium' as const }],
    },
  },
}

const workerd = {
  plugins: [cloudflareTest({ wrangler: { configPath: './wrangler.toml' } })],
  test: {
    name: 'workerd',
    include: ['test/workerd/**/*.test.ts'],
  },
}

// A worker of their own: Cloudflare's agents need Node's modules, which the library must do without.
const agents = {
  plugins: [cloudflareTest({ wrangler: { configPath: './test/agents/wrangler.toml' } })],
  test: {
    name: 'workerd-agents',
    include: ['test/agents/**/*.test.ts'],
  },
}

export default defineConfig({ test: { projects: [node, browser, workerd, agents] } })
