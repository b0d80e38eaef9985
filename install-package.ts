/**
 * `node install-package.ts <folder>…`: installs the packages that only one thing needs, where they
 * are not as their lock says. They are no part of `npm ci`.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'

const root = import.meta.dirname

for (const folder of process.argv.slice(2)) {
  if (isInstalled(join(root, folder))) continue
  console.error(`$ npm ci --prefix ${folder}`)
  // `npm pack --dry-run` makes the manifest too, and hands its options on.
  execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--prefix', join(root, folder), '--dry-run=false'], {
    // What a script prints is its own: for some it is JSON.
    stdio: ['ignore', process.stderr, process.stderr],
    shell: process.platform === 'win32', // npm is a .cmd there
  })
}

/** Whether npm has installed after the lock was changed. */
function isInstalled(folder: string): boolean {
  const installed = join(folder, 'node_modules/.package-lock.json')
  return (
    existsSync(installed) &&
    statSync(installed).mtimeMs >= statSync(join(folder, 'package-lock.json')).mtimeMs
  )
}
