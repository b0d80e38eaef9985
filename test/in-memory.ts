import { existsSync, mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'

/** Where Linux keeps files in memory. */
const MEMORY = '/dev/shm'
const NAME = 'plimsoll-tests-'
/** Bytes that must be free there; a run has taken up to 0.1 GB. Containers often have 64 MB. */
const ROOM = 1024 ** 3

/**
 * Lets this process, and all that it starts, keep temporary files in memory: databases, profiles of
 * browsers. Tests of durable stores would wait for a disk else, of which none says anything. Where
 * the system has no room for it, or `TMPDIR` is set, nothing changes.
 */
export function keepFilesInMemory(): void {
  if (process.env.TMPDIR !== undefined || !existsSync(MEMORY)) return
  for (const name of readdirSync(MEMORY)) if (isLeft(name)) remove(join(MEMORY, name))
  const { bavail, bsize } = statfsSync(MEMORY)
  if (bavail * bsize < ROOM) return
  const folder = join(MEMORY, `${NAME}${process.pid}`)
  mkdirSync(folder, { recursive: true })
  process.env.TMPDIR = folder
  process.once('exit', () => remove(folder))
}

/** Whether a run has left it that was killed. */
function isLeft(name: string): boolean {
  if (!name.startsWith(NAME)) return false
  try {
    process.kill(Number(name.slice(NAME.length)), 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
}
