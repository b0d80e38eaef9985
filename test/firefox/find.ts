/**
 * Finds the Firefox that `npm run test:browsers` drives. Run as a program, it says which, or how to
 * get one.
 */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'

const systemPaths = [
  '/usr/bin/firefox-esr',
  '/usr/bin/firefox',
  '/Applications/Firefox.app/Contents/MacOS/firefox',
  'C:\\Program Files\\Mozilla Firefox\\firefox.exe',
]

/** The path of a Firefox on this machine. `FIREFOX_PATH` wins, and must exist if set. */
export function findFirefox(): string {
  const chosen = process.env.FIREFOX_PATH
  if (chosen && !existsSync(chosen)) throw new Error(`FIREFOX_PATH names no file: ${chosen}`)
  const found = chosen || systemPaths.find(existsSync)
  if (found) return found
  throw new Error(
    'No Firefox for `npm run test:browsers`. Install one (on Debian: `apt-get install firefox-esr`), ' +
      'or set FIREFOX_PATH to one.',
  )
}

/**
 * The version line of the browser; throws when it cannot start, for example for want of a shared
 * library.
 */
function versionOf(path: string): string {
  // On Windows it opens a window instead of answering.
  if (process.platform === 'win32') return path
  return execFileSync(path, ['--version'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 30_000,
  }).trim()
}

if (import.meta.main) {
  try {
    const path = findFirefox()
    console.log(`Firefox: ${path} (${versionOf(path)})`)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
