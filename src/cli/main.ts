#!/usr/bin/env node
import { run } from './command.ts'
import { nodeIo } from './io.ts'

// A reader that has seen enough (`| head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit(0)
})

process.exitCode = await run(process.argv.slice(2), nodeIo)
