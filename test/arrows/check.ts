/**
 * Proves that the arrows of the architecture hold, and that each is enforced: every forbidden line
 * below must be reported by the tool that is named with it. A check that sees nothing would pass
 * any tree.
 */
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { type Sources, violations } from './arrows.ts'

/** Lines of one file that break a rule. */
interface Seed {
  readonly file: string
  readonly code: string
  /** What must be said of it; nothing where the line is allowed. */
  readonly reports?: string
}

/**
 * For the rules of `arrows.ts`: what is added to a file, in memory. Several files may be needed to
 * break one.
 */
const arrowSeeds: readonly (readonly Seed[])[] = [
  [{ file: 'src/ports/seed.ts', code: `export * from '../kernel/policy.ts'`, reports: 'ports may import' }],
  [
    {
      file: 'src/kernel/log/seed.ts',
      code: `import type { A } from '../../features/slots.ts'`,
      reports: 'kernel may',
    },
  ],
  [{ file: 'src/kernel/seed.ts', code: `export * from '../index.ts'`, reports: 'kernel may import' }],
  [
    {
      file: 'src/kernel/seed.ts',
      code: `export const load = () => import('../stores/map.ts')`,
      reports: 'kernel may',
    },
  ],
  [
    {
      file: 'src/features/seed.ts',
      code: `import '../operations/rewind.ts'`,
      reports: 'features may import',
    },
  ],
  [
    {
      file: 'src/operations/seed.ts',
      code: `export * from '../agent/run.ts'`,
      reports: 'operations may import',
    },
  ],
  [
    {
      file: 'src/render/seed.ts',
      code: `export * from '../features/places.ts'`,
      reports: 'render may import',
    },
  ],
  [
    {
      file: 'src/stores/seed.ts',
      code: `export * from '../kernel/log/decide.ts'`,
      reports: 'stores may import',
    },
  ],
  [
    {
      file: 'src/counters/seed.ts',
      code: `export * from '../kernel/count.ts'`,
      reports: 'counters may import',
    },
  ],
  [{ file: 'src/client/seed.ts', code: `export * from '../kernel/count.ts'`, reports: 'client may import' }],
  [
    {
      file: 'src/platform/seed.ts',
      code: `export * from '../kernel/count.ts'`,
      reports: 'platform may import',
    },
  ],
  [
    {
      file: 'src/stores/encrypted/seed.ts',
      code: `export * from '../map.ts'`,
      reports: 'stores/encrypted may import',
    },
  ],
  [{ file: 'src/text/seed.ts', code: `export * from '../kernel/count.ts'`, reports: 'text may import' }],
  [
    {
      file: 'src/kernel/seed.ts',
      code: `export * from '../forgetting/owed.ts'`,
      reports: 'kernel may import',
    },
  ],
  [
    {
      file: 'src/forgetting/seed.ts',
      code: `export * from '../features/slots.ts'`,
      reports: 'forgetting may import',
    },
  ],
  [{ file: 'src/hashes/seed.ts', code: `export * from '../kernel/count.ts'`, reports: 'hashes may import' }],
  [{ file: 'src/agent/seed.ts', code: `export * from '../render/openai.ts'`, reports: 'agent may import' }],
  [{ file: 'src/bridges/seed.ts', code: `export * from '../kernel/policy.ts'`, reports: 'bridges may' }],
  [
    {
      file: 'src/bridges/ai-sdk/seed.ts',
      code: `export * from '../../agent/run.ts'`,
      reports: 'bridges/ai-sdk may',
    },
  ],
  [
    {
      file: 'src/bridges/mcp/seed.ts',
      code: `export * from '../../agent/run.ts'`,
      reports: 'bridges/mcp may',
    },
  ],
  [
    {
      file: 'src/bridges/anthropic/seed.ts',
      code: `export * from '../../agent/run.ts'`,
      reports: 'bridges/anthropic may',
    },
  ],
  [
    {
      file: 'src/bridges/langgraph/seed.ts',
      code: `export * from '../../agent/run.ts'`,
      reports: 'bridges/langgraph may',
    },
  ],
  [
    {
      file: 'src/bridges/assistant-ui/seed.ts',
      code: `export * from '../../agent/run.ts'`,
      reports: 'bridges/assistant-ui may',
    },
  ],
  [
    {
      file: 'src/bridges/langchain/seed.ts',
      code: `export * from '../../agent/run.ts'`,
      reports: 'bridges/langchain may',
    },
  ],
  [
    {
      file: 'src/bridges/openai-agents/seed.ts',
      code: `export * from '../../agent/run.ts'`,
      reports: 'bridges/openai-agents may',
    },
  ],
  [{ file: 'src/replay/seed.ts', code: `export * from '../cli/io.ts'`, reports: 'replay may import' }],
  [{ file: 'src/inspector/seed.ts', code: `export * from '../cli/io.ts'`, reports: 'inspector may import' }],
  [
    {
      file: 'src/inspector/model/seed.ts',
      code: `export * from '../view/words.ts'`,
      reports: 'inspector/model may',
    },
  ],
  [{ file: 'src/chat/seed.ts', code: `export * from '../../web/main.ts'`, reports: 'chat may import' }],
  [{ file: 'src/edge/app/seed.ts', code: `export * from '../../index.ts'`, reports: 'edge may import' }],
  [{ file: 'src/edge/seed.ts', code: `export * from '../cli/main.ts'`, reports: 'edge may import' }],
  [{ file: 'src/cli/seed.ts', code: `export * from '../index.ts'`, reports: 'cli may import' }],
  [{ file: 'src/seed.ts', code: `export * from './index.ts'`, reports: 'an entry may import' }],
  [{ file: 'src/seed.ts', code: `export * from './edge/hono.ts'`, reports: 'an entry may import' }],
  [{ file: 'src/seeds/seed.ts', code: '', reports: 'without arrows' }],
  [
    {
      file: 'src/features/skills/seed.ts',
      code: `export * from '../facts/fact.ts'`,
      reports: 'features meet in slots',
    },
  ],
  [
    {
      file: 'src/features/seed.ts',
      code: `export * from './facts/fact.ts'`,
      reports: 'features meet in slots',
    },
  ],
  [
    {
      file: 'src/kernel/log/seed.ts',
      code: `import type {\n  // Why.\n  View,\n} from '../context/view.ts'`,
      reports: 'folders in a cycle: src/kernel/',
    },
  ],
  [
    { file: 'src/edge/auth/seed.ts', code: `export * from '../seed.ts'` },
    { file: 'src/edge/seed.ts', code: `export * from './app/seed.ts'` },
    {
      file: 'src/edge/app/seed.ts',
      code: `export * from '../auth/seed.ts'`,
      reports: 'folders in a cycle: src/edge/',
    },
  ],
  [
    { file: 'src/kernel/context/a.ts', code: `import type { B } from './b.ts'` },
    { file: 'src/kernel/context/b.ts', code: `import type { C } from './c.ts'` },
    {
      file: 'src/kernel/context/c.ts',
      code: `import type { A } from './a.ts'`,
      reports: 'modules in a cycle',
    },
  ],
  [
    {
      file: 'src/kernel/feature.ts',
      code: `export * from './policy.ts'`,
      reports: 'must not load src/kernel/policy.ts',
    },
  ],
  [{ file: 'src/kernel/seed.ts', code: `const sessionFacts = []`, reports: 'seed.ts:1 names sessionFacts' }],
  [{ file: 'src/kernel/seed.ts', code: `const key = 'profile/'`, reports: 'names profile' }],
  [
    {
      file: 'src/kernel/seed.ts',
      code: `/**\n * Why.\n */\nlet auditOp`,
      reports: 'seed.ts:4 names auditOp',
    },
  ],
  [
    { file: 'src/features/moods/feature.ts', code: 'export interface Mood {}' },
    { file: 'src/kernel/seed.ts', code: `let mood`, reports: 'names mood' },
  ],
  [
    { file: 'src/features/time-zone/feature.ts', code: '' },
    { file: 'src/kernel/seed.ts', code: `let userTimeZone`, reports: 'names userTimeZone' },
  ],
  // As in docs/features.md: a word of the kernel's own that is like a feature's name is no name of
  // it.
  [
    {
      file: 'src/features/notes/feature.ts',
      code: `export interface NotesShape {}\nexport function notes() {}`,
    },
    { file: 'src/kernel/seed.ts', code: `let note` },
  ],
]

