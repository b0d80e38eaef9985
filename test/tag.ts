/** The widget for pages without a bundler, for tests of what is built. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { isNewer } from '../worker/local/newer.ts'

const root = resolve(import.meta.dirname, '..')
const folder = join(root, 'dist/tag')

/** Of which the tag is made, and how. */
const SOURCES = [
  ...['src', 'LICENSE', 'package.json', 'package-lock.json'],
  ...['vite.tag.config.ts', 'vite.licenses.ts', 'vite.markdown.ts', 'release/links.ts'],
]

const isBuilt = (): boolean => isNewer('dist/tag/plimsoll-chat.js', SOURCES)

/** @returns its folder. It is built where it is older than its sources, which takes seconds */
export function builtTag(): string {
  if (isBuilt()) return folder
  mkdirSync(join(root, 'dist'), { recursive: true })
  const made = mkdtempSync(join(root, 'dist/tag-'))
  try {
    // A process of its own: what is built in one that tests holds what is for developers alone.
    const vite = join(root, 'node_modules/vite/bin/vite.js')
    const options = ['--config', 'vite.tag.config.ts', '--outDir', made, '--logLevel', 'error']
    const env = { ...process.env, NODE_ENV: 'production' }
    execFileSync(process.execPath, [vite, 'build', ...options], { cwd: root, env })
    // Another process of tests may have built it meanwhile, and reads it.
    if (!isBuilt()) {
      rmSync(folder, { recursive: true, force: true })
      renameSync(made, folder)
    }
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
  return folder
}
