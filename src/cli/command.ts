import { createRequire } from 'node:module'
import { adminCommand } from './admin.ts'
import { HELP, parseArguments, UsageError } from './arguments.ts'
import { diffCommand } from './diff.ts'
import { explainCommand, explainStoredCommand } from './explain.ts'
import { exportCommand } from './export-command.ts'
import { historyCommand } from './history-command.ts'
import { importCommand } from './import-command.ts'
import type { Io } from './io.ts'
import { lintCommand } from './lint.ts'
import { replayCommand } from './replay-command.ts'
import { startCommand } from './start-command.ts'
import { twiceCommand } from './twice.ts'

/** Runs the command line `argv` (without node and script) and resolves to its exit status. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  try {
    const options = parseArguments(argv)
    switch (options.command) {
      case 'help':
        io.out(HELP)
        return 0
      case 'version':
        io.out(`${version()}\n`)
        return 0
      case 'admin':
        return await adminCommand(options, io)
      case 'diff':
        return await diffCommand(options, io)
      case 'explain':
        return await explainCommand(options, io)
      case 'explain-stored':
        return await explainStoredCommand(options, io)
      case 'export':
        return await exportCommand(options, io)
      case 'history':
        return await historyCommand(options, io)
      case 'import':
        return await importCommand(options, io)
      case 'lint':
        return await lintCommand(options, io)
      case 'replay':
        return await replayCommand(options, version(), io)
      case 'start':
        return await startCommand(options, io)
      case 'twice':
        return await twiceCommand(options, io)
    }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    io.err(`plimsoll: ${error.message}\nSee plimsoll --help.\n`)
    return 2
  }
}

/**
 * By the package's own name, since sources and built files are at different depths below the
 * manifest.
 */
function version(): string {
  const manifest: { version: string } = createRequire(import.meta.url)('plimsoll/package.json')
  return manifest.version
}
