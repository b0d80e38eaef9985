import { gzipSync } from 'node:zlib'
import { build } from 'vite'
import { ALIAS } from '../test/sizes/bundle.ts'

const ENTRY = 'measured'

/**
 * What a page downloads at first of a program that Vite builds, in KiB of gzip -9. Its minifier
 * gives variables of nested functions the names of those around them again, which compress to some
 * 5 per cent less.
 */
export async function viteKiB(code: string): Promise<number> {
  const built = await build({
    configFile: false,
    logLevel: 'error',
    root: import.meta.dirname,
    resolve: {
      alias: Object.entries(ALIAS).map(([name, replacement]) => ({ find: RegExp(`^${name}$`), replacement })),
    },
    plugins: [
      {
        name: ENTRY,
        resolveId: (id) => (id === ENTRY ? `\0${ENTRY}` : undefined),
        load: (id) => (id === `\0${ENTRY}` ? code : undefined),
      },
    ],
    build: {
      write: false,
      target: 'esnext',
      modulePreload: false,
      rolldownOptions: { input: ENTRY, preserveEntrySignatures: 'strict' },
    },
  })
  const files = [built].flat().flatMap((one) => ('output' in one ? one.output : []))
  const chunks = new Map(files.flatMap((file) => (file.type === 'chunk' ? [[file.fileName, file]] : [])))
  const first = new Set([...chunks.values()].filter(({ isEntry }) => isEntry))
  for (const { imports } of first)
    for (const name of imports) {
      const chunk = chunks.get(name)
      if (chunk) first.add(chunk)
    }
  const bytes = [...first].reduce((sum, chunk) => sum + gzipSync(chunk.code, { level: 9 }).length, 0)
  return Number((bytes / 1024).toPrecision(4))
}
