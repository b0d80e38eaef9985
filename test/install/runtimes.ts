/**
 * `npm run test:runtimes`: packs the library, and uses its SQLite store in each runtime that has
 * one, the oldest Node among them, and in one that has none. Needs a registry, from which it loads
 * some 300 MB; about a minute.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packed, project, run } from './library.ts'

const RUNTIMES: Readonly<Record<string, readonly string[]>> = {
  'node@20': ['node', 'sqlite.mjs', 'none'],
  'node@22.13.0': ['node', 'sqlite.mjs'],
  'node@24': ['node', 'sqlite.mjs'],
  'deno@2': ['deno', 'run', '--allow-all', 'sqlite.mjs'],
  'bun@1': ['bun', 'sqlite.mjs'],
}

const workplace = mkdtempSync(join(tmpdir(), 'plimsoll-runtimes-'))
let failures = 0
try {
  const tarball = packed(workplace)
  for (const [index, [runtime, [command = '', ...rest]]] of Object.entries(RUNTIMES).entries()) {
    try {
      const folder = project(join(workplace, `runtime-${index}`), tarball, [runtime])
      await cp(join(import.meta.dirname, 'apps/sqlite.mjs'), join(folder, 'sqlite.mjs'))
      run(folder, join(folder, 'node_modules/.bin', command), ...rest)
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
