/**
 * `npm run test:managers`: packs the library, and installs it beside old versions of its peers by
 * pnpm (isolated) and by Yarn (PnP, without `node_modules`); the programs of `apps/` have to end
 * well. Needs a registry; about two minutes.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packed, project, root, run } from './library.ts'

const BESIDE: Readonly<Record<string, string>> = {
  ai: '6',
  dexie: '3',
  'fast-check': '4',
  'highlight.js': '10',
  jose: '5',
  lit: '2',
  marked: '15',
  react: '18',
  'react-dom': '18',
  stemmer: '1',
  vitest: '4',
  zod: '3',
}
/** Those that need nothing but what stands above. */
const APPS = ['core.mjs', 'dexie.mjs', 'react.mjs', 'stemmer.mjs']

const workplace = mkdtempSync(join(tmpdir(), 'plimsoll-managers-'))
const registry = run(root, 'npm', 'config', 'get', 'registry').trim()
const insecure = registry.startsWith('http:')
  ? `unsafeHttpWhitelist: ["${new URL(registry).hostname}"]\n`
  : ''

const MANAGERS: Readonly<Record<string, (folder: string, bin: string) => void>> = {
  'pnpm@10': (folder, bin) => {
    writeFileSync(join(folder, '.npmrc'), `registry=${registry}\nnode-linker=isolated\n`)
    run(folder, process.execPath, join(bin, 'pnpm/bin/pnpm.cjs'), 'install', '--ignore-scripts')
    for (const app of APPS) run(folder, process.execPath, app)
  },
  '@yarnpkg/cli-dist@4': (folder, bin) => {
    const yarn = join(bin, '@yarnpkg/cli-dist/bin/yarn.js')
    writeFileSync(
      join(folder, '.yarnrc.yml'),
      `nodeLinker: pnp\nenableGlobalCache: false\nenableScripts: false\nnpmRegistryServer: "${registry}"\n${insecure}`,
    )
    writeFileSync(join(folder, 'yarn.lock'), '')
    run(folder, process.execPath, yarn, 'install')
    for (const app of APPS) run(folder, process.execPath, yarn, 'node', app)
  },
}

let failures = 0
try {
  const tarball = packed(workplace)
  const tools = project(join(workplace, 'tools'), tarball, Object.keys(MANAGERS))
  for (const [index, [manager, install]] of Object.entries(MANAGERS).entries()) {
    const folder = join(workplace, `project-${index}`)
    mkdirSync(folder)
    const dependencies = { ...BESIDE, plimsoll: `file:${tarball}` }
    writeFileSync(
      join(folder, 'package.json'),
      JSON.stringify({ name: 'beside', private: true, type: 'module', dependencies }),
    )
    cpSync(join(import.meta.dirname, 'apps'), folder, { recursive: true })
    try {
      install(folder, join(tools, 'node_modules'))
      console.log(`ok      ${manager}: ${APPS.join(', ')}`)
    } catch (error) {
      failures++
      const { stdout = '', stderr = '', message } = error as Error & { stdout?: string; stderr?: string }
      console.log(`FAILED  ${manager}: ${[message, stdout, stderr].filter(Boolean).join('\n')}`)
    }
  }
} finally {
  rmSync(workplace, { recursive: true, force: true })
}
process.exitCode = failures === 0 ? 0 : 1
