import { readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')

/**
 * Whether something was made after all was changed of which it is made.
 *
 * @param made a file of the checkout, by its path in it
 * @param sources files, and folders with all that is in them
 */
export function isNewer(made: string, sources: readonly string[]): boolean {
  try {
    const { mtimeMs } = statSync(join(root, made))
    return sources.every((path) => newest(join(root, path)) < mtimeMs)
  } catch {
    return false
  }
}

/** @returns when a file or a folder, or anything in it, was changed last */
function newest(path: string): number {
  const inside = statSync(path).isDirectory()
    ? readdirSync(path, { recursive: true, encoding: 'utf8' }).map((name) => join(path, name))
    : []
  return Math.max(...[path, ...inside].map((one) => statSync(one).mtimeMs))
}
