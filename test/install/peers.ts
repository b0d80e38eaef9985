/**
 * `npm run test:install`: packs the library and installs it in fresh folders: beside old versions
 * of its peers, and under each version of Node that `engines` names. The core has to work in all of
 * them; what needs a peer works, or refuses it in its one line. Needs a registry and a Chromium;
 * about five minutes. `-- lit` does what has that in its name alone.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { packed, project, run } from './library.ts'
import { type Shown, show } from './page.ts'

const apps = join(import.meta.dirname, 'apps')
const workplace = mkdtempSync(join(tmpdir(), 'plimsoll-install-'))

interface Case {
  /** Packages that the project has, before it installs the library. */
  readonly beside: readonly string[]
  /** Programs of `apps/` that have to end well. */
  readonly apps?: readonly string[]
  /** What the page of `apps/page` has to come to: every package that it needs has to be there. */
  readonly page?: Shown
}

const WORKS: Shown = { markdown: true, code: true, refusals: [] }
const page = (...old: readonly string[]): readonly string[] => {
  const isOld = (name: string): boolean => old.some((one) => one.startsWith(`${name}@`))
  return [...old, ...['lit', 'marked', 'highlight.js'].filter((name) => !isOld(name))]
}
const hono = ['@hono/zod-openapi', 'hono', 'zod', 'jose']

const CASES: readonly Case[] = [
  { beside: [] },
  { beside: ['zod@3'] },
  { beside: ['zod@3', '@hono/zod-openapi@0', 'hono@4', 'jose@6'], apps: ['zod'] },
  { beside: ['vitest@4', 'fast-check@4'], apps: ['contract'] },
  { beside: ['ai@6', '@ai-sdk/openai-compatible@2', 'workers-ai-provider@3'], apps: ['ai'] },
  { beside: page('marked@15'), page: WORKS },
  { beside: page('lit@2'), page: WORKS },
  { beside: page('highlight.js@10'), page: WORKS },
  { beside: ['dexie@3'], apps: ['dexie'] },
  { beside: [...hono.slice(0, -1), 'jose@5'], apps: ['jose'] },
  { beside: ['react@17', 'react-dom@17'], apps: ['react'] },
  { beside: ['react@18', 'react-dom@18'], apps: ['react'] },
  { beside: ['vue@2'], apps: ['vue'] },
  { beside: ['vue@3.3'], apps: ['vue'] },
  { beside: ['stemmer@1'], apps: ['stemmer'] },
  { beside: ['gpt-tokenizer@2'], apps: ['o200k'] },
  ...manifest.engines.node.split(' || ').map((version) => ({
    beside: [`node@${version}`, 'vitest@4', 'fast-check@4', 'gpt-tokenizer'],
    apps: ['o200k', 'contract'],
  })),
]

/** A project with the programs of `apps/`. */
function projectOf(name: string, tarball: string, beside: readonly string[]): string {
  const folder = project(join(workplace, name), tarball, beside)
  cpSync(apps, folder, { recursive: true })
  return folder
}

async function check(folder: string, { beside, apps = [], page }: Case): Promise<void> {
  const hasNode = beside.some((name) => name.startsWith('node@'))
  const node = hasNode ? join(folder, 'node_modules/node/bin/node') : process.execPath
  for (const app of ['core', ...apps]) {
    if (app === 'contract') run(folder, node, 'node_modules/vitest/vitest.mjs', 'run')
    else run(folder, node, `${app}.mjs`)
  }
  if (page) await show(join(folder, 'page'), page)
}

const asked = process.argv[2] ?? ''
let failures = 0
try {
  const tarball = packed(workplace)
  for (const [index, one] of CASES.entries()) {
    const title = one.beside.join(' ') || 'nothing'
    if (!title.includes(asked)) continue
    const started = Date.now()
    try {
      await check(projectOf(`case-${index}`, tarball, one.beside), one)
      console.log(
        `ok      ${title}: ${['core', ...(one.apps ?? []), ...(one.page ? ['page'] : [])].join(', ')}`,
      )
    } catch (error) {
      failures++
      const { stdout = '', stderr = '', message } = error as Error & { stdout?: string; stderr?: string }
      console.log(`FAILED  ${title}: ${[message, stdout, stderr].filter(Boolean).join('\n')}`)
    }
    console.error(`${((Date.now() - started) / 1000).toFixed(0)} s`)
  }
} finally {
  rmSync(workplace, { recursive: true, force: true })
}
process.exitCode = failures === 0 ? 0 : 1