const imports = 'noRestrictedImports'
const globals = 'noRestrictedGlobals'
const randomness = 'no randomness'
const now = `export const now = () => Date.now()`
const dice = `export const dice = () => Math.random()`
const files = `export { readFileSync } from 'node:fs'`
const dexie = `export { Dexie } from 'dexie'`

/** For Biome. */
const lintSeeds: readonly Seed[] = [
  ...[
    'ports',
    'text',
    'kernel',
    'kernel/log',
    'forgetting',
    'features/facts',
    'operations/forget',
    'render',
    'agent',
    'counters',
  ].flatMap((folder) => [
    { file: `src/${folder}/now.ts`, code: now, reports: globals },
    { file: `src/${folder}/dice.ts`, code: dice, reports: randomness },
    { file: `src/${folder}/files.ts`, code: files, reports: imports },
    { file: `src/${folder}/dexie.ts`, code: `export type { Dexie } from 'dexie'`, reports: imports },
  ]),
  ...[
    'platform',
    'client',
    'stores/encrypted',
    'bridges/ai-sdk',
    'bridges/mcp',
    'bridges/anthropic',
    'bridges/langgraph',
    'bridges/assistant-ui',
    'bridges/langchain',
    'bridges/openai-agents',
    'replay',
    'inspector/view',
    'chat',
    'edge/objects',
  ].flatMap((folder) => [
    { file: `src/${folder}/files.ts`, code: files, reports: imports },
    { file: `src/${folder}/dexie.ts`, code: dexie, reports: imports },
  ]),
  { file: 'src/cli/dexie.ts', code: dexie, reports: imports },
  { file: 'src/bridges/react.ts', code: `export { ref } from 'vue'`, reports: imports },
  { file: 'src/bridges/vue.ts', code: `export { useState } from 'react'`, reports: imports },
  { file: 'src/stemmer.ts', code: dexie, reports: imports },
  {
    file: 'src/bridges/ai-sdk/schema.ts',
    code: `export { asSchema } from '@ai-sdk/provider-utils'`,
    reports: imports,
  },
  { file: 'src/inspector/model/html.ts', code: `export { html } from 'lit'`, reports: imports },
  {
    file: 'src/text/hash.ts',
    code: `export { sha256 } from '@noble/hashes/sha2.js'`,
    reports: imports,
  },
  { file: 'src/text/up.ts', code: `export * from '../ports/op.ts'` },
  { file: 'src/stores/open.ts', code: dexie },
  { file: 'src/cli/files.ts', code: files },
  { file: 'src/kernel/id.ts', code: `export const id = () => crypto.randomUUID()`, reports: globals },
  { file: 'src/features/title.ts', code: `export const title = () => document.title`, reports: globals },
  { file: 'src/agent/later.ts', code: `export const later = () => setTimeout(Object)`, reports: globals },
  { file: 'src/stores/later.ts', code: `export const later = () => setTimeout(Object)`, reports: globals },
  { file: 'src/stores/load.ts', code: `export const load = () => fetch('/')`, reports: globals },
  { file: 'src/stores/id.ts', code: `export const id = () => crypto.subtle`, reports: globals },
  {
    file: 'src/stores/wait.ts',
    code: `export const wait = () => Dexie.waitFor(1)`,
    reports: 'must not wait',
  },
  { file: 'web/seed.ts', code: `export * from '../worker/target.ts'`, reports: imports },
  { file: 'worker/seed.ts', code: `export * from '../web/target.ts'`, reports: imports },
]

