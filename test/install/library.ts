/** The library as it is published, in projects of their own. */
import { execFileSync, type StdioOptions } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export const root = resolve(import.meta.dirname, '../..')

export function run(folder: string, command: string, ...args: readonly string[]): string {
  const stdio: StdioOptions = ['ignore', 'pipe', 'pipe']
  // On Windows npm is a .cmd.
  const shell = process.platform === 'win32' && command === 'npm'
  return execFileSync(command, args, { cwd: folder, encoding: 'utf8', stdio, shell, timeout: 300_000 })
}

/** The library's file. */
export function packed(workplace: string, ...options: readonly string[]): string {
  const answer = run(root, 'npm', 'pack', '--json', '--pack-destination', workplace, ...options)
  const [{ filename }] = JSON.parse(answer.slice(answer.indexOf('[')))
  return join(workplace, filename)
}

/** A project of its own, with the library beside what it has. */
export function project(folder: string, tarball: string, beside: readonly string[]): string {
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  const install = ['install', '--no-audit', '--no-fund', '--prefer-offline']
  if (beside.length > 0) run(folder, 'npm', ...install, ...beside)
  run(folder, 'npm', ...install, tarball)
  return folder
}
