import { UsageError } from './arguments.ts'
import type { Io } from './io.ts'

/**
 * Bytes of the files together. Throws {@link UsageError} for one that cannot be read, before any
 * work is done.
 */
export async function readable(files: readonly string[], io: Io): Promise<number> {
  let bytes = 0
  for (const file of files) {
    try {
      bytes += await io.size(file)
    } catch (error) {
      throw new UsageError(`cannot read ${file}: ${(error as Error).message}`)
    }
  }
  return bytes
}
