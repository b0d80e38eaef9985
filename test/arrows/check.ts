/**
 * Proves that the arrows of the architecture are enforced: each forbidden line below is put into a copy of the tree, in a
 * file of its own, and must be reported by the tools named with it. A check that sees nothing would pass any tree.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

interface Seed {
  /** The folder that holds the violation. */
  readonly folder: string
  readonly code: string
  /** What the tools must say: Biome's rule or message, the compiler's error number. */
  readonly reports: readonly string[]
}

const imports = 'lint/style/noRestrictedImports'
const globals = 'lint/style/noRestrictedGlobals'
const outsideProject = 'TS6307'

const seeds: readonly Seed[] = [
  { folder: 'src/core', code: `export * from '../stores/target.ts'`, reports: [imports, outsideProject] },
  { folder: 'src/core', code: `export * from '../index.ts'`, reports: [imports, outsideProject] },
  { folder: 'src/core', code: `export { Dexie } from 'dexie'`, reports: [imports] },
  { folder: 'src/core', code: `export type { Dexie } from 'dexie'`, reports: [imports] },
  { folder: 'src/core', code: `export { readFileSync } from 'node:fs'`, reports: [imports, 'TS2591'] },
  { folder: 'src/core', code: `export const now = () => Date.now()`, reports: [globals] },
  { folder: 'src/core', code: `export const dice = () => Math.random()`, reports: ['no randomness'] },
  { folder: 'src/core', code: `export const id = () => crypto.randomUUID()`, reports: [globals, 'TS2304'] },
  { folder: 'src/core', code: `export const title = () => document.title`, reports: [globals, 'TS2584'] },
  {
    folder: 'src/core/recall',
    code: `export * from '../../stores/target.ts'`,
    reports: [imports, outsideProject],
  },
  { folder: 'src/core/recall', code: `export * from '../../index.ts'`, reports: [imports, outsideProject] },
  { folder: 'src/ports', code: `export * from '../core/target.ts'`, reports: [imports, outsideProject] },
  { folder: 'src/render', code: `export * from '../stores/target.ts'`, reports: [imports, outsideProject] },
  { folder: 'src/agent', code: `export * from '../stores/target.ts'`, reports: [imports, outsideProject] },
  { folder: 'src/agent', code: `export * from '../render/openai.ts'`, reports: [imports, outsideProject] },
  { folder: 'src/agent', code: `export { Dexie } from 'dexie'`, reports: [imports] },
  { folder: 'src/agent', code: `export const now = () => Date.now()`, reports: [globals] },
  {
    folder: 'src/agent',
    code: `export const later = () => setTimeout(Object)`,
    reports: [globals, 'TS2304'],
  },
  { folder: 'src/agent', code: `export const dice = () => Math.random()`, reports: ['no randomness'] },
  {
    folder: 'src/agent/memory-tools',
    code: `export * from '../../stores/target.ts'`,
    reports: [imports, outsideProject],
  },
  { folder: 'src/stores', code: `export * from '../core/target.ts'`, reports: [imports, outsideProject] },
  { folder: 'src/stores', code: `export { readFileSync } from 'node:fs'`, reports: [imports] },
  { folder: 'src/stores', code: `export const later = () => setTimeout(Object)`, reports: [globals] },
  { folder: 'src/stores', code: `export const load = () => fetch('/')`, reports: [globals] },
  { folder: 'src/stores', code: `export const id = () => crypto.subtle`, reports: [globals] },
  {
    folder: 'src/stores',
    code: `import { Dexie } from 'dexie'\nexport const wait = () => Dexie.waitFor(Promise.resolve())`,
    reports: ['must not wait'],
  },
  { folder: 'src/platform', code: `export * from '../core/target.ts'`, reports: [imports, outsideProject] },
  { folder: 'src/counters', code: `export * from '../core/target.ts'`, reports: [imports, outsideProject] },
  { folder: 'src/ai-sdk', code: `export * from '../stores/target.ts'`, reports: [imports, outsideProject] },
  { folder: 'src/ai-sdk', code: `export * from '../agent/run.ts'`, reports: [imports] },
  { folder: 'src/ai-sdk', code: `export { asSchema } from '@ai-sdk/provider-utils'`, reports: [imports] },
  { folder: 'src/cli', code: `export * from '../index.ts'`, reports: [imports] },
  { folder: 'src/mcp', code: `export * from '../stores/target.ts'`, reports: [imports, outsideProject] },
  { folder: 'src/mcp', code: `export * from '../agent/run.ts'`, reports: [imports] },
  { folder: 'src/client', code: `export * from '../core/target.ts'`, reports: [imports, outsideProject] },
  { folder: 'src/client', code: `export { readFileSync } from 'node:fs'`, reports: [imports] },
  { folder: 'src/replay', code: `export * from '../cli/io.ts'`, reports: [imports, outsideProject] },
  { folder: 'src/replay', code: `export { readFileSync } from 'node:fs'`, reports: [imports, 'TS2591'] },
  { folder: 'src/replay', code: `export const title = () => document.title`, reports: ['TS2584'] },
  { folder: 'src/inspector', code: `export * from '../cli/io.ts'`, reports: [imports, outsideProject] },
  {
    folder: 'src/inspector/model',
    code: `export * from '../../../web/target.ts'`,
    reports: [imports, outsideProject],
  },
  { folder: 'src/inspector/model', code: `export { html } from 'lit'`, reports: [imports] },
  { folder: 'src/inspector/view', code: `export { readFileSync } from 'node:fs'`, reports: [imports] },
  { folder: 'src/chat', code: `export * from '../../web/target.ts'`, reports: [imports, outsideProject] },
  { folder: 'src/chat', code: `export { readFileSync } from 'node:fs'`, reports: [imports] },
  {
    folder: 'src/encrypted',
    code: `export * from '../stores/target.ts'`,
    reports: [imports, outsideProject],
  },
  { folder: 'src/encrypted', code: `export { readFileSync } from 'node:fs'`, reports: [imports] },
  { folder: 'src/edge', code: `export * from '../index.ts'`, reports: [imports] },
  { folder: 'src/edge/app/routes', code: `export * from '../../../index.ts'`, reports: [imports] },
  { folder: 'src/edge/objects', code: `export * from '../../cli/main.ts'`, reports: [imports] },
  { folder: 'src/edge/objects', code: `export { Dexie } from 'dexie'`, reports: [imports] },
  { folder: 'src/edge/objects', code: `export { readFileSync } from 'node:fs'`, reports: [imports] },
  { folder: 'src/edge/app', code: `export const title = () => document.title`, reports: ['TS2584'] },
  { folder: 'web', code: `export * from '../worker/target.ts'`, reports: [imports, outsideProject] },
  { folder: 'worker', code: `export * from '../web/target.ts'`, reports: [imports, outsideProject] },
]

