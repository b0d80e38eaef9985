/**
 * `node worker/local/page.ts [--only]`: builds the page, and puts it where the Worker serves it,
 * file by file: what is served meanwhile is whole. Files of earlier builds stay, since pages that
 * are open may still ask for them; with `--only` they go.
 */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { isNewer } from './newer.ts'

const root = resolve(import.meta.dirname, '../..')
const page = join(root, 'dist/web')

/** Of which pages are made, and how. */
const SOURCES = ['web', 'src', 'package-lock.json', 'vite.licenses.ts', 'worker/local/page.ts']
/** Of the reference at `/docs`. */
const REFERENCE = ['rapidoc-min.js', 'rapidoc-min.js.LICENSE.txt']

/** Whether the page is as its sources are. */
export function isBuilt(): boolean {
  return isNewer('dist/web/index.html', SOURCES)
}

export async function buildPage({ only = false } = {}): Promise<void> {
  // A check whether it is built need not wait for this.
  const { build } = await import('vite')
  mkdirSync(join(root, 'dist'), { recursive: true })
  // On the same disk, so that a file is there with one step.
  const made = mkdtempSync(join(root, 'dist/web-'))
  try {
    await build({
      configFile: join(root, 'web/vite.config.ts'),
      logLevel: 'warn',
      build: { outDir: made, emptyOutDir: true },
    })
    for (const file of REFERENCE) cpSync(join(root, 'node_modules/rapidoc/dist', file), join(made, file))
    const files = filesIn(made)
    for (const file of files) {
      mkdirSync(dirname(join(page, file)), { recursive: true })
      renameSync(join(made, file), join(page, file))
    }
    if (only) for (const file of filesIn(page)) if (!files.includes(file)) rmSync(join(page, file))
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
}

/** Those that name others come last, the page itself at the very end. */
function filesIn(folder: string): readonly string[] {
  const last = ['sw.js', 'index.html']
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => statSync(join(folder, file)).isFile())
    .sort((one, other) => last.indexOf(one) - last.indexOf(other))
}

if (import.meta.main) await buildPage({ only: process.argv.includes('--only') })
