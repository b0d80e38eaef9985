import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder that is gone when the process ends, however it does. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-bench-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}