const root = resolve(import.meta.dirname, '../..')
const skipped = new Set(['.git', 'node_modules', 'dist', 'bench', 'docs'])
const copy = mkdtempSync(join(tmpdir(), 'plimsoll-arrows-'))
process.on('exit', () => rmSync(copy, { recursive: true, force: true }))

for (const name of readdirSync(root)) {
  if (!skipped.has(name)) cpSync(join(root, name), join(copy, name), { recursive: true })
}
symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'), 'junction')
for (const folder of ['src/core', 'src/stores', 'web', 'worker']) {
  writeFileSync(join(copy, folder, 'target.ts'), 'export const target = 1\n')
}

/** What Biome and the compiler say about the copy, one line an entry; empty when both are content. */
function complaints(): string {
  const lint = [
    'node_modules/@biomejs/biome/bin/biome',
    'lint',
    '--max-diagnostics=none',
    '--reporter=github',
    'src',
    'web',
    'worker',
  ]
  const build = ['node_modules/typescript/bin/tsc', '-b', '--pretty', 'false']
  return [lint, build]
    .map((command) => spawnSync(process.execPath, command, { cwd: copy, encoding: 'utf8' }))
    .map(({ status, stdout, stderr }) => (status === 0 ? '' : stdout + stderr))
    .join('')
}

const clean = complaints()
if (clean) throw new Error(`The tree without a seed must pass, but:\n${clean}`)

/** Seeds that are put in together, each in a file of its own. The compiler names a file outside a project once, however many import it. */
function rounds(): Seed[][] {
  const seen = new Map<string, number>()
  const rounds: Seed[][] = []
  for (const seed of seeds) {
    const [, path] = /'(\.[^']+)'/.exec(seed.code) ?? []
    const project = seed.folder.split('/').slice(0, 2).join('/')
    const name = `${project} ${path ? join(seed.folder, path) : seed.code}`
    const round = seen.get(name) ?? 0
    seen.set(name, round + 1)
    rounds[round] = [...(rounds[round] ?? []), seed]
  }
  return rounds
}

let missed = 0
for (const round of rounds()) {
  const files = round.map(({ folder, code }, index) => {
    const file = `${folder}/seed-${index}.ts`
    writeFileSync(join(copy, file), `${code}\n`)
    return file
  })
  const lines = complaints().split('\n')
  for (const file of files) rmSync(join(copy, file))
  for (const [index, { folder, code, reports }] of round.entries()) {
    const said = lines.filter((line) => line.includes(files[index] as string))
    for (const report of reports) {
      if (said.some((line) => line.includes(report))) continue
      missed++
      console.error(`Nobody reported ${report} for this line in ${folder}: ${code}`)
    }
  }
}

if (missed) process.exitCode = 1
else console.log(`Arrows: the clean tree passes, and each of ${seeds.length} seeded violations is reported.`)
