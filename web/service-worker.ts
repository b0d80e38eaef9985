import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build, type Plugin } from 'vite'
import { bundledLicenses } from '../vite.licenses.ts'

/** What a page without a network needs: no pictures of itself. */
const KEPT = /^(?!screenshot-).*\.(?:html|js|css|svg|png|webmanifest)$/

/**
 * Builds `sw.js`, which keeps every file that is in the folder when all others have been written.
 */
export function serviceWorker(): Plugin {
  let folder = ''
  return {
    name: 'service-worker',
    apply: 'build',
    configResolved({ root, build: { outDir } }) {
      folder = resolve(root, outDir)
    },
    async closeBundle() {
      await build({
        configFile: false,
        root: import.meta.dirname,
        logLevel: 'warn',
        publicDir: false,
        define: { FILES: JSON.stringify(filesIn(folder)) },
        plugins: [bundledLicenses('sw.js.LICENSE.txt')],
        build: {
          outDir: folder,
          emptyOutDir: false,
          rollupOptions: {
            input: join(import.meta.dirname, 'sw.ts'),
            output: { format: 'iife', entryFileNames: 'sw.js' },
          },
        },
      })
    },
  }
}

/** With a hash of what is in it, where the name does not have that already. */
function filesIn(folder: string): readonly { readonly url: string; readonly revision: string | null }[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => KEPT.test(path))
    .sort()
    .map((url) => ({
      url,
      revision: url.startsWith('assets/')
        ? null
        : createHash('sha256')
            .update(readFileSync(join(folder, url)))
            .digest('hex')
            .slice(0, 32),
    }))
}
