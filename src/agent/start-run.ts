import type { Host } from '../ports/host.ts'
import * as calls from './calls.ts'
import type { AgentRun, RunOptions } from './options.ts'
import * as plainTranscript from './plain-transcript.ts'
import { type RunLibrary, runWith } from './run.ts'
import * as validator from './validator.ts'

const LIBRARY: RunLibrary = {
  validator: () => validator,
  calls: () => calls,
  plainTranscript: () => plainTranscript,
}

/** Begins a run over injected clock, ids and timers. */
export function startRun(options: RunOptions, host: Host): AgentRun {
  return runWith(options, host, LIBRARY)
}
