/** Inside Cloudflare's own agents: a run of its own, since they are a package of their own. */
import { resolve } from 'node:path'
import { cloudflareTest } from '@cloudflare/vitest-plugin'
import { defineConfig } from 'vitest/config'
import { source } from '../source.ts'

const chat = resolve(import.meta.dirname, 'node_modules/@cloudflare/ai-chat/dist/index.js')

export default defineConfig({
  root: resolve(import.meta.dirname, '../..'),
  // The example imports them as an app does that has them.
  resolve: { alias: [...source.alias, { find: '@cloudflare/ai-chat', replacement: chat }] },
  // The agents need Node's modules, which the library must do without.
  plugins: [cloudflareTest({ wrangler: { configPath: './test/agents/wrangler.toml' } })],
  test: {
    name: 'agents',
    include: ['test/agents/*.test.ts'],
    testTimeout: 20_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 10_000 } },
    setupFiles: ['test/everywhere/patience.ts'],
  },
})
