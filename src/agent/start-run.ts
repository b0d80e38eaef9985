import type { Host } from '../ports/host.ts'
import type { ToolSpec } from '../ports/message.ts'
import * as calls from './calls.ts'
import type { AgentRun, AgentTool, RunOptions } from './options.ts'
import * as plainTranscript from './plain-transcript.ts'
import { type RunLibrary, runWith } from './run.ts'
import { createToolbox } from './tools.ts'
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

/** Tools as the model of a run sees them. @throws ERR_INVALID_ARGUMENT */
export async function toolSpecs(tools: readonly AgentTool[]): Promise<readonly ToolSpec[]> {
  return (await createToolbox(tools, LIBRARY.validator)).specs
}
