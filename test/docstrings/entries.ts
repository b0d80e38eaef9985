import { join, resolve } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }

const root = resolve(import.meta.dirname, '../..')

/** The source of each entry of the package, by the name that it is imported by. */
export const entries: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(manifest.exports).flatMap(([path, entry]) =>
    typeof entry === 'string'
      ? []
      : [
          [
            path.replace('.', manifest.name),
            join(root, entry.default.replace(/^\.\/dist\/(.*)\.js$/, '$1.ts')),
          ],
        ],
  ),
)

export function entryFile(name: string): string | undefined {
  return entries[name]
}
