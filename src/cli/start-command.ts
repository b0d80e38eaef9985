import { findSession } from '../operations/sessions.ts'
import { start } from '../operations/start/start.ts'
import { isPlimsollError } from '../ports/errors.ts'
import type { SessionStart, StartOptions } from '../ports/start.ts'
import { type StartCommandOptions, UsageError } from './arguments.ts'
import { loadCounter } from './counters.ts'
import { readDatabase } from './database.ts'
import { readable } from './files.ts'
import type { Io } from './io.ts'
import { MemoryFile } from './memory-file.ts'
import { reportLine } from './recordings.ts'

/** A session that nobody wrote to. */
const NEW = 'plimsoll/start'

/**
 * Prints what a session would start with, as one line of JSON; nothing, if the caller holds it
 * already. Resolves to the exit status: 1 if a line could not be read, which is left out, or if the
 * start does not fit.
 */
export async function startCommand(
  { from, project, query, budget, counter: name, now = Date.now(), ifNoneMatch }: StartCommandOptions,
  io: Io,
): Promise<number> {
  const asked: StartOptions = {
    ...(project !== undefined && { project }),
    ...(query !== undefined && { query }),
    ...(budget !== undefined && { budgetTokens: budget }),
    ...(ifNoneMatch !== undefined && { ifNoneMatch }),
  }
  const warn = (message: string): void => io.err(`plimsoll: ${message}\n`)
  const print = (started: SessionStart | undefined): void => {
    if (started) io.out(`${JSON.stringify(started)}\n`)
  }
  if (!('file' in from)) {
    const counter = await loadCounter(name ?? 'default', warn)
    const { session: sessionId = NEW, sessions } = from
    return readDatabase(from, { counter, now }, io, async (memory, user) => {
      const project = (await findSession(memory, user, sessionId))?.project
      const session = memory.session({ ...user, sessionId }, project === undefined ? {} : { project })
      print(await start(session, { ...asked, ...(sessions && { sessions }) }))
      return 0
    })
  }
  const { file } = from
  const isInput = file === '-'
  if (!isInput) await readable([file], io)
  const counter = await loadCounter(name, warn)
  const memory = new MemoryFile(counter, now)
  const report = reportLine(io)
  let malformed = 0
  let line = 0
  for await (const text of isInput ? io.input() : io.lines(file)) {
    line++
    if (text.trim() === '') continue
    try {
      await memory.read(text, line)
    } catch (error) {
      malformed++
      report({ file: isInput ? 'standard input' : file, line }, error)
    }
  }
  try {
    print(await memory.start(asked))
  } catch (error) {
    if (isPlimsollError(error, 'ERR_INVALID_ARGUMENT')) throw new UsageError(error.message)
    if (!isPlimsollError(error, 'ERR_BUDGET_TOO_SMALL')) throw error
    io.err(`plimsoll: ${error.message}\n`)
    return 1
  }
  return malformed > 0 ? 1 : 0
}
