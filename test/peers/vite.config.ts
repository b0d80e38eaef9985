/**
 * The suites of other libraries, and their loops, over the bridges: a run of its own, since they
 * are packages of their own. `PEERS` is a folder with checkouts of their repositories.
 */
import { join, resolve } from 'node:path'
import { cloudflareTest } from '@cloudflare/vitest-plugin'
import type { Plugin } from 'vite'
import { defineConfig } from 'vitest/config'
import { source } from '../source.ts'
import { FILES } from './files.ts'

const root = resolve(import.meta.dirname, '../..')
const { PEERS } = process.env
const files = PEERS === undefined ? [] : FILES.map((file) => ({ ...file, path: join(PEERS, file.name) }))

/** The bridges and the peers' tests meet one copy of each package, that of this folder. */
const own: Plugin = {
  name: 'own-peers',
  enforce: 'pre',
  resolveId(name, from, options) {
    const tested = files.find(({ path }) => path === from)
    const isPeer = /^@(langchain|openai)\//.test(name) && from?.startsWith(resolve(root, 'src'))
    const instead = isPeer || name === 'vitest' ? name : tested?.modules[name]
    return (isPeer || tested) && instead ? this.resolve(instead, import.meta.filename, options) : null
  },
}

/** The majors of the AI SDK, by the package that each is here; 7 is that of the checkout. */
const AI_SDK = { 5: 'ai-5', 6: 'ai-6', 7: 'ai' }

/** Puts one major of the SDK in the place of `ai`, for the bridge and for its test. */
function aiSdk(instead: string): Plugin {
  return {
    name: instead,
    enforce: 'pre',
    resolveId(name, _, options) {
      const own = /^ai(\/.*)?$/.exec(name)
      return own && instead !== 'ai'
        ? this.resolve(instead + (own[1] ?? ''), import.meta.filename, options)
        : null
    },
  }
}

/** Names of cases are those of their suites and their own, one after the other. */
const skips = FILES.flatMap(({ skips = [] }) => skips)
const testNamePattern = new RegExp(`^(?!.*(?:${skips.join('|')}))`)

const shared = {
  testTimeout: 120_000,
  hookTimeout: 60_000,
  globals: true,
  setupFiles: [resolve(root, 'test/everywhere/patience.ts')],
}

export default defineConfig({
  root,
  test: {
    projects: [
      {
        resolve: source,
        plugins: [own],
        test: { name: 'peers', include: ['test/peers/*.test.ts'], ...shared },
      },
      ...Object.entries(AI_SDK).map(([major, instead]) => ({
        resolve: source,
        plugins: [aiSdk(instead)],
        test: {
          name: `peers-ai-sdk-${major}`,
          include: ['test/peers/ai-sdk/*.test.ts'],
          env: { AI_SDK: major },
          ...shared,
        },
      })),
      ...(PEERS === undefined
        ? []
        : [
            {
              root: PEERS,
              resolve: source,
              plugins: [own],
              test: {
                name: 'peers-files',
                include: FILES.map(({ name }) => name),
                testNamePattern,
                ...shared,
              },
            },
          ]),
      {
        resolve: source,
        plugins: [own, cloudflareTest({ wrangler: { configPath: './test/peers/workerd/wrangler.toml' } })],
        test: { name: 'peers-workerd', include: ['test/peers/workerd/*.test.ts'], ...shared },
      },
    ],
  },
})