const outsideProject = 'TS6307'
const noNode = 'TS2591'
const noTimers = 'TS2304'
const noPage = 'TS2584'

/** For the compiler. It names a file outside a project once, however many import it. */
const typeSeeds: readonly Seed[] = [
  { file: 'src/stores/target.ts', code: 'export const target = 1' },
  { file: 'src/operations/target.ts', code: 'export const target = 1' },
  { file: 'src/kernel/outside.ts', code: `export * from '../stores/target.ts'`, reports: outsideProject },
  {
    file: 'src/features/outside.ts',
    code: `export * from '../operations/target.ts'`,
    reports: outsideProject,
  },
  ...[
    'ports',
    'text',
    'kernel',
    'forgetting',
    'features',
    'operations',
    'render',
    'counters',
    'agent',
  ].flatMap((folder) => [
    { file: `src/${folder}/files.ts`, code: files, reports: noNode },
    { file: `src/${folder}/title.ts`, code: `export const title = () => document.title`, reports: noPage },
    {
      file: `src/${folder}/later.ts`,
      code: `export const later = () => setTimeout(Object)`,
      reports: noTimers,
    },
  ]),
  { file: 'src/replay/files.ts', code: files, reports: noNode },
  { file: 'src/replay/title.ts', code: `export const title = () => document.title`, reports: noPage },
  { file: 'src/edge/title.ts', code: `export const title = () => document.title`, reports: noPage },
  { file: 'src/chat/title.ts', code: `export const title = () => document.title` },
]

