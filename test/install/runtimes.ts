/**
 * `npm run test:runtimes`: packs the library, and uses its core in each runtime, and its SQLite
 * store in those that have SQLite, the oldest Node among them, and in one that has none. Needs a
 * registry, from which it loads some 300 MB; about a minute.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packed, project, run } from './library.ts'

const RUNTIMES: Readonly<Record<string, readonly string[]>> = {
  'node@20': ['node'],
  'node@22.13.0': ['node'],
  'node@24': ['node'],
  'deno@2': ['deno', 'run', '--allow-all'],
  'bun@1': ['bun'],
}

const workplace = mkdtempSync(join(tmpdir(), 'plimsoll-runtimes-'))
let failures = 0
try {
  const tarball = packed(workplace)
  for (const [index, [runtime, [command = '', ...rest]]] of Object.entries(RUNTIMES).entries()) {
    try {
      const folder = project(join(workplace, `runtime-${index}`), tarball, [runtime])
      for (const app of ['core.mjs', 'sqlite.mjs'])
        await cp(join(import.meta.dirname, 'apps', app), join(folder, app))
      const program = join(folder, 'node_modules/.bin', command)
      run(folder, program, ...rest, 'core.mjs')
      run(folder, program, ...rest, 'sqlite.mjs', ...(runtime === 'node@20' ? ['none'] : []))
      console.log(`ok      ${runtime}`)
    } catch (error) {
      failures++
      const { stdout = '', stderr = '', message } = error as Error & { stdout?: string; stderr?: string }
      console.log(`FAILED  ${runtime}: ${[message, stdout, stderr].filter(Boolean).join('\n')}`)
    }
  }
} finally {
  rmSync(workplace, { recursive: true, force: true })
}
process.exitCode = failures === 0 ? 0 : 1