const root = resolve(import.meta.dirname, '../..')

function readSources(): Sources {
  const paths = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .map((path) => `src/${path.replaceAll('\\', '/')}`)
    .filter((path) => /\.tsx?$/.test(path))
  return new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]))
}

/** A folder with the configuration of the repository, and nothing else of it. */
function bareCopy(): string {
  const copy = mkdtempSync(join(tmpdir(), 'plimsoll-arrows-'))
  process.on('exit', () => rmSync(copy, { recursive: true, force: true }))
  const within = (folder: string, ending: string) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith(ending))
      .map((name) => join(folder, name))
  for (const file of [...within('.', '.json'), ...within('src', '.json'), ...within('test/arrows', '.grit')])
    cpSync(join(root, file), join(copy, file))
  for (const folder of ['node_modules', 'test/node_modules']) {
    mkdirSync(dirname(join(copy, folder)), { recursive: true })
    symlinkSync(join(root, folder), join(copy, folder), 'junction')
  }
  return copy
}

/**
 * What a tool says of seeds, each in a file of its own: a line for each that it should have
 * reported, or should not.
 */
function missedBy(command: readonly string[], seeds: readonly Seed[]): readonly string[] {
  const copy = bareCopy()
  for (const { file, code } of seeds) {
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    writeFileSync(join(copy, file), `${code}\n`)
  }
  const { stdout, stderr } = spawnSync(process.execPath, command, { cwd: copy, encoding: 'utf8' })
  const lines = (stdout + stderr).split('\n')
  return seeds.flatMap(({ file, code, reports }) => {
    const said = lines.filter((line) => line.startsWith(`${file}(`) || line.includes(`/${file},line=`))
    if (reports === undefined)
      return said.map((line) => `A line in ${file} that is allowed was reported: ${code}\n  ${line}`)
    return said.some((line) => line.includes(reports))
      ? []
      : [`Nobody reported ${reports} for ${file}: ${code}`]
  })
}

const sources = readSources()
const found = violations(sources)
const missed = [
  ...arrowSeeds.flatMap((seeds) => {
    const seeded = new Map(sources)
    for (const { file, code } of seeds) seeded.set(file, `${code}\n${sources.get(file) ?? ''}`)
    const said = violations(seeded).filter((line) => !found.includes(line))
    const due = seeds.filter(({ reports }) => reports !== undefined)
    if (due.length === 0) return said.map((line) => `What is allowed was reported: ${line}`)
    return due.flatMap(({ file, code, reports = '' }) =>
      said.some((line) => line.includes(reports))
        ? []
        : [`Nobody reported "${reports}" for ${file}: ${code}`],
    )
  }),
  ...missedBy(
    ['test/node_modules/@biomejs/biome/bin/biome', 'lint', '--max-diagnostics=none', '--reporter=github'],
    lintSeeds,
  ),
  ...missedBy(
    [
      'node_modules/typescript/bin/tsc',
      '-b',
      '--pretty',
      'false',
      ...new Set(typeSeeds.map(({ file }) => `src/tsconfig.${file.split('/')[1]}.json`)),
    ],
    typeSeeds,
  ),
]

for (const line of [...found, ...missed]) console.error(line)
if (found.length + missed.length > 0) process.exitCode = 1
else {
  const seeds = [...arrowSeeds.flat(), ...lintSeeds, ...typeSeeds].filter(
    ({ reports }) => reports !== undefined,
  )
  console.log(
    `Arrows: ${sources.size} files keep them, and each of ${seeds.length} seeded violations is reported.`,
  )
}
